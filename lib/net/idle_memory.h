/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of a training that PyTorch's allocator has reserved and that no tensor uses at the time of
 * the most: gradients of wide layers find only narrower blocks free, those of the layers behind. */
#ifndef ORCH_NET_IDLE_MEMORY_H
#define ORCH_NET_IDLE_MEMORY_H

#include "lib/net/cost.h"

/** Sets `idle` of the costs; the gradients (`learns`) and what is in place are known already. */
void orch_net_note_idle(const struct orch_net *net, struct orch_net_cost *costs);

#endif
