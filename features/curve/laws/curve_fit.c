/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fit runs on losses divided by their maximum and k divided by its span, so that parameters are
 * of order 1, and scales back. Both forms are a constant plus one term that is linear once d (and
 * c) are given. A grid over those, with non-negative least squares inside (variable projection),
 * finds a start near the global minimum; bounded damped Gauss-Newton steps (levmar) converge from
 * there. A single start was rejected because b1 and d diverge on straight stretches of the curve,
 * and one more start, the paper's fit of the reciprocal, because it never ended lower.
 */
#include "features/curve/laws/curve_private.h"
#include "features/curve/laws/levmar.h"
#include "predictors/numbers/nnls.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

/* Beyond these bounds the power law is practically an exponential with diverging d. SHIFT_MAX is in
 * units of the span of k. */
#define EXPONENT_MAX 10
#define SHIFT_MAX 1e4
/* Fastest fall of an exponential, over the span of k: it is over before the second point. */
#define RATE_MAX 1e4
/* a curve that falls by less than this share over its points counts as flat */
#define FLAT 1e-12

/* --- the forms, in scaled units --- */

double orch_curve_form_at(enum orch_curve_form form, const double *b, double k)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return 1 / (b[0] * k + b[1]) + b[2];
    if (form == ORCH_CURVE_EXPONENTIAL)
        return b[0] + b[1] * exp(-b[2] * k);
    if (form == ORCH_CURVE_LINE)
        return fmax(b[0] - b[1] * k, 0);
    return b[1] > 0 ? b[0] + b[1] * pow(k + b[3], -b[2]) : b[0];
}

/* Limit of a form for large k. */
double orch_curve_form_limit(enum orch_curve_form form, const double *b)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return b[0] > 0 ? b[2] : b[2] + 1 / b[1];
    if (form == ORCH_CURVE_LINE)
        return b[1] > 0 ? (double)NAN : b[0];
    return b[2] > 0 ? b[0] : b[0] + b[1];
}

void orch_curve_form_flat(enum orch_curve_form form, double level, double *b)
{
    memset(b, 0, ORCH_CURVE_PARAMS_MAX * sizeof *b);
    b[form == ORCH_CURVE_OPTIMUS ? 1 : 0] = form == ORCH_CURVE_OPTIMUS ? 1 / level : level;
}

/* --- one fit, in scaled units --- */

void orch_curve_points_init(struct orch_curve_points *f, enum orch_curve_form form, size_t count)
{
    *f = (struct orch_curve_points){
        .form = form, .count = count, .numbers = g_new(double, 6 * count)};
    f->k = f->numbers;
    f->loss = f->k + count;
    f->weight = f->loss + count;
    f->root = f->weight + count;
    f->rows = f->root + count;
}

void orch_curve_points_release(struct orch_curve_points *f)
{
    g_free(f->numbers);
}

void orch_curve_points_weigh(struct orch_curve_points *f, enum orch_curve_weights weights)
{
    for (size_t i = 0; i < f->count; i++) {
        double segment = weights == ORCH_CURVE_SEGMENTS ? (double)(i * 3 / f->count) : 0;
        f->root[i] = pow(4, segment);
        f->weight[i] = f->root[i] * f->root[i];
    }
}

/* The fit uses the power law as a + h ((k + d) / (k0 + d))^-c with k0 the first point. The height h
 * is well determined for any c and d, while b = h (k0 + d)^c is strongly correlated with them. */
static double fit_at(const struct orch_curve_points *f, const double *b, double k)
{
    if (f->form != ORCH_CURVE_POWER)
        return orch_curve_form_at(f->form, b, k);
    return b[0] + b[1] * pow((k + b[3]) / (f->k[0] + b[3]), -b[2]);
}

static void fit_derivatives(const struct orch_curve_points *f, const double *b, double k,
                            double *out)
{
    if (f->form == ORCH_CURVE_OPTIMUS) {
        double inverse = 1 / (b[0] * k + b[1]);
        out[0] = -k * inverse * inverse;
        out[1] = -inverse * inverse;
        out[2] = 1;
        return;
    }
    if (f->form == ORCH_CURVE_EXPONENTIAL) {
        out[0] = 1;
        out[1] = exp(-b[2] * k);
        out[2] = -b[1] * k * out[1];
        return;
    }
    double here = k + b[3], first = f->k[0] + b[3], power = pow(here / first, -b[2]);
    out[0] = 1;
    out[1] = power;
    out[2] = -b[1] * power * log(here / first);
    out[3] = b[1] * b[2] * power * (k - f->k[0]) / (here * first);
}

