/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rank-based priorities: a step's weight is rank^-alpha, where rank 1 has the largest error. The
 * errors are sorted when a sixteenth of the buffer has changed; until then changed steps keep their
 * rank, and new ones have rank 1 (Schaul et al. 2016 sort their heap now and then as well). */
#include "plugins/replay/memory/replay_private.h"

#include <math.h>
#include <stdlib.h>

enum { SORTS_A_BUFFER = 16 };

struct replay_ranks {
    int64_t places, changed;
    float *errors; /* by place; NaN: no step */
    int64_t *order;
};

struct replay_ranks *orch_replay_ranks_new(int64_t places)
{
    struct replay_ranks *k = g_new0(struct replay_ranks, 1);
    k->places = places;
    k->errors = g_new(float, places);
    k->order = g_new(int64_t, places);
    for (int64_t i = 0; i < places; i++)
        k->errors[i] = (float)NAN;
    return k;
}

void orch_replay_ranks_free(struct replay_ranks *k)
{
    if (!k)
        return;
    g_free(k->errors);
    g_free(k->order);
    g_free(k);
}

float *orch_replay_ranks_errors(struct replay_ranks *k)
{
    return k->errors;
}

int64_t *orch_replay_ranks_changes(struct replay_ranks *k)
{
    return &k->changed;
}

void orch_replay_ranks_set(struct orch_replay *r, int64_t place, float error)
{
    const bool was_step = !isnan(r->ranks->errors[place]);
    r->ranks->errors[place] = error;
    if (isnan(error))
        orch_sum_tree_set(r->tree, place, 0);
    else if (!was_step)
        orch_sum_tree_set(r->tree, place, 1);
}

/* Largest error first; equal ones in the order of their places. */
static int by_error(const void *a, const void *b, void *ctx)
{
    const float *errors = ctx;
    const int64_t i = *(const int64_t *)a, k = *(const int64_t *)b;
    if (errors[i] != errors[k])
        return errors[i] > errors[k] ? -1 : 1;
    return (i > k) - (i < k);
}

static void sort(struct orch_replay *r)
{
    struct replay_ranks *k = r->ranks;
    int64_t count = 0;
    for (int64_t i = 0; i < k->places; i++)
        if (!isnan(k->errors[i]))
            k->order[count++] = i;
    qsort_r(k->order, (size_t)count, sizeof *k->order, by_error, k->errors);
    for (int64_t i = 0; i < count; i++)
        orch_sum_tree_set(r->tree, k->order[i], powf((float)(i + 1), -(float)r->options.alpha));
    k->changed = 0;
}

static int64_t known_steps(const struct orch_replay *r)
{
    int64_t known = 0;
    for (int i = 0; i < r->options.lanes; i++)
        known += r->lanes[i].known - r->lanes[i].expired;
    return known;
}

void orch_replay_ranks_changed(struct orch_replay *r, int64_t count)
{
    r->ranks->changed += count;
    if (r->ranks->changed * SORTS_A_BUFFER >= known_steps(r))
        sort(r);
}
