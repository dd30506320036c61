/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing steps uniformly: how many fall to each lane, then a place for each of them. */
#include "plugins/replay/memory/replay_private.h"

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

/* Looks at each lane once. Returns the steps of all. */
static int64_t look(struct orch_replay *r)
{
    int64_t total = 0;
    for (int i = 0; i < r->options.lanes; i++) {
        struct replay_lane *l = &r->lanes[i];
        struct replay_view *v = &r->views[i];
        pthread_mutex_lock(&l->lock);
        const int64_t oldest = orch_replay_oldest(r, l);
        total += orch_replay_steps(r, l);
        v->records = orch_replay_complete(r, l) - oldest;
        v->oldest_slot = v->records > 0 ? orch_replay_slot(r, l->head, l->head_slot, oldest) : 0;
        pthread_mutex_unlock(&l->lock);
        r->until[i] = total;
        v->draws = 0;
    }
    return total;
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

/* How many of `count` draws fall to each lane. */
static void share_draws(struct orch_replay *r, int64_t count, int64_t total)
{
    const int lanes = r->options.lanes;
    if (lanes == 1)
        r->views[0].draws = count;
    for (int64_t k = 0; lanes > 1 && k < count; k++) {
        const int64_t at = (int64_t)orch_random_below(&r->random, (size_t)total);
        r->views[lane_of(r->until, lanes, at)].draws++;
    }
}

/* A place for each draw of a lane, in `out`. */
static void draw_places(struct orch_replay *r, int lane, int64_t *out)
{
    const struct replay_view v = r->views[lane];
    const int64_t base = lane * r->lane_capacity, capacity = r->lane_capacity;
    uint64_t random = r->random;
    for (int64_t i = 0; i < v.draws; i++) {
        int64_t slot = v.oldest_slot + (int64_t)orch_random_below(&random, (size_t)v.records);
        slot -= slot >= capacity ? capacity : 0;
        out[i] = base + slot;
    }
    r->random = random;
}

static void sample_uniform(struct orch_replay *r, int64_t count, int64_t total,
                           const struct orch_replay_batch *batch)
{
    int64_t row = 0;
    orch_replay_make_room(r, count);
    share_draws(r, count, total);
    for (int i = 0; i < r->options.lanes; row += r->views[i++].draws)
        draw_places(r, i, r->slots + row);
    orch_replay_collect(r, count, batch);
    for (int64_t i = 0; batch->weights && i < count; i++)
        batch->weights[i] = 1;
}

bool orch_replay_sample(struct orch_replay *r, int64_t count, double beta,
                        const struct orch_replay_batch *batch, GError **error)
{
    const int64_t ready = look(r);
    if (count < 1 || ready < count) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "sample fewer",
                       "replay buffer: %" G_GINT64_FORMAT
                       " steps cannot be sampled: there are only %" G_GINT64_FORMAT,
                       count, ready);
        return false;
    }
    if (r->tree)
        return orch_replay_sample_prioritised(r, count, beta, batch, error);
    sample_uniform(r, count, ready, batch);
    return true;
}
