/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/curve/schedule_fit.h"

#include "lib/base/csv.h"
#include "lib/base/error.h"

#include <math.h>

static struct orch_schedule_run run_of(const struct orch_run_curve *c)
{
    return (struct orch_schedule_run){.k = c->k,
                                      .loss = c->loss,
                                      .count = c->count,
                                      .rate_k = c->rate_k,
                                      .rate = c->rate,
                                      .rates = c->rates};
}

static double error_of(const struct orch_schedule_law *law, const struct orch_schedule_run *run)
{
    g_autofree double *loss = g_new(double, run->count + 1);
    double sum = 0;
    orch_schedule_law_predict(law, run, loss);
    for (size_t i = 0; i < run->count; i++)
        sum += fabs(loss[i] / run->loss[i] - 1);
    return sum / (double)run->count;
}

/* The error of one run when the law is fitted to the others. */
static double left_out_error(const struct orch_schedule_run *runs, size_t count, size_t which)
{
    g_autofree struct orch_schedule_run *others = g_new(struct orch_schedule_run, count);
    struct orch_schedule_law law;
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (i != which)
            others[n++] = runs[i];
    return n > 1 && orch_schedule_law_fit(others, n, &law, NULL) ? error_of(&law, &runs[which])
                                                                 : (double)NAN;
}

static bool check_curves(const GPtrArray *curves, bool by_epoch, GError **error)
{
    for (guint i = 0; i < curves->len; i++) {
        const struct orch_run_curve *c = curves->pdata[i];
        if (c->rates && c->is_by_epoch != by_epoch) {
            orch_error_set(
                error, ORCH_ERROR_USAGE, "choose runs of one kind",
                "all runs must record the loss per step, or all per epoch: run %s counts %s",
                orch_run_short_key(c->key), c->is_by_epoch ? "epochs" : "steps");
            return false;
        }
        if (c->rates)
            continue;
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "record the learning rate as a metric 'lr'",
                       "run %s has no learning rate for its losses: it has no metric 'lr' or "
                       "'learning_rate' per %s",
                       orch_run_short_key(c->key), c->is_by_epoch ? "epoch" : "step");
        return false;
    }
    return true;
}

/* Reads the columns step, or epoch where the curves count epochs, and lr. */
static bool read_rates(struct orch_schedule_fit *fit, const char *path, bool by_epoch,
                       GError **error)
{
    struct orch_csv *csv = orch_csv_read(path, error);
    int k = -1, rate = -1;
    if (!csv)
        return false;
    bool ok = orch_csv_column(csv, by_epoch ? "epoch" : "step", &k, error) &&
              orch_csv_column(csv, "lr", &rate, error);
    fit->asked = orch_csv_rows(csv);
    fit->k = g_new(double, fit->asked + 1);
    fit->rate = g_new(double, fit->asked + 1);
    fit->loss = g_new(double, fit->asked + 1);
    for (size_t i = 0; ok && i < fit->asked; i++) {
        ok = orch_csv_real(csv, i, k, &fit->k[i], error) &&
             orch_csv_real(csv, i, rate, &fit->rate[i], error);
        if (ok && (fit->rate[i] < 0 || (i && fit->k[i] < fit->k[i - 1])))
            ok = orch_csv_fail(csv, i, k, NULL, error,
                               "steps must ascend, and learning rates must not be negative");
    }
    if (ok && !fit->asked)
        ok = orch_csv_fail_header(csv, k, NULL, error, "the schedule has no rows");
    orch_csv_free(csv);
    return ok;
}

struct orch_schedule_fit *orch_schedule_fit_new(const GPtrArray *curves, const char *rates_file,
                                                GError **error)
{
    g_autofree struct orch_schedule_run *runs = g_new(struct orch_schedule_run, curves->len + 1);
    struct orch_schedule_fit *fit = g_new0(struct orch_schedule_fit, 1);
    fit->curves = g_ptr_array_new();
    fit->runs = g_new0(struct orch_schedule_fit_run, curves->len + 1);
    const bool by_epoch =
        curves->len && ((const struct orch_run_curve *)curves->pdata[0])->is_by_epoch;
    if (!check_curves(curves, by_epoch, error) ||
        (rates_file && !read_rates(fit, rates_file, by_epoch, error)))
        goto failed;
    for (guint i = 0; i < curves->len; i++) {
        g_ptr_array_add(fit->curves, curves->pdata[i]);
        runs[i] = run_of(curves->pdata[i]);
    }
    if (!orch_schedule_law_fit(runs, curves->len, &fit->law, error))
        goto failed;
    for (guint i = 0; i < curves->len; i++)
        fit->runs[i] = (struct orch_schedule_fit_run){error_of(&fit->law, &runs[i]),
                                                      left_out_error(runs, curves->len, i)};
    if (fit->asked) {
        struct orch_schedule_run asked = {.k = fit->k,
                                          .count = fit->asked,
                                          .rate_k = fit->k,
                                          .rate = fit->rate,
                                          .rates = fit->asked};
        orch_schedule_law_predict(&fit->law, &asked, fit->loss);
    }
    return fit;
failed:
    orch_schedule_fit_free(fit);
    return NULL;
}

void orch_schedule_fit_free(struct orch_schedule_fit *fit)
{
    if (!fit)
        return;
    g_ptr_array_unref(fit->curves);
    g_free(fit->runs);
    g_free(fit->k);
    g_free(fit->rate);
    g_free(fit->loss);
    g_free(fit);
}
