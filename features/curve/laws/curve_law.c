/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/laws/curve_law.h"

#include "lib/base/error.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <string.h>

/* Columns are linearly dependent if a singular value is below this share of the largest. */
#define DEPENDENT 1e-8
/* A parameter with values below this share of its largest is not fitted as a logarithm. */
#define LOG_SHARE 0.01
#define SIGNIFICANT 0.05
/* Sums of squares below this share of the total are rounding errors. */
#define ROUNDING 1e-20

/* ---- least squares --------------------------------------------------------------------------- */

/* Least squares of y on the columns of x (rows x cols, row-major). Returns the sum of squared
 * errors and the rank. Dependent columns get the solution of least norm. */
static double solve(const double *x, const double *y, size_t rows, size_t cols, double *out,
                    size_t *out_rank)
{
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, cols);
    gsl_matrix_const_view a = gsl_matrix_const_view_array(x, rows, cols);
    gsl_vector_const_view b = gsl_vector_const_view_array(y, rows);
    gsl_vector_view c = gsl_vector_view_array(out, cols);
    gsl_matrix *covariance = gsl_matrix_alloc(cols, cols);
    double sse = NAN;
    gsl_multifit_linear_tsvd(&a.matrix, &b.vector, DEPENDENT, &c.vector, covariance, &sse, out_rank,
                             work);
    gsl_matrix_free(covariance);
    gsl_multifit_linear_free(work);
    return sse;
}

static void solve_padded(const double *x, const double *y, size_t rows, size_t cols, double *out,
                         double *out_sse, size_t *out_rank)
{
    /* GSL needs at least as many rows as columns; rows of zeros change nothing */
    size_t padded = MAX(rows, cols);
    g_autofree double *a = g_new0(double, padded *cols), *b = g_new0(double, padded);
    memcpy(a, x, rows * cols * sizeof *a);
    memcpy(b, y, rows * sizeof *b);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    *out_sse = solve(a, b, padded, cols, out, out_rank);
    gsl_set_error_handler(handler);
}

/* ---- test of the device's effect ------------------------------------------------------------- */

static double mean_of(const struct orch_law_data *d, int output)
{
    double sum = 0;
    for (size_t i = 0; i < d->row_count; i++)
        sum += d->rows[i].values[output];
    return sum / (double)d->row_count;
}

static void fill_factors(const struct orch_law_data *d, bool with_devices, double *x, size_t cols)
{
    for (size_t i = 0; i < d->row_count; i++) {
        double *row = x + i * cols;
        row[d->rows[i].network] = 1;
        if (with_devices && d->rows[i].device > 0)
            row[d->networks + d->rows[i].device - 1] = 1;
    }
}

/* Sum of squared errors of y with networks, and optionally devices, as factors. */
static double factor_sse(const struct orch_law_data *d, const double *y, bool with_devices,
                         double *out_effects, size_t *out_rank)
{
    size_t cols = (size_t)(d->networks + (with_devices ? d->devices - 1 : 0));
    g_autofree double *x = g_new0(double, d->row_count *cols), *c = g_new0(double, cols);
    double sse;
    fill_factors(d, with_devices, x, cols);
    solve_padded(x, y, d->row_count, cols, c, &sse, out_rank);
    for (int i = 1; with_devices && i < d->devices; i++)
        out_effects[i] = c[d->networks + i - 1];
    return sse;
}

/* Largest difference between two effects, as a share of the parameter. */
static double spread(const struct orch_law_data *d, const double *effects, int output, bool is_log)
{
    double low = 0, high = 0, mean = mean_of(d, output);
    for (int i = 0; i < d->devices; i++) {
        low = fmin(low, effects[i]);
        high = fmax(high, effects[i]);
    }
    if (is_log)
        return exp(high - low) - 1;
    return high > low ? (high - low) / fabs(mean) : 0;
}

