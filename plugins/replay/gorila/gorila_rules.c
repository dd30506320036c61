/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_rules.h"

#include <math.h>

bool orch_gorila_is_stale(int64_t version, int64_t updates, int64_t most)
{
    return most > 0 && updates - version > most;
}

bool orch_gorila_target_is_due(int64_t followed, int64_t version, int64_t period)
{
    return followed < 0 || version / period > followed / period;
}

/* The first losses count alike, later ones less the older they are. */
static void count(struct orch_gorila_losses *l, double loss)
{
    const double share = fmax(1 / (double)++l->seen, ORCH_GORILA_LOSS_SHARE);
    const double way = loss - l->mean;
    l->mean += share * way;
    l->variance = (1 - share) * (l->variance + share * way * way);
}

bool orch_gorila_losses_accept(struct orch_gorila_losses *l, double loss)
{
    const bool is_known = l->deviations > 0 && l->seen >= ORCH_GORILA_LOSSES_FIRST;
    const bool accepts = !is_known || loss <= l->mean + l->deviations * sqrt(l->variance);
    count(l, loss);
    return accepts;
}
