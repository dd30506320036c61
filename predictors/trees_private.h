/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inside of predictors/trees. */
#ifndef ORCH_PREDICTORS_TREES_PRIVATE_H
#define ORCH_PREDICTORS_TREES_PRIVATE_H

#include "predictors/trees.h"

#define ORCH_TREES_BLOCK 512 /* rows that go through a tree before the next */

/** A leaf is its own child on either side, so that walking needs no branches. */
struct orch_step {
    double number;   /* values up to it go left; a leaf's answer */
    uint32_t left;   /* within its tree; the right child stands behind the left one */
    uint16_t column; /* 0 for a leaf */
    uint8_t missing_right;
    uint8_t inner; /* 0: a leaf */
};

struct orch_ranked;
struct orch_trees {
    GArray *steps;              /* struct orch_step */
    GArray *roots;              /* guint, where each tree begins */
    struct orch_ranked *ranked; /* NULL: not made yet, or they have too many cuts */
    gsize made;                 /* for g_once_init_enter: 0: not tried yet */
};

/** The same trees over ranks: of each column's cuts how many a value is above, in a byte. So a
 * block of rows fits the cache, and a node says in one word where to go. NULL: a column has more
 * cuts than a byte counts. The caller frees. */
struct orch_ranked *orch_ranked_new(const struct orch_trees *trees, int cols);
void orch_ranked_free(struct orch_ranked *ranked);
/** Adds scale times each tree's answer for rows first .. first + some (at most ORCH_TREES_BLOCK) to
 * `inout`, by row of the block; the same to the last bit as going by the values themselves. */
void orch_ranked_add(const struct orch_ranked *ranked, const double *values, size_t rows,
                     size_t first, size_t some, double scale, double *inout);

#endif
