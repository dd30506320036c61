/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pole on a cart that is pushed left (action 0) or right (1): Barto, Sutton, Anderson 1983 with
 * the constants of Gymnasium's CartPole-v1. Observation: position (m), speed, angle (rad), angular
 * speed. Reward 1 a step, the last one included.
 *
 * The operations stand in the order in which Gymnasium's cartpole.py does them, because the traces
 * in tests/data/env are compared bit for bit. Explicit Euler: positions advance by the old speeds.
 */
#include "plugins/replay/env/env_kinds.h"

#include "lib/base/random.h"

#include <math.h>

struct orch_cartpole {
    double x, x_speed, angle, angle_speed;
};

static const double GRAVITY = 9.8, POLE_MASS = 0.1, TOTAL_MASS = 0.1 + 1.0, HALF_LENGTH = 0.5,
                    MASS_LENGTH = 0.1 * 0.5, FORCE = 10.0, TAU_S = 0.02, X_LIMIT = 2.4,
                    ANGLE_LIMIT = 12 * 2 * M_PI / 360;

static void cartpole_reset(void *state, uint64_t *random)
{
    struct orch_cartpole *s = state;
    s->x = orch_random_unit(random) * 0.1 - 0.05;
    s->x_speed = orch_random_unit(random) * 0.1 - 0.05;
    s->angle = orch_random_unit(random) * 0.1 - 0.05;
    s->angle_speed = orch_random_unit(random) * 0.1 - 0.05;
}

static void cartpole_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_cartpole *s = states;
    float *out = observations;
    for (int64_t i = 0; i < count; i++) {
        out[4 * i] = (float)s[i].x;
        out[4 * i + 1] = (float)s[i].x_speed;
        out[4 * i + 2] = (float)s[i].angle;
        out[4 * i + 3] = (float)s[i].angle_speed;
    }
}

static void cartpole_advance(struct orch_cartpole *s, double force)
{
    const double cosine = cos(s->angle), sine = sin(s->angle);
    const double temp =
        (force + MASS_LENGTH * (s->angle_speed * s->angle_speed) * sine) / TOTAL_MASS;
    const double angle_acceleration =
        (GRAVITY * sine - cosine * temp) /
        (HALF_LENGTH * (4.0 / 3.0 - POLE_MASS * (cosine * cosine) / TOTAL_MASS));
    const double x_acceleration = temp - MASS_LENGTH * angle_acceleration * cosine / TOTAL_MASS;
    s->x = s->x + TAU_S * s->x_speed;
    s->x_speed = s->x_speed + TAU_S * x_acceleration;
    s->angle = s->angle + TAU_S * s->angle_speed;
    s->angle_speed = s->angle_speed + TAU_S * angle_acceleration;
}

static void cartpole_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                          uint8_t *ends)
{
    struct orch_cartpole *s = states;
    for (int64_t i = 0; i < count; i++) {
        cartpole_advance(&s[i], actions[i] == 1 ? FORCE : -FORCE);
        rewards[i] = 1;
        ends[i] = fabs(s[i].x) > X_LIMIT || fabs(s[i].angle) > ANGLE_LIMIT ? ORCH_ENV_TERMINATED
                                                                           : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_cartpole_kind = {
    .name = "cartpole",
    .summary = "balance a pole on a cart",
    .source = "Barto, Sutton, Anderson 1983; Gymnasium CartPole-v1",
    .shape = {4, 1, 1},
    .observation_values = 4,
    .actions = 2,
    .step_limit = 500,
    .state_bytes = sizeof(struct orch_cartpole),
    .reset = cartpole_reset,
    .observe = cartpole_observe,
    .step = cartpole_step,
};
