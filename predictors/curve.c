/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fit runs on losses divided by their maximum and k by theirs, so that parameters are of the
 * order of 1, and is scaled back. Both forms are a constant and one term that is linear once d (and
 * c) are known: a grid over those with non-negative least squares inside (variable projection)
 * finds the right valley, and bounded damped Gauss-Newton steps (levmar) finish there. The optimus
 * form also starts at the balanced reciprocal fit; the lower end wins. A single start was
 * rejected: b1 and d run off to infinity on straight stretches, and from there no step leads back.
 */
#include "predictors/curve.h"

#include "lib/base/error.h"
#include "predictors/levmar.h"
#include "predictors/nnls.h"

#include <math.h>
#include <string.h>

/* Beyond this c the power law is an exponential with d running off; d is at most so many times the
 * span of k for the same reason. */
#define EXPONENT_MAX 10
#define SHIFT_MAX 1e4
/* a curve that falls by less than this share over its points is flat */
#define FLAT 1e-12

int orch_curve_params(enum orch_curve_form form)
{
    return form == ORCH_CURVE_OPTIMUS ? 3 : 4;
}

/* --- the forms, in fitted units --- */

static double form_at(enum orch_curve_form form, const double *b, double k)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return 1 / (b[0] * k + b[1]) + b[2];
    return b[1] > 0 ? b[0] + b[1] * pow(k + b[3], -b[2]) : b[0];
}

/* What a form tends to. */
static double form_limit(enum orch_curve_form form, const double *b)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return b[0] > 0 ? b[2] : b[2] + 1 / b[1];
    return b[2] > 0 ? b[0] : b[0] + b[1];
}

static void form_flat(enum orch_curve_form form, double level, double *b)
{
    memset(b, 0, ORCH_CURVE_PARAMS_MAX * sizeof *b);
    b[form == ORCH_CURVE_OPTIMUS ? 1 : 0] = form == ORCH_CURVE_OPTIMUS ? 1 / level : level;
}

static double largest(const double *v, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, v[i]);
    return most;
}

static double least(const double *v, size_t count)
{
    double found = HUGE_VAL;
    for (size_t i = 0; i < count; i++)
        found = fmin(found, v[i]);
    return found;
}

/* --- one fit, in scaled units --- */

struct fit {
    enum orch_curve_form form;
    size_t count;
    double *k, *loss, *weight, *root; /* weight of squared errors; its root */
    double *rows, *right, *balance;   /* for nnls: count x 2, count, count */
    double *numbers;
};

static void fit_init(struct fit *f, enum orch_curve_form form, size_t count)
{
    *f = (struct fit){.form = form, .count = count, .numbers = g_new(double, 8 * count)};
    f->k = f->numbers;
    f->loss = f->k + count;
    f->weight = f->loss + count;
    f->root = f->weight + count;
    f->right = f->root + count;
    f->balance = f->right + count;
    f->rows = f->balance + count;
}

static void fit_weigh(struct fit *f, enum orch_curve_weights weights)
{
    for (size_t i = 0; i < f->count; i++) {
        double segment = weights == ORCH_CURVE_SEGMENTS ? (double)(i * 3 / f->count) : 0;
        f->root[i] = pow(4, segment);
        f->weight[i] = f->root[i] * f->root[i];
    }
}

/* In a fit the power law is a + h ((k + d) / (k0 + d))^-c, k0 the first point: its height h there
 * is known whatever c and d are, where b = h (k0 + d)^c runs along a narrow valley with them. */
static double fit_at(const struct fit *f, const double *b, double k)
{
    if (f->form == ORCH_CURVE_OPTIMUS)
        return form_at(f->form, b, k);
    return b[0] + b[1] * pow((k + b[3]) / (f->k[0] + b[3]), -b[2]);
}

static void fit_derivatives(const struct fit *f, const double *b, double k, double *out)
{
    if (f->form == ORCH_CURVE_OPTIMUS) {
        double inverse = 1 / (b[0] * k + b[1]);
        out[0] = -k * inverse * inverse;
        out[1] = -inverse * inverse;
        out[2] = 1;
        return;
    }
    double here = k + b[3], first = f->k[0] + b[3], power = pow(here / first, -b[2]);
    out[0] = 1;
    out[1] = power;
    out[2] = -b[1] * power * log(here / first);
    out[3] = b[1] * b[2] * power * (k - f->k[0]) / (here * first);
}

static double fit_sse(const struct fit *f, const double *b)
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
    const struct fit *f = context;
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
static double shift_min(const struct fit *f)
{
    return f->k[0] > 0 ? 0 : 1e-9;
}

