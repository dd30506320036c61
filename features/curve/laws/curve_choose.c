/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/laws/curve_choose.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Relative errors of the loss below this are rounding errors, so the fit is exact. */
#define EXACT 1e-9
#define STRONG_EVIDENCE 6
/* A form with more parameters, or one that leaves points out, must forecast this much better. */
#define BETTER 0.95
#define THINNED 80           /* points that forecasts are tried on */
#define POINTS_A_PARAMETER 2 /* with fewer points the form with more parameters always wins */
#define LEAST_LOSS 1e-9      /* that a relative error is divided by */
#define PARTS 10             /* means of these parts of a curve show whether it falls */
#define CHANCE 0.001         /* that a curve explains as much of noise */
#define FAIR 0.5             /* a share of the spread that a curve explains only if it falls */

/* False for the points before the first that the curve of their stage was fitted to. */
static bool is_fitted(const struct orch_stages *stages, double k)
{
    size_t s = 0;
    while (s + 1 < stages->count && k >= stages->starts[s + 1])
        s++;
    return k >= stages->curves[s].from_k;
}

struct orch_goodness orch_stages_goodness(const struct orch_stages *stages, const double *k,
                                          const double *loss, size_t count, double from_k)
{
    struct orch_goodness out = {.r2 = NAN, .relative_error = NAN};
    double sum = 0, squares = 0, relative = 0;
    size_t above = 0;
    for (size_t i = 0; i < count; i++) {
        if (k[i] < from_k || !is_fitted(stages, k[i]))
            continue;
        double miss = orch_stages_loss(stages, k[i]) - loss[i];
        out.points++;
        out.sse += miss * miss;
        sum += loss[i];
        if (loss[i] > 0) {
            relative += fabs(miss) / loss[i];
            above++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double off = loss[i] - sum / (double)MAX(1, out.points);
        squares += k[i] < from_k || !is_fitted(stages, k[i]) ? 0 : off * off;
    }
    if (squares > 0)
        out.r2 = 1 - out.sse / squares;
    if (above)
        out.relative_error = relative / (double)above;
    return out;
}

/* Bayesian information criterion for independent normal errors; -HUGE_VAL for an exact fit. */
static double information(const struct orch_stages *stages, const double *k, const double *loss,
                          size_t count)
{
    struct orch_goodness good = orch_stages_goodness(stages, k, loss, count, 0);
    double n = (double)count, params = 0;
    for (size_t s = 0; s < stages->count; s++)
        params += stages->curves[s].is_flat ? 1 : orch_curve_params(stages->curves[s].form);
    if (good.relative_error <= EXACT)
        return -HUGE_VAL;
    return n * log(good.sse / n) + params * log(n);
}

static struct orch_stages *choose_by_information(const double *k, const double *loss, size_t count,
                                                 const double *drops, size_t drop_count,
                                                 struct orch_curve_options o, GError **error)
{
    static const enum orch_curve_form OTHERS[] = {ORCH_CURVE_POWER, ORCH_CURVE_LINE};
    o.form = ORCH_CURVE_OPTIMUS;
    struct orch_stages *best = orch_stages_fit(k, loss, count, drops, drop_count, &o, error);
    for (size_t i = 0; best && i < G_N_ELEMENTS(OTHERS); i++) {
        o.form = OTHERS[i];
        struct orch_stages *other = orch_stages_fit(k, loss, count, drops, drop_count, &o, NULL);
        size_t params = other ? other->count * (size_t)orch_curve_params(o.form) : 0;
        if (other && count >= POINTS_A_PARAMETER * params &&
            information(other, k, loss, count) + STRONG_EVIDENCE <
                information(best, k, loss, count)) {
            orch_stages_free(best);
            best = g_steal_pointer(&other);
        }
        orch_stages_free(other);
    }
    return best;
}

/* ---- whether there is a curve at all --------------------------------------------------------- */

/* False for losses that return to more than half of what they fell by: rising ones, and a U. */
static bool stays_low(const double *loss, size_t count)
{
    double most = -HUGE_VAL, before = 0, least = HUGE_VAL, mean = 0;
    size_t parts = MIN(count, PARTS);
    for (size_t p = 0; p < parts; p++) {
        size_t first = p * count / parts, end = (p + 1) * count / parts;
        mean = 0;
        for (size_t i = first; i < end; i++)
            mean += loss[i] / (double)(end - first);
        most = fmax(most, mean);
        if (mean < least) {
            least = mean;
            before = most;
        }
    }
    return least < before && mean - least <= (before - least) / 2;
}

bool orch_stages_fall(const struct orch_stages *stages, enum orch_curve_weights weights,
                      const double *k, const double *loss, size_t count)
{
    double sum = 0, mean = 0, spread = 0, squares = 0, products = 0, last = 0, params = 0;
    size_t points = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            double weight = weights == ORCH_CURVE_SEGMENTS ? pow(4, (double)(i * 3 / count)) : 1;
            weight /= stages->curves[0].is_relative ? fmax(loss[i], LEAST_LOSS) : 1;
            double miss = weight * (orch_stages_loss(stages, k[i]) - loss[i]);
            if (!is_fitted(stages, k[i]))
                continue;
            if (pass) {
                double off = weight * (loss[i] - mean / sum);
                spread += off * off;
                squares += miss * miss;
                products += points++ ? miss * last : 0;
                last = miss;
            } else {
                sum += weight * weight;
                mean += weight * weight * loss[i];
            }
        }
    for (size_t s = 0; s < stages->count; s++)
        params += stages->curves[s].is_flat ? 1 : orch_curve_params(stages->curves[s].form);
    if (!stays_low(loss, count) || params < 2 || !(squares < spread))
        return false;
    /* neighbouring errors that are alike are not independent */
    double alike = squares > 0 ? CLAMP(products / squares, 0, 0.98) : 0;
    double dof = fmax((double)points * (1 - alike) / (1 + alike) - params, 1);
    double r2 = 1 - squares / spread, f = r2 / (params - 1) / ((1 - r2) / dof);
    return r2 >= FAIR || gsl_cdf_fdist_Q(f, params - 1, dof) <= CHANCE;
}

