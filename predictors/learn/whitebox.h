/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An analytical model with a few fitted coefficients: time is a non-negative linear combination of
 * the terms of a roofline (compute, memory, tiles, update, exchange), of launches and a constant.
 * It has no categories and few numbers, so it extrapolates. A "grey box" is a learned model of the
 * ratio between the measured time and this one. */
#ifndef ORCH_PREDICTORS_WHITEBOX_H
#define ORCH_PREDICTORS_WHITEBOX_H

#include "predictors/features/rows.h"

#define ORCH_WHITE_TERMS_MAX 16

struct orch_whitebox {
    int count;
    char *names[ORCH_WHITE_TERMS_MAX];         /* of features; "1" is the constant */
    double coefficients[ORCH_WHITE_TERMS_MAX]; /* ms per unit of the feature */
    const char *base; /* feature used where no terms are fitted; NULL: the rows' own roofline */
    double factor;    /* from the base to the target */
    bool is_of_rates; /* instead of all these: powers of the GPU's rates
                         (predictors/features/row_device.h) */
};

/** True if the kernel-by-kernel model speaks of most rows. */
bool orch_rows_have_kernels(const struct orch_rows *rows);
/** Fits to the relative error. Always succeeds: without usable terms the result is the factor
 * alone. Caller frees. */
struct orch_whitebox *orch_whitebox_fit(const struct orch_rows *rows);
/** Returns the static string equal to `name` if that feature can be a base, else NULL. */
const char *orch_whitebox_base(const char *name);
/** Fits only a factor, to the base with the least scatter: a roofline or the prior. Caller
 * frees. */
struct orch_whitebox *orch_whitebox_fit_factor(const struct orch_rows *rows);
/** Fits only a factor, to the kernel-by-kernel model: the median over the GPUs of each one's median
 * ratio, which is written by row to `out_shift` as a logarithm, without the factor. NULL if the
 * model speaks of fewer than half of the rows. Caller frees. */
struct orch_whitebox *orch_whitebox_fit_kernels(const struct orch_rows *rows, double *out_shift);
/** Nothing fitted: how times change from GPU to GPU by their rates alone. Caller frees. */
struct orch_whitebox *orch_whitebox_of_rates(void);
void orch_whitebox_free(struct orch_whitebox *white);
/** Predictions in the unit of the target; NaN for rows without a roofline. */
void orch_whitebox_predict(const struct orch_whitebox *white, const struct orch_rows *rows,
                           double *out);

#endif
