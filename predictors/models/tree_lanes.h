/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Columns that share a histogram. A histogram of one bundle of columns with few values each, over
 * the combinations of their values that occur, has the histograms of all of them as its sums
 * (exclusive features of LightGBM, Ke et al. 2017, are a case of it): a row is then added once, not
 * once a column. All that is known of a GPU takes one column of as many codes as there are GPUs.
 * Equal columns share one as they are.
 */
#ifndef ORCH_PREDICTORS_TREE_LANES_H
#define ORCH_PREDICTORS_TREE_LANES_H

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

struct orch_tree_member {
    int column;
    uint8_t *bin_of; /* by code; NULL: the code is the bin */
};

struct orch_tree_lane {
    int codes;       /* at most 256 */
    uint8_t *code;   /* by row; borrowed where the code is a column's bin */
    GArray *members; /* struct orch_tree_member */
};

/** Finds the lanes of column-major bins: struct orch_tree_lane *. The caller unrefs; the codes of
 * lanes may be those of `bins`. */
GPtrArray *orch_tree_lanes_find(uint8_t *bins, size_t rows, int cols, const int *counts);

#endif
