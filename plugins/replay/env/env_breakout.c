/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MinAtar's Breakout (Young, Tian 2019, arXiv 1903.03176) with its minimal set of actions: none,
 * left, right. The paddle moves first, then the ball, one cell along a diagonal. A strike takes one
 * brick and gives reward 1. Bricks come back when all are gone and the ball is at row 9. The
 * episode ends when the ball passes the paddle. Observation: 10 x 10 x 4 (row, column, channel),
 * channels paddle, ball, trail, brick.
 *
 * The rules stand in the order of MinAtar's breakout.py. The directions after a reflexion on a
 * wall, on a ceiling, brick or paddle, and on the paddle's edge are three permutations. */
#include "plugins/replay/env/env_kinds.h"

#include "lib/base/random.h"

#include <string.h>

struct orch_breakout {
    uint32_t bricks;       /* bit (row - 1) x 10 + column of rows 1 to 3 */
    int8_t ball_x, ball_y; /* column, row */
    int8_t last_x, last_y; /* of the ball, one step before: the trail */
    int8_t direction;      /* 0 up left, 1 up right, 2 down right, 3 down left */
    int8_t paddle;         /* column, in row 9 */
    bool is_strike;        /* the ball hit a brick in the last step */
};

enum { SIDE = 10, CHANNELS = 4, PADDLE = 0, BALL = 1, TRAIL = 2, BRICK = 3 };
static const uint32_t ALL_BRICKS = (1u << 30) - 1;
static const int8_t OFF_WALL[4] = {1, 0, 3, 2}, OFF_CEILING[4] = {3, 2, 1, 0},
                    OFF_EDGE[4] = {2, 3, 0, 1};
static const int8_t X_MOVE[4] = {-1, 1, 1, -1}, Y_MOVE[4] = {-1, -1, 1, 1};

static void breakout_reset(void *state, uint64_t *random)
{
    const bool is_right = orch_random_below(random, 2);
    const int8_t x = is_right ? SIDE - 1 : 0;
    *(struct orch_breakout *)state = (struct orch_breakout){.bricks = ALL_BRICKS,
                                                            .ball_x = x,
                                                            .ball_y = 3,
                                                            .last_x = x,
                                                            .last_y = 3,
                                                            .direction = is_right ? 3 : 2,
                                                            .paddle = 4};
}

static uint8_t *cell(uint8_t *board, int y, int x)
{
    return board + (y * SIDE + x) * CHANNELS;
}

static void breakout_observe(const void *states, int64_t count, void *observations)
{
    const struct orch_breakout *s = states;
    uint8_t *board = observations;
    memset(board, 0, (size_t)count * SIDE * SIDE * CHANNELS);
    for (int64_t i = 0; i < count; i++, board += SIDE * SIDE * CHANNELS) {
        cell(board, SIDE - 1, s[i].paddle)[PADDLE] = 1;
        cell(board, s[i].ball_y, s[i].ball_x)[BALL] = 1;
        cell(board, s[i].last_y, s[i].last_x)[TRAIL] = 1;
        for (int place = 0; place < 3 * SIDE; place++)
            cell(board, 1, place)[BRICK] = s[i].bricks >> place & 1;
    }
}

static uint32_t brick_bit(const struct orch_breakout *s, int y, int x)
{
    return y >= 1 && y <= 3 ? s->bricks & 1u << ((y - 1) * SIDE + x) : 0;
}

/** The ball comes to row 9: off the paddle, off its edge, or lost. */
static bool is_lost(struct orch_breakout *s, int x, int *y)
{
    if (!s->bricks)
        s->bricks = ALL_BRICKS;
    if (s->ball_x == s->paddle)
        s->direction = OFF_CEILING[s->direction];
    else if (x == s->paddle)
        s->direction = OFF_EDGE[s->direction];
    else
        return true;
    *y = s->last_y;
    return false;
}

/** One step of the ball. Returns whether the episode is over. */
static bool ball_moves(struct orch_breakout *s, float *reward)
{
    int x = s->ball_x + X_MOVE[s->direction], y = s->ball_y + Y_MOVE[s->direction];
    bool is_brick = false, is_over = false;
    s->last_x = s->ball_x;
    s->last_y = s->ball_y;
    if (x < 0 || x >= SIDE) {
        x = CLAMP(x, 0, SIDE - 1);
        s->direction = OFF_WALL[s->direction];
    }
    const uint32_t bit = brick_bit(s, y, x);
    if (y < 0) {
        y = 0;
        s->direction = OFF_CEILING[s->direction];
    } else if (bit) {
        is_brick = true;
        if (!s->is_strike) { /* a ball that comes from a brick passes the next one */
            *reward = 1;
            s->bricks &= ~bit;
            y = s->last_y;
            s->direction = OFF_CEILING[s->direction];
        }
    } else if (y == SIDE - 1) {
        is_over = is_lost(s, x, &y);
    }
    s->is_strike = is_brick;
    s->ball_x = (int8_t)x;
    s->ball_y = (int8_t)y;
    return is_over;
}

static void breakout_step(void *states, int64_t count, const int32_t *actions, float *rewards,
                          uint8_t *ends)
{
    static const int PADDLE_MOVE[3] = {0, -1, 1};
    struct orch_breakout *s = states;
    for (int64_t i = 0; i < count; i++) {
        const int paddle = s[i].paddle + PADDLE_MOVE[actions[i]];
        s[i].paddle = (int8_t)CLAMP(paddle, 0, SIDE - 1);
        rewards[i] = 0;
        ends[i] = ball_moves(&s[i], &rewards[i]) ? ORCH_ENV_TERMINATED : ORCH_ENV_GOES_ON;
    }
}

const struct orch_env_kind orch_breakout_kind = {
    .name = "breakout",
    .summary = "break bricks with a ball and a paddle on a small board",
    .source = "Young and Tian 2019, MinAtar breakout (arXiv 1903.03176)",
    .shape = {SIDE, SIDE, CHANNELS},
    .observation_values = SIDE * SIDE * CHANNELS,
    .is_bytes = true,
    .actions = 3,
    .sticky = 0.1,
    .state_bytes = sizeof(struct orch_breakout),
    .reset = breakout_reset,
    .observe = breakout_observe,
    .step = breakout_step,
};
