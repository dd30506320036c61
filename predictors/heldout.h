/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well learned times hold for rows that were not seen, by group (a GPU): by a model of the
 * group alone, by one model for all, and by one that saw every group but this (Justus et al. 2018).
 */
#ifndef ORCH_PREDICTORS_HELDOUT_H
#define ORCH_PREDICTORS_HELDOUT_H

#include "predictors/learn.h"

struct orch_heldout_group {
    char *name; /* NULL: all together */
    size_t rows;
    /* n is 0 where there were too few rows to learn from */
    struct orch_score own, all, left_out;
};

struct orch_heldout {
    GArray *groups; /* struct orch_heldout_group, in order of appearance; the last: all together */
    int folds;      /* of five that were judged: 5, or 1 for more than ORCH_HELDOUT_ROWS rows */
};
#define ORCH_HELDOUT_ROWS 5000

/** Rows need groups. `options->by_group` is set as each question wants it. ORCH_ERROR_USAGE: no
 * groups, or no model could be fitted. The caller frees. */
struct orch_heldout *orch_heldout_judge(const struct orch_rows *rows,
                                        const struct orch_learn_options *options, GError **error);
void orch_heldout_free(struct orch_heldout *heldout);

#endif
