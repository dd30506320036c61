/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/tree.h"

#include "predictors/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_WORTH 40000 /* rows times columns below which threads cost more than they bring */

/* ---- bins --------------------------------------------------------------------------------------
 */

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Cuts between neighbouring values, so that each bin has about as many rows. */
static double *find_cuts(double *sorted, size_t count, int *out_cuts)
{
    double *cuts = g_new(double, ORCH_BINS_MAX);
    size_t distinct = count > 0;
    for (size_t i = 1; i < count; i++)
        distinct += sorted[i] > sorted[i - 1];
    double share = distinct <= ORCH_BINS_MAX ? 0 : (double)count / ORCH_BINS_MAX;
    int n = 0;
    size_t in_bin = 0, taken = 0;
    for (size_t i = 0; i < count; i++) {
        in_bin++;
        bool ends = i + 1 < count && sorted[i + 1] > sorted[i];
        bool full = (double)(taken + in_bin) >= share * (n + 1);
        if (ends && full && n < ORCH_BINS_MAX - 1) {
            cuts[n++] = sorted[i] + (sorted[i + 1] - sorted[i]) / 2;
            taken += in_bin;
            in_bin = 0;
        }
    }
    *out_cuts = n;
    return cuts;
}

static uint8_t bin_of(const double *cuts, int count, double value)
{
    int low = 0, high = count; /* the first cut that is not below */
    if (isnan(value))
        return 0;
    while (low < high) {
        int middle = (low + high) / 2;
        if (cuts[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (uint8_t)(low + 1);
}

struct orch_bins *orch_bins_new(const double *values, size_t rows, int cols)
{
    struct orch_bins *b = g_new0(struct orch_bins, 1);
    b->rows = rows;
    b->cols = cols;
    b->bins = g_new(uint8_t, MAX(rows * (size_t)cols, 1));
    b->counts = g_new0(int, MAX(cols, 1));
    b->cuts = g_new0(double *, MAX(cols, 1));
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < cols; c++) {
        const double *column = values + (size_t)c * rows;
        g_autofree double *sorted = g_new(double, MAX(rows, 1));
        size_t count = 0;
        int cuts = 0;
        for (size_t i = 0; i < rows; i++)
            if (!isnan(column[i]))
                sorted[count++] = column[i];
        qsort(sorted, count, sizeof *sorted, compare_reals);
        b->cuts[c] = find_cuts(sorted, count, &cuts);
        b->counts[c] = cuts + 2;
        for (size_t i = 0; i < rows; i++)
            b->bins[(size_t)c * rows + i] = bin_of(b->cuts[c], cuts, column[i]);
    }
    return b;
}

void orch_bins_free(struct orch_bins *bins)
{
    if (!bins)
        return;
    for (int c = 0; c < bins->cols; c++)
        g_free(bins->cuts[c]);
    g_free(bins->cuts);
    g_free(bins->counts);
    g_free(bins->bins);
    g_free(bins);
}

/* ---- growing -----------------------------------------------------------------------------------
 */

struct sum {
    double g, h;
};

#define BINS (ORCH_BINS_MAX + 1)

struct histogram {
    struct sum sums[BINS];
    uint32_t rows[BINS];
};

struct split {
    int feature;
    int bin;
    bool missing_left;
    double gain;
    struct sum left;
    size_t left_rows;
};

struct grower {
    const struct orch_bins *bins;
    const float *g, *h;
    uint32_t *index;
    const struct orch_tree_options *o;
    uint64_t *random;
    struct orch_tree *tree;
    GPtrArray *spare;           /* struct histogram * of all columns, to be used again */
    uint32_t *scratch;          /* as long as index */
    float *sorted_g, *sorted_h; /* gradients in the order of index */
};

static struct histogram *take_histograms(struct grower *w)
{
    if (w->spare->len)
        return g_ptr_array_steal_index_fast(w->spare, w->spare->len - 1);
    return g_new(struct histogram, (size_t)w->bins->cols);
}

static void fill_column(const struct grower *w, int c, size_t begin, size_t end,
                        struct histogram *out)
{
    const uint8_t *bins = w->bins->bins + (size_t)c * w->bins->rows;
    memset(out->sums, 0, sizeof(struct sum) * (size_t)w->bins->counts[c]);
    memset(out->rows, 0, sizeof(uint32_t) * (size_t)w->bins->counts[c]);
    for (size_t i = begin; i < end; i++) {
        uint8_t bin = bins[w->index[i]];
        out->sums[bin].g += (double)w->sorted_g[i];
        out->sums[bin].h += (double)w->sorted_h[i];
        out->rows[bin]++;
    }
}

static void fill(const struct grower *w, size_t begin, size_t end, struct histogram *out)
{
    int cols = w->bins->cols;
    bool worth = w->o->threads && (end - begin) * (size_t)cols > THREADS_WORTH;
#pragma omp parallel for schedule(static) if (worth)
    for (int c = 0; c < cols; c++)
        fill_column(w, c, begin, end, &out[c]);
}

/* What is left of the parent when one child is taken off. */
static void subtract(const struct grower *w, struct histogram *parent,
                     const struct histogram *child)
{
    for (int c = 0; c < w->bins->cols; c++) {
        for (int b = 0; b < w->bins->counts[c]; b++) {
            parent[c].sums[b].g -= child[c].sums[b].g;
            parent[c].sums[b].h -= child[c].sums[b].h;
            parent[c].rows[b] -= child[c].rows[b];
        }
    }
}

struct task {
    int node;
    size_t begin, end;
    int depth;
    struct sum all;
    double low, high; /* bounds of its leaves, from monotone splits above */
    struct histogram *histograms;
};

static double value_of(const struct grower *w, struct sum s, double low, double high)
{
    double value = -s.g / (s.h + w->o->lambda);
    return CLAMP(value, low, high);
}

/* Second-order loss of a leaf with its best (bounded) value, from above 0. */
static double score(const struct grower *w, struct sum s, double value)
{
    return -(s.g * value + 0.5 * (s.h + w->o->lambda) * value * value);
}

static void consider(const struct grower *w, const struct task *t, int c, int bin,
                     bool missing_left, struct sum left, size_t left_rows, double whole,
                     struct split *best)
{
    size_t rows = t->end - t->begin;
    struct sum right = {t->all.g - left.g, t->all.h - left.h};
    if (left_rows < w->o->leaf_rows || rows - left_rows < w->o->leaf_rows)
        return;
    double a = value_of(w, left, t->low, t->high), b = value_of(w, right, t->low, t->high);
    int sign = w->o->monotone ? w->o->monotone[c] : 0;
    if ((sign > 0 && a > b) || (sign < 0 && a < b))
        return;
    double gain = score(w, left, a) + score(w, right, b) - whole;
    if (gain > best->gain)
        *best = (struct split){c, bin, missing_left, gain, left, left_rows};
}

static void search_column(const struct grower *w, const struct task *t, int c, double whole,
                          struct split *best)
{
    const struct histogram *histogram = &t->histograms[c];
    struct sum missing = histogram->sums[0], sum = {0};
    size_t rows = 0, missing_rows = histogram->rows[0];
    for (int b = 1; b < w->bins->counts[c] - 1; b++) {
        sum.g += histogram->sums[b].g;
        sum.h += histogram->sums[b].h;
        rows += histogram->rows[b];
        if (!histogram->rows[b])
            continue;
        consider(w, t, c, b, false, sum, rows, whole, best);
        if (missing_rows) {
            struct sum with = {sum.g + missing.g, sum.h + missing.h};
            consider(w, t, c, b, true, with, rows + missing_rows, whole, best);
        }
    }
    if (missing_rows && missing_rows < t->end - t->begin) { /* all that is there against the rest */
        int last = w->bins->counts[c] - 1;
        struct sum there = {t->all.g - missing.g, t->all.h - missing.h};
        consider(w, t, c, last, false, there, t->end - t->begin - missing_rows, whole, best);
    }
}

static struct split search(const struct grower *w, const struct task *t)
{
    struct split best = {.feature = -1, .gain = w->o->gain};
    double own = value_of(w, t->all, t->low, t->high), whole = score(w, t->all, own);
    int wanted = MAX(1, (int)ceil(w->o->feature_share * w->bins->cols)), left = w->bins->cols;
    for (int c = 0; c < w->bins->cols && wanted > 0; c++, left--) {
        if (w->o->feature_share < 1 && orch_random_unit(w->random) * left >= wanted)
            continue; /* Knuth's choice of `wanted` of those left */
        wanted -= w->o->feature_share < 1;
        search_column(w, t, c, whole, &best);
    }
    return best;
}

/* Rows of the left side first, in their order. Returns where the right side begins. */
static size_t partition(struct grower *w, const struct task *t, const struct split *s)
{
    const uint8_t *bins = w->bins->bins + (size_t)s->feature * w->bins->rows;
    size_t left = t->begin, right = 0;
    for (size_t i = t->begin; i < t->end; i++) {
        uint8_t bin = bins[w->index[i]];
        bool goes_left = bin ? bin <= s->bin : s->missing_left;
        if (goes_left)
            w->index[left++] = w->index[i];
        else
            w->scratch[right++] = w->index[i];
    }
    memcpy(w->index + left, w->scratch, right * sizeof *w->index);
    for (size_t i = t->begin; i < t->end; i++) {
        w->sorted_g[i] = w->g[w->index[i]];
        w->sorted_h[i] = w->h[w->index[i]];
    }
    return left;
}

static int add_node(struct grower *w)
{
    struct orch_tree_node node = {.feature = -1};
    g_array_append_val(w->tree->nodes, node);
    return (int)w->tree->nodes->len - 1;
}

static struct orch_tree_node *node_at(struct grower *w, int id)
{
    return &g_array_index(w->tree->nodes, struct orch_tree_node, id);
}

static void grow(struct grower *w, struct task t);

static void split_node(struct grower *w, const struct task *t, const struct split *s)
{
    size_t middle = partition(w, t, s);
    int left = add_node(w), right = add_node(w);
    struct orch_tree_node *node = node_at(w, t->node);
    *node = (struct orch_tree_node){.feature = s->feature,
                                    .bin = (uint8_t)s->bin,
                                    .missing_left = s->missing_left,
                                    .left = left,
                                    .right = right,
                                    .threshold = s->bin <= w->bins->counts[s->feature] - 2
                                                     ? w->bins->cuts[s->feature][s->bin - 1]
                                                     : (double)INFINITY,
                                    .gain = s->gain};
    struct sum other = {t->all.g - s->left.g, t->all.h - s->left.h};
    struct task a = {left, t->begin, middle, t->depth + 1, s->left, t->low, t->high, NULL};
    struct task b = {right, middle, t->end, t->depth + 1, other, t->low, t->high, NULL};
    int sign = w->o->monotone ? w->o->monotone[s->feature] : 0;
    if (sign) {
        double between =
            (value_of(w, a.all, t->low, t->high) + value_of(w, b.all, t->low, t->high)) / 2;
        *(sign > 0 ? &a.high : &a.low) = between;
        *(sign > 0 ? &b.low : &b.high) = between;
    }
    if (t->depth + 1 < w->o->depth) {
        struct task *small = a.end - a.begin < b.end - b.begin ? &a : &b;
        struct task *large = small == &a ? &b : &a;
        small->histograms = take_histograms(w);
        fill(w, small->begin, small->end, small->histograms);
        large->histograms = t->histograms;
        subtract(w, large->histograms, small->histograms);
    }
    grow(w, a);
    grow(w, b);
}

static void grow(struct grower *w, struct task t)
{
    struct split s = {.feature = -1};
    if (t.histograms && t.end - t.begin >= 2 * w->o->leaf_rows)
        s = search(w, &t);
    bool keeps = t.histograms != NULL;
    if (s.feature < 0) {
        node_at(w, t.node)->value = value_of(w, t.all, t.low, t.high);
    } else {
        keeps = t.depth + 1 >= w->o->depth; /* else a child took them over */
        split_node(w, &t, &s);
    }
    if (keeps)
        g_ptr_array_add(w->spare, t.histograms);
}

struct orch_tree *orch_tree_grow(const struct orch_bins *bins, const float *gradient,
                                 const float *curvature, uint32_t *index, size_t count,
                                 const struct orch_tree_options *options, uint64_t *random)
{
    struct grower w = {.bins = bins,
                       .g = gradient,
                       .h = curvature,
                       .index = index,
                       .o = options,
                       .random = random};
    w.tree = g_new0(struct orch_tree, 1);
    w.tree->nodes = g_array_new(FALSE, FALSE, sizeof(struct orch_tree_node));
    w.spare = g_ptr_array_new_with_free_func(g_free);
    w.scratch = g_new(uint32_t, MAX(count, 1));
    w.sorted_g = g_new(float, MAX(count, 1));
    w.sorted_h = g_new(float, MAX(count, 1));
    struct task root = {
        .node = add_node(&w), .end = count, .low = -(double)INFINITY, .high = (double)INFINITY};
    for (size_t i = 0; i < count; i++) {
        w.sorted_g[i] = gradient[index[i]];
        w.sorted_h[i] = curvature[index[i]];
        root.all.g += (double)w.sorted_g[i];
        root.all.h += (double)w.sorted_h[i];
    }
    root.histograms = take_histograms(&w);
    fill(&w, 0, count, root.histograms);
    grow(&w, root);
    g_ptr_array_unref(w.spare);
    g_free(w.scratch);
    g_free(w.sorted_g);
    g_free(w.sorted_h);
    return w.tree;
}

void orch_tree_free(struct orch_tree *tree)
{
    if (!tree)
        return;
    g_array_unref(tree->nodes);
    g_free(tree);
}

/* ---- answering ---------------------------------------------------------------------------------
 */

void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_bins *bins, double scale,
                          double *inout)
{
    const struct orch_tree_node *nodes = (const void *)tree->nodes->data;
    for (size_t i = 0; i < bins->rows; i++) {
        const struct orch_tree_node *node = nodes;
        while (node->feature >= 0) {
            uint8_t bin = bins->bins[(size_t)node->feature * bins->rows + i];
            bool left = bin ? bin <= node->bin : node->missing_left;
            node = &nodes[left ? node->left : node->right];
        }
        inout[i] += scale * node->value;
    }
}

void orch_tree_add(const struct orch_tree *tree, const double *values, size_t rows, double scale,
                   double *inout)
{
    const struct orch_tree_node *nodes = (const void *)tree->nodes->data;
    for (size_t i = 0; i < rows; i++) {
        const struct orch_tree_node *node = nodes;
        while (node->feature >= 0) {
            double value = values[(size_t)node->feature * rows + i];
            bool left = isnan(value) ? node->missing_left : value <= node->threshold;
            node = &nodes[left ? node->left : node->right];
        }
        inout[i] += scale * node->value;
    }
}
