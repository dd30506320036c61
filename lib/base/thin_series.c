/* SPDX-License-Identifier: MIT */
#include "lib/base/thin_series.h"

#include <math.h>
#include <stdbool.h>

enum { LEAST, GREATEST, NO_NUMBER, KEPT };

struct bucket {
    int64_t index; /* for steps index * width .. index * width + width - 1 */
    bool has[KEPT];
    struct orch_thin_point kept[KEPT];
};

struct orch_thin {
    unsigned limit;
    int64_t width, count;
    GArray *buckets; /* struct bucket, by index */
    struct orch_thin_point first, last;
};

struct orch_thin *orch_thin_new(unsigned buckets)
{
    struct orch_thin *thin = g_new0(struct orch_thin, 1);
    thin->limit = MAX(buckets, 2);
    thin->width = 1;
    thin->buckets = g_array_new(FALSE, FALSE, sizeof(struct bucket));
    return thin;
}

void orch_thin_free(struct orch_thin *thin)
{
    if (!thin)
        return;
    g_array_unref(thin->buckets);
    g_free(thin);
}

/* Division that rounds down, for negative steps too. */
static int64_t index_of(int64_t step, int64_t width)
{
    return step >= 0 ? step / width : -((-(step + 1)) / width) - 1;
}

static void keep(struct bucket *b, const struct orch_thin_point *p)
{
    int which = isnan(p->value) ? NO_NUMBER : LEAST;
    if (which == NO_NUMBER) {
        b->kept[NO_NUMBER] = *p;
        b->has[NO_NUMBER] = true;
        return;
    }
    if (!b->has[LEAST] || p->value < b->kept[LEAST].value)
        b->kept[LEAST] = *p;
    if (!b->has[GREATEST] || p->value > b->kept[GREATEST].value)
        b->kept[GREATEST] = *p;
    b->has[LEAST] = b->has[GREATEST] = true;
}

/* Position of the bucket with this index, or where to insert it. */
static guint find(const GArray *buckets, int64_t index)
{
    guint from = 0, to = buckets->len;
    while (from < to) {
        guint middle = from + (to - from) / 2;
        if (g_array_index(buckets, struct bucket, middle).index < index)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Doubles the width by merging neighbours. */
static void widen(struct orch_thin *thin)
{
    guint left = 0;
    thin->width *= 2;
    for (guint i = 0; i < thin->buckets->len; i++) {
        struct bucket b = g_array_index(thin->buckets, struct bucket, i);
        b.index = index_of(b.index, 2);
        struct bucket *before =
            left ? &g_array_index(thin->buckets, struct bucket, left - 1) : NULL;
        if (!before || before->index != b.index) {
            g_array_index(thin->buckets, struct bucket, left++) = b;
            continue;
        }
        for (int k = 0; k < KEPT; k++)
            if (b.has[k])
                keep(before, &b.kept[k]);
    }
    g_array_set_size(thin->buckets, left);
}

void orch_thin_add(struct orch_thin *thin, const struct orch_thin_point *point)
{
    if (thin->count++ == 0 || point->step < thin->first.step)
        thin->first = *point;
    if (thin->count == 1 || point->step >= thin->last.step)
        thin->last = *point;
    int64_t index = index_of(point->step, thin->width);
    guint len = thin->buckets->len;
    struct bucket *newest = len ? &g_array_index(thin->buckets, struct bucket, len - 1) : NULL;
    guint at = len && index == newest->index ? len - 1 : find(thin->buckets, index);
    if (at == len || g_array_index(thin->buckets, struct bucket, at).index != index) {
        struct bucket fresh = {.index = index};
        g_array_insert_val(thin->buckets, at, fresh);
    }
    keep(&g_array_index(thin->buckets, struct bucket, at), point);
    while (thin->buckets->len > thin->limit && thin->width < INT64_MAX / 4)
        widen(thin);
}

int64_t orch_thin_count(const struct orch_thin *thin)
{
    return thin->count;
}

int64_t orch_thin_width(const struct orch_thin *thin)
{
    return thin->width;
}

static int by_step(gconstpointer a, gconstpointer b)
{
    int64_t left = ((const struct orch_thin_point *)a)->step;
    int64_t right = ((const struct orch_thin_point *)b)->step;
    return (left > right) - (left < right);
}

GArray *orch_thin_points(const struct orch_thin *thin)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct orch_thin_point));
    if (thin->count) {
        g_array_append_val(all, thin->first);
        g_array_append_val(all, thin->last);
    }
    for (guint i = 0; i < thin->buckets->len; i++) {
        struct bucket *b = &g_array_index(thin->buckets, struct bucket, i);
        for (int k = 0; k < KEPT; k++)
            if (b->has[k])
                g_array_append_val(all, b->kept[k]);
    }
    g_array_sort(all, by_step);
    guint left = 0; /* removes duplicate steps */
    for (guint i = 0; i < all->len; i++) {
        struct orch_thin_point p = g_array_index(all, struct orch_thin_point, i);
        if (left && g_array_index(all, struct orch_thin_point, left - 1).step == p.step)
            left--;
        g_array_index(all, struct orch_thin_point, left++) = p;
    }
    g_array_set_size(all, left);
    return all;
}
