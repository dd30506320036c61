/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves in the caller's units: validation, scaling around the fit (curve_fit.c), evaluation,
 * and stages. */
#include "features/curve/laws/curve.h"

#include "features/curve/laws/curve_private.h"
#include "lib/base/error.h"

#include <math.h>
#include <string.h>

/* Least loss that a relative error is divided by, as a share of the largest. */
#define LEAST_LOSS 1e-6

static double largest(const double *v, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, v[i]);
    return most;
}

/* --- scaling back to the caller's units --- */

static void unscale(enum orch_curve_form form, double *b, double k_scale, double loss_scale)
{
    if (form == ORCH_CURVE_OPTIMUS) {
        b[0] /= k_scale * loss_scale;
        b[1] /= loss_scale;
        b[2] *= loss_scale;
        return;
    }
    b[0] *= loss_scale;
    b[1] *= loss_scale;
    if (form == ORCH_CURVE_POWER)
        b[1] *= pow(k_scale, b[2]);
    b[3] *= k_scale;
    b[form == ORCH_CURVE_LINE ? 1 : 2] /= form == ORCH_CURVE_POWER ? 1 : k_scale;
}

static size_t different(const double *k, size_t count)
{
    size_t found = count > 0;
    for (size_t i = 1; i < count; i++)
        found += k[i] != k[i - 1];
    return found;
}

/* Returns the problem with a point, or NULL. */
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
                   count ? "the loss curve is 0 throughout" : "the loss curve has no points");
    return false;
}

/* The number of first points that are left out, so that enough remain. */
static size_t skipped_of(const struct orch_curve_options *o, size_t count)
{
    size_t wanted = (size_t)floor(CLAMP(o->skip, 0, 0.5) * (double)count);
    size_t least = 3 * (size_t)orch_curve_params(o->form);
    return count > least ? MIN(wanted, count - least) : 0;
}

/* Errors relative to the loss: each point has the weight of one over its own loss. */
static void weigh_relative(struct orch_curve_points *f)
{
    for (size_t i = 0; i < f->count; i++) {
        f->root[i] /= fmax(f->loss[i], LEAST_LOSS);
        f->weight[i] = f->root[i] * f->root[i];
    }
}

/* Fits validated points. k is counted from start_k and losses are divided by `maximum`
 * internally. */
static void fit_checked(const double *k, const double *loss, size_t count, double start_k,
                        double maximum, const struct orch_curve_options *o, struct orch_curve *out)
{
    size_t skipped = skipped_of(o, count), n = count - skipped;
    struct orch_curve_points f;
    orch_curve_points_init(&f, o->form, n);
    struct orch_curve curve = {.form = o->form,
                               .start_k = start_k,
                               .from_k = skipped ? k[skipped] : start_k,
                               .points = n,
                               .is_relative = o->is_relative};
    curve.loss_scale = o->is_normalised ? maximum : 1;
    memcpy(f.loss, loss + skipped, n * sizeof *loss);
    if (o->neighbours > 0)
        curve.replaced = orch_curve_smooth(loss + skipped, n, o->neighbours, f.loss);
    double span = k[count - 1] - start_k;
    for (size_t i = 0; i < n; i++) {
        f.k[i] = span > 0 ? (k[skipped + i] - start_k) / span : 0;
        f.loss[i] /= maximum;
    }
    orch_curve_points_weigh(&f, o->weights);
    if (o->is_relative)
        weigh_relative(&f);
    if (different(f.k, n) >= (size_t)orch_curve_params(o->form)) {
        curve.is_flat = !orch_curve_solve(&f, curve.b);
    } else {
        curve.is_flat = true;
        orch_curve_form_flat(o->form, orch_curve_points_mean(&f), curve.b);
    }
    curve.form = f.form;
    double scale = o->is_normalised ? 1 : maximum;
    for (size_t i = 0; i < n; i++) {
        double miss = scale * f.root[i] * (orch_curve_form_at(f.form, curve.b, f.k[i]) - f.loss[i]);
        curve.sse += miss * miss;
    }
    unscale(f.form, curve.b, span > 0 ? span : 1, scale);
    *out = curve;
    orch_curve_points_release(&f);
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
    if (!check_points(k, loss, count, error))
        return false;
    size_t found = different(k, count), wanted = (size_t)orch_curve_params(o->form);
    if (found < wanted) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "a fit of this curve needs at least %zu steps, found %zu", wanted, found);
        return false;
    }
    fit_checked(k, loss, count, 0, largest(loss, count), o, out);
    return true;
}

/* --- evaluation --- */

double orch_curve_loss(const struct orch_curve *curve, double k)
{
    return curve->loss_scale *
           orch_curve_form_at(curve->form, curve->b, fmax(k - curve->start_k, 0));
}

double orch_curve_limit(const struct orch_curve *curve)
{
    return curve->loss_scale * orch_curve_form_limit(curve->form, curve->b);
}

/* The k, counted from the start, at which the form equals `loss`; may be infinite or negative. */
static double form_inverse(enum orch_curve_form form, const double *b, double loss)
{
    if (form == ORCH_CURVE_OPTIMUS)
        return (1 / (loss - b[2]) - b[1]) / b[0];
    if (form == ORCH_CURVE_EXPONENTIAL)
        return log(b[1] / (loss - b[0])) / b[2];
    if (form == ORCH_CURVE_LINE)
        return (b[0] - fmax(loss, 0)) / b[1];
    return pow((loss - b[0]) / b[1], -1 / b[2]) - b[3];
}

static bool reach(const struct orch_curve *curve, double loss, double *out_k)
{
    if (orch_curve_loss(curve, curve->start_k) <= loss) {
        *out_k = curve->start_k;
        return true;
    }
    if (curve->is_flat || loss < 0 || loss <= orch_curve_limit(curve))
        return false;
    double k = form_inverse(curve->form, curve->b, loss / curve->loss_scale);
    if (!isfinite(k))
        return false;
    *out_k = curve->start_k + fmax(k, 0);
    return true;
}

/* --- stages --- */

static bool check_drops(const double *drops, size_t count, GError **error)
{
    for (size_t i = 0; i < count; i++) {
        if (isfinite(drops[i]) && drops[i] > (i ? drops[i - 1] : 0))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                       "the steps where the learning rate drops must be above 0 and ascending: "
                       "drop %zu is at %g",
                       i + 1, drops[i]);
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
    if (!check_points(k, loss, count, error) || !check_drops(drops, drop_count, error))
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
                           "no loss was recorded for the learning rate that begins at step %g",
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
                       "loss %.6g is never reached: after the last change of the learning rate, "
                       "the loss tends to %.6g",
                       loss, orch_curve_limit(&stages->curves[stages->count - 1]));
    return false;
}
