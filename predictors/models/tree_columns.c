/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns are filled together since one row after the other mostly falls into the same few bins of
 * a column: sums of different columns do not wait for one another. */
#include "predictors/models/tree_private.h"

#include <math.h>
#include <string.h>

#define SPARSE_ROWS 100 /* with at most this many rows only the occupied bins are visited */

double orch_tree_leaf_value(const struct grower *w, packed p, double low, double high)
{
    double value =
        -(double)packed_gradient(p) * w->unit / ((double)packed_weight(p) + w->o->lambda);
    return CLAMP(value, low, high);
}

/* Reduction of the second-order loss by a leaf with this value. */
static double score(const struct grower *w, packed p, double value)
{
    double g = (double)packed_gradient(p) * w->unit, h = (double)packed_weight(p) + w->o->lambda;
    return -(g * value + 0.5 * h * value * value);
}

static void consider_bounded(const struct grower *w, const struct task *t, struct split s,
                             struct split *best)
{
    packed right = t->all - s.left;
    double a = orch_tree_leaf_value(w, s.left, t->low, t->high),
           b = orch_tree_leaf_value(w, right, t->low, t->high);
    int sign = w->o->monotone[s.feature];
    if ((sign > 0 && a > b) || (sign < 0 && a < b))
        return;
    double whole = orch_tree_leaf_value(w, t->all, t->low, t->high);
    s.gain = score(w, s.left, a) + score(w, right, b) - score(w, t->all, whole);
    if (s.gain > best->gain)
        *best = s;
}

static void consider(const struct grower *w, const struct task *t, struct split s,
                     struct split *best)
{
    packed right = t->all - s.left;
    int64_t least = (int64_t)w->o->leaf_rows;
    if (packed_weight(s.left) < least || packed_weight(right) < least)
        return;
    if (w->o->monotone) {
        consider_bounded(w, t, s, best);
        return;
    }
    double a = (double)packed_gradient(s.left), b = (double)packed_gradient(right);
    double ha = (double)packed_weight(s.left) + w->o->lambda;
    double hb = (double)packed_weight(right) + w->o->lambda;
    s.gain = (a * a * hb + b * b * ha) / (ha * hb);
    if (s.gain > best->gain)
        *best = s;
}

static void consider_bin(const struct grower *w, const struct task *t, int c, int bin, packed sum,
                         packed missing, struct split *best)
{
    consider(w, t, (struct split){c, bin, false, 0, sum}, best);
    if (missing)
        consider(w, t, (struct split){c, bin, true, 0, sum + missing}, best);
}

/* The split of present against missing values. */
static void consider_missing(const struct grower *w, const struct task *t, int c, packed missing,
                             struct split *best)
{
    if (missing)
        consider(w, t, (struct split){c, w->bins->counts[c] - 1, false, 0, t->all - missing}, best);
}

struct split orch_tree_no_split(void)
{
    return (struct split){.feature = -1, .gain = -(double)INFINITY};
}

/* Fast path for columns without bounds and missing values. Its gains are correct up to a factor and
 * a constant shared by all splits of the node. */
static void search_plain(const struct grower *w, const struct task *t, int c,
                         const packed *histogram, struct split *best)
{
    const double lambda = w->o->lambda, all = (double)packed_gradient(t->all);
    const int64_t weight = packed_weight(t->all), least = MAX((int64_t)w->o->leaf_rows, 1);
    const int last = w->bins->counts[c] - 1;
    double most = best->gain;
    packed sum = 0, left = 0;
    int bin = -1;
    for (int b = 1; b < last; b++) {
        if (!histogram[b])
            continue;
        sum += histogram[b];
        int64_t count = packed_weight(sum);
        if (count < least)
            continue;
        if (weight - count < least)
            break;
        double ga = (double)packed_gradient(sum), gb = all - ga;
        double ha = (double)count + lambda, hb = (double)(weight - count) + lambda;
        double gain = (ga * ga * hb + gb * gb * ha) / (ha * hb);
        if (gain > most) {
            most = gain;
            bin = b;
            left = sum;
        }
    }
    if (bin >= 0)
        *best = (struct split){c, bin, false, most, left};
}

static void search(const struct grower *w, const struct task *t, int c, const packed *histogram,
                   struct split *best)
{
    packed sum = 0;
    if (!w->o->monotone && !histogram[0]) {
        search_plain(w, t, c, histogram, best);
        return;
    }
    for (int b = 1; b < w->bins->counts[c] - 1; b++) {
        sum += histogram[b];
        if (histogram[b])
            consider_bin(w, t, c, b, sum, histogram[0], best);
    }
    consider_missing(w, t, c, histogram[0], best);
}

