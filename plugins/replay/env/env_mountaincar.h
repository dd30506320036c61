/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An underpowered car in a valley: Moore 1990 with the constants of Gymnasium's MountainCar-v0.
 * Actions: push left, none, push right. Observation: position, speed. Reward -1 a step. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_MOUNTAINCAR_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_MOUNTAINCAR_H

#include "plugins/replay/env/env.h"

struct orch_mountaincar {
    double position, speed;
};

extern const struct orch_env_kind orch_mountaincar_kind;

#endif
