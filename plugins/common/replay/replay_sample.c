/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing steps uniformly. Positions are drawn some time before their records are used, so that
 * many records are fetched from memory at the same time. */
#include "plugins/common/replay/replay_private.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

enum { COUNTED_LANES = 32 };

int64_t orch_replay_ready(struct orch_replay *r)
{
    int64_t ready = 0;
    for (int i = 0; i < r->options.lanes; i++) {
        pthread_mutex_lock(&r->lanes[i].lock);
        ready += orch_replay_steps(r, &r->lanes[i]);
        pthread_mutex_unlock(&r->lanes[i].lock);
    }
    return ready;
}

/* The lane whose steps contain number `at`. Few lanes are counted, because each branch of a search
 * would be mispredicted every other time. */
static inline int lane_of(const int64_t *until, int lanes, int64_t at)
{
    int low = 0, high = lanes - 1;
    for (int i = 0; lanes <= COUNTED_LANES && i < lanes; i++)
        low += until[i] <= at;
    while (lanes > COUNTED_LANES && low < high) {
        const int middle = (low + high) / 2;
        if (at < until[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* How many of `count` draws fall to each lane, into lane_counts. */
static void share_draws(struct orch_replay *r, int64_t count)
{
    const int lanes = r->options.lanes;
    g_autofree int64_t *until = g_new(int64_t, lanes);
    int64_t total = 0;
    for (int i = 0; i < lanes; i++) {
        pthread_mutex_lock(&r->lanes[i].lock);
        until[i] = total += orch_replay_steps(r, &r->lanes[i]);
        pthread_mutex_unlock(&r->lanes[i].lock);
        r->lane_counts[i] = 0;
    }
    for (int64_t k = 0; k < count; k++) {
        const int64_t at = (int64_t)orch_random_below(&r->random, (size_t)total);
        r->lane_counts[lane_of(until, lanes, at)]++;
    }
}

static inline int64_t draw_position(struct orch_replay *r, int64_t oldest, int64_t steps)
{
    return oldest + (int64_t)orch_random_below(&r->random, (size_t)steps);
}

static inline int64_t draw_ahead(struct orch_replay *r, const struct replay_lane *l, int64_t oldest,
                                 int64_t records)
{
    const int64_t position = draw_position(r, oldest, records);
    orch_replay_prefetch(r, l, orch_replay_slot(r, l->head, l->head_slot, position));
    return position;
}

/* Called with the lane's lock; it has at least one step. */
static void sample_lane(struct orch_replay *r, int lane, int64_t count, int64_t row,
                        const struct orch_replay_batch *batch)
{
    const struct replay_lane *l = &r->lanes[lane];
    const int64_t oldest = orch_replay_oldest(r, l);
    const int64_t records = orch_replay_complete(r, l) - oldest;
    int64_t drawn[ORCH_REPLAY_AHEAD];
    for (int64_t i = 0; i < MIN(ORCH_REPLAY_AHEAD, count); i++)
        drawn[i] = draw_ahead(r, l, oldest, records);
    for (int64_t i = 0; i < count; i++, row++) {
        int64_t position = drawn[i % ORCH_REPLAY_AHEAD];
        if (i + ORCH_REPLAY_AHEAD < count)
            drawn[i % ORCH_REPLAY_AHEAD] = draw_ahead(r, l, oldest, records);
        while (orch_replay_step_of(r, orch_replay_record(r, l, position))->end == ORCH_REPLAY_FINAL)
            position = draw_position(r, oldest, records);
        orch_replay_gather(r, l, position, batch, row);
        if (batch->places)
            batch->places[row] = position * r->options.lanes + lane;
        if (batch->weights)
            batch->weights[row] = 1;
    }
}

bool orch_replay_sample(struct orch_replay *r, int64_t count, double beta,
                        const struct orch_replay_batch *batch, GError **error)
{
    const int64_t ready = orch_replay_ready(r);
    if (count < 1 || ready < count) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "add steps first, or draw fewer",
                       "replay buffer: %" G_GINT64_FORMAT
                       " steps were to be drawn, and %" G_GINT64_FORMAT " can be",
                       count, ready);
        return false;
    }
    if (r->tree)
        return orch_replay_sample_prioritised(r, count, beta, batch, error);
    if (r->options.lanes == 1)
        r->lane_counts[0] = count;
    else
        share_draws(r, count);
    int64_t row = 0;
    for (int i = 0; i < r->options.lanes; i++) {
        if (!r->lane_counts[i])
            continue;
        pthread_mutex_lock(&r->lanes[i].lock);
        sample_lane(r, i, r->lane_counts[i], row, batch);
        pthread_mutex_unlock(&r->lanes[i].lock);
        row += r->lane_counts[i];
    }
    return true;
}