static double fit_sse(const struct orch_curve_points *f, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < f->count; i++) {
        double miss = f->root[i] * (fit_at(f, b, f->k[i]) - f->loss[i]);
        sum += miss * miss;
    }
    return isfinite(sum) ? sum : HUGE_VAL;
}

static void levmar_model(const void *context, const double *b, double *out_residuals,
                         double *out_derivatives)
{
    const struct orch_curve_points *f = context;
    int params = orch_curve_params(f->form);
    for (size_t i = 0; i < f->count; i++) {
        out_residuals[i] = f->root[i] * (fit_at(f, b, f->k[i]) - f->loss[i]);
        if (!out_derivatives)
            continue;
        double *row = out_derivatives + i * (size_t)params;
        fit_derivatives(f, b, f->k[i], row);
        for (int a = 0; a < params; a++)
            row[a] *= f->root[i];
    }
}

/* Least shift for which the term is finite at the first point. */
static double shift_min(const struct orch_curve_points *f)
{
    return f->k[0] > 0 ? 0 : 1e-9;
}

/* The parameter that is the limit. */
static int limit_index(enum orch_curve_form form)
{
    return form == ORCH_CURVE_OPTIMUS ? 2 : 0;
}

/* Improves `b`, with the limit of the curve between two numbers. */
static void polish_within(const struct orch_curve_points *f, double *b, double low, double high)
{
    struct orch_levmar problem = {.model = levmar_model,
                                  .context = f,
                                  .residuals = f->count,
                                  .params = orch_curve_params(f->form)};
    for (int a = 0; a < problem.params; a++)
        problem.upper[a] = HUGE_VAL;
    if (f->form == ORCH_CURVE_POWER) {
        problem.upper[2] = EXPONENT_MAX;
        problem.upper[3] = SHIFT_MAX;
        problem.lower[3] = shift_min(f);
    }
    if (f->form == ORCH_CURVE_EXPONENTIAL)
        problem.upper[2] = RATE_MAX;
    problem.lower[limit_index(f->form)] = low;
    problem.upper[limit_index(f->form)] = high;
    orch_levmar_solve(&problem, b);
}

static void polish(const struct orch_curve_points *f, double *b)
{
    polish_within(f, b, 0, HUGE_VAL);
}

double orch_curve_solve_limit(const struct orch_curve_points *f, const double *b, double limit)
{
    double x[ORCH_CURVE_PARAMS_MAX];
    int fixed = limit_index(f->form);
    memcpy(x, b, sizeof x);
    if (f->form == ORCH_CURVE_POWER) { /* the height above the limit at the first point */
        x[3] = fmax(x[3], shift_min(f));
        x[1] = fmax(x[1] * pow(f->k[0] + x[3], -x[2]) + x[0] - limit, 1e-9);
    } else if (f->form == ORCH_CURVE_EXPONENTIAL) {
        x[1] = fmax(x[1] + x[0] - limit, 1e-9);
    }
    x[fixed] = limit;
    polish_within(f, x, limit, limit);
    return fit_sse(f, x);
}

/* Replaces `best` by `b` if `b` fits better. */
static void keep_better(const struct orch_curve_points *f, const double *b, double *best,
                        double *best_sse)
{
    double sse = fit_sse(f, b);
    if (sse < *best_sse) {
        *best_sse = sse;
        memcpy(best, b, ORCH_CURVE_PARAMS_MAX * sizeof *b);
    }
}

/* Best constant and factor for a given shift and exponent; false on numerical failure. */
static bool project(struct orch_curve_points *f, double exponent, double shift, double *out_b)
{
    for (size_t i = 0; i < f->count; i++) {
        f->rows[2 * i] = 1;
        f->rows[2 * i + 1] = pow((f->k[i] + shift) / (f->k[0] + shift), -exponent);
    }
    double x[2];
    if (!orch_nnls_solve(f->rows, f->loss, f->weight, f->count, 2, x, NULL))
        return false;
    if (f->form == ORCH_CURVE_POWER) {
        memcpy(out_b, (double[]){x[0], x[1], exponent, shift}, 4 * sizeof *out_b);
        return true;
    }
    double height = x[1], first = f->k[0] + shift;
    memcpy(out_b, (double[]){1 / (height * first), shift / (height * first), x[0], 0},
           4 * sizeof *out_b);
    return height > 1e-300;
}

