/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows nearest to a point (Friedman, Bentley and Finkel 1977): boxes of rows, each cut in two
 * at its widest side. What it finds is what comparing with each row finds, to the last bit. */
#ifndef ORCH_PREDICTORS_NEAR_TREE_H
#define ORCH_PREDICTORS_NEAR_TREE_H

#include <stddef.h>
#include <stdint.h>

struct orch_near_tree;

/** `values` is row-major, rows x cols, all finite; they are copied. The caller frees. */
struct orch_near_tree *orch_near_tree_new(const double *values, size_t rows, int cols);
void orch_near_tree_free(struct orch_near_tree *tree);

struct orch_near {
    double square; /* of the distance, summed column by column */
    uint32_t row;
};
/** The `wanted` rows nearest to `point`, the nearest first, of equally near ones the earlier row;
 * returns how many there are. */
int orch_near_tree_find(const struct orch_near_tree *tree, const double *point, int wanted,
                        struct orch_near *out);
/** The same by comparing with each of `rows` rows: for a few points, that no tree is worth. */
int orch_near_find(const double *values, size_t rows, int cols, const double *point, int wanted,
                   struct orch_near *out);

#endif
