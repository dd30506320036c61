/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Second-order regression trees on binned features, used by the decision tree, the forest and
 * boosting (Chen and Guestrin 2016; histograms as in LightGBM, Ke et al. 2017). Rows have a
 * gradient and a weight (a count). With G the sum of gradients and W of weights, a leaf's value is
 * -G / (W + lambda), and a split's gain is its reduction of the second-order loss. Missing values
 * go to the side with the higher gain.
 *
 * Gradients are summed as fixed-point integers, so that results do not depend on the order of
 * summation and the number of threads. */
#ifndef ORCH_PREDICTORS_TREE_H
#define ORCH_PREDICTORS_TREE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORCH_BINS_MAX 255 /* for values; bin 0 is for missing ones */
#define ORCH_BIN_GROUP 8  /* columns whose bins stand side by side */

/** Numeric columns divided into at most ORCH_BINS_MAX bins by quantiles. */
struct orch_tree_bins {
    size_t rows;
    int cols;
    uint8_t *bins;    /* column-major */
    uint64_t *groups; /* bins by groups of ORCH_BIN_GROUP columns, a word a row and group; the bin
                         of a group's k-th column is byte k, from the lowest */
    int *counts;      /* number of bins of each column, including the one for missing values */
    double **cuts;    /* bin b+1 holds values in (cuts[c][b-1], cuts[c][b]] */
};
/** `values` is column-major, cols x rows, NaN for missing. */
struct orch_tree_bins *orch_tree_bins_new(const double *values, size_t rows, int cols);
void orch_tree_bins_free(struct orch_tree_bins *bins);

struct orch_tree_node {
    int feature; /* -1: a leaf */
    uint8_t bin; /* this and lower bins go left */
    bool missing_left;
    int left, right;
    double threshold; /* this and lower values go left */
    double value;     /* of a leaf */
    double gain;
};
struct orch_tree {
    GArray *nodes; /* struct orch_tree_node; the root is 0, children come after their parent, the
                      right one directly after the left */
};
void orch_tree_free(struct orch_tree *tree);

struct orch_tree_options {
    int depth;            /* maximum, at least 1 */
    size_t leaf_rows;     /* minimum weight of a leaf */
    double lambda;        /* shrinkage of leaves towards 0 */
    double gain;          /* minimum gain of a split */
    double feature_share; /* share of features considered, drawn anew for each split */
    const int8_t
        *monotone; /* by column: 1 non-decreasing, -1 non-increasing, 0 free; NULL: all free */
    uint64_t seed; /* for feature_share */
};

/** Grows a tree on the rows in `index` (which is reordered), with gradients and weights by row
 * (weight NULL: 1 each; gradients include the weight). `out_leaf` (by row, or NULL) receives the
 * leaf of each row in `index`. */
struct orch_tree *orch_tree_grow(const struct orch_tree_bins *bins, const float *gradient,
                                 const uint8_t *weight, uint32_t *index, size_t count,
                                 const struct orch_tree_options *options, uint32_t *out_leaf);

/** Adds scale times the tree's prediction for rows `index` of the bins it was grown on. */
void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_tree_bins *bins,
                          const uint32_t *index, size_t count, double scale, double *inout);
#endif
