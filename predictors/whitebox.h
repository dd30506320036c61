/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A white box with its few constants fitted: time as a sum, with coefficients that are not
 * negative, of the times that a roofline's parts take (compute, memory, tiles, update, exchange),
 * of launches and of a constant. It knows no category and few numbers, so it extrapolates; what it
 * misses is learned on top of it (grey box). */
#ifndef ORCH_PREDICTORS_WHITEBOX_H
#define ORCH_PREDICTORS_WHITEBOX_H

#include "predictors/rows.h"

#define ORCH_WHITE_TERMS_MAX 16

struct orch_whitebox {
    int count;
    char *names[ORCH_WHITE_TERMS_MAX];         /* of features, "1" for the constant */
    double coefficients[ORCH_WHITE_TERMS_MAX]; /* ms for one unit of the feature */
    const char *base; /* feature that stands alone where no terms are fitted; NULL: the rows' own */
    double factor;    /* of it, or of the rows' own white box, to the target */
};

/** Fits to the relative error; always succeeds (without terms, or where they settle nothing: the
 * factor alone). The caller frees. */
struct orch_whitebox *orch_whitebox_fit(const struct orch_rows *rows);
/** The feature of that name where one may stand alone (a constant), else NULL. */
const char *orch_whitebox_base(const char *name);
/** A factor alone: a constant times the roofline, or the prior, whichever is steadier. */
struct orch_whitebox *orch_whitebox_fit_factor(const struct orch_rows *rows);
void orch_whitebox_free(struct orch_whitebox *white);
/** Answers in the unit of the target; NaN where a row has no white box. */
void orch_whitebox_predict(const struct orch_whitebox *white, const struct orch_rows *rows,
                           double *out);

#endif
