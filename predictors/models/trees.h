/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted trees in a compact form for prediction: 16 bytes per node, all trees in one array. */
#ifndef ORCH_PREDICTORS_TREES_H
#define ORCH_PREDICTORS_TREES_H

#include "predictors/features/json_arrays.h"
#include "predictors/models/tree.h"

struct orch_trees;
struct orch_trees *orch_trees_new(void);
void orch_trees_free(struct orch_trees *trees);

/** Appends a tree in compact form and frees it. */
void orch_trees_append(struct orch_trees *trees, struct orch_tree *tree);
size_t orch_trees_count(const struct orch_trees *trees);

/** Prepares the fast path for many rows, after all trees were added, for values with `cols`
 * columns. orch_trees_add calls it if needed. */
void orch_trees_ready(struct orch_trees *trees, int cols);

/** Adds scale times the sum of all trees' predictions. `values` is column-major, rows x cols, NaN
 * for missing. Sums in the order of the trees, independent of the number of threads. */
void orch_trees_add(struct orch_trees *trees, const double *values, size_t rows, int cols,
                    double scale, double *inout);

/** Converts to and from a JSON object, without the bins used in training. Loading fails with NULL
 * and ORCH_ERROR_RECIPE for an invalid object: a feature not below `cols`, or a child that does not
 * follow its parent. */
json_t *orch_trees_save(const struct orch_trees *trees, enum orch_save_style style);
struct orch_trees *orch_trees_load(const json_t *saved, int cols, GError **error);

#endif
