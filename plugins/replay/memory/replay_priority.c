/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing steps by their priorities. Only the learner's thread touches the tree: what actors have
 * added enters it when the learner draws next, so actors never wait for it. */
#include "plugins/replay/memory/replay_private.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>

static float weight_of(const struct orch_replay *r, float error)
{
    return powf(fabsf(error) + (float)r->options.epsilon, (float)r->options.alpha);
}

/* ---- following the lanes -----------------------------------------------------------------------
 */

static int64_t base_of(const struct orch_replay *r, const struct replay_lane *l)
{
    return (l - r->lanes) * r->lane_capacity;
}

static void set_place(struct orch_replay *r, int64_t place, float error)
{
    if (r->ranks)
        orch_replay_ranks_set(r, place, error);
    else
        orch_sum_tree_set(r->tree, place, isnan(error) ? 0 : weight_of(r, error));
}

/* Removes positions [from, to). */
static void expire(struct orch_replay *r, const struct replay_lane *l, int64_t from, int64_t to)
{
    while (from < to) {
        const int64_t slot = orch_replay_slot(r, l->known, l->known_slot, from);
        const int64_t count = MIN(to - from, r->lane_capacity - slot);
        orch_sum_tree_set_range(r->tree, base_of(r, l) + slot, count, 0);
        for (int64_t i = 0; r->ranks && i < count; i++)
            orch_replay_ranks_set(r, base_of(r, l) + slot + i, (float)NAN);
        from += count;
    }
}

/* Enters positions [from, to), which are new: with the largest weight, but for steps that were
 * added with an error of their own, and final frames, which are no steps. */
static void enter(struct orch_replay *r, const struct replay_lane *l, int64_t from, int64_t to)
{
    const int64_t base = base_of(r, l);
    while (from < to) {
        const int64_t slot = orch_replay_slot(r, l->head, l->head_slot, from);
        const int64_t count = MIN(to - from, r->lane_capacity - slot);
        if (!r->ranks)
            orch_sum_tree_set_range(r->tree, base + slot, count, r->largest);
        for (int64_t i = 0; i < count; i++) {
            const struct replay_step *step =
                orch_replay_step_of(r, orch_replay_record(r, l, from + i));
            if (step->end == ORCH_REPLAY_FINAL)
                set_place(r, base + slot + i, (float)NAN);
            else if (!isnan(step->priority))
                set_place(r, base + slot + i, step->priority);
            else if (r->ranks)
                orch_replay_ranks_set(r, base + slot + i, INFINITY);
        }
        from += count;
    }
}

static void follow_lane(struct orch_replay *r, struct replay_lane *l)
{
    pthread_mutex_lock(&l->lock);
    const int64_t oldest = orch_replay_oldest(r, l);
    const int64_t complete = MAX(orch_replay_complete(r, l), oldest);
    expire(r, l, l->expired, MIN(oldest, l->known));
    enter(r, l, MAX(l->known, oldest), complete);
    if (r->ranks)
        orch_replay_ranks_changed(r, complete - MAX(l->known, oldest));
    l->expired = oldest;
    l->known = complete;
    l->known_slot =
        complete == l->head ? l->head_slot : orch_replay_slot(r, l->head, l->head_slot, complete);
    pthread_mutex_unlock(&l->lock);
}

/* Brings the tree up to date with what lanes have got and lost. */
static void replay_follow(struct orch_replay *r)
{
    for (int i = 0; i < r->options.lanes; i++)
        follow_lane(r, &r->lanes[i]);
}

/* ---- drawing -----------------------------------------------------------------------------------
 */

/* One draw from each of `count` equal shares of the total. */
static void draw(struct orch_replay *r, int64_t count)
{
    const double share = (double)orch_sum_tree_total(r->tree) / (double)count;
    for (int64_t i = 0; i < count; i++)
        r->draws[i] = (float)(((double)i + orch_random_unit(&r->random)) * share);
    orch_sum_tree_find_many(r->tree, r->draws, count, r->slots);
}

static void fill_weights(const struct orch_replay *r, int64_t count, double beta, float *out)
{
    float least = INFINITY;
    for (int64_t i = 0; i < count; i++) {
        out[i] = orch_sum_tree_get(r->tree, r->slots[i]);
        least = out[i] < least ? out[i] : least;
    }
    /* (N P)^-beta over its maximum, which is that of the least P */
    for (int64_t i = 0; i < count; i++)
        out[i] = powf(least / out[i], (float)beta);
}

bool orch_replay_sample_prioritised(struct orch_replay *r, int64_t count, double beta,
                                    const struct orch_replay_batch *batch, GError **error)
{
    replay_follow(r);
    orch_replay_make_room(r, count);
    if (!(orch_sum_tree_total(r->tree) > 0)) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "use an epsilon above 0",
                       "replay buffer: all priorities are 0");
        return false;
    }
    draw(r, count);
    orch_replay_collect(r, count, batch); /* draws are in ascending order, so lanes are, too */
    if (batch->weights)
        fill_weights(r, count, beta, batch->weights);
    return true;
}

/* ---- updating ----------------------------------------------------------------------------------
 */

/* Slots and weights of the places that are still there, into slots and draws; returns how many. */
static int64_t find_places(struct orch_replay *r, const int64_t *places, const float *errors,
                           int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t lane = r->options.lanes == 1 ? 0 : places[i] % r->options.lanes;
        const int64_t position = r->options.lanes == 1 ? places[i] : places[i] / r->options.lanes;
        const struct replay_lane *l = &r->lanes[lane];
        if (position < l->expired || position >= l->known)
            continue;
        r->slots[found] = base_of(r, l) + orch_replay_slot(r, l->known, l->known_slot, position);
        r->draws[found++] = errors[i];
    }
    return found;
}

bool orch_replay_update(struct orch_replay *r, const int64_t *places, const float *errors,
                        int64_t count, GError **error)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(errors[i])) {
            orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                           "replay buffer: TD error %" G_GINT64_FORMAT " is not finite", i);
            return false;
        }
    if (!r->tree)
        return true;
    orch_replay_make_room(r, count);
    const int64_t found = find_places(r, places, errors, count);
    if (r->ranks) {
        for (int64_t i = 0; i < found; i++)
            orch_replay_ranks_set(r, r->slots[i], fabsf(r->draws[i]));
        orch_replay_ranks_changed(r, found);
        return true;
    }
    for (int64_t i = 0; i < found; i++) {
        r->draws[i] = weight_of(r, r->draws[i]);
        r->largest = r->draws[i] > r->largest ? r->draws[i] : r->largest;
    }
    orch_sum_tree_set_many(r->tree, r->slots, r->draws, found);
    return true;
}
