/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Non-negative least squares and Optimus' two models against SciPy's answers: nnls_cases.json,
 * optimus_speed_cases_open.csv, optimus_loss_cases_open.csv in $ORCH_REFERENCE_DATA (or
 * ../shared/data); without them the test is skipped.
 *
 * test_optimus_reference [FOLDER]: prints a line a file: cases, largest differences.
 */
#include "features/curve/laws/curve.h"
#include "features/curve/laws/speed.h"
#include "lib/base/csv.h"
#include "predictors/numbers/nnls.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77
#define ROWS_MAX 200

static char *folder;
static int misses;

static void stop(GError *error)
{
    fprintf(stderr, "%s\n", error ? error->message : "failed");
    exit(1);
}

/* Counts a miss and prints the first ten. */
static void within(const char *what, int test_case, double found, double limit)
{
    if (found <= limit)
        return;
    if (misses++ < 10)
        fprintf(stderr, "%s, case %d: %.6g, at most %.6g allowed\n", what, test_case, found, limit);
}

static int list_of(const char *text, double *out, int most)
{
    char **parts = g_strsplit(text, ";", most);
    int count = 0;
    for (; parts[count]; count++)
        out[count] = g_ascii_strtod(parts[count], NULL);
    g_strfreev(parts);
    return count;
}

/* --- non-negative least squares --- */

/* KKT: x >= 0, no way down: the gradient A'(Ax - b) is at least 0, and 0 where x is positive. */
static double kkt_miss(const double *a, const double *b, size_t rows, int cols, const double *x)
{
    double worst = 0;
    for (int j = 0; j < cols; j++) {
        double slope = 0;
        for (size_t i = 0; i < rows; i++) {
            double rest = -b[i];
            for (int k = 0; k < cols; k++)
                rest += a[i * (size_t)cols + (size_t)k] * x[k];
            slope += a[i * (size_t)cols + (size_t)j] * rest;
        }
        worst = fmax(worst, x[j] > 0 ? fabs(slope) : -slope);
        worst = fmax(worst, -x[j]);
    }
    return worst;
}

static void compare_nnls(void)
{
    g_autofree char *path = g_build_filename(folder, "nnls_cases.json", NULL);
    json_error_t problem;
    json_t *root = json_load_file(path, 0, &problem);
    json_t *cases = json_object_get(root, "cases");
    double worst_x = 0, worst_kkt = 0;
    for (size_t c = 0; c < json_array_size(cases); c++) {
        json_t *one = json_array_get(cases, c), *row = json_object_get(one, "A");
        size_t rows = json_array_size(row);
        int cols = (int)json_array_size(json_array_get(row, 0));
        g_autofree double *a = g_new(double, rows *(size_t)(cols + 1) + (size_t)cols);
        double *b = a + rows * (size_t)cols, *x = b + rows;
        for (size_t i = 0; i < rows; i++) {
            b[i] = json_number_value(json_array_get(json_object_get(one, "b"), i));
            for (int j = 0; j < cols; j++)
                a[i * (size_t)cols + (size_t)j] =
                    json_number_value(json_array_get(json_array_get(row, i), (size_t)j));
        }
        GError *error = NULL;
        if (!orch_nnls_solve(a, b, NULL, rows, cols, x, &error))
            stop(error);
        double miss = 0;
        for (int j = 0; j < cols; j++)
            miss = fmax(miss, fabs(x[j] - json_number_value(json_array_get(
                                              json_object_get(one, "x_nnls"), (size_t)j))));
        within("x", (int)c, miss, 1e-8);
        double kkt = kkt_miss(a, b, rows, cols, x);
        within("KKT", (int)c, kkt, 1e-12);
        worst_x = fmax(worst_x, miss);
        worst_kkt = fmax(worst_kkt, kkt);
    }
    printf("nnls: %zu cases, x within %.3g, KKT within %.3g\n", json_array_size(cases), worst_x,
           worst_kkt);
    if (json_array_size(cases) == 0)
        misses++;
    json_decref(root);
}

/* --- tables --- */

static struct orch_csv *csv;

static struct orch_csv *table(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GError *error = NULL;
    struct orch_csv *read = orch_csv_read(path, &error);
    if (!read)
        stop(error);
    return read;
}

static const char *text(size_t row, const char *name)
{
    return orch_csv_text(csv, row, orch_csv_find(csv, name));
}

static double real(size_t row, const char *name)
{
    GError *error = NULL;
    double value;
    if (!orch_csv_real(csv, row, orch_csv_find(csv, name), &value, &error))
        stop(error);
    return value;
}

