/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A ball falls through a board of 10 x 5, one row a step, and a paddle in the lowest row is to be
 * below it: the Catch of bsuite. Actions: left, stay, right. Reward 1 (caught) or -1 on the last of
 * the 9 steps, 0 before. Observation: the board with 1 where the ball and the paddle are. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_CATCH_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_CATCH_H

#include "plugins/replay/env/env.h"

struct orch_catch {
    int32_t ball_row, ball_column, paddle_column;
};

extern const struct orch_env_kind orch_catch_kind;

#endif