/* ---- by forecasts from earlier parts of the curve -------------------------------------------- */

/* Forms and how they are fitted, the simplest first. */
static const struct orch_curve_candidate {
    enum orch_curve_form form;
    bool is_relative;
    double skip;
} CANDIDATES[] = {
    {ORCH_CURVE_OPTIMUS, false, 0}, {ORCH_CURVE_POWER, false, 0}, {ORCH_CURVE_OPTIMUS, true, 0.2},
    {ORCH_CURVE_POWER, true, 0.2},  {ORCH_CURVE_LINE, false, 0},
};

/* Shares of the points that a form is fitted to, to forecast the others. */
static const double PREFIXES[] = {0.4, 0.55, 0.7, 0.85};

static struct orch_curve_options options_of(const struct orch_curve_candidate *candidate,
                                            const struct orch_curve_options *common)
{
    struct orch_curve_options o = *common;
    o.form = candidate->form;
    o.is_relative = candidate->is_relative;
    o.skip = candidate->skip;
    return o;
}

/* Adds the errors of the forecasts from the first `seen` points: log(measured / forecast) over the
 * log of how much later the point is. Returns the mean of abs(log(measured / forecast)). */
static double forecast_error(const double *k, const double *loss, size_t count, size_t seen,
                             const struct orch_curve_options *o, GArray *errors)
{
    struct orch_curve curve;
    double sum = 0;
    if (!(k[seen - 1] > 0) || !orch_curve_fit(k, loss, seen, o, &curve, NULL))
        return INFINITY;
    for (size_t i = seen; i < count; i++) {
        double forecast = orch_curve_loss(&curve, k[i]);
        if (!(forecast > 0) || !(loss[i] > 0))
            return INFINITY;
        struct orch_curve_forecast one = {log(k[i] / k[seen - 1]), log(loss[i] / forecast)};
        sum += fabs(one.off);
        g_array_append_val(errors, one);
    }
    return sum / (double)(count - seen);
}