/* First row behind those of the case that begins at `first`. */
static size_t case_end(size_t first)
{
    size_t end = first;
    while (end < orch_csv_rows(csv) && strcmp(text(end, "case"), text(first, "case")) == 0)
        end++;
    return end;
}

/* --- speed --- */

/* Mean |model - truth| / truth over the rows not fitted. */
static double held_out_error(const struct orch_speed *speed, size_t first, size_t end)
{
    double sum = 0;
    int count = 0;
    for (size_t i = first; i < end; i++) {
        if (real(i, "used_in_fit") != 0)
            continue;
        double truth = real(i, "true_speed_steps_per_s");
        sum += fabs(orch_speed_model(speed, (int)real(i, "p"), (int)real(i, "w")) - truth) / truth;
        count++;
    }
    return sum / count;
}

static struct {
    double worst, worst_exact, worst_theta; /* against SciPy, the truth, SciPy's theta */
    double errors[2];                       /* equal weights, relative */
    int noisy;
} speeds;

static void compare_speed_case(int test_case, size_t first, size_t end)
{
    struct orch_speed_point points[ROWS_MAX];
    size_t count = 0;
    bool is_exact = true;
    for (size_t i = first; i < end && count < ROWS_MAX; i++) {
        if (real(i, "used_in_fit") == 0)
            continue;
        double observed = real(i, "obs_speed_steps_per_s");
        points[count++] = (struct orch_speed_point){(int)real(i, "p"), (int)real(i, "w"), observed};
        is_exact = is_exact && observed == real(i, "true_speed_steps_per_s");
    }
    struct orch_speed_options options = {0};
    if (strcmp(text(first, "mode"), "sync") == 0) {
        options.mode = ORCH_SPEED_SYNC;
        options.total_batch = real(first, "batch_M");
    } /* else async: the first */
    GError *error = NULL;
    struct orch_speed *speed = orch_speed_fit(points, count, &options, &error);
    options.is_relative = true;
    struct orch_speed *relative = speed ? orch_speed_fit(points, count, &options, &error) : NULL;
    if (!relative)
        stop(error);
    for (size_t i = first; i < end; i++) {
        double found = orch_speed_model(speed, (int)real(i, "p"), (int)real(i, "w"));
        double want = real(i, "pred_speed"), truth = real(i, "true_speed_steps_per_s");
        speeds.worst = fmax(speeds.worst, fabs(found - want) / want);
        within("speed against SciPy", test_case, fabs(found - want) / want, 1e-9);
        if (!is_exact)
            continue;
        speeds.worst_exact = fmax(speeds.worst_exact, fabs(found - truth) / truth);
        within("noiseless speed", test_case, fabs(found - truth) / truth, 1e-6);
    }
    double theta[ORCH_SPEED_TERMS_MAX + 1];
    int terms = list_of(text(first, "theta_nnls_fit"), theta, ORCH_SPEED_TERMS_MAX + 1);
    within("terms", test_case, abs(terms - orch_speed_terms(options.mode)), 0);
    for (int t = 0; t < MIN(terms, orch_speed_terms(options.mode)); t++)
        speeds.worst_theta = fmax(speeds.worst_theta, fabs(theta[t] - orch_speed_theta(speed)[t]));
    within("warning", test_case, orch_speed_warning(speed) != NULL, 0);
    if (!is_exact) {
        speeds.noisy++;
        speeds.errors[0] += held_out_error(speed, first, end);
        speeds.errors[1] += held_out_error(relative, first, end);
    }
    orch_speed_free(speed);
    orch_speed_free(relative);
}

static void compare_speed(void)
{
    csv = table("optimus_speed_cases_open.csv");
    int cases = 0;
    for (size_t first = 0, end; first < orch_csv_rows(csv); first = end, cases++) {
        end = case_end(first);
        compare_speed_case(cases, first, end);
    }
    within("theta", -1, speeds.worst_theta, 1e-8);
    printf("speed: %d cases, speeds within %.3g of SciPy's, theta within %.3g, noiseless within "
           "%.3g of the truth\n",
           cases, speeds.worst, speeds.worst_theta, speeds.worst_exact);
    printf("speed: %d noisy cases, mean error against the truth at points not fitted: %.4f "
           "(published weights), %.4f (relative)\n",
           speeds.noisy, speeds.errors[0] / speeds.noisy, speeds.errors[1] / speeds.noisy);
    if (cases == 0)
        misses++;
    orch_csv_free(csv);
}

/* --- loss curves --- */

/* Sum of squared errors with the program's weights (or equal ones), written apart from the fit's.
 */
