/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/laws/curve_interval.h"

#include "features/curve/laws/curve_private.h"
#include "lib/base/reals.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

/* Forecasts of points nearer than this (log of k) are not better in proportion: they have the noise
 * of a single point. */
#define NEAREST 0.15
/* Forecasts from four prefixes of one curve are few, and a curve bends later for reasons that they
 * do not show. Chosen by 600 of AlgoPerf's trainings so that nine of ten last losses lie inside
 * (bench/algoperf.py); with Student's factor of 1.3 it was 74 %. */
#define FEW_PREFIXES 2.5
/* Least error per log of k. With it more of the rest of 58 published curves lies in the interval
 * (bench/curve_forecasts.c). */
#define LEAST_RATE 0.05
/* Error per log of k of curves that are too short to try forecasts on, and the fewest points that
 * it holds for: it contains 90 % of 494 beginnings, of 4 to 19 points, of the same 600 trainings.
 */
#define SHORT_RATE 0.15
#define SHORT_LEAST 4
#define SLOPE_FARTHEST 1e3
enum { BISECTIONS = 24 };

/* ---- the limit ------------------------------------------------------------------------------- */

/* The points as the fit has them: losses over their largest, k from 0 to 1. */
static void take_points(const struct orch_curve *curve, const double *k, const double *loss,
                        size_t count, double end_k, struct orch_curve_points *out, double *scales)
{
    size_t first = 0, end = count, at = 0;
    double largest = 0;
    while (first < count && k[first] < curve->from_k)
        first++;
    while (end > first && k[end - 1] >= end_k)
        end--;
    for (size_t i = first; i < end; i++)
        largest = fmax(largest, loss[i]);
    scales[0] = end > first ? k[end - 1] - curve->start_k : 0;
    scales[1] = largest;
    orch_curve_points_init(out, curve->form, MAX(end - first, 1));
    out->count = end - first;
    for (size_t i = first; i < end; i++, at++) {
        out->k[at] = (k[i] - curve->start_k) / scales[0];
        out->loss[at] = loss[i] / largest;
        out->root[at] = curve->is_relative ? 1 / fmax(out->loss[at], 1e-6) : 1;
        out->weight[at] = out->root[at] * out->root[at];
    }
}

/* The curve's parameters in the units of the points. */
static void scale_params(const struct orch_curve *curve, const double *scales, double *b)
{
    double k_scale = scales[0], loss_scale = scales[1] / curve->loss_scale;
    memcpy(b, curve->b, ORCH_CURVE_PARAMS_MAX * sizeof *b);
    if (curve->form == ORCH_CURVE_OPTIMUS) {
        b[0] *= k_scale * loss_scale;
        b[1] *= loss_scale;
        b[2] /= loss_scale;
        return;
    }
    b[0] /= loss_scale;
    b[1] /= loss_scale;
    if (curve->form == ORCH_CURVE_POWER)
        b[1] /= pow(k_scale, b[2]);
    else
        b[2] *= k_scale;
    b[3] /= k_scale;
}

/* The share of the points that are independent, from the correlation of neighbouring errors. */
static double independent_share(const struct orch_curve_points *f, const double *b)
{
    double squares = 0, products = 0, before = 0;
    for (size_t i = 0; i < f->count; i++) {
        double miss = f->root[i] * (orch_curve_form_at(f->form, b, f->k[i]) - f->loss[i]);
        squares += miss * miss;
        products += i ? miss * before : 0;
        before = miss;
    }
    double correlation = squares > 0 ? CLAMP(products / squares, 0, 0.98) : 0;
    return (1 - correlation) / (1 + correlation);
}

/* Finds where the curve becomes significantly worse, between its own limit and `far`. */
static double bound(struct orch_curve_points *f, const double *b, double own, double far,
                    double most)
{
    double inside = own, outside = far;
    if (orch_curve_solve_limit(f, b, far) <= most)
        return far;
    for (int i = 0; i < BISECTIONS; i++) {
        double middle = (inside + outside) / 2;
        if (orch_curve_solve_limit(f, b, middle) <= most)
            inside = middle;
        else
            outside = middle;
    }
    return inside;
}

