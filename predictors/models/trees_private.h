/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of predictors/trees. */
#ifndef ORCH_PREDICTORS_TREES_PRIVATE_H
#define ORCH_PREDICTORS_TREES_PRIVATE_H

#include "predictors/models/trees.h"

#define ORCH_TREES_BLOCK 512 /* rows that pass through one tree before the next */

/** A leaf is its own child on both sides, so that descending needs no branches. */
struct orch_tree_step {
    double number;   /* threshold: this and lower values go left; a leaf's value */
    uint32_t left;   /* index within its tree; the right child follows the left one */
    uint16_t column; /* 0 for a leaf */
    uint8_t missing_right;
    uint8_t inner; /* 0: a leaf */
};

struct orch_ranked;
struct orch_trees {
    GArray *steps;              /* struct orch_tree_step */
    GArray *roots;              /* guint: start of each tree */
    struct orch_ranked *ranked; /* NULL: not built, or a column has too many cuts */
    gsize made;                 /* for g_once_init_enter; 0: not tried yet */
};

/** The same trees over ranks. The rank of a value is the number of its column's cuts below it, in
 * one byte, so a block of rows fits the cache and a node fits one word. Returns NULL if a column
 * has more cuts than a byte can count. Caller frees. */
struct orch_ranked *orch_ranked_new(const struct orch_trees *trees, int cols);
void orch_ranked_free(struct orch_ranked *ranked);
/** Adds scale times each tree's prediction for rows first .. first + some (at most
 * ORCH_TREES_BLOCK) to `inout`, indexed by row of the block. Bit-identical to prediction from the
 * values themselves. */
void orch_ranked_add(const struct orch_ranked *ranked, const double *values, size_t rows,
                     size_t first, size_t some, double scale, double *inout);

#endif
