/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is learned of tables as a whole: mixtures, questions about what was never seen, baselines,
 * intervals, and tables that hardly say anything. */
#include "lib/base/random.h"
#include "predictors/learn/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <omp.h>
#include <string.h>

static double normal(uint64_t *random)
{
    double u = 1 - orch_random_unit(random), v = orch_random_unit(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static const struct {
    const char *name;
    double tflops;
} GPUS[] = {{"V100", 15.67}, {"K80", 4.37}, {"T4", 8.14}, {"P100", 10.6}, {"A100-PCIe-40GB", 19.5}};

/* Products of matrices that take 1.7 times the peak's time and a launch, on the first `gpus`. */
static char *table(size_t rows, int first, int gpus, double noise, uint64_t seed)
{
    GString *text = g_string_new("gpu,b,m,k,n,ms\n");
    for (size_t i = 0; i < rows; i++) {
        int g = first + (int)orch_random_below(&seed, (size_t)gpus);
        double m = 64 << orch_random_below(&seed, 6), n = 64 << orch_random_below(&seed, 6);
        double ms =
            (0.02 + 2e-9 * 8 * m * n * 512 / GPUS[g].tflops * 1.7) * exp(noise * normal(&seed));
        g_string_append_printf(text, "%s,8,%g,512,%g,%.9g\n", GPUS[g].name, m, n, ms);
    }
    return g_string_free(text, FALSE);
}

static struct orch_rows *rows_of(const char *text, const char *target, const char *group,
                                 const struct orch_rows *like)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("test.csv", text, strlen(text), &error);
    assert_non_null(csv);
    struct orch_rows_options o = {
        .target = target, .group = group, .like = like ? like->matrix : NULL};
    struct orch_rows *rows = orch_rows_of_table(csv, &o, &error);
    if (!rows)
        fail_msg("%s", error->message);
    orch_csv_free(csv);
    return rows;
}

/* One kind by name by its first setting: each setting is tried as often as a kind of a mixture. */
static struct orch_learned *learn(const struct orch_rows *rows, const char *model)
{
    GError *error = NULL;
    struct orch_learn_options o = {
        .model = model, .target = ORCH_LEARN_BEST, .seed = 1, .no_tuning = true};
    struct orch_learned *l = orch_learn(rows, &o, &error);
    if (!l)
        fail_msg("%s", error->message);
    return l;
}

static struct orch_score judge(const struct orch_learned *l, const struct orch_rows *rows,
                               struct orch_answer *answers)
{
    orch_learned_predict(l, rows, answers);
    return orch_score_of(rows->target, answers, NULL, rows->rows);
}

/* Mean of the widths of the intervals: that of a row depends on how difficult it looks. */
static double mean_width(const struct orch_answer *answers, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += log(answers[i].value.high / answers[i].value.low) / count;
    return sum;
}

/* Rows like those seen are answered to the noise, with an interval that holds 90 %; a GPU never
 * seen is carried by the white box, its interval is no narrower, and both are said. */
static void test_questions(void **state)
{
    (void)state;
    g_autofree char *a = table(320, 0, 4, 0.1, 1), *b = table(300, 0, 4, 0.1, 2);
    g_autofree char *c = table(300, 4, 1, 0.1, 3);
    struct orch_rows *seen = rows_of(a, "ms", NULL, NULL), *same = rows_of(b, "ms", NULL, seen);
    struct orch_rows *other = rows_of(c, "ms", NULL, seen);
    struct orch_learned *l = learn(seen, "auto");
    struct orch_answer answers[300];
    assert_int_equal(orch_learned_scenarios(l), 2);
    assert_null(orch_learned_question(l, 0).column);
    assert_string_equal(orch_learned_question(l, 1).column, "gpu");
    struct orch_score s = judge(l, same, answers);
    assert_true(s.mean_relative_error < 0.1); /* the noise alone makes 0.08 */
    assert_true(s.coverage_90 > 0.84 && s.coverage_90 < 0.96);
    double width = mean_width(answers, 300);
    size_t far = 0;
    for (int i = 0; i < 300; i++)
        far += answers[i].extrapolates;
    assert_true(far < 15 && answers[0].question == 0);
    s = judge(l, other, answers);
    assert_true(s.mean_relative_error < 0.35);
    assert_true(s.coverage_90 > 0.8);
    assert_true(answers[0].question == 1 && answers[0].extrapolates);
    /* GPUs differ by noise alone here, so both intervals are about as wide, and no narrower than 90
     * % of the noise */
    assert_true(mean_width(answers, 300) > 0.9 * width);
    assert_true(mean_width(answers, 300) > 2 * 0.164);
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(same);
    orch_rows_free(other);
}

/* A row unlike any other is said to be far, though its GPU was seen. */
static void test_far(void **state)
{
    (void)state;
    g_autofree char *a = table(200, 0, 2, 0.1, 1);
    struct orch_rows *seen = rows_of(a, "ms", NULL, NULL);
    struct orch_rows *far = rows_of(
        "gpu,b,m,k,n,ms\nV100,8,256,512,256,1\nV100,4000,900000,2,900000,1\n", "ms", NULL, seen);
    struct orch_learned *l = learn(seen, "linear");
    struct orch_answer answers[2];
    orch_learned_predict(l, far, answers);
    assert_true(answers[0].distance < 1 && !answers[0].extrapolates);
    assert_true(answers[1].distance > 2 && answers[1].extrapolates);
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(far);
}

static double half_width(const struct orch_answer *a)
{
    return log(a->value.high / a->value.low) / 2;
}

/* Far beyond the batches that were seen the interval is wider, also after saving; a batch between
 * them is none of that. */
static void test_beyond(void **state)
{
    (void)state;
    GString *text = g_string_new("batch,ms\n");
    uint64_t random = 7;
    for (int i = 0; i < 120; i++) {
        double batch = (double[]){8, 16, 32, 64, 96}[i % 5];
        g_string_append_printf(text, "%g,%.9g\n", batch,
                               (3 + 0.2 * batch) * exp(0.05 * normal(&random)));
    }
    struct orch_rows *seen = rows_of(text->str, "ms", NULL, NULL);
    struct orch_rows *asked = rows_of("batch,ms\n96,1\n24,1\n400,1\n", "ms", NULL, seen);
    struct orch_learned *l = learn(seen, "auto");
    json_t *saved = orch_learned_save(l, ORCH_SAVE_PACKED);
    struct orch_learned *back = orch_learned_load(saved, NULL);
    struct orch_answer answers[3], again[3];
    orch_learned_predict(l, asked, answers);
    orch_learned_predict(back, asked, again);
    assert_true(!answers[0].extrapolates && !answers[1].extrapolates && answers[2].extrapolates);
    assert_true(half_width(&answers[1]) < 0.2);
    assert_true(half_width(&answers[2]) > 0.4);
    assert_true(answers[2].value.low < 83 && 83 < answers[2].value.high);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(half_width(&again[i]) - half_width(&answers[i])) < 1e-4);
    /* a model without a white box is kept as it is, with or without what goes into one */
    l->scenarios[0]->members[0].candidate.box = ORCH_BOX_PLAIN;
    g_clear_pointer(&l->scenarios[0]->members[0].white, orch_whitebox_free);
    json_t *plain = orch_learned_save(l, ORCH_SAVE_PACKED);
    struct orch_learned *without = orch_learned_load(plain, NULL);
    assert_non_null(without);
    orch_learned_free(without);
    json_decref(plain);
    /* ranges are there and well formed */
    json_object_del(json_object_get(saved, "nearness"), "ranges");
    assert_null(orch_learned_load(saved, NULL));
    json_object_set_new(json_object_get(saved, "nearness"), "ranges",
                        json_pack("[{s:s}]", "name", "batch"));
    assert_null(orch_learned_load(saved, NULL));
    json_decref(saved);
    orch_learned_free(l);
    orch_learned_free(back);
    orch_rows_free(seen);
    orch_rows_free(asked);
    g_string_free(text, TRUE);
}

