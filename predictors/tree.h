/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regression trees on binned features, of second order: what the decision tree, the forest and
 * boosting grow (Chen and Guestrin 2016; histograms as in LightGBM, Ke et al. 2017). Rows carry a
 * gradient g and a curvature h; a leaf's value is -sum g / (sum h + lambda), a split's gain what it
 * takes off the second-order loss. Missing values go to the side that gains more. */
#ifndef ORCH_PREDICTORS_TREE_H
#define ORCH_PREDICTORS_TREE_H

#include "predictors/save.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORCH_BINS_MAX 255 /* of values; bin 0 is for missing ones */

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
    GArray *nodes; /* struct orch_tree_node; the root is 0 */
};
void orch_tree_free(struct orch_tree *tree);

struct orch_tree_options {
    int depth;              /* at most, at least 1 */
    size_t leaf_rows;       /* at least so many rows in a leaf */
    double lambda;          /* pull of leaves to 0 */
    double gain;            /* least gain of a split */
    double feature_share;   /* of features that each split may choose from, drawn anew */
    const int8_t *monotone; /* by column: 1 never falls, -1 never rises, 0 free; NULL: all free */
    bool threads;           /* grow one tree with several threads (the result is the same) */
};

/** Grows a tree on the rows `index` (reordered), with gradients and curvatures by row. `random` is
 * used for feature_share alone. */
struct orch_tree *orch_tree_grow(const struct orch_bins *bins, const float *gradient,
                                 const float *curvature, uint32_t *index, size_t count,
                                 const struct orch_tree_options *options, uint64_t *random);

/** Adds scale times the tree's answer for every row of the bins it was grown on. */
void orch_tree_add_binned(const struct orch_tree *tree, const struct orch_bins *bins, double scale,
                          double *inout);
/** The same for values, column-major. */
void orch_tree_add(const struct orch_tree *tree, const double *values, size_t rows, double scale,
                   double *inout);

/** Trees (struct orch_tree *) as a JSON object, and back: what values are answered with, not the
 * bins. NULL with ORCH_ERROR_RECIPE for what is broken: a feature that is none of `cols`, a child
 * that does not follow its parent. */
json_t *orch_trees_save(const GPtrArray *trees, enum orch_save_style style);
GPtrArray *orch_trees_load(const json_t *saved, int cols, GError **error);

#endif
