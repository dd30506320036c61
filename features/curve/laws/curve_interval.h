/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far a loss curve may be off: an interval for the loss that it tends to, and one for the loss
 * at a later step. */
#ifndef ORCH_FEATURES_CURVE_CURVE_INTERVAL_H
#define ORCH_FEATURES_CURVE_CURVE_INTERVAL_H

#include "features/curve/laws/curve_choose.h"
#include "lib/base/interval.h"

/** Computes the 90 % interval of the limit of a curve that was fitted to these points with equal
 * weights, from the profile of its squared errors (Bates and Watts 1988, section 6.1): the limits
 * with which the best curve is not significantly worse, with as many independent points as the
 * correlation of neighbouring errors leaves. Only points from curve->from_k to below end_k count.
 * `mid` is the curve's own limit. A flat curve has the standard error of its mean. */
struct orch_interval orch_curve_limit_interval(const struct orch_curve *curve, const double *k,
                                               const double *loss, size_t count, double end_k);

/** Returns the half width, of the log of the loss, of the 90 % interval of a forecast: what the
 * forecasts from earlier parts of the curve (struct orch_curve_forecast) were off, per log of how
 * much later. NaN without forecasts. `k` is the step that is forecast and `last_k` the last that
 * was fitted; at or before it the width is that of the next points. */
double orch_curve_forecast_half(const GArray *errors, double last_k, double k);

/** The same for a curve with too few points to try forecasts on: the error that nine tenths of such
 * trainings stay within. NaN below four points. */
double orch_curve_short_half(size_t count, double last_k, double k);

/** Returns the k at which a power law without a limit, fitted to the last half of the points, has
 * the loss `target`. Used for a loss below the fitted limit but inside the limit's interval. NaN
 * for fewer than four points, for rising points, or beyond a thousand times the last k. */
double orch_curve_reach_by_slope(const double *k, const double *loss, size_t count, double target);

#endif