static double sse_of(const double *b, const double *k, const double *loss, size_t count,
                     bool is_weighted)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double sigma = is_weighted ? pow(0.25, floor((double)i * 3 / (double)count)) : 1;
        double miss = (1 / (b[0] * k[i] + b[1]) + b[2] - loss[i]) / sigma;
        sum += miss * miss;
    }
    return sum;
}

/* Below this, sums of squares are rounding: 4 units in the last place of each weighted loss. */
static double rounding(const double *loss, size_t count, bool is_weighted)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double unit = 4 * 2.2e-16 * loss[i] *
                      (is_weighted ? pow(4, floor((double)i * 3 / (double)count)) : 1);
        sum += unit * unit;
    }
    return sum;
}

static struct {
    double worst[2], worst_beta[2]; /* equal weights, segments */
} seen;

static struct orch_curve fitted(const double *k, const double *loss, size_t count,
                                struct orch_curve_options options)
{
    struct orch_curve curve;
    GError *error = NULL;
    if (!orch_curve_fit(k, loss, count, &options, &curve, &error))
        stop(error);
    return curve;
}

/* One case by one weighting, against SciPy's b. */
static void compare_curve(int test_case, const double *k, const double *loss, size_t count,
                          bool is_weighted, const double *beta, double published)
{
    struct orch_curve_options options = {.weights =
                                             is_weighted ? ORCH_CURVE_SEGMENTS : ORCH_CURVE_EQUAL};
    struct orch_curve curve = fitted(k, loss, count, options);
    double want = sse_of(beta, k, loss, count, is_weighted);
    double found = sse_of(curve.b, k, loss, count, is_weighted);
    double noise = rounding(loss, count, is_weighted);
    within("sum of squares against SciPy", test_case, found, want * (1 + 1e-6) + noise);
    within("own sum of squares", test_case, fabs(curve.sse - found), 1e-9 * found + noise);
    for (int i = 0; i < 3; i++)
        seen.worst_beta[is_weighted] =
            fmax(seen.worst_beta[is_weighted], fabs(curve.b[i] - beta[i]));
    options.form = ORCH_CURVE_POWER;
    within("power law's sum of squares", test_case, fitted(k, loss, count, options).sse,
           curve.sse * (1 + 1e-9) + noise);
    if (want > noise)
        seen.worst[is_weighted] = fmax(seen.worst[is_weighted], found / want - 1);
    if (is_weighted)
        return;
    within("published sum of squares", test_case, fabs(want - published), 1e-9 * want + noise);
}

static void compare_loss(void)
{
    csv = table("optimus_loss_cases_open.csv");
    static const char *const COLUMNS[] = {"beta_fit_curvefit_unweighted", "beta_fit_repo_weighted"};
    seen.worst[0] = seen.worst[1] = -HUGE_VAL;
    int cases = 0;
    for (size_t first = 0, end; first < orch_csv_rows(csv); first = end, cases++) {
        end = case_end(first);
        double k[ROWS_MAX], loss[ROWS_MAX];
        size_t count = 0;
        for (size_t i = first; i < end && count < ROWS_MAX; i++) {
            if (real(i, "used_in_fit") == 0)
                continue;
            k[count] = real(i, "k");
            loss[count++] = real(i, "loss_obs");
        }
        for (int w = 0; w < 2; w++) {
            double beta[4];
            if (list_of(text(first, COLUMNS[w]), beta, 4) != 3)
                stop(NULL);
            compare_curve(cases, k, loss, count, w, beta, real(first, "sse_unweighted"));
        }
    }
    printf("loss: %d cases, sum of squares over SciPy's less 1: at most %.3g (equal weights), %.3g "
           "(segments); b within %.3g, %.3g\n",
           cases, seen.worst[0], seen.worst[1], seen.worst_beta[0], seen.worst_beta[1]);
    if (cases == 0)
        misses++;
    orch_csv_free(csv);
}

int main(int argc, char **argv)
{
    const char *given = argc > 1 ? argv[1] : g_getenv("ORCH_REFERENCE_DATA");
    folder = g_strdup(given && *given ? given : ORCH_REFERENCE_DEFAULT);
    g_autofree char *probe = g_build_filename(folder, "nnls_cases.json", NULL);
    if (!g_file_test(probe, G_FILE_TEST_EXISTS)) {
        printf("skipped: no reference cases in '%s'; set ORCH_REFERENCE_DATA to their folder\n",
               folder);
        return SKIPPED;
    }
    compare_nnls();
    compare_speed();
    compare_loss();
    if (misses)
        printf("%d differences FAILED\n", misses);
    g_free(folder);
    return misses ? 1 : 0;
}
