/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lander over flat ground, to be set down on a pad. It has the task, the actions, the observation
 * and the shape of the reward of Gymnasium's LunarLander-v3, but dynamics of its own: Gymnasium's
 * are those of the Box2D engine, and returns on the two cannot be compared.
 *
 * The vehicle is one rigid body (5 kg, 0.9 kg m^2) under gravity of 10 m/s^2. Its main engine
 * accelerates it by 17 m/s^2 along its axis; a side engine by 2.4 m/s^2 across it and 6.5 rad/s^2
 * around its centre. Each leg's tip meets the ground as a spring with a damper and friction.
 * Integration: semi-implicit Euler, 10 substeps of 2 ms a step.
 *
 * Actions: none, left engine, main engine, right engine. Observation: x / 10 m, height of the tips
 * / 6.67 m, speeds scaled by 0.2 and 0.1333, angle, 0.4 x angular speed, contact of both legs.
 * Reward: the change of -100 (distance + speed + |angle|) + 10 a leg on the ground, less 0.3 (main)
 * or 0.03 (side) for fuel; -100 for a crash, +100 for coming to rest.
 */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_LANDER_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_LANDER_H

#include "plugins/replay/env/env.h"

struct orch_lander {
    double x, y; /* of the centre, m; the pad is at 0, the ground at height 0 */
    double x_speed, y_speed, angle, angle_speed; /* angle 0: upright; positive: to the left */
    double shaping;                              /* of the last state */
    int32_t rest_steps;                          /* since when it has been at rest */
    bool is_left_down, is_right_down, has_crashed;
};

extern const struct orch_env_kind orch_lander_kind;

#endif