static void polish(const struct fit *f, double *b)
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
    orch_levmar_solve(&problem, b);
}

/* Keeps `b` when it is better than what `best` holds. */
static void keep_better(const struct fit *f, const double *b, double *best, double *best_sse)
{
    double sse = fit_sse(f, b);
    if (sse < *best_sse) {
        *best_sse = sse;
        memcpy(best, b, ORCH_CURVE_PARAMS_MAX * sizeof *b);
    }
}

/* The best constant and factor for a shift and an exponent; false when rounding is in the way. */
static bool project(struct fit *f, double exponent, double shift, double *out_b)
{
    for (size_t i = 0; i < f->count; i++) {
        f->rows[2 * i] = 1;
        f->rows[2 * i + 1] = pow((f->k[i] + shift) / (f->k[0] + shift), -exponent);
    }
    double x[2];
    if (!orch_nnls_solve(f->rows, f->loss, f->weight, f->count, 2, x, NULL, NULL))
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

static void project_all(struct fit *f, const double *exponents, size_t count, double step,
                        double *best, double *best_sse)
{
    for (size_t e = 0; e < count; e++)
        for (double shift = shift_min(f); shift <= SHIFT_MAX;
             shift = shift < 1e-5 ? 1e-5 : shift * step) {
            double b[ORCH_CURVE_PARAMS_MAX];
            if (project(f, exponents[e], shift, b))
                keep_better(f, b, best, best_sse);
        }
}

/* Non-negative least squares of the reciprocal for b2 = the least loss less exp(log_gap) of it;
 * returns the sum of squares of the loss. */
static double reciprocal_at(struct fit *f, bool is_balanced, double low_loss, double log_gap,
                            double *out_b)
{
    double limit = low_loss * (1 - exp(log_gap)), x[2];
    for (size_t i = 0; i < f->count; i++) {
        double above = f->loss[i] - limit;
        f->rows[2 * i] = f->k[i];
        f->rows[2 * i + 1] = 1;
        f->right[i] = 1 / above;
        f->balance[i] = f->weight[i] * (is_balanced ? pow(above, 4) : 1);
    }
    if (!orch_nnls_solve(f->rows, f->right, f->balance, f->count, 2, x, NULL, NULL) ||
        x[0] + x[1] <= 0)
        return HUGE_VAL;
    memcpy(out_b, (double[]){x[0], x[1], limit, 0}, 4 * sizeof *out_b);
    return fit_sse(f, out_b);
}

/* The least along log_gap between two ends, by the golden section, kept where it is better. */
static void golden_section(struct fit *f, bool is_balanced, double low_loss, double low,
                           double high, double *best, double *best_sse)
{
    const double golden = 0.6180339887498949;
    double b[ORCH_CURVE_PARAMS_MAX];
    double left = high - golden * (high - low), right = low + golden * (high - low);
    double left_sse = reciprocal_at(f, is_balanced, low_loss, left, b);
    double right_sse = reciprocal_at(f, is_balanced, low_loss, right, b);
    for (int i = 0; i < 40; i++) {
        if (left_sse < right_sse) {
            high = right;
            right = left;
            right_sse = left_sse;
            left = high - golden * (high - low);
            left_sse = reciprocal_at(f, is_balanced, low_loss, left, b);
        } else {
            low = left;
            left = right;
            left_sse = right_sse;
            right = low + golden * (high - low);
            right_sse = reciprocal_at(f, is_balanced, low_loss, right, b);
        }
    }
    if (reciprocal_at(f, is_balanced, low_loss, (low + high) / 2, b) < HUGE_VAL)
        keep_better(f, b, best, best_sse);
}

/* The reciprocal form; b2 is the one whose curve is nearest to the losses, since errors of
 * reciprocals of different b2 do not compare. With plain weights there is a second valley where b1
 * is 0, so each low point of the grid is looked into. */
static void reciprocal(struct fit *f, bool is_balanced, double *best, double *best_sse)
{
    enum { GAPS = 113 }; /* of the least loss: 1 down to 1e-7, 16 a decade */
    double low_loss = least(f->loss, f->count), sse[GAPS], step = -log(10) / 16;
    if (low_loss <= 0)
        return;
    for (int i = 0; i < GAPS; i++) {
        double b[ORCH_CURVE_PARAMS_MAX];
        sse[i] = reciprocal_at(f, is_balanced, low_loss, i * step, b);
        if (sse[i] < HUGE_VAL)
            keep_better(f, b, best, best_sse);
    }
    for (int i = 0; i < GAPS; i++) {
        int before = MAX(i - 1, 0), after = MIN(i + 1, GAPS - 1);
        if (sse[i] <= sse[before] && sse[i] <= sse[after])
            golden_section(f, is_balanced, low_loss, after * step, before * step, best, best_sse);
    }
}

static double weighted_mean(const struct fit *f)
{
    double sum = 0, weights = 0;
    for (size_t i = 0; i < f->count; i++) {
        sum += f->weight[i] * f->loss[i];
        weights += f->weight[i];
    }
    return sum / weights;
}

/* The direct fit of the optimus form: the lower of the two starts' ends. */
static void direct_optimus(struct fit *f, double *best, double *best_sse)
{
    double paper[ORCH_CURVE_PARAMS_MAX] = {0}, grid[ORCH_CURVE_PARAMS_MAX] = {0};
    double paper_sse = HUGE_VAL, grid_sse = HUGE_VAL;
    reciprocal(f, true, paper, &paper_sse);
    if (paper_sse < HUGE_VAL) {
        polish(f, paper);
        keep_better(f, paper, best, best_sse);
    }
    project_all(f, (double[]){1}, 1, 1.4, grid, &grid_sse);
    if (grid_sse < HUGE_VAL) {
        polish(f, grid);
        keep_better(f, grid, best, best_sse);
    }
}

static void direct_power(struct fit *f, double *best, double *best_sse)
{
    static const double EXPONENTS[] = {0.06, 0.12, 0.25, 0.5, 0.75, 1.25, 1.75, 2.5, 4, 7};
    double b[ORCH_CURVE_PARAMS_MAX] = {0}, sse = HUGE_VAL;
    project_all(f, EXPONENTS, G_N_ELEMENTS(EXPONENTS), 3, b, &sse);
    if (sse < HUGE_VAL) {
        polish(f, b);
        keep_better(f, b, best, best_sse);
    }
    /* the optimus fit, as a power law of exponent 1: the same or better comes of it */
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

/* Fits in scaled units; true when the result falls. */
static bool solve(struct fit *f, enum orch_curve_method method, double *b)
{
    double sse = HUGE_VAL;
    if (method != ORCH_CURVE_DIRECT)
        reciprocal(f, method == ORCH_CURVE_RECIPROCAL_BALANCED, b, &sse);
    else if (f->form == ORCH_CURVE_OPTIMUS)
        direct_optimus(f, b, &sse);
    else
        direct_power(f, b, &sse);
    double flat[ORCH_CURVE_PARAMS_MAX], last = f->k[f->count - 1];
    form_flat(f->form, weighted_mean(f), flat);
    if (sse < HUGE_VAL && sse < fit_sse(f, flat) &&
        fit_at(f, b, f->k[0]) - fit_at(f, b, last) > FLAT) {
        if (f->form == ORCH_CURVE_POWER)
            b[1] *= pow(f->k[0] + b[3], b[2]); /* from height to factor */
        return true;
    }
    memcpy(b, flat, sizeof flat);
    return false;
}

/* --- from the caller's units and back --- */

static void unscale(enum orch_curve_form form, double *b, double k_scale, double loss_scale)
{
    if (form == ORCH_CURVE_OPTIMUS) {
        b[0] /= k_scale * loss_scale;
        b[1] /= loss_scale;
        b[2] *= loss_scale;
        return;
    }
    b[0] *= loss_scale;
    b[1] *= loss_scale * pow(k_scale, b[2]);
    b[3] *= k_scale;
}

static size_t different(const double *k, size_t count)
{
    size_t found = count > 0;
    for (size_t i = 1; i < count; i++)
        found += k[i] != k[i - 1];
    return found;
}

/* What is wrong with one point; NULL when nothing is. */
static const char *point_complaint(const double *k, const double *loss, size_t i)
{
    if (!isfinite(k[i]) || k[i] < 0)
        return "is at a step that is negative or not finite";
    if (i > 0 && k[i] < k[i - 1])
        return "is at an earlier step than the one before";
    if (!isfinite(loss[i]) || loss[i] < 0)
        return "has a loss that is negative or not finite";
    return NULL;
}

static bool check_points(const double *k, const double *loss, size_t count, GError **error)
{
    for (size_t i = 0; i < count; i++) {
        const char *what = point_complaint(k, loss, i);
        if (!what)
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "point %zu of the loss curve %s: step %g, loss %g", i + 1, what, k[i],
                       loss[i]);
        return false;
    }
    if (count > 0 && largest(loss, count) > 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%s",
                   count ? "the loss curve is 0 throughout" : "the loss curve has no point");
    return false;
}

static bool check_options(const struct orch_curve_options *o, const double *loss, size_t count,
                          GError **error)
{
    const char *what = NULL;
    if (o->method != ORCH_CURVE_DIRECT && o->form != ORCH_CURVE_OPTIMUS)
        what = "the reciprocal fit is of the optimus form alone";
    else if (o->method != ORCH_CURVE_DIRECT && least(loss, count) <= 0)
        what = "the reciprocal fit needs losses above 0; the direct one does not";
    else if (o->neighbours < 0)
        what = "outliers are judged by at least 0 neighbours";
    if (what)
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%s", what);
    return !what;
}

/* Fits checked points with k counted from start_k and losses divided by `maximum` inside. */
static void fit_checked(const double *k, const double *loss, size_t count, double start_k,
                        double maximum, const struct orch_curve_options *o, struct orch_curve *out)
{
    struct fit f;
    fit_init(&f, o->form, count);
    struct orch_curve curve = {.form = o->form, .start_k = start_k, .points = count};
    curve.loss_scale = o->is_normalised ? maximum : 1;
    memcpy(f.loss, loss, count * sizeof *loss);
    if (o->neighbours > 0)
        curve.replaced = orch_curve_smooth(loss, count, o->neighbours, f.loss);
    double span = k[count - 1] - start_k;
    for (size_t i = 0; i < count; i++) {
        f.k[i] = span > 0 ? (k[i] - start_k) / span : 0;
        f.loss[i] /= maximum;
    }
    fit_weigh(&f, o->weights);
    if (different(f.k, count) >= (size_t)orch_curve_params(o->form)) {
        curve.is_flat = !solve(&f, o->method, curve.b);
    } else {
        curve.is_flat = true;
        form_flat(o->form, weighted_mean(&f), curve.b);
    }
    double scale = o->is_normalised ? 1 : maximum;
    for (size_t i = 0; i < count; i++) {
        double miss = scale * f.root[i] * (form_at(o->form, curve.b, f.k[i]) - f.loss[i]);
        curve.sse += miss * miss;
    }
    unscale(o->form, curve.b, span > 0 ? span : 1, scale);
    *out = curve;
    g_free(f.numbers);
}

size_t orch_curve_smooth(const double *loss, size_t count, int neighbours, double *out)
{
    g_autofree double *original = g_new(double, count + 1);
    memcpy(original, loss, count * sizeof *loss);
    memmove(out, loss, count * sizeof *loss);
    size_t replaced = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        size_t first = i > (size_t)neighbours ? i - (size_t)neighbours : 0;
        size_t last = MIN(i + (size_t)neighbours, count - 1);
        double low = HUGE_VAL, high = -HUGE_VAL, sum = 0;
        for (size_t j = first; j <= last; j++) {
            if (j == i)
                continue;
            low = fmin(low, original[j]);
            high = fmax(high, original[j]);
            sum += original[j];
        }
        if (original[i] >= low && original[i] <= high)
            continue;
        out[i] = sum / (double)(last - first);
        replaced++;
    }
    return replaced;
}