static struct orch_interval flat_interval(const struct orch_curve_points *f, double level)
{
    double squares = 0;
    for (size_t i = 0; i < f->count; i++)
        squares += (f->loss[i] - level) * (f->loss[i] - level);
    double n = (double)f->count;
    double half =
        n > 1 ? gsl_cdf_tdist_Pinv(0.95, n - 1) * sqrt(squares / (n - 1) / n) : (double)NAN;
    return (struct orch_interval){fmax(level - half, 0), level, level + half};
}

struct orch_interval orch_curve_limit_interval(const struct orch_curve *curve, const double *k,
                                               const double *loss, size_t count, double end_k)
{
    double limit = orch_curve_limit(curve), b[ORCH_CURVE_PARAMS_MAX], scales[2];
    struct orch_interval out = {NAN, limit, NAN};
    struct orch_curve_points f;
    take_points(curve, k, loss, count, end_k, &f, scales);
    double params = orch_curve_params(curve->form), n = (double)f.count;
    scale_params(curve, scales, b);
    if (curve->is_flat && f.count > 1) {
        out = flat_interval(&f, limit / scales[1]);
    } else if (!curve->is_flat && isfinite(limit) && n > params + 1 && scales[0] > 0) {
        double own = orch_curve_form_limit(f.form, b);
        double least = orch_curve_solve_limit(&f, b, own), share = independent_share(&f, b);
        double t = gsl_cdf_tdist_Pinv(0.95, fmax(n * share - params, 1));
        double most = least * (1 + t * t / (n - params) / share);
        double last = orch_curve_form_at(f.form, b, f.k[f.count - 1]);
        out.low = bound(&f, b, own, 0, most);
        out.mid = own;
        out.high = bound(&f, b, own, fmax(last, own), most);
    }
    orch_curve_points_release(&f);
    return (struct orch_interval){out.low * scales[1], limit, out.high * scales[1]};
}

/* ---- a forecast ------------------------------------------------------------------------------ */

double orch_curve_forecast_half(const GArray *errors, double last_k, double k)
{
    g_autofree double *rates = g_new(double, errors->len + 1);
    if (!errors->len)
        return NAN;
    for (guint i = 0; i < errors->len; i++) {
        const struct orch_curve_forecast *e = &g_array_index(errors, struct orch_curve_forecast, i);
        rates[i] = fabs(e->off) / fmax(e->beyond, NEAREST);
    }
    orch_reals_sort(rates, errors->len);
    double rate = rates[(size_t)(0.9 * (double)(errors->len - 1))];
    return hypot(FEW_PREFIXES * rate, LEAST_RATE) * fmax(log(k / last_k), NEAREST);
}

double orch_curve_short_half(size_t count, double last_k, double k)
{
    return count < SHORT_LEAST ? (double)NAN : SHORT_RATE * fmax(log(k / last_k), NEAREST);
}

double orch_curve_reach_by_slope(const double *k, const double *loss, size_t count, double target)
{
    size_t first = MIN(count / 2, count < SHORT_LEAST ? 0 : count - SHORT_LEAST);
    g_autofree double *x = g_new(double, count + 1), *y = g_new(double, count + 1);
    double c0, c1, unused;
    for (size_t i = first; i < count; i++) {
        x[i] = log(k[i]);
        y[i] = log(loss[i]);
        if (!isfinite(x[i]) || !isfinite(y[i]))
            return NAN;
    }
    if (count < SHORT_LEAST || !(target > 0))
        return NAN;
    gsl_fit_linear(x + first, 1, y + first, 1, count - first, &c0, &c1, &unused, &unused, &unused,
                   &unused);
    double at = (log(target) - c0) / c1;
    return c1 < 0 && at < x[count - 1] + log(SLOPE_FARTHEST) ? exp(fmax(at, x[count - 1]))
                                                             : (double)NAN;
}
