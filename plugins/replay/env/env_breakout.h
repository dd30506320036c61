/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MinAtar's Breakout (Young, Tian 2019, arXiv 1903.03176) with its minimal set of actions: none,
 * left, right. The paddle moves first, then the ball, one cell along a diagonal. A strike takes one
 * brick and gives reward 1. Bricks come back when all are gone and the ball is at row 9. The
 * episode ends when the ball passes the paddle. Observation: 10 x 10 x 4 (row, column, channel),
 * channels paddle, ball, trail, brick. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_ENV_BREAKOUT_H
#define ORCH_PLUGINS_REPLAY_ENV_ENV_BREAKOUT_H

#include "plugins/replay/env/env.h"

struct orch_breakout {
    uint32_t bricks;       /* bit (row - 1) x 10 + column of rows 1 to 3 */
    int8_t ball_x, ball_y; /* column, row */
    int8_t last_x, last_y; /* of the ball, one step before: the trail */
    int8_t direction;      /* 0 up left, 1 up right, 2 down right, 3 down left */
    int8_t paddle;         /* column, in row 9 */
    bool is_strike;        /* the ball hit a brick in the last step */
};

extern const struct orch_env_kind orch_breakout_kind;

#endif