/* `effects`: of each device relative to the first. */
static struct orch_law_test test_device(const struct orch_law_data *d, const double *y, int output,
                                        bool is_log, double *effects)
{
    struct orch_law_test test = {.f = NAN, .p = NAN, .largest = NAN};
    size_t rank_without, rank_with;
    double whole = 0;
    if (d->devices < 2)
        return test;
    double without = factor_sse(d, y, false, NULL, &rank_without);
    double with = factor_sse(d, y, true, effects, &rank_with);
    test.df_device = (int)(rank_with - rank_without);
    test.df_rest = (int)(d->row_count - rank_with);
    if (test.df_device >= 1)
        test.largest = spread(d, effects, output, is_log);
    for (size_t i = 0; i < d->row_count; i++)
        whole += y[i] * y[i];
    bool all_agree = without <= ROUNDING * whole;
    if (test.df_device < 1 || test.df_rest < 1 || all_agree)
        return test;
    test.f = ((without - with) / test.df_device) / (with / test.df_rest);
    test.p = with > 0 ? gsl_cdf_fdist_Q(fmax(test.f, 0), test.df_device, test.df_rest) : 0;
    test.matters = test.p < SIGNIFICANT / d->outputs;
    return test;
}

/* ---- lines over networks --------------------------------------------------------------------- */

/* The features centred and scaled, so that the dependence test does not depend on units. */
struct scaled {
    double *x; /* networks x ORCH_LAW_FEATURES */
    double centre[ORCH_LAW_FEATURES], scale[ORCH_LAW_FEATURES];
};

static void scale_features(const struct orch_law_data *d, struct scaled *s)
{
    s->x = g_new(double, (size_t)d->networks *ORCH_LAW_FEATURES);
    for (int f = 0; f < ORCH_LAW_FEATURES; f++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int n = 0; n < d->networks; n++) {
            low = fmin(low, d->features[n * ORCH_LAW_FEATURES + f]);
            high = fmax(high, d->features[n * ORCH_LAW_FEATURES + f]);
        }
        s->centre[f] = (low + high) / 2;
        s->scale[f] = high > low ? (high - low) / 2 : 1;
        for (int n = 0; n < d->networks; n++)
            s->x[n * ORCH_LAW_FEATURES + f] =
                (d->features[n * ORCH_LAW_FEATURES + f] - s->centre[f]) / s->scale[f];
    }
}

/* Least squares of y on the features in `mask` over all rows except those of network `without` (-1:
 * none). out: intercept and one slope per feature, for scaled features. Returns false if the
 * columns are dependent or there are too few rows. */
static bool fit_line(const struct orch_law_data *d, const struct scaled *s, const double *y,
                     unsigned mask, int without, double *out)
{
    size_t cols = 1, rows = 0, rank;
    double sse, c[1 + ORCH_LAW_FEATURES];
    for (int f = 0; f < ORCH_LAW_FEATURES; f++)
        cols += mask >> f & 1;
    g_autofree double *x = g_new0(double, d->row_count *cols), *b = g_new0(double, d->row_count);
    for (size_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].network == without)
            continue;
        double *row = x + rows * cols;
        size_t at = 0;
        row[at++] = 1;
        for (int f = 0; f < ORCH_LAW_FEATURES; f++)
            if (mask >> f & 1)
                row[at++] = s->x[d->rows[i].network * ORCH_LAW_FEATURES + f];
        b[rows++] = y[i];
    }
    if (rows == 0)
        return false;
    solve_padded(x, b, rows, cols, c, &sse, &rank);
    if (rank < cols)
        return false;
    memset(out, 0, (1 + ORCH_LAW_FEATURES) * sizeof *out);
    out[0] = c[0];
    for (int f = 0, at = 1; f < ORCH_LAW_FEATURES; f++)
        if (mask >> f & 1)
            out[1 + f] = c[at++];
    return true;
}

static double line_at(const struct scaled *s, const double *line, int network)
{
    double y = line[0];
    for (int f = 0; f < ORCH_LAW_FEATURES; f++)
        y += line[1 + f] * s->x[network * ORCH_LAW_FEATURES + f];
    return y;
}

static double inverse(bool is_log, double y)
{
    return is_log ? exp(y) : fmax(y, 0);
}

/* Mean squared error of y for networks left out in turn. HUGE_VAL if the fit without one of them is
 * impossible. */
static double leave_out(const struct orch_law_data *d, const struct scaled *s, const double *y,
                        unsigned mask)
{
    double squares = 0, line[1 + ORCH_LAW_FEATURES];
    for (int n = 0; n < d->networks; n++) {
        if (!fit_line(d, s, y, mask, n, line))
            return HUGE_VAL;
        double guess = line_at(s, line, n);
        for (size_t i = 0; i < d->row_count; i++)
            if (d->rows[i].network == n)
                squares += (guess - y[i]) * (guess - y[i]);
    }
    return squares / (double)d->row_count;
}

