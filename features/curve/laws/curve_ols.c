/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/laws/curve_ols.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>

/* Sums of squares below this share of the total are rounding errors. */
#define ROUNDING 1e-20

/* ---- terms of the regression ----------------------------------------------------------------- */

static double layers_of(const struct orch_law_data *d, size_t row)
{
    return d->features[(size_t)d->rows[row].network * ORCH_LAW_FEATURES];
}

static void find_terms(const struct orch_law_data *d, struct orch_curve_ols *p)
{
    p->base = -1;
    for (size_t i = 0; i < d->row_count; i++) {
        p->has_device[d->rows[i].device] = true;
        p->has_layers = p->has_layers || layers_of(d, i) != layers_of(d, 0);
    }
    p->terms = 1 + p->has_layers;
    for (int g = 0; g < d->devices; g++) {
        p->terms += p->has_device[g] && p->base >= 0;
        p->base = p->has_device[g] && p->base < 0 ? g : p->base;
    }
}

/* Columns: the constant, the layers, then an indicator for each further device, in order. */
static void fill_row(const struct orch_curve_ols *p, double layers, int device, double *x)
{
    int column = 0;
    x[column++] = 1;
    if (p->has_layers)
        x[column++] = layers;
    for (int g = 0; g < p->devices; g++)
        if (p->has_device[g] && g != p->base)
            x[column++] = g == device;
}

/* ---- fitting --------------------------------------------------------------------------------- */

struct workspace {
    gsl_multifit_linear_workspace *work;
    gsl_matrix *x, *covariance;
    gsl_vector *y, *c;
};

static void keep(const struct orch_curve_ols *p, const struct workspace *w, double sse,
                 double total, struct orch_curve_ols_line *line)
{
    bool has_error = p->rows > p->terms;
    struct orch_curve_ols_term terms[2 + ORCH_LAW_DEVICES_MAX] = {0};
    for (int t = 0; t < p->terms; t++) {
        double variance = gsl_matrix_get(w->covariance, (size_t)t, (size_t)t);
        terms[t] = (struct orch_curve_ols_term){gsl_vector_get(w->c, (size_t)t),
                                                has_error ? sqrt(variance) : (double)NAN};
    }
    int column = 0;
    line->constant = terms[column++];
    if (p->has_layers)
        line->per_layer = terms[column++];
    for (int g = 0; g < p->devices; g++)
        if (p->has_device[g] && g != p->base)
            line->device[g] = terms[column++];
    line->r2 = total > ROUNDING ? 1 - sse / total : (double)NAN;
}

static bool fit_line(const struct orch_law_data *d, const struct orch_curve_ols *p,
                     const struct workspace *w, int output, struct orch_curve_ols_line *line)
{
    double mean = 0, total = 0, sse = 0;
    for (size_t i = 0; i < d->row_count; i++) {
        mean += d->rows[i].values[output] / (double)d->row_count;
        gsl_vector_set(w->y, i, d->rows[i].values[output]);
    }
    for (size_t i = 0; i < d->row_count; i++)
        total += pow(d->rows[i].values[output] - mean, 2);
    if (gsl_multifit_linear(w->x, w->y, w->c, w->covariance, &sse, w->work) != GSL_SUCCESS)
        return false;
    keep(p, w, sse, total, line);
    return true;
}

static bool fit_all(const struct orch_law_data *d, struct orch_curve_ols *p)
{
    size_t rows = (size_t)p->rows, terms = (size_t)p->terms;
    struct workspace w = {gsl_multifit_linear_alloc(rows, terms), gsl_matrix_alloc(rows, terms),
                          gsl_matrix_alloc(terms, terms), gsl_vector_alloc(rows),
                          gsl_vector_alloc(terms)};
    bool ok = true;
    for (size_t i = 0; i < rows; i++)
        fill_row(p, layers_of(d, i), d->rows[i].device, gsl_matrix_ptr(w.x, i, 0));
    for (int j = 0; ok && j < p->outputs; j++)
        ok = fit_line(d, p, &w, j, &p->lines[j]);
    gsl_multifit_linear_free(w.work);
    gsl_matrix_free(w.x);
    gsl_matrix_free(w.covariance);
    gsl_vector_free(w.y);
    gsl_vector_free(w.c);
    return ok;
}

struct orch_curve_ols *orch_curve_ols_fit(const struct orch_law_data *data)
{
    if (!data->row_count || data->devices > ORCH_LAW_DEVICES_MAX)
        return NULL;
    struct orch_curve_ols *p = g_new0(struct orch_curve_ols, 1);
    p->outputs = data->outputs;
    p->devices = data->devices;
    p->rows = (int)data->row_count;
    p->lines = g_new0(struct orch_curve_ols_line, data->outputs);
    find_terms(data, p);
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    bool ok = p->rows >= p->terms && fit_all(data, p);
    gsl_set_error_handler(handler);
    if (ok)
        return p;
    orch_curve_ols_free(p);
    return NULL;
}

void orch_curve_ols_free(struct orch_curve_ols *plain)
{
    if (!plain)
        return;
    g_free(plain->lines);
    g_free(plain);
}

double orch_curve_ols_predict(const struct orch_curve_ols *plain, int output, double layers,
                              int device)
{
    const struct orch_curve_ols_line *line = &plain->lines[output];
    double value = line->constant.value + line->per_layer.value * layers;
    if (device >= 0 && device < plain->devices)
        value += line->device[device].value;
    return fmax(value, 0);
}
