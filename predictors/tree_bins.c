/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bins of values, and what trees answer. */
#include "predictors/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUT_ROWS 20000       /* cuts are found on at most so many rows */
#define BLOCK 256            /* rows that go through a tree before the next; a multiple of LANES */
#define STEPS_MAX 512        /* nodes of a tree that is made into steps */
#define LANES 8              /* rows that walk down a tree side by side */
#define THREADS_WORTH 200000 /* steps down below which threads cost more than they bring */

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
    int low = 0; /* cuts that are below */
    if (isnan(value))
        return 0;
    for (int length = count; length > 0;) {
        int half = (length + 1) / 2;
        low += cuts[low + half - 1] < value ? half : 0;
        length -= half;
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
    size_t step = rows / CUT_ROWS + 1;
#pragma omp parallel for schedule(dynamic, 1)
    for (int c = 0; c < cols; c++) {
        const double *column = values + (size_t)c * rows;
        g_autofree double *sorted = g_new(double, MAX(rows, 1));
        size_t count = 0;
        int cuts = 0;
        for (size_t i = 0; i < rows; i += step)
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

/* ---- answering ---------------------------------------------------------------------------------
 */

void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_bins *bins,
                          const uint32_t *index, size_t count, double scale, double *inout)
{
    const struct orch_tree_node *nodes = (const void *)tree->nodes->data;
    for (size_t k = 0; k < count; k++) {
        uint32_t i = index[k];
        const struct orch_tree_node *node = nodes;
        while (node->feature >= 0) {
            uint8_t bin = bins->bins[(size_t)node->feature * bins->rows + i];
            bool left = bin ? bin <= node->bin : node->missing_left;
            node = &nodes[left ? node->left : node->right];
        }
        inout[i] += scale * node->value;
    }
}

/* A node for walking without branches: a leaf is its own child on both sides. */
struct step {
    double threshold;
    uint32_t feature, child[2]; /* left, right */
    uint32_t missing_right;
};

/* Makes the steps of a tree; returns how many levels it has. */
static int make_steps(const struct orch_tree_node *nodes, guint count, struct step *out)
{
    uint8_t depth[STEPS_MAX] = {0};
    int most = 0;
    for (guint i = 0; i < count; i++) {
        const struct orch_tree_node *n = &nodes[i];
        if (n->feature < 0) {
            out[i] = (struct step){0, 0, {i, i}, 0};
            continue;
        }
        out[i] = (struct step){n->threshold,
                               (uint32_t)n->feature,
                               {(uint32_t)n->left, (uint32_t)n->right},
                               !n->missing_left};
        depth[n->left] = depth[n->right] = (uint8_t)(depth[i] + 1);
        most = MAX(most, depth[i] + 1);
    }
    return most;
}

/* LANES rows (row-major) side by side, so that the memory is asked for all of them at once. */
static void walk_steps(const struct step *steps, int depth, const double *lines, size_t cols,
                       uint32_t *at)
{
    for (int d = 0; d < depth; d++) {
        for (size_t k = 0; k < LANES; k++) {
            const struct step *s = &steps[at[k]];
            double v = lines[k * cols + s->feature];
            uint32_t right = (v > s->threshold) | (isnan(v) & s->missing_right);
            at[k] = s->child[right];
        }
    }
}

/* The same down a tree that is too large to be copied for it. */
static void walk_nodes(const struct orch_tree_node *nodes, const double *lines, size_t cols,
                       uint32_t *at)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t k = 0; k < LANES; k++) {
            const struct orch_tree_node *n = &nodes[at[k]];
            if (n->feature < 0)
                continue;
            double v = lines[k * cols + (size_t)n->feature];
            bool right = v > n->threshold || (isnan(v) && !n->missing_left);
            at[k] = (uint32_t)(right ? n->right : n->left);
            moved = true;
        }
    }
}

static void walk_tree(const struct orch_tree *tree, const double *lines, size_t some, size_t cols,
                      double scale, double *sums)
{
    const struct orch_tree_node *nodes = (const void *)tree->nodes->data;
    guint count = tree->nodes->len;
    struct step steps[STEPS_MAX];
    bool small = count <= STEPS_MAX && count <= 2 * some;
    int depth = small ? make_steps(nodes, count, steps) : 0;
    for (size_t k = 0; k < some; k += LANES) {
        uint32_t at[LANES] = {0};
        if (small)
            walk_steps(steps, depth, lines + k * cols, cols, at);
        else
            walk_nodes(nodes, lines + k * cols, cols, at);
        for (size_t i = 0; i < LANES; i++)
            sums[k + i] += scale * nodes[at[i]].value;
    }
}

/* Rows `first` on through all trees, tree by tree; sums in the trees' order. */
static void walk_block(struct orch_tree *const *trees, size_t count, const double *values,
                       size_t rows, size_t first, size_t some, size_t cols, double scale,
                       double *inout)
{
    g_autofree double *lines = g_new0(double, BLOCK *MAX(cols, 1));
    double sums[BLOCK] = {0};
    for (size_t c = 0; c < cols; c++)
        for (size_t k = 0; k < some; k++)
            lines[k * cols + c] = values[c * rows + first + k];
    for (size_t t = 0; t < count; t++)
        walk_tree(trees[t], lines, some, cols, scale, sums);
    for (size_t k = 0; k < some; k++)
        inout[first + k] += sums[k];
}

void orch_trees_add(struct orch_tree *const *trees, size_t count, const double *values, size_t rows,
                    int cols, double scale, double *inout)
{
    bool worth = rows * count * 6 > THREADS_WORTH;
#pragma omp parallel for schedule(static) if (worth)
    for (size_t first = 0; first < rows; first += BLOCK)
        walk_block(trees, count, values, rows, first, MIN(rows - first, BLOCK), (size_t)cols, scale,
                   inout);
}
