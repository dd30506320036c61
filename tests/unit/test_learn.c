/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models on data whose law is known, their intervals on data whose noise is known, and tables that
 * cannot be learned from. */
#include "lib/base/random.h"
#include "predictors/learn/learn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <glib/gstdio.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct orch_hyperparams USUAL = {.depth = 6,
                                              .trees = 200,
                                              .leaf_rows = 2,
                                              .rate = 0.1,
                                              .feature_share = 1,
                                              .row_share = 1,
                                              .neighbours = 3,
                                              .width = 48,
                                              .epochs = 60,
                                              .ridge = 0};

static double normal(uint64_t *random)
{
    double u = 1 - orch_random_unit(random), v = orch_random_unit(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

struct data {
    struct orch_matrix *matrix;
    double *y;
};

/* y = law(a, b, colour) of uniform a, b in 0..1 and one of three colours */
static struct data make(size_t rows, uint64_t seed, double (*law)(double, double, int))
{
    struct data d = {orch_matrix_new(rows), g_new(double, rows)};
    double *a = orch_matrix_add_number(d.matrix, "a"), *b = orch_matrix_add_number(d.matrix, "b");
    double *colour = orch_matrix_add_category(d.matrix, "colour");
    static const char *const names[] = {"red", "green", "blue"};
    for (size_t i = 0; i < rows; i++) {
        int k = (int)orch_random_below(&seed, 3);
        a[i] = orch_random_unit(&seed);
        b[i] = orch_random_unit(&seed);
        colour[i] = orch_matrix_level(d.matrix, 2, names[k]);
        d.y[i] = law(a[i], b[i], k);
    }
    return d;
}

static void drop(struct data d)
{
    orch_matrix_free(d.matrix);
    g_free(d.y);
}

/* Root mean square error over new rows, over the deviation of y: 0 is perfect, 1 is the mean. */
static double error_of(const char *kind, double (*law)(double, double, int))
{
    struct data seen = make(1500, 1, law), unseen = make(500, 2, law);
    GError *error = NULL;
    struct orch_model *m =
        orch_model_fit(orch_model_find(kind, NULL), seen.matrix, seen.y, NULL, &USUAL, 3, &error);
    assert_non_null(m);
    g_autofree double *out = g_new(double, 500);
    orch_model_predict(m, unseen.matrix, out);
    double mean = 0, off = 0, all = 0;
    for (int i = 0; i < 500; i++)
        mean += unseen.y[i] / 500;
    for (int i = 0; i < 500; i++) {
        off += (out[i] - unseen.y[i]) * (out[i] - unseen.y[i]);
        all += (unseen.y[i] - mean) * (unseen.y[i] - mean);
    }
    orch_model_free(m);
    drop(seen);
    drop(unseen);
    return sqrt(off / all);
}

static double linear_law(double a, double b, int colour)
{
    return 3 + 2 * a - 5 * b + colour * colour;
}

static double step_law(double a, double b, int colour)
{
    (void)b;
    return (a > 0.3) + 2 * (a > 0.7) + (colour == 1);
}

static double interaction_law(double a, double b, int colour)
{
    return (a > 0.5) == (b > 0.5) ? 1 + colour : 0;
}

static void test_laws(void **state)
{
    (void)state;
    assert_true(error_of("linear", linear_law) < 1e-6);
    assert_true(error_of("mlp", linear_law) < 0.05);
    assert_true(error_of("boost", linear_law) < 0.06);
    assert_true(error_of("forest", linear_law) < 0.1);
    static const char *const trees[] = {"tree", "forest", "boost"};
    for (int i = 0; i < 3; i++) {
        assert_true(error_of(trees[i], step_law) < 0.1);
        assert_true(error_of(trees[i], interaction_law) < 0.25);
    }
    assert_true(error_of("linear", interaction_law) > 0.6); /* it cannot: the test can tell */
    assert_true(error_of("knn", interaction_law) < 0.5);
}

static void test_monotone(void **state)
{
    (void)state;
    struct data d = make(800, 5, linear_law);
    uint64_t random = 9;
    for (int i = 0; i < 800; i++) /* noise that would bend a free model */
        d.y[i] = orch_matrix_column(d.matrix, 0)[i] + normal(&random);
    int8_t signs[] = {1, 0, 0};
    struct orch_model *m = orch_model_fit(&ORCH_MODEL_BOOST, d.matrix, d.y, signs, &USUAL, 1, NULL);
    struct orch_matrix *line = orch_matrix_new(100);
    double *a = orch_matrix_add_number(line, "a"), *b = orch_matrix_add_number(line, "b");
    orch_matrix_add_category(line, "colour");
    for (int i = 0; i < 100; i++) {
        a[i] = i / 100.0;
        b[i] = 0.5;
    }
    double out[100];
    orch_model_predict(m, line, out);
    for (int i = 1; i < 100; i++)
        assert_true(out[i] >= out[i - 1]);
    orch_model_free(m);
    orch_matrix_free(line);
    drop(d);
}

/* Nine tenths of new rows lie below the quantile of 0.9; and of the absolute relative error a model
 * that keeps that small has less than one that keeps squares of logarithms small. */
static void test_losses(void **state)
{
    (void)state;
    struct data d = make(3000, 5, linear_law), unseen = make(1000, 6, linear_law);
    uint64_t random = 3;
    struct data both[] = {d, unseen};
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k].matrix->rows; i++) /* many are near, some are far above */
            both[k].y[i] = orch_matrix_column(both[k].matrix, 0)[i] +
                           (orch_random_unit(&random) < 0.15 ? 1.5 : 0.1) * fabs(normal(&random));
    struct orch_hyperparams hyperparams = USUAL;
    hyperparams.depth = 4;
    hyperparams.leaf_rows = 20;
    double errors[2] = {0}, out[1000];
    for (int k = 0; k < 3; k++) {
        hyperparams.loss = (enum orch_loss)k;
        hyperparams.level = 0.9;
        size_t below = 0;
        struct orch_model *m =
            orch_model_fit(&ORCH_MODEL_BOOST, d.matrix, d.y, NULL, &hyperparams, 1, NULL);
        orch_model_predict(m, unseen.matrix, out);
        for (size_t i = 0; i < 1000; i++) {
            below += unseen.y[i] < out[i];
            if (k < 2)
                errors[k] += fabs(exp(out[i] - unseen.y[i]) - 1) / 1000;
        }
        if (hyperparams.loss == ORCH_LOSS_QUANTILE)
            assert_true(below > 860 && below < 940);
        orch_model_free(m);
    }
    assert_true(errors[ORCH_LOSS_RELATIVE] < 0.9 * errors[ORCH_LOSS_SQUARED]);
    drop(d);
    drop(unseen);
}

