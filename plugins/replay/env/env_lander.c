/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env_lander.h"

#include "lib/base/random.h"

#include <math.h>

enum { NONE, LEFT, MAIN, RIGHT, SUBSTEPS = 10, REST_STEPS = 25 };

static const double STEP_S = 0.02, MASS = 5, INERTIA = 0.9, GRAVITY = 10, MAIN_ACCELERATION = 17,
                    SIDE_ACCELERATION = 2.4, SIDE_TURN = 6.5;
/* the body's outline and the legs' tips, from its centre, upright */
static const double LEG_X = 0.67, LEG_Y = -0.93, HALF_WIDTH = 0.57, BOTTOM = -0.33, TOP = 0.57;
/* the ground: N/m, N s/m, friction; a leg that is pressed in further than LEG_GIVES breaks */
static const double STIFFNESS = 1250, DAMPING = 80, FRICTION = 0.6, GRIP = 200, LEG_GIVES = 0.2;
static const double X_LIMIT = 10, Y_SCALE = 20.0 / 3, START_HEIGHT = 9.4, START_SPEED = 4;
static const double REST_SPEED = 0.05;

struct push {
    double x, y, turn; /* N, N m */
};

static double shaping_of(const struct orch_lander *s)
{
    const double x = s->x / X_LIMIT, y = (s->y + LEG_Y) / Y_SCALE;
    const double x_speed = s->x_speed * 0.2, y_speed = s->y_speed * Y_SCALE / 50;
    return -100 * sqrt(x * x + y * y) - 100 * sqrt(x_speed * x_speed + y_speed * y_speed) -
           100 * fabs(s->angle) + 10 * s->is_left_down + 10 * s->is_right_down;
}

static void lander_reset(void *state, uint64_t *random)
{
    struct orch_lander *s = state;
    *s = (struct orch_lander){.y = START_HEIGHT - LEG_Y};
    s->x_speed = START_SPEED * (2 * orch_random_unit(random) - 1);
    s->y_speed = START_SPEED * (2 * orch_random_unit(random) - 1);
    s->shaping = shaping_of(s);
}

static void lander_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_lander *s = states;
    float *out = observations;
    for (int64_t i = 0; i < count; i++, out += 8) {
        out[0] = (float)(s[i].x / X_LIMIT);
        out[1] = (float)((s[i].y + LEG_Y) / Y_SCALE);
        out[2] = (float)(s[i].x_speed * 0.2);
        out[3] = (float)(s[i].y_speed * Y_SCALE / 50);
        out[4] = (float)s[i].angle;
        out[5] = (float)(s[i].angle_speed * 0.4);
        out[6] = s[i].is_left_down;
        out[7] = s[i].is_right_down;
    }
}

/** The place of a point of the body, relative to its centre. */
static void turned(const struct orch_lander *s, double x, double y, double *out_x, double *out_y)
{
    const double cosine = cos(s->angle), sine = sin(s->angle);
    *out_x = x * cosine - y * sine;
    *out_y = x * sine + y * cosine;
}

/** Adds the force of the ground on the tip of a leg. Returns whether it touches. */
static bool ground_pushes(struct orch_lander *s, double leg_x, struct push *push)
{
    double x, y;
    turned(s, leg_x, LEG_Y, &x, &y);
    const double depth = -(s->y + y);
    if (depth < 0)
        return false;
    s->has_crashed |= depth > LEG_GIVES;
    const double tip_x_speed = s->x_speed - s->angle_speed * y;
    const double tip_y_speed = s->y_speed + s->angle_speed * x;
    const double up = fmax(0, STIFFNESS * depth - DAMPING * tip_y_speed);
    const double along = CLAMP(-GRIP * tip_x_speed, -FRICTION * up, FRICTION * up);
    push->x += along;
    push->y += up;
    push->turn += x * up - y * along;
    return true;
}

static struct push engines(const struct orch_lander *s, int32_t action)
{
    const double cosine = cos(s->angle), sine = sin(s->angle);
    const double side = action == LEFT ? 1 : action == RIGHT ? -1 : 0;
    const double main = action == MAIN ? MAIN_ACCELERATION : 0;
    return (struct push){MASS * (-sine * main + cosine * side * SIDE_ACCELERATION),
                         MASS * (cosine * main + sine * side * SIDE_ACCELERATION),
                         INERTIA * side * SIDE_TURN};
}

static void lander_substep(struct orch_lander *s, int32_t action)
{
    const double by_s = STEP_S / SUBSTEPS;
    struct push push = engines(s, action);
    s->is_left_down = ground_pushes(s, -LEG_X, &push);
    s->is_right_down = ground_pushes(s, LEG_X, &push);
    s->x_speed += by_s * push.x / MASS;
    s->y_speed += by_s * (push.y / MASS - GRAVITY);
    s->angle_speed += by_s * push.turn / INERTIA;
    s->x += by_s * s->x_speed;
    s->y += by_s * s->y_speed;
    s->angle += by_s * s->angle_speed;
}

static bool body_touches(const struct orch_lander *s)
{
    for (int corner = 0; corner < 4; corner++) {
        double x, y;
        turned(s, corner & 1 ? HALF_WIDTH : -HALF_WIDTH, corner & 2 ? TOP : BOTTOM, &x, &y);
        if (s->y + y <= 0)
            return true;
    }
    return false;
}

static bool is_at_rest(const struct orch_lander *s)
{
    return s->is_left_down && s->is_right_down && fabs(s->x_speed) < REST_SPEED &&
           fabs(s->y_speed) < REST_SPEED && fabs(s->angle_speed) < REST_SPEED;
}

/** One step of 20 ms. Returns its reward, and in `out_end` how it ended. */
static double lander_advance(struct orch_lander *s, int32_t action, uint8_t *out_end)
{
    const double before = s->shaping, fuel = action == MAIN ? 0.3 : action == NONE ? 0 : 0.03;
    for (int i = 0; i < SUBSTEPS; i++)
        lander_substep(s, action);
    s->has_crashed |= body_touches(s) || fabs(s->x) >= X_LIMIT;
    s->rest_steps = is_at_rest(s) ? s->rest_steps + 1 : 0;
    s->shaping = shaping_of(s);
    const bool is_over = s->has_crashed || s->rest_steps == REST_STEPS;
    *out_end = is_over ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    if (is_over)
        return s->has_crashed ? -100 : 100;
    return s->shaping - before - fuel;
}

static void lander_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                        uint8_t *ends)
{
    struct orch_lander *s = states;
    for (int64_t i = 0; i < count; i++)
        rewards[i] = (float)lander_advance(&s[i], actions[i], &ends[i]);
}

const struct orch_env_kind orch_lander_kind = {
    .name = "lander",
    .summary = "set a vehicle with three engines down on a pad",
    .source = "the task of Gymnasium LunarLander-v3; rigid-body dynamics of orch's own",
    .shape = {8, 1, 1},
    .observation_values = 8,
    .actions = 4,
    .step_limit = 1000,
    .state_bytes = sizeof(struct orch_lander),
    .reset = lander_reset,
    .observe = lander_observe,
    .step = lander_step,
};
