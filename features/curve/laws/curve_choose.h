/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Goodness of fit of a loss curve, and choice between the two forms. */
#ifndef ORCH_FEATURES_CURVE_CURVE_CHOOSE_H
#define ORCH_FEATURES_CURVE_CURVE_CHOOSE_H

#include "features/curve/laws/curve.h"

struct orch_goodness {
    size_t points; /* number of points with k >= from_k */
    double r2;     /* 1 - squared errors / squared deviations from the mean; NaN: no spread */
    double relative_error; /* mean of |fitted - measured| / measured; NaN: no loss above 0 */
    double sse;            /* sum of squared errors, in the caller's units */
};
struct orch_goodness orch_stages_goodness(const struct orch_stages *stages, const double *k,
                                          const double *loss, size_t count, double from_k);

/** Returns whether the losses fall at all: they do not return to more than half of what they fell
 * by, and the fit explains more of their spread than of noise around a constant (F test at 0.1 %,
 * with as many independent points as the correlation of neighbouring errors leaves; or half of it).
 * `weights` are those of the fit. */
bool orch_stages_fall(const struct orch_stages *stages, enum orch_curve_weights weights,
                      const double *k, const double *loss, size_t count);

/** A forecast from the earlier part of a curve. */
struct orch_curve_forecast {
    double beyond; /* log(k / last k that was fitted), above 0 */
    double off;    /* log(measured / forecast) */
};
/** With fewer points a form is chosen by its fit. */
#define ORCH_CURVE_CHOICE_POINTS 20

/** Chooses the form of a curve without stages by forecasts: each of five (optimus and power, fitted
 * to all points or to relative errors without the first fifth, and a line) is fitted to the first
 * 40, 55, 70 and 85 % of the points, and that with the least mean error of the others is taken.
 * Sets `out` to `common` with that form, and `errors` (struct orch_curve_forecast) to its
 * forecasts. False with fewer than ORCH_CURVE_CHOICE_POINTS points, or if no form can be fitted. */
bool orch_curve_choose(const double *k, const double *loss, size_t count,
                       const struct orch_curve_options *common, struct orch_curve_options *out,
                       GArray *errors);

/** Adds the forecasts of one form from the same parts of the curve; nothing with fewer points. */
void orch_curve_try(const double *k, const double *loss, size_t count,
                    const struct orch_curve_options *options, GArray *errors);

/** Fits the curve with the form that orch_curve_choose takes. With stages, with other weights
 * than equal ones, and with few points it is the optimus form, or the power law or a line if its
 * Bayesian information criterion is lower by more than 6 (strong evidence, Kass and Raftery 1995).
 * Ignores `options->form`. Caller frees. Fails like orch_stages_fit. */
struct orch_stages *orch_stages_choose(const double *k, const double *loss, size_t count,
                                       const double *drops, size_t drop_count,
                                       const struct orch_curve_options *options, GError **error);

#endif
