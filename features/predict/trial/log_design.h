/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Design matrix for a multiplicative law: numbers as logarithms, categories one-hot, and for each
 * row the additional variance from values that no measured row has. */
#ifndef ORCH_FEATURES_PREDICT_LOG_DESIGN_H
#define ORCH_FEATURES_PREDICT_LOG_DESIGN_H

#include "predictors/features/matrix.h"

/** Features with more levels among the measured rows are ignored. */
#define ORCH_LOGS_LEVELS_MAX 24

struct orch_logs {
    size_t rows;
    int cols;              /* the first is 1: the constant */
    double *values;        /* rows x cols, row-major */
    double *extrapolation; /* by row: variance of the log time due to values not covered by measured
                              rows */
};

/** Codes all rows. A number becomes log(x) if all values are above 0, else asinh(x), minus its mean
 * over the measured rows; a missing one becomes that mean. A feature that is constant over the
 * measured rows gets no column, and rows that differ in it get a larger `strange`, less so with
 * `has_work` (the amount of work is known and the law predicts the time per work). `is_measured`
 * has one entry per row, at least one of them true. Caller releases. */
void orch_logs_code(const struct orch_matrix *matrix, const bool *is_measured, bool has_work,
                    struct orch_logs *out);
/** The same with a column for every feature that varies over all rows, to choose what to measure.
 * `strange` is 0. */
void orch_logs_code_all(const struct orch_matrix *matrix, struct orch_logs *out);
void orch_logs_release(struct orch_logs *logs);

/** Ridge regression of y on the rows `which`: beta = inverse * sum w x y, with a penalty on all
 * columns except the first. Writes `inverse` (cols x cols) and `beta` (cols). `weights` NULL: all
 * 1. Returns false if the equations cannot be solved. */
bool orch_logs_solve(const struct orch_logs *logs, const size_t *which, size_t count,
                     const double *y, const double *weights, double ridge, double *inverse,
                     double *beta);
/** x' A x for the row's coded features x and A = `inverse`. */
double orch_logs_leverage(const struct orch_logs *logs, size_t row, const double *inverse);
double orch_logs_value(const struct orch_logs *logs, size_t row, const double *beta);

#endif
