/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Seconds to fit boosting and a forest, orch beside XGBoost's `hist`, on the same rows, columns,
 * trees, depth and threads, and what each is then off by on every tenth row, which it did not see.
 * usage: OMP_NUM_THREADS=2 bench_boost TABLE.csv TARGET [TREES DEPTH FOREST_DEPTH [ROUNDS]]
 * The best of ROUNDS (default 3) counts, both in turn, as other work on the machine disturbs. */
#include "lib/base/ident.h"
#include "predictors/features/rows.h"
#include "predictors/models/model.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

static void must(int status)
{
    if (status) {
        fprintf(stderr, "xgboost: %s\n", XGBGetLastError());
        exit(1);
    }
}

static double seconds_since(int64_t begin)
{
    return (double)(orch_mono_ns() - begin) / 1e9;
}

/* The same numbers for both: coded once, categories as means. */
struct data {
    size_t rows, test_rows;
    int cols;
    double *values, *test_values; /* column-major */
    double *y, *test_y;
};

static struct data load(const char *path, const char *target)
{
    GError *error = NULL;
    struct orch_rows_options options = {.target = target};
    struct orch_csv *csv = orch_csv_read(path, &error);
    struct orch_rows *all = csv ? orch_rows_of_table(csv, &options, &error) : NULL;
    orch_csv_free(csv);
    if (!all) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    size_t *seen = g_new(size_t, all->rows), *unseen = g_new(size_t, all->rows);
    struct data d = {0};
    for (size_t i = 0; i < all->rows; i++)
        *(i % 10 ? &seen[d.rows++] : &unseen[d.test_rows++]) = i;
    struct orch_rows *train = orch_rows_pick(all, seen, d.rows);
    struct orch_rows *test = orch_rows_pick(all, unseen, d.test_rows);
    d.y = g_new(double, d.rows);
    d.test_y = g_new(double, d.test_rows);
    for (size_t i = 0; i < d.rows; i++)
        d.y[i] = log(train->target[i]);
    for (size_t i = 0; i < d.test_rows; i++)
        d.test_y[i] = log(test->target[i]);
    struct orch_coder *coder = orch_coder_fit(train->matrix, d.y, ORCH_CODING_MEAN);
    d.cols = orch_coder_cols(coder);
    d.values = orch_coder_apply(coder, train->matrix);
    d.test_values = orch_coder_apply(coder, test->matrix);
    return d;
}

static double error_of(const struct data *d, double answer, size_t i)
{
    return fabs(exp(answer - d->test_y[i]) - 1) / (double)d->test_rows;
}

struct result {
    double fit_s, predict_ms, error; /* of 1,000 rows */
};

static struct result run_orch(const struct data *d, const struct orch_model_kind *kind,
                              const struct orch_hyperparams *hyperparams)
{
    struct result r = {0};
    int64_t begin = orch_mono_ns();
    void *fitted = kind->fit(d->values, d->rows, d->cols, d->y, NULL, hyperparams, 1, NULL);
    r.fit_s = seconds_since(begin);
    double *out = g_new(double, MAX(d->test_rows, 1000)),
           *few = g_new(double, 1000 * (size_t)d->cols);
    for (int c = 0; c < d->cols; c++)
        for (size_t i = 0; i < 1000; i++)
            few[(size_t)c * 1000 + i] = d->test_values[(size_t)c * d->test_rows + i % d->test_rows];
    begin = orch_mono_ns();
    kind->predict(fitted, few, 1000, out);
    r.predict_ms = 1e3 * seconds_since(begin);
    kind->predict(fitted, d->test_values, d->test_rows, out);
    for (size_t i = 0; i < d->test_rows; i++)
        r.error += error_of(d, out[i], i);
    kind->release(fitted);
    return r;
}

static DMatrixHandle matrix_of(const double *values, size_t rows, int cols)
{
    DMatrixHandle matrix;
    float *lines = g_new(float, rows *(size_t)cols);
    for (int c = 0; c < cols; c++)
        for (size_t i = 0; i < rows; i++)
            lines[i * (size_t)cols + (size_t)c] = (float)values[(size_t)c * rows + i];
    must(XGDMatrixCreateFromMat(lines, rows, (bst_ulong)cols, NAN, &matrix));
    g_free(lines);
    return matrix;
}

