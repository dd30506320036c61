/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/learn/aigauge.h"

#include "lib/base/error.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define TOLERANCE 1e-10 /* for singular values, relative to the largest */

static const char *category_of(const struct orch_aigauge_job *job,
                               enum orch_aigauge_reading reading)
{
    return reading == ORCH_AIGAUGE_BY_GPU ? job->gpu : job->net;
}

static void clear_term(gpointer term)
{
    g_free(((struct orch_aigauge_term *)term)->name);
}

static void add_term(struct orch_aigauge *fit, const char *name)
{
    struct orch_aigauge_term term = {.name = g_strdup(name)};
    g_array_append_val(fit->terms, term);
}

static struct orch_aigauge_term *term_at(const struct orch_aigauge *fit, guint i)
{
    return &g_array_index(fit->terms, struct orch_aigauge_term, i);
}

static void list_terms(struct orch_aigauge *fit, const struct orch_aigauge_job *jobs, size_t count)
{
    static const char *const numbers[ORCH_AIGAUGE_NUMBERS] = {"W", "B/(T+1)", "B/(W F)"};
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    add_term(fit, "1");
    for (size_t i = 0; i < count; i++) {
        const char *category = category_of(&jobs[i], fit->reading);
        if (g_hash_table_add(seen, (gpointer)(uintptr_t)category))
            add_term(fit, category);
    }
    for (int i = 0; i < ORCH_AIGAUGE_NUMBERS; i++)
        add_term(fit, numbers[i]);
}

/* The value of a term for a job. */
static double value_of(const struct orch_aigauge *fit, guint i, const struct orch_aigauge_job *job)
{
    guint first = fit->terms->len - ORCH_AIGAUGE_NUMBERS;
    if (i == 0)
        return 1;
    if (i < first)
        return strcmp(term_at(fit, i)->name, category_of(job, fit->reading)) == 0;
    if (i == first)
        return job->workers;
    return i == first + 1 ? job->batch / (job->threads + 1)
                          : job->batch / (job->workers * job->flops);
}

static bool check_jobs(const struct orch_aigauge_job *jobs, const double *y, size_t count,
                       GError **error)
{
    if (!count) {
        orch_error_set(error, ORCH_ERROR_USAGE, NULL, "there is no measured training to fit");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct orch_aigauge_job *j = &jobs[i];
        bool ok = j->workers > 0 && isfinite(j->workers) && j->batch > 0 && isfinite(j->batch) &&
                  j->threads >= 0 && isfinite(j->threads) && j->flops > 0 && isfinite(j->flops);
        if (ok && isfinite(y[i]))
            continue;
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "workers, batch and the GPU's peak must be above 0, threads at least 0",
                       "training %zu cannot be used in the linear model: %g workers, batch %g, %g "
                       "threads, peak %g, time %g",
                       i + 1, j->workers, j->batch, j->threads, j->flops, y[i]);
        return false;
    }
    return true;
}

static bool solve(struct orch_aigauge *fit, const struct orch_aigauge_job *jobs, const double *y,
                  size_t count)
{
    /* GSL needs at least as many rows as columns; rows of zeros change nothing */
    size_t cols = fit->terms->len, rows = MAX(count, cols);
    gsl_matrix *x = gsl_matrix_calloc(rows, cols), *covariance = gsl_matrix_alloc(cols, cols);
    gsl_vector *right = gsl_vector_calloc(rows), *solution = gsl_vector_alloc(cols);
    gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(rows, cols);
    for (size_t i = 0; i < count; i++) {
        gsl_vector_set(right, i, y[i]);
        for (guint c = 0; c < cols; c++)
            gsl_matrix_set(x, i, c, value_of(fit, c, &jobs[i]));
    }
    double squares;
    gsl_error_handler_t *handler = gsl_set_error_handler_off();
    bool ok = gsl_multifit_linear_tsvd(x, right, TOLERANCE, solution, covariance, &squares,
                                       &fit->rank, work) == GSL_SUCCESS;
    gsl_set_error_handler(handler);
    for (guint c = 0; ok && c < cols; c++)
        term_at(fit, c)->coefficient = gsl_vector_get(solution, c);
    gsl_multifit_linear_free(work);
    gsl_matrix_free(x);
    gsl_matrix_free(covariance);
    gsl_vector_free(right);
    gsl_vector_free(solution);
    return ok;
}

struct orch_aigauge *orch_aigauge_fit(const struct orch_aigauge_job *jobs, const double *y,
                                      size_t count, enum orch_aigauge_reading reading,
                                      GError **error)
{
    if (!check_jobs(jobs, y, count, error))
        return NULL;
    struct orch_aigauge *fit = g_new0(struct orch_aigauge, 1);
    fit->reading = reading;
    fit->terms = g_array_new(FALSE, FALSE, sizeof(struct orch_aigauge_term));
    g_array_set_clear_func(fit->terms, clear_term);
    list_terms(fit, jobs, count);
    if (solve(fit, jobs, y, count))
        return fit;
    orch_error_set(error, ORCH_ERROR_USAGE, NULL, "the linear model of %zu jobs cannot be solved",
                   count);
    orch_aigauge_free(fit);
    return NULL;
}

double orch_aigauge_predict(const struct orch_aigauge *fit, const struct orch_aigauge_job *job)
{
    double sum = 0;
    for (guint i = 0; i < fit->terms->len; i++)
        sum += term_at(fit, i)->coefficient * value_of(fit, i, job);
    return sum;
}

void orch_aigauge_free(struct orch_aigauge *fit)
{
    if (!fit)
        return;
    g_array_unref(fit->terms);
    g_free(fit);
}