static void project_all(struct orch_curve_points *f, const double *exponents, size_t count,
                        double step, double *best, double *best_sse)
{
    for (size_t e = 0; e < count; e++)
        for (double shift = shift_min(f); shift <= SHIFT_MAX;
             shift = shift < 1e-5 ? 1e-5 : shift * step) {
            double b[ORCH_CURVE_PARAMS_MAX];
            if (project(f, exponents[e], shift, b))
                keep_better(f, b, best, best_sse);
        }
}

double orch_curve_points_mean(const struct orch_curve_points *f)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < f->count; i++) {
        sum += f->weight[i] * f->loss[i];
        weights += f->weight[i];
    }
    return sum / weights;
}

/* Fits the optimus form. */
static void direct_optimus(struct orch_curve_points *f, double *best, double *best_sse)
{
    project_all(f, (double[]){1}, 1, 1.4, best, best_sse);
    if (*best_sse < HUGE_VAL) {
        polish(f, best);
        *best_sse = fit_sse(f, best);
    }
}

static void direct_power(struct orch_curve_points *f, double *best, double *best_sse)
{
    static const double EXPONENTS[] = {0.06, 0.12, 0.25, 0.5, 0.75, 1.25, 1.75, 2.5, 4, 7};
    double b[ORCH_CURVE_PARAMS_MAX] = {0}, sse = HUGE_VAL;
    project_all(f, EXPONENTS, G_N_ELEMENTS(EXPONENTS), 3, b, &sse);
    if (sse < HUGE_VAL) {
        polish(f, b);
        keep_better(f, b, best, best_sse);
    }
    /* The optimus fit as a power law with exponent 1 is another start: the result is never
     * worse. */
    double optimus[ORCH_CURVE_PARAMS_MAX] = {0};
    f->form = ORCH_CURVE_OPTIMUS;
    sse = HUGE_VAL;
    direct_optimus(f, optimus, &sse);
    f->form = ORCH_CURVE_POWER;
    double shift = optimus[1] / optimus[0];
    if (sse == HUGE_VAL || !(shift <= SHIFT_MAX))
        return;
    shift = fmax(shift, shift_min(f));
    double height = 1 / (optimus[0] * (f->k[0] + shift));
    memcpy(b, (double[]){optimus[2], height, 1, shift}, sizeof b);
    polish(f, b);
    keep_better(f, b, best, best_sse);
}

/* A power law at its bounds becomes the exponential that it tends to. */
static void to_exponential(struct orch_curve_points *f, double *b, double *sse)
{
    if (b[2] < 0.999 * EXPONENT_MAX && b[3] < 0.999 * SHIFT_MAX)
        return;
    double rate = b[2] / (b[3] + f->k[0] + (f->k[f->count - 1] - f->k[0]) / 4);
    memcpy(b, (double[]){b[0], b[1] * exp(rate * f->k[0]), rate, 0}, 4 * sizeof *b);
    f->form = ORCH_CURVE_EXPONENTIAL;
    polish(f, b);
    *sse = fit_sse(f, b);
}

static void line(const struct orch_curve_points *f, double *b, double *sse)
{
    double c0, c1, unused;
    gsl_fit_wlinear(f->k, 1, f->weight, 1, f->loss, 1, f->count, &c0, &c1, &unused, &unused,
                    &unused, &unused);
    memcpy(b, (double[]){c0, -c1, 0, 0}, 4 * sizeof *b);
    *sse = c1 < 0 ? fit_sse(f, b) : HUGE_VAL;
}

/* Fits in scaled units. Returns true if the result falls. */
bool orch_curve_solve(struct orch_curve_points *f, double *b)
{
    double sse = HUGE_VAL;
    if (f->form == ORCH_CURVE_OPTIMUS)
        direct_optimus(f, b, &sse);
    else if (f->form == ORCH_CURVE_LINE)
        line(f, b, &sse);
    else
        direct_power(f, b, &sse);
    if (f->form == ORCH_CURVE_POWER && sse < HUGE_VAL)
        to_exponential(f, b, &sse);
    double flat[ORCH_CURVE_PARAMS_MAX], last = f->k[f->count - 1];
    orch_curve_form_flat(f->form, orch_curve_points_mean(f), flat);
    if (sse < HUGE_VAL && sse < fit_sse(f, flat) &&
        fit_at(f, b, f->k[0]) - fit_at(f, b, last) > FLAT) {
        if (f->form == ORCH_CURVE_POWER)
            b[1] *= pow(f->k[0] + b[3], b[2]); /* converts the height to the factor b */
        return true;
    }
    memcpy(b, flat, sizeof flat);
    return false;
}

int orch_curve_params(enum orch_curve_form form)
{
    static const int PARAMS[] = {3, 4, 3, 2};
    return PARAMS[form];
}
