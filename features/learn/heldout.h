/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Error of learned predictions on held-out rows, by group (such as a GPU), for three ways of
 * training: on the group alone, on all groups, and on all groups but this one (Justus et al.
 * 2018). */
#ifndef ORCH_FEATURES_LEARN_HELDOUT_H
#define ORCH_FEATURES_LEARN_HELDOUT_H

#include "predictors/learn/learn.h"

struct orch_heldout_group {
    char *name; /* NULL: the row for all groups together */
    size_t rows;
    /* n is 0 if there were too few rows to learn from */
    struct orch_score own, all, left_out;
};

struct orch_heldout {
    GArray *groups; /* struct orch_heldout_group in order of appearance; the last is the total */
    int folds;      /* evaluated of the five: 5, or 1 for more than ORCH_HELDOUT_ROWS rows */
};
#define ORCH_HELDOUT_ROWS 5000

/** Evaluates all three. Overrides `options->by_group`. Fails with ORCH_ERROR_USAGE if the rows have
 * no groups or no model could be fitted. Caller frees. */
struct orch_heldout *orch_heldout_evaluate(const struct orch_rows *rows,
                                           const struct orch_learn_options *options,
                                           GError **error);
void orch_heldout_free(struct orch_heldout *heldout);

#endif
