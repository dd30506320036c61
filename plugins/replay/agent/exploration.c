/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/agent/exploration.h"

#include <math.h>
#include <stddef.h>

const char *const ORCH_EXPLORATIONS[] = {"fixed", "linear", "per_actor", NULL};

double orch_exploration_epsilon(const struct orch_exploration *e, int64_t step, int64_t actor,
                                int64_t actors)
{
    switch (e->kind) {
    case ORCH_EXPLORE_LINEAR:
        return step >= e->steps ? e->end
                                : e->start + (e->end - e->start) * (double)step / (double)e->steps;
    case ORCH_EXPLORE_PER_ACTOR: {
        const double place = actors > 1 ? (double)actor / (double)(actors - 1) : 0;
        return pow(e->base, 1 + place * e->power);
    }
    case ORCH_EXPLORE_FIXED:
        break;
    }
    return e->end;
}
