/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loss curves forecast from their first part, on published curves:
 *
 *   bench_curve_forecasts forms TABLE.csv NAME,COLUMNS K LOSS [COLUMN=VALUE] [RUN-CONTAINS]
 *   bench_curve_forecasts schedules mpl_curves.csv
 *   bench_curve_forecasts ends TABLE.csv NAME,COLUMNS K LOSS
 *
 * forms: each curve's first 30, 50 and 70 % of the points are fitted, and the rest is forecast by
 * each form and by the chosen one: mean of |forecast - measured| / measured, and the share of the
 * rest within the 90 % interval. Curves with fewer than 40 points are left out.
 *
 * schedules: for each size of network the law of schedules is fitted to the curves cosine_24000,
 * constant_24000 and wsdcon_9, and the curves under the other schedules are forecast from their
 * learning rates alone: mean and largest relative error of each.
 *
 * ends: from the first 20 and 50 % of each curve of at least 20 points, in columns: its name, the
 * share, the last loss as forecast, the log of its 90 % interval to one side, and the steps that
 * reach the least loss of the first four fifths and 0.95 of the least of all (nan: none). Those
 * without a fit, because they do not fall, are left out. bench/algoperf.py judges them. */
#include "features/curve/laws/curve_interval.h"
#include "features/curve/laws/schedule_law.h"
#include "lib/base/csv.h"
#include "lib/base/ident.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct series {
    char *name;
    GArray *k, *loss, *rate; /* double */
};

static struct series *series_of(GPtrArray *all, const char *name)
{
    for (guint i = 0; i < all->len; i++)
        if (strcmp(((struct series *)all->pdata[i])->name, name) == 0)
            return all->pdata[i];
    struct series *s = g_new(struct series, 1);
    *s = (struct series){g_strdup(name), g_array_new(FALSE, FALSE, sizeof(double)),
                         g_array_new(FALSE, FALSE, sizeof(double)),
                         g_array_new(FALSE, FALSE, sizeof(double))};
    g_ptr_array_add(all, s);
    return s;
}

/* Reads a table; `rate` may be NULL. */
static GPtrArray *read_series(const char *path, const char *names, const char *k, const char *loss,
                              const char *rate, const char *only)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_read(path, &error);
    g_auto(GStrv) columns = g_strsplit(names, ",", -1);
    g_auto(GStrv) filter = g_strsplit(only ? only : "=", "=", 2);
    GPtrArray *all = g_ptr_array_new();
    if (!csv) {
        fprintf(stderr, "%s\n", error->message);
        exit(2);
    }
    int filter_at = orch_csv_find(csv, filter[0]), at[3];
    const char *const wanted[] = {k, loss, rate ? rate : k};
    for (int i = 0; i < 3; i++)
        at[i] = orch_csv_find(csv, wanted[i]);
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        g_autoptr(GString) name = g_string_new(NULL);
        double numbers[3];
        bool ok = filter_at < 0 || strcmp(orch_csv_text(csv, row, filter_at), filter[1]) == 0;
        for (char **c = columns; *c; c++)
            g_string_append_printf(name, "%s%s", name->len ? " " : "",
                                   orch_csv_text(csv, row, orch_csv_find(csv, *c)));
        for (int i = 0; ok && i < 3; i++)
            ok = orch_csv_real(csv, row, at[i], &numbers[i], NULL);
        if (!ok)
            continue;
        struct series *s = series_of(all, name->str);
        g_array_append_val(s->k, numbers[0]);
        g_array_append_val(s->loss, numbers[1]);
        g_array_append_val(s->rate, numbers[2]);
    }
    orch_csv_free(csv);
    return all;
}

/* ---- forms -------------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    struct orch_curve_options options;
} FORMS[] = {{"optimus", {.form = ORCH_CURVE_OPTIMUS}},
             {"power", {.form = ORCH_CURVE_POWER}},
             {"optimus, relative", {.form = ORCH_CURVE_OPTIMUS, .is_relative = true, .skip = 0.2}},
             {"power, relative", {.form = ORCH_CURVE_POWER, .is_relative = true, .skip = 0.2}}};
enum { FORM_COUNT = G_N_ELEMENTS(FORMS), CHOSEN = FORM_COUNT, BY_FIT, COLUMNS };

struct tally {
    double error[COLUMNS], inside, points, half;
    int curves;
};

static double error_of(const struct orch_stages *stages, const double *k, const double *loss,
                       size_t seen, size_t count)
{
    double sum = 0;
    for (size_t i = seen; i < count; i++)
        sum += fabs(orch_stages_loss(stages, k[i]) - loss[i]) / loss[i];
    return sum / (double)(count - seen);
}

/* As it was chosen before: the power law where its information criterion is clearly lower. */
static struct orch_stages *by_fit(const double *k, const double *loss, size_t seen)
{
    const double drop = 2 * k[seen - 1]; /* after the last point, so that there is one stage */
    return orch_stages_choose(k, loss, seen, &drop, 1, NULL, NULL);
}

