/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cliff walking on a grid of 4 x 12: from the lower left corner to the lower right one, between
 * which lies the cliff. Actions: up, right, down, left. Reward -1 a step; -100, and back to the
 * start, for a step onto the cliff. Observation: one-hot, so that a tabular agent finds its state
 * (row x 12 + column) as the place of the 1. */
#include "plugins/replay/env/env_kinds.h"

#include <string.h>

struct orch_gridworld {
    int32_t row, column; /* row 0 is at the top */
};

enum { ROWS = 4, COLUMNS = 12 };

static void gridworld_reset(void *state, uint64_t *random)
{
    (void)random; /* every episode starts in the same corner */
    *(struct orch_gridworld *)state = (struct orch_gridworld){ROWS - 1, 0};
}

static void gridworld_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_gridworld *s = states;
    uint8_t *out = observations;
    memset(out, 0, (size_t)count * ROWS * COLUMNS);
    for (int64_t i = 0; i < count; i++, out += ROWS * COLUMNS)
        out[s[i].row * COLUMNS + s[i].column] = 1;
}

static void gridworld_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                           uint8_t *ends)
{
    static const int MOVES[4][2] = {{-1, 0}, {0, 1}, {1, 0}, {0, -1}};
    struct orch_gridworld *s = states;
    for (int64_t i = 0; i < count; i++) {
        const int row = s[i].row + MOVES[actions[i]][0],
                  column = s[i].column + MOVES[actions[i]][1];
        s[i].row = CLAMP(row, 0, ROWS - 1);
        s[i].column = CLAMP(column, 0, COLUMNS - 1);
        const bool is_lowest = s[i].row == ROWS - 1;
        const bool is_goal = is_lowest && s[i].column == COLUMNS - 1;
        const bool is_cliff = is_lowest && s[i].column > 0 && !is_goal;
        if (is_cliff)
            s[i].column = 0;
        rewards[i] = is_cliff ? -100 : -1;
        ends[i] = is_goal ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_gridworld_kind = {
    .name = "gridworld",
    .summary = "walk along a cliff to a goal",
    .source = "Sutton and Barto 2018, example 6.6; Gymnasium CliffWalking-v1",
    .shape = {ROWS, COLUMNS, 1},
    .observation_values = ROWS * COLUMNS,
    .is_bytes = true,
    .states = ROWS * COLUMNS,
    .actions = 4,
    .state_bytes = sizeof(struct orch_gridworld),
    .reset = gridworld_reset,
    .observe = gridworld_observe,
    .step = gridworld_step,
};