/* Where the GPU is new and the network too, the interval is wider than for either. */
static void test_both_new(void **state)
{
    (void)state;
    static const char *const NETS[] = {"resnet18", "resnet34", "resnet50", "vgg11", "alexnet"};
    GString *text = g_string_new("gpu,net,batch,ms\n");
    uint64_t random = 9;
    for (int i = 0; i < 160; i++) {
        int g = i % 4, n = i / 4 % 4;
        double batch = (double)(8 << orch_random_below(&random, 4));
        g_string_append_printf(text, "%s,%s,%g,%.9g\n", GPUS[g].name, NETS[n], batch,
                               (1 + n) * batch / GPUS[g].tflops * exp(0.1 * normal(&random)));
    }
    struct orch_rows *seen = rows_of(text->str, "ms", NULL, NULL);
    struct orch_rows *asked = rows_of("gpu,net,batch,ms\nV100,alexnet,16,1\n"
                                      "RTX 2080,resnet50,16,1\nRTX 2080,alexnet,16,1\n",
                                      "ms", NULL, seen);
    struct orch_learned *l = learn(seen, "linear");
    struct orch_answer a[3];
    orch_learned_predict(l, asked, a);
    assert_string_equal(orch_learned_question(l, a[0].question).column, "net");
    assert_string_equal(orch_learned_question(l, a[1].question).column, "gpu");
    assert_string_equal(orch_learned_question(l, a[2].question).column, "gpu");
    assert_true(half_width(&a[2]) > half_width(&a[0]) && half_width(&a[2]) > half_width(&a[1]));
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(asked);
    g_string_free(text, TRUE);
}