/* The mean over the prefixes; INFINITY when one cannot be fitted. `errors` is replaced. */
static double tried_error(const double *k, const double *loss, size_t count,
                          const struct orch_curve_options *o, GArray *errors)
{
    double sum = 0;
    g_array_set_size(errors, 0);
    for (size_t p = 0; p < G_N_ELEMENTS(PREFIXES); p++)
        sum += forecast_error(k, loss, count, (size_t)(PREFIXES[p] * (double)count), o, errors);
    return sum / G_N_ELEMENTS(PREFIXES);
}

/* Replaces many points by means of neighbours, which forecast as well and fit faster. Returns their
 * number; `out_k` and `out_loss` have room for `count`. */
static size_t thin(const double *k, const double *loss, size_t count, double *out_k,
                   double *out_loss)
{
    size_t each = MAX(count / THINNED, 1), n = 0;
    for (size_t i = 0; i < count; n++) {
        size_t end = MIN(i + each, count), points = end - i;
        out_k[n] = out_loss[n] = 0;
        for (; i < end; i++) {
            out_k[n] += k[i] / (double)points;
            out_loss[n] += loss[i] / (double)points;
        }
    }
    return n;
}

bool orch_curve_choose(const double *all_k, const double *all_loss, size_t all_count,
                       const struct orch_curve_options *common, struct orch_curve_options *out,
                       GArray *errors)
{
    g_autofree double *k = g_new(double, all_count + 1), *loss = g_new(double, all_count + 1);
    size_t count = thin(all_k, all_loss, all_count, k, loss);
    g_autoptr(GArray) tried = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
    double least = INFINITY;
    if (count < ORCH_CURVE_CHOICE_POINTS)
        return false;
    for (size_t c = 0; c < G_N_ELEMENTS(CANDIDATES); c++) {
        struct orch_curve_options o = options_of(&CANDIDATES[c], common);
        double error = tried_error(k, loss, count, &o, tried);
        if (!(error < BETTER * least) || (c && least < EXACT))
            continue;
        least = error;
        *out = o;
        g_array_set_size(errors, 0);
        g_array_append_vals(errors, tried->data, tried->len);
    }
    return isfinite(least);
}

void orch_curve_try(const double *all_k, const double *all_loss, size_t all_count,
                    const struct orch_curve_options *options, GArray *errors)
{
    g_autofree double *k = g_new(double, all_count + 1), *loss = g_new(double, all_count + 1);
    size_t count = thin(all_k, all_loss, all_count, k, loss);
    if (count < ORCH_CURVE_CHOICE_POINTS || !isfinite(tried_error(k, loss, count, options, errors)))
        g_array_set_size(errors, 0);
}

struct orch_stages *orch_stages_choose(const double *k, const double *loss, size_t count,
                                       const double *drops, size_t drop_count,
                                       const struct orch_curve_options *options, GError **error)
{
    struct orch_curve_options o = options ? *options : (struct orch_curve_options){0}, best;
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
    bool is_plain = !drop_count && o.weights == ORCH_CURVE_EQUAL;
    for (size_t i = 0; is_plain && i < count; i++) /* errors are left to the fit */
        is_plain = isfinite(k[i]) && k[i] >= 0 && (!i || k[i] >= k[i - 1]) && isfinite(loss[i]);
    if (is_plain && orch_curve_choose(k, loss, count, &o, &best, errors))
        return orch_stages_fit(k, loss, count, NULL, 0, &best, error);
    return choose_by_information(k, loss, count, drops, drop_count, o, error);
}
