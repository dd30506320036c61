/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operations and memory traffic of an operation's passes in training, for the roofline and the
 * transferred model. */
#ifndef ORCH_STEPTIME_TRAFFIC_H
#define ORCH_STEPTIME_TRAFFIC_H

#include "lib/steptime/roofline.h"

struct orch_traffic {
    double flops, bytes;
};

/** Forward pass of a batch; a multiply-add counts as two operations. */
struct orch_traffic orch_traffic_forward(const struct orch_net_node *node,
                                         const struct orch_net_cost *cost,
                                         const struct orch_roofline_work *work);
struct orch_traffic orch_traffic_backward(const struct orch_net_node *node,
                                          const struct orch_net_cost *cost,
                                          const struct orch_roofline_work *work);
/** The optimizer's step over all trained weights. */
struct orch_traffic orch_traffic_update(const struct orch_net *net,
                                        const struct orch_net_cost *costs,
                                        const struct orch_roofline_work *work);

#endif