/* The same answers, to the last bit, with one thread and with several. */
static void test_threads_do_not_show(void **state)
{
    (void)state;
    g_autofree char *a = table(120, 0, 3, 0.1, 1);
    struct orch_rows *rows = rows_of(a, "ms", NULL, NULL);
    struct orch_answer one[120], four[120];
    int usual = omp_get_max_threads();
    for (int threads = 1; threads <= 4; threads += 3) {
        omp_set_num_threads(threads);
        struct orch_learned *l = learn(rows, "auto");
        orch_learned_predict(l, rows, threads == 1 ? one : four);
        orch_learned_free(l);
    }
    omp_set_num_threads(usual);
    for (int i = 0; i < 120; i++)
        assert_true(
            !(one[i].value.mid < four[i].value.mid) && !(one[i].value.mid > four[i].value.mid) &&
            !(one[i].value.low < four[i].value.low) && !(one[i].value.high > four[i].value.high));
    orch_rows_free(rows);
}

/* One factor for all rows: the median of an even number lies between the middle two. */
static void test_factor(void **state)
{
    (void)state;
    struct orch_rows *rows =
        rows_of("gpu,b,m,k,n,ms\nV100,8,64,512,64,1\nV100,8,64,512,64,4\n", "ms", NULL, NULL);
    struct orch_whitebox *w = orch_whitebox_fit_factor(rows);
    double out[2];
    orch_whitebox_predict(w, rows, out);
    assert_true(fabs(out[0] - 2) < 1e-9);
    orch_whitebox_free(w);
    orch_rows_free(rows);
}

/* The white box's few constants are found: 1.7 of the peak's time and a launch of 0.02 ms. */
static void test_whitebox(void **state)
{
    (void)state;
    g_autofree char *a = table(300, 0, 3, 0.02, 1), *b = table(100, 3, 2, 0, 2);
    struct orch_rows *seen = rows_of(a, "ms", NULL, NULL), *other = rows_of(b, "ms", NULL, seen);
    struct orch_whitebox *w = orch_whitebox_fit(seen);
    double out[100], off = 0;
    orch_whitebox_predict(w, other, out);
    for (int i = 0; i < 100; i++)
        off += fabs(out[i] / other->target[i] - 1) / 100;
    assert_true(off < 0.05);
    orch_whitebox_free(w);
    orch_rows_free(seen);
    orch_rows_free(other);
}