static void judge(const struct series *s, double share, struct tally *out)
{
    const double *k = (const double *)(void *)s->k->data,
                 *loss = (const double *)(void *)s->loss->data;
    size_t count = s->k->len, seen = (size_t)(share * (double)count);
    struct orch_curve_options plain = {0}, best = {0};
    g_autoptr(GArray) errors = g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
    if (!orch_curve_choose(k, loss, seen, &plain, &best, errors))
        return;
    out->curves++;
    for (int c = 0; c < COLUMNS; c++) {
        struct orch_stages *stages =
            c == BY_FIT ? by_fit(k, loss, seen)
                        : orch_stages_fit(k, loss, seen, NULL, 0,
                                          c == CHOSEN ? &best : &FORMS[c].options, NULL);
        if (!stages)
            continue;
        out->error[c] += error_of(stages, k, loss, seen, count);
        for (size_t i = seen; c == CHOSEN && i < count; i++) {
            double half = orch_curve_forecast_half(errors, k[seen - 1], k[i]);
            bool inside = fabs(log(orch_stages_loss(stages, k[i]) / loss[i])) <= half;
            out->inside += inside / (double)(count - seen);
            out->half += half / (double)(count - seen);
        }
        orch_stages_free(stages);
    }
}

static int forms(char **words, int count)
{
    GPtrArray *all =
        read_series(words[0], words[1], words[2], words[3], NULL, count > 4 ? words[4] : NULL);
    printf("%6s %7s", "seen", "curves");
    for (int c = 0; c < FORM_COUNT; c++)
        printf(" %18s", FORMS[c].name);
    printf(" %10s %10s %9s %8s\n", "chosen", "by fit", "within", "half");
    for (double share = 0.3; share < 0.8; share += 0.2) {
        struct tally t = {0};
        for (guint i = 0; i < all->len; i++) {
            const struct series *s = all->pdata[i];
            if (s->k->len >= 40 && (count <= 5 || strstr(s->name, words[5])))
                judge(s, share, &t);
        }
        printf("%5.0f%% %7d", 100 * share, t.curves);
        for (int c = 0; c < COLUMNS; c++)
            printf(" %*.2f %%", c < FORM_COUNT ? 16 : 8, 100 * t.error[c] / t.curves);
        printf(" %7.1f %% %6.2f %%\n", 100 * t.inside / t.curves, 100 * t.half / t.curves);
    }
    return 0;
}

/* ---- ends --------------------------------------------------------------------------------------
 */

static double half_at(const GArray *errors, size_t seen, double last, double k)
{
    return errors->len ? orch_curve_forecast_half(errors, last, k)
                       : orch_curve_short_half(seen, last, k);
}

/* By the curve or, where only its interval reaches so far, by the slope of its end. */
static double reached_at(const struct orch_stages *stages, const double *k, const double *loss,
                         size_t seen, double target, double last, const GArray *errors)
{
    for (double at = k[seen - 1]; at < 10 * last; at *= 1.005)
        if (orch_stages_loss(stages, at) <= target)
            return at;
    double far = 10 * k[seen - 1], wide = half_at(errors, seen, k[seen - 1], far);
    double low = orch_curve_limit_interval(&stages->curves[0], k, loss, seen, HUGE_VAL).low;
    return target >= fmin(low, orch_stages_loss(stages, far) * exp(-wide))
               ? orch_curve_reach_by_slope(k, loss, seen, target)
               : (double)NAN;
}

