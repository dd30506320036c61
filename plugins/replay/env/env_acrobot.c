/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two links that hang down; a torque of -1, 0 or 1 (actions 0 to 2) at the joint between them is to
 * swing the end above the height of one link: Sutton 1996 with the constants of Gymnasium's
 * Acrobot-v1 (the equations of the book). Observation: cosine and sine of both angles, both angular
 * speeds. Reward -1 a step, 0 for the step that reaches the height.
 *
 * The operations stand in the order of Gymnasium's acrobot.py (env_cartpole.c says why), with its
 * constants of 1 (masses, lengths, moments of inertia) left out: a product with 1 changes nothing.
 * One step is one Runge-Kutta step of order 4 over 0.2 s. */
#include "plugins/replay/env/env_kinds.h"

#include "lib/base/random.h"

#include <math.h>

struct orch_acrobot {
    double angle1, angle2, speed1, speed2; /* rad and rad/s; angle2 is relative to the first link */
};

static const double STEP_S = 0.2, GRAVITY = 9.8, CENTRE = 0.5, MOST_SPEED1 = 4 * M_PI,
                    MOST_SPEED2 = 9 * M_PI;

static void acrobot_reset(void *state, uint64_t *random)
{
    struct orch_acrobot *s = state;
    double *values[] = {&s->angle1, &s->angle2, &s->speed1, &s->speed2};
    for (int i = 0; i < 4; i++) /* rounded to float, as Gymnasium's */
        *values[i] = (double)(float)(-0.1 + 0.2 * orch_random_unit(random));
}

static void acrobot_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_acrobot *s = states;
    float *out = observations;
    for (int64_t i = 0; i < count; i++, out += 6) {
        out[0] = (float)cos(s[i].angle1);
        out[1] = (float)sin(s[i].angle1);
        out[2] = (float)cos(s[i].angle2);
        out[3] = (float)sin(s[i].angle2);
        out[4] = (float)s[i].speed1;
        out[5] = (float)s[i].speed2;
    }
}

/** The derivatives of the state: speeds and accelerations. */
static struct orch_acrobot slope(struct orch_acrobot s, double torque)
{
    const double cos2 = cos(s.angle2), sin2 = sin(s.angle2);
    const double d1 = CENTRE * CENTRE + (1 + CENTRE * CENTRE + 2 * CENTRE * cos2) + 1 + 1;
    const double d2 = (CENTRE * CENTRE + CENTRE * cos2) + 1;
    const double phi2 = CENTRE * GRAVITY * cos(s.angle1 + s.angle2 - M_PI / 2.0);
    const double phi1 = -CENTRE * (s.speed2 * s.speed2) * sin2 -
                        2 * CENTRE * s.speed2 * s.speed1 * sin2 +
                        (CENTRE + 1) * GRAVITY * cos(s.angle1 - M_PI / 2) + phi2;
    const double acceleration2 =
        (torque + d2 / d1 * phi1 - CENTRE * (s.speed1 * s.speed1) * sin2 - phi2) /
        (CENTRE * CENTRE + 1 - d2 * d2 / d1);
    return (struct orch_acrobot){s.speed1, s.speed2, -(d2 * acceleration2 + phi1) / d1,
                                 acceleration2};
}

static struct orch_acrobot moved(struct orch_acrobot s, double by_s, struct orch_acrobot k)
{
    return (struct orch_acrobot){s.angle1 + by_s * k.angle1, s.angle2 + by_s * k.angle2,
                                 s.speed1 + by_s * k.speed1, s.speed2 + by_s * k.speed2};
}

static double mean_slope(double k1, double k2, double k3, double k4)
{
    return k1 + 2 * k2 + 2 * k3 + k4;
}

static double wrapped(double angle)
{
    while (angle > M_PI)
        angle = angle - 2 * M_PI;
    while (angle < -M_PI)
        angle = angle + 2 * M_PI;
    return angle;
}

static void acrobot_advance(struct orch_acrobot *s, double torque)
{
    const struct orch_acrobot k1 = slope(*s, torque);
    const struct orch_acrobot k2 = slope(moved(*s, STEP_S / 2.0, k1), torque);
    const struct orch_acrobot k3 = slope(moved(*s, STEP_S / 2.0, k2), torque);
    const struct orch_acrobot k4 = slope(moved(*s, STEP_S, k3), torque);
    const struct orch_acrobot k = {
        mean_slope(k1.angle1, k2.angle1, k3.angle1, k4.angle1),
        mean_slope(k1.angle2, k2.angle2, k3.angle2, k4.angle2),
        mean_slope(k1.speed1, k2.speed1, k3.speed1, k4.speed1),
        mean_slope(k1.speed2, k2.speed2, k3.speed2, k4.speed2),
    };
    *s = moved(*s, STEP_S / 6.0, k);
    s->angle1 = wrapped(s->angle1);
    s->angle2 = wrapped(s->angle2);
    s->speed1 = CLAMP(s->speed1, -MOST_SPEED1, MOST_SPEED1);
    s->speed2 = CLAMP(s->speed2, -MOST_SPEED2, MOST_SPEED2);
}

static void acrobot_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                         uint8_t *ends)
{
    struct orch_acrobot *s = states;
    for (int64_t i = 0; i < count; i++) {
        acrobot_advance(&s[i], actions[i] - 1);
        const bool is_up = -cos(s[i].angle1) - cos(s[i].angle2 + s[i].angle1) > 1.0;
        rewards[i] = is_up ? 0 : -1;
        ends[i] = is_up ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_acrobot_kind = {
    .name = "acrobot",
    .summary = "swing the end of two links up",
    .source = "Sutton 1996; Gymnasium Acrobot-v1",
    .shape = {6, 1, 1},
    .observation_values = 6,
    .actions = 3,
    .step_limit = 500,
    .state_bytes = sizeof(struct orch_acrobot),
    .reset = acrobot_reset,
    .observe = acrobot_observe,
    .step = acrobot_step,
};
