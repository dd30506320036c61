/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitted trees, packed for answering: 16 bytes a node, all trees in one piece. */
#ifndef ORCH_PREDICTORS_TREES_H
#define ORCH_PREDICTORS_TREES_H

#include "predictors/save.h"
#include "predictors/tree.h"

struct orch_trees;
struct orch_trees *orch_trees_new(void);
void orch_trees_free(struct orch_trees *trees);

/** Packs a tree behind the others and frees it. */
void orch_trees_take(struct orch_trees *trees, struct orch_tree *tree);
size_t orch_trees_count(const struct orch_trees *trees);

/** Makes what many rows are answered with, once all trees are taken, for values of `cols` columns;
 * orch_trees_add does it where it was not done. */
void orch_trees_ready(struct orch_trees *trees, int cols);

/** Adds scale times the sum of all trees' answers; `values` is column-major, rows x cols, NaN for
 * missing; sums in the trees' order, the same for every number of threads. */
void orch_trees_add(struct orch_trees *trees, const double *values, size_t rows, int cols,
                    double scale, double *inout);

/** As a JSON object, and back: what values are answered with, not the bins. NULL with
 * ORCH_ERROR_RECIPE for what is broken: a feature that is none of `cols`, a child that does not
 * follow its parent. */
json_t *orch_trees_save(const struct orch_trees *trees, enum orch_save_style style);
struct orch_trees *orch_trees_load(const json_t *saved, int cols, GError **error);

#endif
