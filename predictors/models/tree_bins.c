/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Binning of values, and prediction on binned values. */
#include "lib/base/reals.h"
#include "predictors/models/tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CUT_ROWS 20000 /* maximum number of rows used to find cuts */

/* ---- bins --------------------------------------------------------------------------------------
 */

/* Finds cuts between adjacent values, so that bins have about equal numbers of rows. */
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
    int low = 0; /* number of cuts below the value */
    if (isnan(value))
        return 0;
    for (int length = count; length > 0;) {
        int half = (length + 1) / 2;
        low += cuts[low + half - 1] < value ? half : 0;
        length -= half;
    }
    return (uint8_t)(low + 1);
}

static void group_columns(struct orch_tree_bins *b)
{
    int groups = (b->cols + ORCH_BIN_GROUP - 1) / ORCH_BIN_GROUP;
    b->groups = g_new0(uint64_t, MAX(b->rows * (size_t)groups, 1));
#pragma omp parallel for schedule(dynamic, 1)
    for (int g = 0; g < groups; g++) {
        uint64_t *words = b->groups + (size_t)g * b->rows;
        for (int k = 0; k < MIN(ORCH_BIN_GROUP, b->cols - g * ORCH_BIN_GROUP); k++) {
            const uint8_t *bins = b->bins + (size_t)(g * ORCH_BIN_GROUP + k) * b->rows;
            for (size_t i = 0; i < b->rows; i++)
                words[i] |= (uint64_t)bins[i] << (8 * k);
        }
    }
}

struct orch_tree_bins *orch_tree_bins_new(const double *values, size_t rows, int cols)
{
    struct orch_tree_bins *b = g_new0(struct orch_tree_bins, 1);
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
        orch_reals_sort(sorted, count);
        b->cuts[c] = find_cuts(sorted, count, &cuts);
        b->counts[c] = cuts + 2;
        for (size_t i = 0; i < rows; i++)
            b->bins[(size_t)c * rows + i] = bin_of(b->cuts[c], cuts, column[i]);
    }
    group_columns(b);
    return b;
}

void orch_tree_bins_free(struct orch_tree_bins *bins)
{
    if (!bins)
        return;
    for (int c = 0; c < bins->cols; c++)
        g_free(bins->cuts[c]);
    g_free(bins->cuts);
    g_free(bins->counts);
    g_free(bins->bins);
    g_free(bins->groups);
    g_free(bins);
}

/* ---- prediction --------------------------------------------------------------------------------
 */

void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_tree_bins *bins,
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