bool orch_curve_fit(const double *k, const double *loss, size_t count,
                    const struct orch_curve_options *options, struct orch_curve *out,
                    GError **error)
{
    static const struct orch_curve_options PLAIN = {0};
    const struct orch_curve_options *o = options ? options : &PLAIN;
    if (!check_points(k, loss, count, error) || !check_options(o, loss, count, error))
        return false;
    size_t found = different(k, count), wanted = (size_t)orch_curve_params(o->form);
    if (found < wanted) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "a loss curve of this form needs at least %zu steps, found %zu", wanted,
                       found);
        return false;
    }
    fit_checked(k, loss, count, 0, largest(loss, count), o, out);
    return true;
}

/* --- what a curve says --- */

double orch_curve_loss(const struct orch_curve *curve, double k)
{
    return curve->loss_scale * form_at(curve->form, curve->b, fmax(k - curve->start_k, 0));
}

double orch_curve_limit(const struct orch_curve *curve)
{
    return curve->loss_scale * form_limit(curve->form, curve->b);
}

/* The k, from the start, at which the form is `loss`; may be infinite or below 0. */
static double form_inverse(enum orch_curve_form form, const double *b, double loss)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return (1 / (loss - b[2]) - b[1]) / b[0];
    return pow((loss - b[0]) / b[1], -1 / b[2]) - b[3];
}