/* Each task takes a time of its own, on each GPU by its specification: nothing but the last known
 * time, times the ratio, can say it, and no model may answer instead. */
static void test_baseline_wins(void **state)
{
    (void)state;
    GString *text = g_string_new("gpu,job,ms\n");
    uint64_t random = 5;
    struct orch_rows *r = rows_of("gpu,ms\nV100,1\nK80,1\nT4,1\nP100,1\n", "ms", NULL, NULL);
    for (int job = 0; job < 66; job++) { /* more than are coded one by one */
        double time = exp(2 * normal(&random));
        for (int g = 0; g < 3; g++)
            g_string_append_printf(text, "%s,job%d,%.9g\n", GPUS[g].name, job, time * r->white[g]);
    }
    orch_rows_free(r);
    struct orch_rows *rows = rows_of(text->str, "ms", NULL, NULL);
    struct orch_learned *l = learn(rows, "auto");
    const struct orch_model_candidate *best =
        &g_array_index(orch_learned_question(l, 1).candidates, struct orch_model_candidate, 0);
    g_autofree char *mixture = orch_learned_text(l, 1);
    assert_string_equal(orch_learned_question(l, 1).column, "gpu");
    assert_true(orch_learned_question(l, 1).is_baseline);
    assert_true(best->is_baseline && best->weight > 0.99);
    assert_string_equal(mixture, "1.00 specs knn");
    assert_true(orch_learned_question(l, 1).error < 0.05);
    orch_learned_free(l);
    orch_rows_free(rows);
    g_string_free(text, TRUE);
}

/* ---- groups ------------------------------------------------------------------------------------
 */

/* One model errs wildly in one fold and is better in the others; where folds are groups that does
 * not rule it out, where they are rows it does. */
static void test_weights(void **state)
{
    (void)state;
    enum { ROWS = 200 };
    double logs[ROWS] = {0}, good[ROWS], steady[ROWS], weights[2];
    int folds[ROWS];
    for (int i = 0; i < ROWS; i++) {
        folds[i] = i % 4;
        good[i] = i % 4 == 3 ? 3 : 0.1;
        steady[i] = -0.3;
    }
    double *answers[] = {good, steady};
    orch_stacking_fit(answers, NULL, 2, logs, NULL, ROWS, folds, 4, weights);
    assert_true(weights[0] > 0.3 && weights[1] > 0.3);
    assert_true(fabs(weights[0] + weights[1] - 1) < 1e-9);
    orch_stacking_fit(answers, NULL, 2, logs, NULL, ROWS, folds, 0, weights);
    assert_true(weights[0] <= 0 && weights[1] > 0.99);
    assert_true(fabs(orch_error_by_folds(steady, logs, NULL, folds, ROWS) - (1 - exp(-0.3))) <
                1e-9);
}

/* Of few groups: a model that is better in each of them weighs more; where which is better changes
 * from one to the next all weigh alike. */
static void test_weights_of_few(void **state)
{
    (void)state;
    enum { ROWS = 200, MODELS = 6 };
    double logs[ROWS] = {0}, weights[MODELS], *answers[MODELS];
    int folds[ROWS];
    for (int m = 0; m < MODELS; m++)
        answers[m] = g_new(double, ROWS);
    for (int is_steady = 0; is_steady < 2; is_steady++) {
        for (int i = 0; i < ROWS; i++) {
            folds[i] = i % 4;
            for (int m = 0; m < MODELS; m++) {
                bool is_better = m == (is_steady ? 0 : i % 4);
                answers[m][i] = (i / 4 % 2 ? 1 : -1) * (is_better ? 0.1 : 0.15);
            }
        }
        orch_stacking_fit(answers, NULL, MODELS, logs, NULL, ROWS, folds, 4, weights);
        for (int m = 1; m < MODELS; m++)
            assert_true(is_steady ? weights[0] > 1.5 * weights[m]
                                  : fabs(weights[0] - weights[m]) < 0.05);
    }
    for (int m = 0; m < MODELS; m++)
        g_free(answers[m]);
}

