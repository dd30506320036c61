/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regression trees on binned features, of second order: what the decision tree, the forest and
 * boosting grow (Chen and Guestrin 2016; histograms as in LightGBM, Ke et al. 2017). Rows carry a
 * gradient and a weight that counts them; with G the sum of gradients and W of weights, a leaf's
 * value is -G / (W + lambda), a split's gain what it takes off the second-order loss. Missing
 * values go to the side that gains more.
 *
 * Gradients are summed as integers (fixed point), so that the order of summing, and with it the
 * number of threads, cannot show. */
#ifndef ORCH_PREDICTORS_TREE_H
#define ORCH_PREDICTORS_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORCH_BINS_MAX 255              /* of values; bin 0 is for missing ones */
#define ORCH_TREE_WEIGHT_MAX (1 << 24) /* sum of weights, above it the counts overflow */

/** Columns of numbers cut into at most ORCH_BINS_MAX bins by quantiles. */
struct orch_bins {
    size_t rows;
    int cols;
    uint8_t *bins; /* column-major */
    int *counts;   /* bins of each column, the missing one among them */
    double **cuts; /* a value above cuts[c][b-1] and not above cuts[c][b] is in bin b+1 */
};
/** `values` is column-major, cols x rows, NaN for missing. */
struct orch_bins *orch_bins_new(const double *values, size_t rows, int cols);
void orch_bins_free(struct orch_bins *bins);

struct orch_tree_node {
    int feature; /* -1: a leaf */
    uint8_t bin; /* bins up to it go left */
    bool missing_left;
    int left, right;
    double threshold; /* values up to it go left */
    double value;     /* of a leaf */
    double gain;
};
struct orch_tree {
    GArray *nodes; /* struct orch_tree_node; the root is 0, children stand behind
                      their parent, the right one next to the left */
};
void orch_tree_free(struct orch_tree *tree);

struct orch_tree_options {
    int depth;              /* at most, at least 1 */
    size_t leaf_rows;       /* at least so much weight in a leaf */
    double lambda;          /* pull of leaves to 0 */
    double gain;            /* least gain of a split */
    double feature_share;   /* of features that each split may choose from, drawn anew */
    const int8_t *monotone; /* by column: 1 never falls, -1 never rises, 0 free; NULL: all free */
    uint64_t seed;          /* of feature_share */
};

/** Grows a tree on the rows `index` (reordered), with gradients by row, weights (NULL: 1 each; the
 * gradient has the weight in it). `out_leaf` (by row, may be NULL) gets the leaf of each row of
 * `index`. */
struct orch_tree *orch_tree_grow(const struct orch_bins *bins, const float *gradient,
                                 const uint8_t *weight, uint32_t *index, size_t count,
                                 const struct orch_tree_options *options, uint32_t *out_leaf);

/** Adds scale times the tree's answer for rows `index` of the bins it was grown on. */
void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_bins *bins,
                          const uint32_t *index, size_t count, double scale, double *inout);
#endif
