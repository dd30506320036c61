/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trials as points for a law of products: numbers as logarithms, categories a column for each
 * level, and how strange a row is to those that were measured. */
#ifndef ORCH_PREDICTORS_LOGS_H
#define ORCH_PREDICTORS_LOGS_H

#include "predictors/matrix.h"

/** A feature with more levels among the measured rows is left out. */
#define ORCH_LOGS_LEVELS_MAX 24

struct orch_logs {
    size_t rows;
    int cols;       /* the first is 1: the constant */
    double *values; /* rows x cols, row-major */
    double
        *strange; /* of each row: variance of the log of its time that no measured row speaks of */
};

/** Codes all rows. A number is log(x) where all of it are above 0, else asinh(x), less its mean
 * over the measured rows; a missing one is that mean. What is the same in all measured rows gets no
 * column: a row that differs there is strange. With `has_work` (the amount of work is known, and
 * the law is of the time over it) less so. `is_measured`: one for each row; at least one is. The
 * caller releases. */
void orch_logs_code(const struct orch_matrix *matrix, const bool *is_measured, bool has_work,
                    struct orch_logs *out);
/** The same with columns for everything that differs between any two rows: for choosing what to
 * measure. `strange` is 0. */
void orch_logs_code_all(const struct orch_matrix *matrix, struct orch_logs *out);
void orch_logs_release(struct orch_logs *logs);

/** Ridge regression of y on the rows `which`: beta = inverse * sum w x y, with a penalty on all
 * columns but the first. `inverse` (cols x cols) and `beta` (cols) are written. `weights` NULL: all
 * 1. False when it cannot be solved. */
bool orch_logs_solve(const struct orch_logs *logs, const size_t *which, size_t count,
                     const double *y, const double *weights, double ridge, double *inverse,
                     double *beta);
/** x' A x for row `row`. */
double orch_logs_leverage(const struct orch_logs *logs, size_t row, const double *inverse);
double orch_logs_value(const struct orch_logs *logs, size_t row, const double *beta);

#endif