/* Columns beside a and b, so that a level of a tree is worth more than one thread. */
static void widen(struct data d, uint64_t seed)
{
    for (int c = 0; c < 20; c++) {
        g_autofree char *name = g_strdup_printf("noise %d", c);
        double *column = orch_matrix_add_number(d.matrix, name);
        for (size_t i = 0; i < d.matrix->rows; i++)
            column[i] = orch_random_unit(&seed) + (c % 3 ? d.y[i] : 0);
    }
}

/* The same answers, to the last bit, with one thread and with several. */
static void test_threads_do_not_show(void **state)
{
    (void)state;
    enum { ROWS = 3000 }; /* times the columns: worth more than one thread, also in trees */
    static const char *const kinds[] = {"forest", "boost", "knn", "mlp", "kernel"};
    struct data d = make(ROWS, 5, interaction_law);
    widen(d, 9);
    struct orch_hyperparams hyperparams = USUAL;
    hyperparams.trees = 12;
    hyperparams.depth = 9;
    hyperparams.epochs = 1;
    int usual = omp_get_max_threads();
    for (int k = 0; k < 5; k++) {
        g_autofree double *one = g_new(double, ROWS), *four = g_new(double, ROWS);
        for (int threads = 1; threads <= 4; threads += 3) {
            omp_set_num_threads(threads);
            struct orch_model *m = orch_model_fit(orch_model_find(kinds[k], NULL), d.matrix, d.y,
                                                  NULL, &hyperparams, 1, NULL);
            orch_model_predict(m, d.matrix, threads == 1 ? one : four);
            orch_model_free(m);
        }
        assert_memory_equal(one, four, ROWS * sizeof(double));
    }
    omp_set_num_threads(usual);
    drop(d);
}