static bool reach(const struct orch_curve *curve, double loss, double *out_k)
{
    if (orch_curve_loss(curve, curve->start_k) <= loss) {
        *out_k = curve->start_k;
        return true;
    }
    if (curve->is_flat || loss <= orch_curve_limit(curve))
        return false;
    double k = form_inverse(curve->form, curve->b, loss / curve->loss_scale);
    if (!isfinite(k))
        return false;
    *out_k = curve->start_k + fmax(k, 0);
    return true;
}

bool orch_curve_reach(const struct orch_curve *curve, double loss, double *out_k, GError **error)
{
    if (!isfinite(loss))
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the target loss is not a finite number");
    else if (reach(curve, loss, out_k))
        return true;
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "loss %.6g is never reached: the fitted curve tends to %.6g", loss,
                       orch_curve_limit(curve));
    return false;
}

double orch_curve_error(const struct orch_curve *curve, const double *k, const double *loss,
                        size_t count, double from_k)
{
    double sum = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (k[i] < from_k || !(loss[i] > 0))
            continue;
        sum += fabs(orch_curve_loss(curve, k[i]) - loss[i]) / loss[i];
        used++;
    }
    return used ? sum / (double)used : (double)NAN;
}

int orch_curve_stop_epoch(const struct orch_curve *curve, const struct orch_stop_rule *rule,
                          int progress)
{
    /* the curve never rises, so the fall over the whole window is the largest */
    int window = MAX(rule->epochs - 1, 0);
    for (int e = MAX(progress, window); e <= rule->last_epoch; e++) {
        double before = orch_curve_loss(curve, (e - window) * rule->k_per_epoch);
        double fall = before - orch_curve_loss(curve, e * rule->k_per_epoch);
        if (fall <= rule->drop * (rule->is_relative ? before : curve->loss_scale) && isfinite(fall))
            return e;
    }
    return -1;
}

