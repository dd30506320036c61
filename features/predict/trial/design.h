/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimal design of experiments: chooses the trials whose measurement reduces the variance of all
 * forecasts most (V-optimality), one at a time. */
#ifndef ORCH_FEATURES_PREDICT_DESIGN_H
#define ORCH_FEATURES_PREDICT_DESIGN_H

#include "predictors/features/matrix.h"

/** Maximum number of rows, because the cost grows with their square. */
#define ORCH_DESIGN_ROWS_MAX 2000

struct orch_design_choice {
    size_t row;
    double left; /* remaining share of the initial total variance after this choice, 0 to 1 */
};

/** Chooses `count` of the rows (one per cell, without repeats) for which `may_choose` is true. Each
 * choice minimises the total variance of all rows under a linear model with a ridge prior, given
 * the rows for which `is_measured` is true. Numbers enter as logarithms, categories one-hot. Ties
 * go to the earlier row. Writes the choices in order and returns their number, at most `count`, or
 * -1 with ORCH_ERROR_USAGE for more than ORCH_DESIGN_ROWS_MAX rows. */
int orch_design_choose(const struct orch_matrix *features, const bool *is_measured,
                       const bool *may_choose, int count, struct orch_design_choice *out,
                       GError **error);

#endif