static void test_missing_and_unseen(void **state)
{
    (void)state;
    struct data d = make(400, 1, linear_law);
    struct orch_matrix *odd = orch_matrix_new(1);
    orch_matrix_add_number(odd, "a"); /* missing; b is not there at all */
    double *colour = orch_matrix_add_category(odd, "colour");
    colour[0] = orch_matrix_level(odd, 1, "ultraviolet");
    for (const struct orch_model_kind *k = orch_model_kinds(); k->name; k++) {
        double out = (double)NAN;
        struct orch_model *m = orch_model_fit(k, d.matrix, d.y, NULL, &USUAL, 1, NULL);
        orch_model_predict(m, odd, &out);
        assert_true(isfinite(out));
        orch_model_free(m);
    }
    orch_matrix_free(odd);
    drop(d);
}

static void test_hopeless(void **state)
{
    (void)state;
    struct data d = make(30, 1, linear_law);
    for (const struct orch_model_kind *k = orch_model_kinds(); k->name; k++) {
        GError *error = NULL;
        double kept = d.y[7];
        d.y[7] = (double)NAN;
        assert_null(orch_model_fit(k, d.matrix, d.y, NULL, &USUAL, 1, &error));
        assert_non_null(strstr(error->message, "row 8"));
        g_clear_error(&error);
        d.y[7] = kept;
        struct orch_matrix *none = orch_matrix_new(0);
        assert_null(orch_model_fit(k, none, d.y, NULL, &USUAL, 1, &error));
        g_clear_error(&error);
        orch_matrix_free(none);
        double same[30], out[30]; /* a constant target, and two columns that say the same */
        struct orch_matrix *twins = orch_matrix_new(30);
        double *a = orch_matrix_add_number(twins, "a"), *b = orch_matrix_add_number(twins, "b");
        for (int i = 0; i < 30; i++) {
            a[i] = b[i] = i;
            same[i] = 4;
        }
        struct orch_model *m = orch_model_fit(k, twins, same, NULL, &USUAL, 1, &error);
        assert_non_null(m);
        orch_model_predict(m, twins, out);
        for (int i = 0; i < 30; i++)
            assert_true(fabs(out[i] - 4) < 0.05);
        orch_model_free(m);
        orch_matrix_free(twins);
    }
    drop(d);
    assert_null(orch_model_find("forrest", NULL));
}

/* ---- tables ------------------------------------------------------------------------------------
 */

static char *write_table(size_t rows, uint64_t seed)
{
    char *path = NULL;
    int file = g_file_open_tmp("orch-learn-XXXXXX.csv", &path, NULL);
    GString *text = g_string_new("gpu,b,m,k,n,ms,ms_min\n");
    static const char *const gpus[] = {"V100", "K80", "T4"};
    static const double peaks[] = {15.67e12, 4.37e12, 8.14e12};
    for (size_t i = 0; i < rows; i++) {
        int g = (int)orch_random_below(&seed, 3);
        double m = 64 << orch_random_below(&seed, 6), n = 64 << orch_random_below(&seed, 6);
        double ms = 1e3 * 2 * 8 * m * n * 512 / peaks[g] * 1.7 * exp(0.2 * normal(&seed));
        g_string_append_printf(text, "%s,8,%g,512,%g,%.9g,%.9g\n", gpus[g], m, n, ms, ms * 0.9);
    }
    assert_int_equal(write(file, text->str, text->len), (ssize_t)text->len);
    close(file);
    g_string_free(text, TRUE);
    return path;
}

