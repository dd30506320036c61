/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What carries over from measured GPUs to one that was not: powers of the ratios of their rates,
 * and one GPU's rows for another. */
#include "lib/base/random.h"
#include "predictors/learn/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static const char *const GPUS[] = {"P100",     "V100",           "RTX 2080 Ti",
                                   "RTX 3090", "A100-PCIe-40GB", "H100"};

static double normal(uint64_t *random)
{
    double u = 1 - orch_random_unit(random), v = orch_random_unit(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* Of a task that nothing is known of: its time goes with the power 0.9 of the bandwidth. */
static void add_row(GString *text, const char *gpu, int task, double batch, double noise)
{
    double bandwidth = orch_gpu_find(gpu)->bandwidth_gbs;
    g_string_append_printf(text, "%s,%c,%g,%.9g\n", gpu, 'a' + task, batch,
                           (1 + task) * batch * pow(bandwidth / 900, -0.9) * exp(noise));
}

static struct orch_rows *rows_of(const GString *text, const struct orch_rows *like)
{
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("test.csv", text->str, text->len, &error);
    assert_non_null(csv);
    struct orch_rows_options o = {.target = "ms", .like = like ? like->matrix : NULL};
    struct orch_rows *rows = orch_rows_of_table(csv, &o, &error);
    assert_non_null(rows);
    orch_csv_free(csv);
    return rows;
}

/* Each task with each batch on the GPUs from `first` on, and on `others`. */
static struct orch_rows *tasks_and(const char *others, int first, int gpus, double noise,
                                   const struct orch_rows *like)
{
    g_autoptr(GString) text = g_string_new("gpu,task,batch,ms\n");
    uint64_t random = 5;
    g_string_append(text, others);
    for (int g = first; g < first + gpus; g++)
        for (int i = 0; i < 24; i++)
            add_row(text, GPUS[g], i % 6, (double)(8 << i / 6), noise * normal(&random));
    return rows_of(text, like);
}

static struct orch_rows *tasks(int first, int gpus, double noise, const struct orch_rows *like)
{
    return tasks_and("", first, gpus, noise, like);
}

/* Ratio of the times of the same work on two GPUs. */
static double ratio(const char *a, const char *b, double macs_per_value)
{
    struct orch_row_device x = {.gpu = orch_gpu_find(a),
                                .peak_tflops = orch_gpu_find(a)->fp32_tflops,
                                .work = 1,
                                .macs_per_value = macs_per_value},
                           y = x;
    y.gpu = orch_gpu_find(b);
    y.peak_tflops = y.gpu->fp32_tflops;
    return orch_row_device_ms(&x) / orch_row_device_ms(&y);
}

/* A GPU with more of everything is faster; one with more operations for its bandwidth is the faster
 * the more multiply-adds each value takes. What is not known has no time. */
static void test_rates(void **state)
{
    (void)state;
    const double none = (double)NAN;
    assert_true(ratio("P100", "H100", none) > 2 && ratio("P100", "H100", none) < 67 / 10.6);
    assert_true(fabs(ratio("P100", "H100", none) * ratio("H100", "P100", none) - 1) < 1e-12);
    assert_true(fabs(ratio("V100", "RTX 3090", 370) - ratio("V100", "RTX 3090", none)) < 1e-12);
    assert_true(ratio("V100", "RTX 3090", 5000) > 1.05 * ratio("V100", "RTX 3090", 370));
    assert_true(ratio("V100", "RTX 3090", 20) < 0.95 * ratio("V100", "RTX 3090", 370));
    /* beyond the peak of fp32 only tensor cores are faster: 0.7 of the power */
    struct orch_row_device low = {.gpu = orch_gpu_find("V100"), .work = 1, .macs_per_value = none},
                           high = low;
    low.peak_tflops = low.gpu->fp32_tflops / 4;
    high.peak_tflops = low.gpu->fp32_tflops;
    double below = orch_row_device_ms(&low) / orch_row_device_ms(&high);
    low.peak_tflops = 4 * low.gpu->fp32_tflops;
    assert_true(fabs(pow(orch_row_device_ms(&high) / orch_row_device_ms(&low), 1 / 0.7) / below -
                     1) < 1e-12);
    assert_true(below > 1.3);
    struct orch_row_device unknown = {.work = 1}, idle = {.gpu = orch_gpu_find("V100"), .work = 0};
    assert_true(isnan(orch_row_device_ms(&unknown)) && isnan(orch_row_device_ms(&idle)));
}

/* Where operations are counted: fp64 on a gaming card goes with its low peak, and steps that wait
 * for the host take as long on any GPU. */
static void test_bounds(void **state)
{
    (void)state;
    struct orch_row_device a100 = {.gpu = orch_gpu_find("A100"),
                                   .peak_tflops = orch_gpu_find("A100")->fp64_tflops,
                                   .work = 1000,
                                   .counts_operations = true,
                                   .macs_per_value = (double)NAN},
                           gaming = a100;
    gaming.gpu = orch_gpu_find("RTX 2080 Ti");
    gaming.peak_tflops = gaming.gpu->fp64_tflops;
    double ratio = orch_row_device_ms(&gaming) / orch_row_device_ms(&a100);
    assert_true(orch_row_device_ms(&gaming) >= 1000 / (1.2 * gaming.peak_tflops));
    assert_true(ratio > 10 && ratio < a100.peak_tflops / gaming.peak_tflops);
    a100.work = gaming.work = 1;
    a100.launches = gaming.launches = 400;
    ratio = orch_row_device_ms(&gaming) / orch_row_device_ms(&a100);
    assert_true(ratio > 0.999 && ratio < 1.001);
    a100.counts_operations = gaming.counts_operations = false; /* a number of items has no bound */
    a100.launches = gaming.launches = 0;
    double few = orch_row_device_ms(&gaming);
    gaming.work = 1000;
    assert_true(fabs(orch_row_device_ms(&gaming) / few / 1000 - 1) < 1e-12);
}

/* One GPU was measured, another is asked: a task's time changes by the GPUs' rates, not by a
 * constant. The answer survives saving, and a device that no table knows has one, too. */
static void test_one_gpu(void **state)
{
    (void)state;
    struct orch_rows *seen = tasks(1, 1, 0.03, NULL), *asked = tasks(4, 1, 0, seen);
    struct orch_learn_options o = {.model = "auto", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &o, NULL), *back;
    struct orch_answer answers[24], again[24];
    assert_non_null(l);
    orch_learned_predict(l, asked, answers);
    struct orch_score score = orch_score_of(asked->target, answers, NULL, 24);
    assert_true(score.mean_relative_error < 0.2 && score.coverage_90 > 0.9);
    assert_string_equal(orch_learned_question(l, answers[0].question).column, "gpu");
    assert_int_equal(orch_learned_question(l, answers[0].question).has_one_group, true);
    json_t *saved = orch_learned_save(l, ORCH_SAVE_PACKED);
    back = orch_learned_load(saved, NULL);
    assert_non_null(back);
    orch_learned_predict(back, asked, again);
    for (int i = 0; i < 24; i++)
        assert_true(fabs(log(again[i].value.mid / answers[i].value.mid)) < 1e-4);
    asked->devices[3].gpu = NULL;
    orch_learned_predict(l, asked, again);
    assert_true(isfinite(again[3].value.mid) && again[3].value.mid > 0);
    json_decref(saved);
    orch_learned_free(l);
    orch_learned_free(back);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* A processor beside the one GPU does not show how times change from GPU to GPU. */
static void test_processor_beside(void **state)
{
    (void)state;
    g_autoptr(GString) slow = g_string_new(NULL);
    for (int i = 0; i < 12; i++)
        g_string_append_printf(slow, "%s,%c,%d,%d\n", i % 2 ? "CPU" : "CPU: Dual Xeon E5-2630 v3",
                               'a' + i % 6, 8 << i / 6, 30 * (1 + i % 6) * (8 << i / 6));
    struct orch_rows *seen = tasks_and(slow->str, 1, 1, 0.03, NULL), *asked = tasks(4, 1, 0, seen);
    struct orch_learn_options o = {.model = "auto", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &o, NULL);
    struct orch_answer answers[24];
    assert_non_null(l);
    orch_learned_predict(l, asked, answers);
    assert_int_equal(orch_learned_question(l, answers[0].question).has_one_group, true);
    struct orch_score score = orch_score_of(asked->target, answers, NULL, 24);
    assert_true(score.mean_relative_error < 0.2 && score.coverage_90 > 0.9);
    assert_true(answers[0].value.high < 4 * answers[0].value.mid);
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* Each task on a GPU, with a software that halves its times or does not; with many batches. */
static void add_rows_of(GString *text, const char *gpu, bool is_quick)
{
    double bandwidth = orch_gpu_find(gpu)->bandwidth_gbs;
    for (int i = 0; i < 24; i++)
        g_string_append_printf(text, "%s,resnet%s,%s%d,%d,%.9g\n", gpu, i % 2 ? "18" : "50",
                               is_quick ? "quick" : "slow", i % 3, 8 << i / 6,
                               (i % 2 ? 1 : 2.2) * (8 << i / 6) * pow(bandwidth / 900, -0.8) *
                                   (is_quick ? 0.4 : 1));
}

/* Two GPUs were measured, each with software of its own: another GPU with either of them takes the
 * time of the rows with that software, times what the GPUs' rates say. */
static void test_own_software(void **state)
{
    (void)state;
    g_autoptr(GString) seen = g_string_new("gpu,net,software,batch,ms\n");
    g_autoptr(GString) asked = g_string_new(seen->str);
    add_rows_of(seen, "RTX 3090", false);
    add_rows_of(seen, "A100-PCIe-40GB", true);
    add_rows_of(asked, "V100", false);
    add_rows_of(asked, "V100", true);
    struct orch_rows *rows = rows_of(seen, NULL), *other = rows_of(asked, rows);
    struct orch_learn_options o = {.model = "auto", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(rows, &o, NULL);
    struct orch_answer answers[48];
    assert_non_null(l);
    orch_learned_predict(l, other, answers);
    struct orch_score score = orch_score_of(other->target, answers, NULL, 48);
    assert_true(score.mean_relative_error < 0.15 && score.coverage_90 > 0.9);
    orch_learned_free(l);
    orch_rows_free(rows);
    orch_rows_free(other);
}

/* Devices that the table of GPUs does not have are groups of their own, which can be held out. */
static void test_unknown_devices(void **state)
{
    (void)state;
    g_autoptr(GString) others = g_string_new(NULL);
    for (int i = 0; i < 36; i++)
        g_string_append_printf(others, "FOO%d,%c,%d,%d\n", 1 + i % 3, 'a' + i / 3 % 6, 8 << i / 18,
                               (1 + i % 3) * (1 + i / 3 % 6) * (8 << i / 18));
    struct orch_rows *seen = tasks_and(others->str, 1, 1, 0.03, NULL);
    struct orch_learn_options o = {.model = "linear", .target = ORCH_LEARN_LOG, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &o, NULL);
    assert_non_null(l);
    int asked = 0;
    for (int k = 0; k < orch_learned_scenarios(l); k++) {
        if (g_strcmp0(orch_learned_question(l, k).column, "gpu") != 0)
            continue;
        asked++;
        assert_false(orch_learned_question(l, k).has_one_group);
    }
    assert_int_equal(asked, 1);
    orch_learned_free(l);
    orch_rows_free(seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_one_gpu),      cmocka_unit_test(test_processor_beside),
        cmocka_unit_test(test_own_software), cmocka_unit_test(test_unknown_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
