/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env_catch.h"

#include "lib/base/random.h"

#include <string.h>

enum { ROWS = 10, COLUMNS = 5 };

static void catch_reset(void *state, uint64_t *random)
{
    *(struct orch_catch *)state = (struct orch_catch){
        .ball_column = (int32_t)orch_random_below(random, COLUMNS), .paddle_column = COLUMNS / 2};
}

static void catch_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_catch *s = states;
    uint8_t *out = observations;
    memset(out, 0, (size_t)count * ROWS * COLUMNS);
    for (int64_t i = 0; i < count; i++, out += ROWS * COLUMNS) {
        out[s[i].ball_row * COLUMNS + s[i].ball_column] = 1;
        out[(ROWS - 1) * COLUMNS + s[i].paddle_column] = 1;
    }
}

static void catch_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                       uint8_t *ends)
{
    struct orch_catch *s = states;
    for (int64_t i = 0; i < count; i++) {
        s[i].paddle_column = CLAMP(s[i].paddle_column + actions[i] - 1, 0, COLUMNS - 1);
        const bool is_over = ++s[i].ball_row == ROWS - 1;
        rewards[i] = !is_over ? 0 : s[i].paddle_column == s[i].ball_column ? 1 : -1;
        ends[i] = is_over ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_catch_kind = {
    .name = "catch",
    .summary = "catch a falling ball with a paddle",
    .source = "Osband et al. 2020, bsuite catch (arXiv 1908.03568)",
    .shape = {ROWS, COLUMNS, 1},
    .observation_values = ROWS * COLUMNS,
    .is_bytes = true,
    .actions = 3,
    .state_bytes = sizeof(struct orch_catch),
    .reset = catch_reset,
    .observe = catch_observe,
    .step = catch_step,
};