static struct orch_rows *read_rows(const char *path, const struct orch_rows_options *options,
                                   GError **error)
{
    struct orch_csv *csv = orch_csv_read(path, error);
    struct orch_rows *rows = csv ? orch_rows_of_table(csv, options, error) : NULL;
    orch_csv_free(csv);
    return rows;
}

static void test_interval_covers(void **state)
{
    (void)state;
    g_autofree char *train = write_table(1500, 1), *test = write_table(1000, 2);
    struct orch_rows_options o = {.target = "ms", .group = "gpu"};
    struct orch_rows *seen = read_rows(train, &o, NULL), *unseen = read_rows(test, &o, NULL);
    assert_non_null(seen);
    assert_int_equal(seen->notes->len, 1); /* ms_min gives it away */
    assert_int_equal(orch_matrix_find(seen->matrix, "ms_min"), -1);
    assert_true(seen->white[0] > 0);
    struct orch_learn_options learn = {.model = "linear", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &learn, NULL);
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, 1000);
    orch_learned_predict(l, unseen, answers);
    struct orch_score s = orch_score_of(unseen->target, answers, NULL, 1000);
    assert_true(s.coverage_90 > 0.87 && s.coverage_90 < 0.93);
    assert_true(s.mean_relative_error < 0.2); /* the noise alone makes 0.16 */
    learn.model = "boost";
    learn.by_group = true; /* a GPU that was never seen: the grey box carries it */
    learn.no_tuning = true;
    struct orch_learned *by_gpu = orch_learn(seen, &learn, NULL);
    const struct orch_model_candidate *best =
        &g_array_index(orch_learned_question(by_gpu, 0).candidates, struct orch_model_candidate, 0);
    assert_true(best->box != ORCH_BOX_BLACK && best->mean_relative_error < 0.35);
    orch_learned_free(by_gpu);
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(unseen);
    g_unlink(train);
    g_unlink(test);
}

static void expect_bad_table(const char *text, const char *target, const char *words)
{
    g_autofree char *path = NULL;
    g_autoptr(GError) error = NULL;
    close(g_file_open_tmp("orch-learn-XXXXXX.csv", &path, NULL));
    g_file_set_contents(path, text, -1, NULL);
    struct orch_rows_options o = {.target = target};
    struct orch_rows *rows = read_rows(path, &o, &error);
    struct orch_learn_options learn = {.model = "linear", .target = ORCH_LEARN_LOG};
    if (rows)
        assert_null(orch_learn(rows, &learn, &error));
    assert_non_null(error);
    if (!strstr(error->message, words))
        fail_msg("'%s' does not say '%s'", error->message, words);
    orch_rows_free(rows);
    g_unlink(path);
}

static void test_bad_tables(void **state)
{
    (void)state;
    expect_bad_table("", "ms", "");
    expect_bad_table("a,ms\n1,2\n", "sec", "sec");
    expect_bad_table("a,ms\n1,0\n", "ms", "not above 0");
    expect_bad_table("a,ms\n1,-3\n", "ms", "not above 0");
    expect_bad_table("a,ms\n1,nan\n", "ms", ":2:");
    expect_bad_table("a,ms\n1,fast\n", "ms", ":2:");
    expect_bad_table("a,ms\n1,2,3\n", "ms", ":2:");
    expect_bad_table("a,ms\n1,2\n", "ms", "too few");
    expect_bad_table("a,ms\n", "ms", "too few");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws),
        cmocka_unit_test(test_monotone),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_threads_do_not_show),
        cmocka_unit_test(test_missing_and_unseen),
        cmocka_unit_test(test_hopeless),
        cmocka_unit_test(test_interval_covers),
        cmocka_unit_test(test_bad_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
