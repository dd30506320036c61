/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nearest rows to a point, by a k-d tree (Friedman, Bentley and Finkel 1977) that splits each box
 * at its widest side. Results are bit-identical to those of comparing with every row. */
#ifndef ORCH_PREDICTORS_NEAR_TREE_H
#define ORCH_PREDICTORS_NEAR_TREE_H

#include "predictors/numbers/near_list.h"

#include <stddef.h>

struct orch_near_tree;

/** `values` is row-major, rows x cols, all finite; they are copied. Caller frees. */
struct orch_near_tree *orch_near_tree_new(const double *values, size_t rows, int cols);
void orch_near_tree_free(struct orch_near_tree *tree);

/** Finds the `wanted` rows nearest to `point`, nearest first; of equally near rows, the earlier one
 * is first. Returns their number. */
int orch_near_tree_find(const struct orch_near_tree *tree, const double *point, int wanted,
                        struct orch_neighbour *out);

#endif