static unsigned bits(unsigned mask)
{
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
}

static void choose_features(const struct orch_law_data *d, const struct scaled *s, const double *y,
                            struct orch_law_line *out)
{
    unsigned best = 0;
    double least = HUGE_VAL, whole = 0, line[1 + ORCH_LAW_FEATURES];
    for (size_t i = 0; i < d->row_count; i++)
        whole += y[i] * y[i] / (double)d->row_count;
    for (unsigned size = 0; size <= ORCH_LAW_FEATURES && d->networks >= 3; size++)
        for (unsigned mask = 0; mask < 1u << ORCH_LAW_FEATURES; mask++) {
            if (bits(mask) != size || (int)size > d->networks - 2)
                continue;
            double error = leave_out(d, s, y, mask);
            if (error < HUGE_VAL &&
                (isinf(least) || error < least * (1 - 1e-9) - ROUNDING * whole)) {
                least = error;
                best = mask;
            }
        }
    if (!fit_line(d, s, y, best, -1, line))
        memset(line, 0, sizeof line);
    out->intercept = line[0];
    for (int f = 0; f < ORCH_LAW_FEATURES; f++) {
        out->uses[f] = best >> f & 1;
        out->slopes[f] = out->uses[f] ? line[1 + f] / s->scale[f] : 0;
        out->intercept -= out->slopes[f] * s->centre[f];
    }
}

/* `y`: the dependent variable minus the effect of the device. */
static double line_r2(const struct orch_law_data *d, const double *y, const struct orch_law_line *l)
{
    double mean = 0, rest = 0, whole = 0;
    for (size_t i = 0; i < d->row_count; i++)
        mean += y[i] / (double)d->row_count;
    for (size_t i = 0; i < d->row_count; i++) {
        double guess = l->intercept;
        for (int f = 0; f < ORCH_LAW_FEATURES; f++)
            guess += l->slopes[f] * d->features[d->rows[i].network * ORCH_LAW_FEATURES + f];
        rest += (guess - y[i]) * (guess - y[i]);
        whole += (y[i] - mean) * (y[i] - mean);
    }
    bool is_constant = whole <= ROUNDING * mean * mean * (double)d->row_count;
    const double r2 = 1 - rest / whole;
    return is_constant ? (double)NAN : fabs(r2) < 1e-12 ? 0 : r2; /* 0: of a mean alone */
}

/* Fits one output. Writes its dependent variable, without the device's effect where that matters,
 * to `y` (one number per row). */
static void fit_output(const struct orch_law_data *d, const struct scaled *s, int output, double *y,
                       struct orch_law_line *out)
{
    double low = HUGE_VAL, high = 0, effects[ORCH_LAW_DEVICES_MAX] = {0};
    for (size_t i = 0; i < d->row_count; i++) {
        low = fmin(low, d->rows[i].values[output]);
        high = fmax(high, d->rows[i].values[output]);
    }
    out->is_log = low > 0 && low > LOG_SHARE * high;
    for (size_t i = 0; i < d->row_count; i++)
        y[i] = out->is_log ? log(d->rows[i].values[output]) : d->rows[i].values[output];
    out->test = test_device(d, y, output, out->is_log, effects);
    if (out->test.matters) { /* centred, so that the line is that of the average device */
        double mean = 0;
        for (int i = 0; i < d->devices; i++)
            mean += effects[i] / d->devices;
        for (int i = 0; i < d->devices; i++)
            out->device[i] = effects[i] - mean;
        for (size_t i = 0; i < d->row_count; i++)
            y[i] -= out->device[d->rows[i].device];
    }
    choose_features(d, s, y, out);
}

static double line_predict(const struct orch_law_line *line, const double *features, int device)
{
    double y = line->intercept + (device >= 0 ? line->device[device] : 0);
    for (int f = 0; f < ORCH_LAW_FEATURES; f++)
        y += line->slopes[f] * features[f];
    return inverse(line->is_log, y);
}

/* ---- error on networks left out -------------------------------------------------------------- */

