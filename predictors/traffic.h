/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations and bytes of an operation's passes in training: what the roofline and the transferred
 * model reckon with. */
#ifndef ORCH_PREDICTORS_TRAFFIC_H
#define ORCH_PREDICTORS_TRAFFIC_H

#include "predictors/roofline.h"

struct orch_traffic {
    double flops, bytes;
};

/** Forward pass of a batch; a multiply-add counts two. */
struct orch_traffic orch_traffic_forward(const struct orch_net_node *node,
                                         const struct orch_net_cost *cost,
                                         const struct orch_roofline_work *work);
struct orch_traffic orch_traffic_backward(const struct orch_net_node *node,
                                          const struct orch_net_cost *cost,
                                          const struct orch_roofline_work *work);
/** The optimizer's step over all weights. */
struct orch_traffic orch_traffic_update(const struct orch_net *net,
                                        const struct orch_roofline_work *work);

#endif
