/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cliff walking on a grid of 4 x 12: from the lower left corner to the lower right one, between
 * which lies the cliff. Actions: up, right, down, left. Reward -1 a step; -100, and back to the
 * start, for a step onto the cliff. Observation: one-hot, so that a tabular agent finds its state
 * (row x 12 + column) as the place of the 1. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_GRIDWORLD_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_GRIDWORLD_H

#include "plugins/replay/env/env.h"

struct orch_gridworld {
    int32_t row, column; /* row 0 is at the top */
};

extern const struct orch_env_kind orch_gridworld_kind;

#endif