/* Of groups never seen the answer does not follow a lone model that is far off. */
static void test_trimmed(void **state)
{
    (void)state;
    double said[10], weights[10], *answers[10], mixed, spread;
    for (int j = 0; j < 10; j++) {
        said[j] = j == 4 ? 9 : 1;
        weights[j] = 0.1;
        answers[j] = &said[j];
    }
    orch_stacking_predict(answers, weights, 10, 1, true, &mixed, &spread);
    assert_true(fabs(mixed - 1) < 1e-9 && fabs(spread - 2.4) < 1e-9);
    orch_stacking_predict(answers, weights, 10, 1, false, &mixed, NULL);
    assert_true(fabs(mixed - 1.8) < 1e-9);
    said[4] = (double)NAN; /* one that has no answer is left out */
    orch_stacking_predict(answers, weights, 10, 1, true, &mixed, NULL);
    assert_true(fabs(mixed - 1) < 1e-9);
}

static double width_for(const struct orch_rows *rows, const double *errors, const int *folds,
                        size_t unseen)
{
    struct orch_conformal w = {0};
    g_autofree double *answers = g_new(double, rows->rows), *spread = g_new0(double, rows->rows);
    for (size_t i = 0; i < rows->rows; i++)
        answers[i] = log(rows->target[i]) + errors[i];
    assert_true(orch_conformal_fit(&w, rows, answers, spread, folds, NULL, unseen, 1, NULL));
    double out = w.factor;
    orch_conformal_release(&w);
    return out;
}

/* Groups that err alike say what the next will; groups that differ widen it; and of many groups
 * little is left to doubt. */
static void test_widths_of_groups(void **state)
{
    (void)state;
    enum { ROWS = 160 };
    g_autofree char *text = table(ROWS, 0, 4, 0.1, 1);
    struct orch_rows *rows = rows_of(text, "ms", NULL, NULL);
    double alike[ROWS], differing[ROWS];
    int folds[ROWS];
    uint64_t random = 3;
    for (int i = 0; i < ROWS; i++) {
        folds[i] = i % 4;
        alike[i] = 0.1 * normal(&random);
        differing[i] = alike[i] * (double[]){0.5, 1, 2, 4}[i % 4];
    }
    double calm = width_for(rows, alike, folds, 4), wild = width_for(rows, differing, folds, 4);
    assert_true(calm > 0.14 && calm < 0.24); /* 0.164 holds 90 % of that noise */
    assert_true(wild > 0.28 && wild < 0.66); /* between the second and the worst */
    double many = width_for(rows, alike, folds, 100), rows_only = width_for(rows, alike, folds, 0);
    assert_true(many > rows_only && many < 1.02 * rows_only);
    assert_true(width_for(rows, alike, folds, 8) > 1.05 * rows_only);
    orch_rows_free(rows);
}

/* ---- tables that hardly say anything -----------------------------------------------------------
 */

/* All models, by name and mixed, answer near `wanted` for the first row. */
static void expect_answer(const char *text, double wanted, double within)
{
    static const char *const models[] = {"auto",  "linear", "tree", "forest",
                                         "boost", "knn",    "mlp",  "kernel"};
    struct orch_rows *rows = rows_of(text, "ms", NULL, NULL);
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, rows->rows);
    for (size_t k = 0; k < G_N_ELEMENTS(models); k++) {
        struct orch_learned *l = learn(rows, models[k]);
        orch_learned_predict(l, rows, answers);
        if (!(fabs(answers[0].value.mid - wanted) <= within))
            fail_msg("%s says %g, not %g", models[k], answers[0].value.mid, wanted);
        assert_true(answers[0].value.low <= answers[0].value.mid &&
                    answers[0].value.mid <= answers[0].value.high);
        orch_learned_free(l);
    }
    orch_rows_free(rows);
}