/* --- stages --- */

static bool check_drops(const double *drops, size_t count, GError **error)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(drops[i]) && drops[i] > (i ? drops[i - 1] : 0))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "the learning rate's drops must rise and be above 0: drop %zu is %g", i + 1,
                       drops[i]);
        return false;
    }
    return true;
}

struct orch_stages *orch_stages_fit(const double *k, const double *loss, size_t count,
                                    const double *drops, size_t drop_count,
                                    const struct orch_curve_options *options, GError **error)
{
    static const struct orch_curve_options PLAIN = {0};
    const struct orch_curve_options *o = options ? options : &PLAIN;
    if (!check_points(k, loss, count, error) || !check_options(o, loss, count, error) ||
        !check_drops(drops, drop_count, error))
        return NULL;
    size_t used = 1;
    while (used <= drop_count && drops[used - 1] <= k[count - 1])
        used++;
    struct orch_stages *stages = g_new0(struct orch_stages, 1);
    stages->starts = g_new0(double, used);
    stages->curves = g_new0(struct orch_curve, used);
    double maximum = largest(loss, count);
    for (size_t s = 0, first = 0; s < used; s++) {
        size_t end = first;
        while (end < count && (s + 1 == used || k[end] < drops[s]))
            end++;
        stages->starts[s] = s ? drops[s - 1] : 0;
        if (end == first) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                           "no loss was recorded in the stage that begins at step %g",
                           stages->starts[s]);
            orch_stages_free(stages);
            return NULL;
        }
        fit_checked(k + first, loss + first, end - first, stages->starts[s], maximum, o,
                    &stages->curves[s]);
        stages->count++;
        first = end;
    }
    return stages;
}

void orch_stages_free(struct orch_stages *stages)
{
    if (stages) {
        g_free(stages->starts);
        g_free(stages->curves);
    }
    g_free(stages);
}

double orch_stages_loss(const struct orch_stages *stages, double k)
{
    size_t s = 0;
    while (s + 1 < stages->count && k >= stages->starts[s + 1])
        s++;
    return orch_curve_loss(&stages->curves[s], k);
}

bool orch_stages_reach(const struct orch_stages *stages, double loss, double *out_k, GError **error)
{
    double k;
    for (size_t s = 0; s < stages->count && isfinite(loss); s++) {
        const struct orch_curve *curve = &stages->curves[s];
        if (reach(curve, loss, &k) && (s + 1 == stages->count || k < stages->starts[s + 1])) {
            *out_k = k;
            return true;
        }
    }
    if (!isfinite(loss))
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the target loss is not a finite number");
    else
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "loss %.6g is never reached: the last stage tends to %.6g", loss,
                       orch_curve_limit(&stages->curves[stages->count - 1]));
    return false;
}