static struct result run_xgboost(const struct data *d, const char *const (*settings)[2], int rounds)
{
    struct result r = {0};
    DMatrixHandle train = matrix_of(d->values, d->rows, d->cols);
    DMatrixHandle test = matrix_of(d->test_values, d->test_rows, d->cols);
    float *labels = g_new(float, d->rows);
    for (size_t i = 0; i < d->rows; i++)
        labels[i] = (float)d->y[i];
    must(XGDMatrixSetFloatInfo(train, "label", labels, d->rows));
    BoosterHandle booster;
    must(XGBoosterCreate(&train, 1, &booster));
    g_autofree char *threads = g_strdup_printf("%d", omp_get_max_threads());
    must(XGBoosterSetParam(booster, "nthread", threads));
    for (int i = 0; settings[i][0]; i++)
        must(XGBoosterSetParam(booster, settings[i][0], settings[i][1]));
    int64_t begin = orch_mono_ns(); /* its bins are made in the first round */
    for (int i = 0; i < rounds; i++)
        must(XGBoosterUpdateOneIter(booster, i, train));
    r.fit_s = seconds_since(begin);
    bst_ulong length;
    const float *out;
    begin = orch_mono_ns();
    must(XGBoosterPredict(booster, test, 0, 0, 0, &length, &out));
    r.predict_ms = 1e3 * seconds_since(begin) * 1000 / (double)d->test_rows;
    for (size_t i = 0; i < d->test_rows; i++)
        r.error += error_of(d, (double)out[i], i);
    XGBoosterFree(booster);
    XGDMatrixFree(train);
    XGDMatrixFree(test);
    g_free(labels);
    return r;
}

static void print(const char *what, struct result a, struct result b)
{
    printf("%-8s  orch %7.2f s  %6.2f %%  1,000 rows in %5.2f ms\n", what, a.fit_s, 100 * a.error,
           a.predict_ms);
    printf("       XGBoost %7.2f s  %6.2f %%  1,000 rows in %5.2f ms\n", b.fit_s, 100 * b.error,
           b.predict_ms);
    printf("          XGBoost's time over orch's: %.2f\n", b.fit_s / a.fit_s);
}

static struct result better(struct result a, struct result b)
{
    struct result best = a.fit_s > 0 && a.fit_s < b.fit_s ? a : b;
    best.predict_ms = a.predict_ms > 0 ? MIN(a.predict_ms, b.predict_ms) : b.predict_ms;
    return best;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: %s TABLE.csv TARGET [TREES DEPTH FOREST_DEPTH [ROUNDS]]\n",
                argv[0]);
        return 2;
    }
    const char *trees = argc > 5 ? argv[3] : "300", *depth = argc > 5 ? argv[4] : "6";
    const char *deep = argc > 5 ? argv[5] : "16";
    int rounds = argc > 6 ? atoi(argv[6]) : 3;
    struct data d = load(argv[1], argv[2]);
    struct orch_hyperparams boost = {.depth = atoi(depth),
                                     .trees = atoi(trees),
                                     .leaf_rows = 1,
                                     .rate = 0.1,
                                     .feature_share = 1,
                                     .row_share = 1,
                                     .all_trees = true};
    struct orch_hyperparams forest = {
        .depth = atoi(deep), .trees = atoi(trees), .leaf_rows = 1, .feature_share = 0.4};
    const char *const booster[][2] = {
        {"tree_method", "hist"}, {"max_depth", depth}, {"eta", "0.1"},        {"lambda", "1"},
        {"max_bin", "255"},      {"verbosity", "0"},   {"base_score", "0.5"}, {NULL, NULL}};
    const char *const forester[][2] = {{"tree_method", "hist"},
                                       {"max_depth", deep},
                                       {"eta", "1"},
                                       {"lambda", "0"},
                                       {"num_parallel_tree", trees},
                                       {"subsample", "0.632"},
                                       {"colsample_bynode", "0.4"},
                                       {"max_bin", "255"},
                                       {"verbosity", "0"},
                                       {NULL, NULL}};
    struct result best[4] = {0};
    for (int i = 0; i < rounds; i++) {
        best[0] = better(best[0], run_orch(&d, &ORCH_MODEL_BOOST, &boost));
        best[1] = better(best[1], run_xgboost(&d, booster, boost.trees));
        best[2] = better(best[2], run_orch(&d, &ORCH_MODEL_FOREST, &forest));
        best[3] = better(best[3], run_xgboost(&d, forester, 1));
    }
    printf("%zu rows, %d columns, %s trees, depth %s (forest: %s), %d threads\n", d.rows, d.cols,
           trees, depth, deep, omp_get_max_threads());
    print("boosting", best[0], best[1]);
    print("forest", best[2], best[3]);
    return 0;
}
