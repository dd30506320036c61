/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trials to measure so that the others become best known (a design that lessens the variance
 * of what is to be forecast: V-optimality, chosen one by one). */
#ifndef ORCH_PREDICTORS_DESIGN_H
#define ORCH_PREDICTORS_DESIGN_H

#include "predictors/matrix.h"

/** Rows beyond which no design is made: its work grows with their square. */
#define ORCH_DESIGN_ROWS_MAX 2000

struct orch_design_choice {
    size_t row;
    double left; /* of the variance of all rows before the first choice, after this one: 0 to 1 */
};

/** Chooses `count` of the rows (trials without their repeats) where `may_choose`, each so that the
 * sum of the variances of all rows falls most under a linear law with a ridge prior; rows
 * `is_measured` count as known already. Numbers enter as logarithms, categories by level. Ties go
 * to the earlier row. Writes at most `count` choices in their order, and returns how many there
 * were to choose; ORCH_ERROR_USAGE for more than ORCH_DESIGN_ROWS_MAX rows (-1). */
int orch_design_choose(const struct orch_matrix *features, const bool *is_measured,
                       const bool *may_choose, int count, struct orch_design_choice *out,
                       GError **error);

#endif
