/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What autograd keeps of an operator for its gradients. */
#ifndef ORCH_NET_NEEDED_VALUES_H
#define ORCH_NET_NEEDED_VALUES_H

#include "lib/net/cost.h"

/** True if the gradients of a node need the values of its inputs. */
bool orch_net_needs_inputs(const struct orch_net_node *node, const struct orch_net_cost *cost);
/** True if they need the value of the node itself. */
bool orch_net_needs_output(const struct orch_net_node *node, const struct orch_net_cost *cost);
/** True if a sum may be written where the node's value is, as in torchvision's residual blocks. */
bool orch_net_may_be_sum(const struct orch_net_node *node);

#endif