static char *repeat(const char *header, const char *format, int rows)
{
    GString *text = g_string_new(header);
    for (int i = 0; i < rows; i++) {
        g_autofree char *number = g_strdup_printf("%d", i);
        g_auto(GStrv) parts = g_strsplit(format, "#", -1);
        g_autofree char *line = g_strjoinv(number, parts);
        g_string_append(text, line);
    }
    return g_string_free(text, FALSE);
}

static void test_poor_tables(void **state)
{
    (void)state;
    g_autofree char *constant = repeat("a,b,ms\n", "#,1,4\n", 12);
    g_autofree char *alone = repeat("ms\n", "4\n", 12);
    g_autofree char *twins = repeat("a,b,c,ms\n", "#,#,#,4\n", 30); /* a singular design */
    g_autofree char *empty = repeat("a,b,ms\n", ",,4\n", 12);
    g_autofree char *unknown = repeat("gpu,net,ms\n", "Mars#,nonesuch#,4\n", 15);
    expect_answer(constant, 4, 0.1);
    expect_answer(alone, 4, 0.1);
    expect_answer(twins, 4, 0.1);
    expect_answer(empty, 4, 0.1);
    expect_answer(unknown, 4, 0.1);
}

/* A category's level, a column's kind and a whole column that were not there. */
static void test_other_columns(void **state)
{
    (void)state;
    g_autofree char *text = repeat("version,size,ms\n", "#a,#,4\n", 6);
    g_autofree char *more = repeat("", "#,#,5\n", 14);
    g_autofree char *both = g_strconcat(text, more, NULL);
    struct orch_rows *rows = rows_of(both, "ms", NULL, NULL);
    struct orch_rows *odd[] = {rows_of("version,size,ms\n7,3,1\n", "ms", NULL, NULL),
                               rows_of("version,size,ms\nnew,3,1\n", "ms", NULL, rows),
                               rows_of("size,ms\nlarge,1\n", "ms", NULL, rows),
                               rows_of("ms\n1\n", "ms", NULL, rows)};
    struct orch_learned *l = learn(rows, "auto");
    for (size_t k = 0; k < G_N_ELEMENTS(odd); k++) {
        struct orch_answer a;
        orch_learned_predict(l, odd[k], &a);
        assert_true(a.value.mid > 3 && a.value.mid < 6 && a.value.low <= a.value.mid &&
                    a.value.high >= a.value.mid);
        orch_rows_free(odd[k]);
    }
    orch_learned_free(l);
    orch_rows_free(rows);
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        enum orch_learn_target target;
        int rows;
        const char *words;
    } cases[] = {{"auto", ORCH_LEARN_BEST, 9, "too few"},
                 {"autp", ORCH_LEARN_BEST, 20, "unknown model 'autp'"},
                 {"auto", ORCH_LEARN_GREY, 20, "roofline time"},
                 {"grey", ORCH_LEARN_BEST, 20, "roofline time"}};
    for (size_t k = 0; k < G_N_ELEMENTS(cases); k++) {
        g_autofree char *text = repeat("a,ms\n", "#,4\n", cases[k].rows);
        g_autoptr(GError) error = NULL;
        struct orch_rows *rows = rows_of(text, "ms", NULL, NULL);
        struct orch_learn_options o = {.model = cases[k].model, .target = cases[k].target};
        assert_null(orch_learn(rows, &o, &error));
        assert_non_null(strstr(error->message, cases[k].words));
        orch_rows_free(rows);
    }
}

/* With the argument "slow": what takes seconds. */
int main(int argc, char **argv)
{
    const struct CMUnitTest slow[] = {
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_threads_do_not_show),
    };
    if (argc > 1 && strcmp(argv[1], "slow") == 0)
        return cmocka_run_group_tests(slow, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_factor),
        cmocka_unit_test(test_whitebox),
        cmocka_unit_test(test_baseline_wins),
        cmocka_unit_test(test_poor_tables),
        cmocka_unit_test(test_other_columns),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_both_new),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_weights_of_few),
        cmocka_unit_test(test_trimmed),
        cmocka_unit_test(test_widths_of_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