static void fill(const struct grower *w, const struct task *t, int c, packed *out)
{
    const uint8_t *bins = w->bins->bins + (size_t)c * w->bins->rows;
    memset(out, 0, sizeof(packed) * (size_t)w->bins->counts[c]);
    for (size_t i = t->begin; i < t->end; i++)
        out[bins[w->index[i]]] += w->sorted[i];
}

static int columns_of(const struct grower *w, int group)
{
    return MIN(ORCH_BIN_GROUP, w->bins->cols - group * ORCH_BIN_GROUP);
}

/* Adds the rows to `columns` histograms, which is a constant in each call below. */
static inline __attribute__((always_inline)) void add_rows(const struct grower *w,
                                                           const struct task *t,
                                                           const uint64_t *words, int columns,
                                                           packed *out)
{
    for (size_t i = t->begin; i < t->end; i++) {
        uint64_t word = words[w->index[i]];
        packed p = w->sorted[i];
#pragma GCC unroll 8
        for (int k = 0; k < columns; k++)
            out[(size_t)k * BINS + (uint8_t)(word >> (8 * k))] += p;
    }
}

/* The histograms of a group's columns, BINS apart. */
static void fill_group(const struct grower *w, const struct task *t, int group, packed *out)
{
    const uint64_t *words = w->bins->groups + (size_t)group * w->bins->rows;
    int columns = columns_of(w, group);
    for (int k = 0; k < columns; k++)
        memset(out + (size_t)k * BINS, 0,
               sizeof *out * (size_t)w->bins->counts[group * ORCH_BIN_GROUP + k]);
    switch (columns) {
    case 1:
        add_rows(w, t, words, 1, out);
        break;
    case 2:
        add_rows(w, t, words, 2, out);
        break;
    case 3:
        add_rows(w, t, words, 3, out);
        break;
    case 4:
        add_rows(w, t, words, 4, out);
        break;
    case 5:
        add_rows(w, t, words, 5, out);
        break;
    case 6:
        add_rows(w, t, words, 6, out);
        break;
    case 7:
        add_rows(w, t, words, 7, out);
        break;
    default:
        add_rows(w, t, words, ORCH_BIN_GROUP, out);
    }
}

/* Searches a column if the task may split it. */
static void search_allowed(const struct grower *w, struct task *t, int c, const packed *own)
{
    if (t->found[c].bin)
        search(w, t, c, own, &t->found[c]);
}

/* For few rows. `clear` must be all 0 and is all 0 again on return. */
static void search_sparse(const struct grower *w, const struct task *t, int c, packed *clear,
                          struct split *best)
{
    const uint8_t *bins = w->bins->bins + (size_t)c * w->bins->rows;
    uint64_t hit[BINS / 64] = {0};
    for (size_t i = t->begin; i < t->end; i++) {
        uint8_t bin = bins[w->index[i]];
        clear[bin] += w->sorted[i];
        hit[bin / 64] |= 1ull << (bin % 64);
    }
    packed missing = clear[0], sum = 0;
    clear[0] = 0;
    hit[0] &= ~1ull;
    int last = w->bins->counts[c] - 1;
    for (int word = 0; word < BINS / 64; word++) {
        for (uint64_t left = hit[word]; left; left &= left - 1) {
            int bin = 64 * word + __builtin_ctzll(left);
            sum += clear[bin];
            clear[bin] = 0;
            if (bin < last)
                consider_bin(w, t, c, bin, sum, missing, best);
        }
    }
    consider_missing(w, t, c, missing, best);
}

void orch_tree_search_column(const struct grower *w, struct task *t, int c, packed *clear)
{
    if (rows_of(t) <= SPARSE_ROWS) {
        search_sparse(w, t, c, clear, &t->best);
    } else {
        packed histogram[BINS];
        fill(w, t, c, histogram);
        search(w, t, c, histogram, &t->best);
    }
}

void orch_tree_search_group(const struct grower *w, struct task *t, struct task *small, int group)
{
    const size_t first = (size_t)group * ORCH_BIN_GROUP * BINS;
    packed *own = t->histograms + first, *other = NULL;
    packed local[ORCH_BIN_GROUP * BINS];
    if (small)
        other = small->histograms ? small->histograms + first : local;
    fill_group(w, small ? small : t, group, small ? other : own);
    for (int k = 0; k < columns_of(w, group); k++, own += BINS) {
        int c = group * ORCH_BIN_GROUP + k;
        if (small) {
            for (int b = 0; b < w->bins->counts[c]; b++)
                own[b] -= other[b];
            search_allowed(w, small, c, other);
            other += BINS;
        }
        search_allowed(w, t, c, own);
    }
}
