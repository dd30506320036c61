/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An underpowered car in a valley: Moore 1990 with the constants of Gymnasium's MountainCar-v0.
 * Actions: push left, none, push right. Observation: position, speed. Reward -1 a step.
 *
 * The operations stand in the order of Gymnasium's mountain_car.py (env_cartpole.c says why). */
#include "plugins/replay/env/env_kinds.h"

#include "lib/base/random.h"

#include <math.h>

struct orch_mountaincar {
    double position, speed;
};

static const double LEFT_END = -1.2, RIGHT_END = 0.6, GOAL = 0.5, MOST_SPEED = 0.07, FORCE = 0.001,
                    GRAVITY = 0.0025;

static void mountaincar_reset(void *state, uint64_t *random)
{
    struct orch_mountaincar *s = state;
    s->position = -0.6 + 0.2 * orch_random_unit(random);
    s->speed = 0;
}

static void mountaincar_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_mountaincar *s = states;
    float *out = observations;
    for (int64_t i = 0; i < count; i++) {
        out[2 * i] = (float)s[i].position;
        out[2 * i + 1] = (float)s[i].speed;
    }
}

static void mountaincar_advance(struct orch_mountaincar *s, int32_t action)
{
    s->speed += (action - 1) * FORCE + cos(3 * s->position) * -GRAVITY;
    s->speed = CLAMP(s->speed, -MOST_SPEED, MOST_SPEED);
    s->position += s->speed;
    s->position = CLAMP(s->position, LEFT_END, RIGHT_END);
    if (s->position <= LEFT_END && s->speed < 0)
        s->speed = 0;
}

static void mountaincar_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                             uint8_t *ends)
{
    struct orch_mountaincar *s = states;
    for (int64_t i = 0; i < count; i++) {
        mountaincar_advance(&s[i], actions[i]);
        rewards[i] = -1;
        ends[i] = s[i].position >= GOAL && s[i].speed >= 0 ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_mountaincar_kind = {
    .name = "mountaincar",
    .summary = "swing an underpowered car out of a valley",
    .source = "Moore 1990; Gymnasium MountainCar-v0",
    .shape = {2, 1, 1},
    .observation_values = 2,
    .actions = 3,
    .step_limit = 200,
    .state_bytes = sizeof(struct orch_mountaincar),
    .reset = mountaincar_reset,
    .observe = mountaincar_observe,
    .step = mountaincar_step,
};