static int ends(char **words)
{
    GPtrArray *all = read_series(words[0], words[1], words[2], words[3], NULL, NULL);
    for (guint i = 0; i < all->len; i++) {
        const struct series *s = all->pdata[i];
        const double *k = (const double *)(void *)s->k->data,
                     *loss = (const double *)(void *)s->loss->data;
        size_t count = s->k->len;
        double target = (double)INFINITY;
        for (size_t n = 0; n < count * 4 / 5; n++)
            target = fmin(target, loss[n]);
        double below = target;
        for (size_t n = 0; n < count; n++)
            below = fmin(below, 0.95 * loss[n]);
        for (int half = 0; count >= 20 && half < 2; half++) {
            size_t seen = (size_t)((half ? 0.5 : 0.2) * (double)count);
            struct orch_curve_options plain = {0}, best = {0};
            g_autoptr(GArray) errors =
                g_array_new(FALSE, FALSE, sizeof(struct orch_curve_forecast));
            bool is_chosen = orch_curve_choose(k, loss, seen, &plain, &best, errors);
            struct orch_stages *stages = is_chosen
                                             ? orch_stages_fit(k, loss, seen, NULL, 0, &best, NULL)
                                             : by_fit(k, loss, seen);
            bool falls = stages && orch_stages_fall(stages, ORCH_CURVE_EQUAL, k, loss, seen);
            if (!falls)
                orch_stages_free(stages);
            if (!falls)
                continue;
            printf("%s\t%g\t%.9g\t%.9g\t%.9g\t%.9g\n", s->name, half ? 0.5 : 0.2,
                   orch_stages_loss(stages, k[count - 1]),
                   half_at(errors, seen, k[seen - 1], k[count - 1]),
                   reached_at(stages, k, loss, seen, target, k[count - 1], errors),
                   reached_at(stages, k, loss, seen, below, k[count - 1], errors));
            orch_stages_free(stages);
        }
    }
    return 0;
}

/* ---- schedules ---------------------------------------------------------------------------------
 */

static struct orch_schedule_run run_of(const struct series *s)
{
    return (struct orch_schedule_run){.k = (const double *)(void *)s->k->data,
                                      .loss = (const double *)(void *)s->loss->data,
                                      .count = s->k->len,
                                      .rate_k = (const double *)(void *)s->k->data,
                                      .rate = (const double *)(void *)s->rate->data,
                                      .rates = s->k->len};
}

static bool is_fitted(const char *name)
{
    return g_str_has_suffix(name, " cosine_24000") || g_str_has_suffix(name, " constant_24000") ||
           g_str_has_suffix(name, " wsdcon_9");
}

static int schedules(char **words)
{
    static const char *const SIZES[] = {"25 ", "100 ", "400 "};
    GPtrArray *all = read_series(words[0], "params_m,schedule", "step", "loss", "lr", NULL);
    double sum = 0;
    int others = 0;
    for (size_t size = 0; size < G_N_ELEMENTS(SIZES); size++) {
        struct orch_schedule_run runs[8];
        struct orch_schedule_law law;
        size_t n = 0;
        int64_t begin = orch_mono_ns();
        for (guint i = 0; i < all->len; i++) {
            const struct series *s = all->pdata[i];
            if (g_str_has_prefix(s->name, SIZES[size]) && is_fitted(s->name) && n < 8)
                runs[n++] = run_of(s);
        }
        if (!orch_schedule_law_fit(runs, n, &law, NULL))
            return 1;
        printf("%sM: %zu curves fitted, %.3f %% off, %.1f s\n", SIZES[size], n,
               100 * law.relative_error, (double)(orch_mono_ns() - begin) / 1e9);
        printf("  l0 %.4g a %.4g b %.4g alpha %.4g beta %.4g gamma %.4g c %.4g shift %.4g\n",
               law.l0, law.a, law.b, law.alpha, law.beta, law.gamma, law.c, law.shift);
        for (guint i = 0; i < all->len; i++) {
            const struct series *s = all->pdata[i];
            if (!g_str_has_prefix(s->name, SIZES[size]) || is_fitted(s->name))
                continue;
            struct orch_schedule_run run = run_of(s);
            g_autofree double *loss = g_new(double, run.count);
            double mean = 0, most = 0;
            orch_schedule_law_predict(&law, &run, loss);
            for (size_t p = 0; p < run.count; p++) {
                double off = fabs(loss[p] / run.loss[p] - 1);
                mean += off / (double)run.count;
                most = fmax(most, off);
            }
            printf("  %-24s %4zu points: mean error %.3f %%, largest %.3f %%\n", s->name, run.count,
                   100 * mean, 100 * most);
            sum += mean;
            others++;
        }
    }
    printf("mean over %d curves that were not fitted: %.3f %%\n", others, 100 * sum / others);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "schedules") == 0)
        return schedules(argv + 2);
    if (argc >= 6 && strcmp(argv[1], "forms") == 0)
        return forms(argv + 2, argc - 2);
    if (argc == 6 && strcmp(argv[1], "ends") == 0)
        return ends(argv + 2);
    fprintf(stderr, "usage: bench_curve_forecasts forms TABLE.csv NAME,COLUMNS K LOSS "
                    "[COLUMN=VALUE] [CONTAINS] | schedules mpl_curves.csv | ends TABLE.csv "
                    "NAME,COLUMNS K LOSS\n");
    return 2;
}