/* Fits one output without a network, every choice included: scale, device, features. */
static void fit_without(const struct orch_law_data *d, int network, int output,
                        struct orch_law_line *out)
{
    struct orch_law_data rest = *d;
    struct scaled scaled;
    g_autofree struct orch_law_row *rows = g_new(struct orch_law_row, d->row_count);
    g_autofree double *features = g_new(double, (size_t)d->networks *ORCH_LAW_FEATURES);
    g_autofree double *y = g_new(double, d->row_count);
    const size_t before = (size_t)network * ORCH_LAW_FEATURES;
    rest.row_count = 0;
    for (size_t i = 0; i < d->row_count; i++) {
        if (d->rows[i].network == network)
            continue;
        rows[rest.row_count] = d->rows[i];
        rows[rest.row_count++].network -= d->rows[i].network > network;
    }
    rest.networks = d->networks - 1;
    memcpy(features, d->features, before * sizeof *features);
    memcpy(features + before, d->features + before + ORCH_LAW_FEATURES,
           ((size_t)rest.networks * ORCH_LAW_FEATURES - before) * sizeof *features);
    rest.rows = rows;
    rest.features = features;
    scale_features(&rest, &scaled);
    fit_output(&rest, &scaled, output, y, out);
    g_free(scaled.x);
}

/* The mean relative error of one output for networks left out in turn. NaN: fewer than 3 networks.
 * The features are chosen anew without each network: the least error among several choices, on the
 * networks that made the choice, would be too small (Varma, Simon 2006). */
static double left_out_error(const struct orch_law_data *d, int output)
{
    double relative = 0;
    size_t counted = 0;
    for (int n = 0; d->networks >= 3 && n < d->networks; n++) {
        struct orch_law_line line = {0};
        fit_without(d, n, output, &line);
        for (size_t i = 0; i < d->row_count; i++) {
            const struct orch_law_row *row = &d->rows[i];
            const double value = row->values[output];
            if (row->network != n || !(value > 0))
                continue;
            const double *features = d->features + (size_t)n * ORCH_LAW_FEATURES;
            relative += fabs(line_predict(&line, features, row->device) - value) / value;
            counted++;
        }
    }
    return counted ? relative / (double)counted : (double)NAN;
}

/* ---- all ------------------------------------------------------------------------------------- */

static const char *complaint(const struct orch_law_data *d)
{
    if (d->row_count == 0)
        return "there is no fitted curve to learn from";
    if (d->networks < 1 || d->networks > ORCH_LAW_NETWORKS_MAX || d->devices < 1 ||
        d->devices > ORCH_LAW_DEVICES_MAX || d->outputs < 1 || d->outputs > ORCH_LAW_OUTPUTS_MAX)
        return "too many networks, devices or parameters";
    for (int i = 0; i < d->networks * ORCH_LAW_FEATURES; i++)
        if (!isfinite(d->features[i]))
            return "a network's size is not a finite number";
    for (size_t i = 0; i < d->row_count; i++) {
        const struct orch_law_row *row = &d->rows[i];
        if (row->network < 0 || row->network >= d->networks || row->device < 0 ||
            row->device >= d->devices)
            return "a row names a network or device that does not exist";
        for (int j = 0; j < d->outputs; j++)
            if (!isfinite(row->values[j]))
                return "a curve's parameter is not a finite number";
    }
    return NULL;
}

struct orch_curve_law *orch_law_fit(const struct orch_law_data *data, GError **error)
{
    const char *what = complaint(data);
    if (what) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "%s", what);
        return NULL;
    }
    struct orch_curve_law *law = g_new0(struct orch_curve_law, 1);
    struct scaled scaled;
    law->networks = data->networks;
    law->devices = data->devices;
    law->outputs = data->outputs;
    law->lines = g_new0(struct orch_law_line, data->outputs);
    scale_features(data, &scaled);
    g_autofree double *y = g_new(double, data->row_count);
    for (int i = 0; i < data->outputs; i++) {
        struct orch_law_line *line = &law->lines[i];
        fit_output(data, &scaled, i, y, line);
        line->r2 = line_r2(data, y, line);
        line->left_out_error = left_out_error(data, i);
        orch_law_line_errors(data, y, line);
    }
    g_free(scaled.x);
    return law;
}

void orch_law_free(struct orch_curve_law *law)
{
    if (law)
        g_free(law->lines);
    g_free(law);
}

double orch_law_predict(const struct orch_curve_law *law, int output, const double *features,
                        int device)
{
    return line_predict(&law->lines[output], features, device);
}
