/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pole on a cart that is pushed left (action 0) or right (1): Barto, Sutton, Anderson 1983 with
 * the constants of Gymnasium's CartPole-v1. Observation: position (m), speed, angle (rad), angular
 * speed. Reward 1 a step, the last one included. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_CARTPOLE_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_CARTPOLE_H

#include "plugins/replay/env/env.h"

struct orch_cartpole {
    double x, x_speed, angle, angle_speed;
};

extern const struct orch_env_kind orch_cartpole_kind;

#endif
