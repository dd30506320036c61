/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two links that hang down; a torque of -1, 0 or 1 (actions 0 to 2) at the joint between them is to
 * swing the end above the height of one link: Sutton 1996 with the constants of Gymnasium's
 * Acrobot-v1 (the equations of the book). Observation: cosine and sine of both angles, both angular
 * speeds. Reward -1 a step, 0 for the step that reaches the height. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_ACROBOT_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_ACROBOT_H

#include "plugins/replay/env/env.h"

struct orch_acrobot {
    double angle1, angle2, speed1, speed2; /* rad and rad/s; angle2 is relative to the first link */
};

extern const struct orch_env_kind orch_acrobot_kind;

#endif
