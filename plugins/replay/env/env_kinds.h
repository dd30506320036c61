/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The environments whose state is private to their file. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_KINDS_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_KINDS_H

#include "plugins/replay/env/env.h"

extern const struct orch_env_kind orch_acrobot_kind, orch_breakout_kind, orch_cartpole_kind,
    orch_gridworld_kind, orch_mountaincar_kind;

#endif
