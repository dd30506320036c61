/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tasks whose operations nobody counted, asked on a GPU that was not measured: what their own rows
 * tell, by a law that is known. */
#include "predictors/learn/learn.h"
#include "predictors/matched/matched_private.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#define TASKS 6

static double speed_of(const char *gpu)
{
    struct orch_row_device device = {.gpu = orch_gpu_find(gpu), .work = 1};
    device.peak_tflops = device.gpu->fp32_tflops;
    device.macs_per_value = (double)NAN;
    return 1 / orch_row_device_ms(&device);
}

/* Items a second of tasks that differ by a factor of ten thousand; `factor`: the GPU's own. */
static void add_rows(GString *text, const char *gpu, int tasks, double least, double factor)
{
    for (int task = 0; task < tasks; task++)
        for (double batch = least; batch <= 64; batch *= 2)
            g_string_append_printf(text, "%s,task%d,%g,%.9g\n", gpu, task, batch,
                                   factor * 10 * pow(10, 0.8 * task) * speed_of(gpu));
}

static struct orch_rows *table(const char *head, const GString *text, const struct orch_rows *like)
{
    g_autofree char *whole = g_strconcat(head, text->str, NULL);
    struct orch_csv *csv = orch_csv_parse("test.csv", whole, strlen(whole), NULL);
    assert_non_null(csv);
    struct orch_rows_options o = {.target = "items_per_s", .like = like ? like->matrix : NULL};
    struct orch_rows *rows = orch_rows_of_table(csv, &o, NULL);
    assert_non_null(rows);
    orch_csv_free(csv);
    return rows;
}

static struct orch_rows *read_rows(const GString *text, const struct orch_rows *like)
{
    return table("gpu,task,batch,items_per_s\n", text, like);
}

/* Log of the target over what the rates of the GPU give. */
static double *ratios_of(const struct orch_rows *rows)
{
    double *y = g_new(double, rows->rows + 1);
    for (size_t i = 0; i < rows->rows; i++)
        y[i] = log(rows->target[i]) -
               log(rows->white[i] * rows->white_ms[i] / orch_row_device_ms(&rows->devices[i]));
    return y;
}

static bool is_gpu(const char *name, const void *data)
{
    (void)data;
    return strcmp(name, "gpu") == 0;
}

static struct orch_matched *learn(const struct orch_rows *rows)
{
    g_autofree double *y = ratios_of(rows);
    struct orch_matrix *without = orch_matrix_without(rows->matrix, is_gpu, NULL);
    struct orch_matched *t = orch_matched_fit(rows, without, y);
    orch_matrix_free(without);
    assert_non_null(t);
    return t;
}

/* Forecast over measurement, as a logarithm, by row of a table. Caller frees. */
static double *errors_of(const struct orch_matched *t, const struct orch_rows *asked)
{
    g_autofree double *y = ratios_of(asked);
    double *out = g_new(double, asked->rows + 1);
    orch_matched_predict(t, asked, out);
    for (size_t i = 0; i < asked->rows; i++)
        out[i] -= y[i];
    return out;
}

/* A task's level is its own, a new GPU changes it by its rates. */
static void test_third_gpu(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL), other = g_string_new(NULL);
    add_rows(text, "V100", TASKS, 8, 1);
    add_rows(text, "L40S", TASKS, 8, 1);
    add_rows(other, "A100", TASKS, 8, 1);
    struct orch_rows *seen = read_rows(text, NULL), *asked = read_rows(other, seen);
    struct orch_matched *t = learn(seen);
    g_autofree double *errors = errors_of(t, asked);
    for (size_t i = 0; i < asked->rows; i++)
        assert_true(fabs(errors[i]) < 0.05);
    orch_matched_free(t);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* Another board of a measured chip keeps what is the chip's own; another chip does not. */
static void test_board_of_chip(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL), board = g_string_new(NULL);
    add_rows(text, "H100", TASKS, 8, 1.3);
    add_rows(text, "L40S", TASKS, 8, 0.8);
    add_rows(board, "H200", 1, 64, 1);
    add_rows(board, "A100", 1, 64, 1);
    struct orch_rows *seen = read_rows(text, NULL), *asked = read_rows(board, seen);
    struct orch_matched *t = learn(seen);
    g_autofree double *errors = errors_of(t, asked);
    double middle = 0.5 * log(1.3 * 0.8), own = 0.5 * log(1.3 / 0.8);
    assert_true(errors[0] > middle + 0.7 * own && errors[0] < middle + 1.3 * own);
    assert_true(fabs(errors[1] - middle) < 0.3 * own);
    orch_matched_free(t);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* A batch smaller than all of its task: midway between the time of the smallest and one in
 * proportion, so items a second go with the root of the batch. */
static void test_smaller_batch(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL), other = g_string_new(NULL);
    add_rows(text, "V100", TASKS, 16, 1);
    add_rows(other, "V100", TASKS, 1, 1);
    struct orch_rows *seen = read_rows(text, NULL), *asked = read_rows(other, seen);
    struct orch_matched *t = learn(seen);
    g_autofree double *errors = errors_of(t, asked);
    for (size_t i = 0; i < asked->rows; i++) {
        double batch =
            orch_matrix_column(asked->matrix, orch_matrix_find(asked->matrix, "batch"))[i];
        double midway = batch < 16 ? 0.5 * log(batch / 16) : 0;
        assert_true(fabs(errors[i] - midway) < 0.1);
    }
    orch_matched_free(t);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* A task without rows has the constant of least relative error, which is far below the middle of
 * tasks that differ so much; a network without rows has no answer. */
static void test_unknown_task(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL);
    add_rows(text, "V100", TASKS, 8, 1);
    g_autoptr(GString) other = g_string_new("A100,another,8,100\nA100,resnet50,8,100\n");
    struct orch_rows *seen = read_rows(text, NULL), *asked = read_rows(other, seen);
    struct orch_matched *t = learn(seen);
    double out[2], known[2];
    orch_matched_predict(t, asked, out);
    g_autoptr(GString) least = g_string_new("A100,task0,8,100\nA100,task3,8,100\n");
    struct orch_rows *two = read_rows(least, seen);
    orch_matched_predict(t, two, known);
    assert_true(fabs(out[0] - known[0]) < 0.1 && out[0] < known[1] - 2);
    assert_true(isnan(out[1]));
    orch_rows_free(two);
    orch_matched_free(t);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

/* It is for rows whose operations are unknown. */
static void test_applies(void **state)
{
    (void)state;
    g_autoptr(GString) tasks = g_string_new(NULL);
    g_autoptr(GString) nets = g_string_new("V100,resnet50,8,100\nV100,vgg16,8,100\n");
    add_rows(tasks, "V100", 2, 32, 1);
    struct orch_rows *unknown = read_rows(tasks, NULL), *counted = read_rows(nets, NULL);
    assert_true(orch_matched_applies(unknown));
    assert_false(orch_matched_applies(counted));
    orch_rows_free(unknown);
    orch_rows_free(counted);
}

/* A copy of what was saved with one part replaced (deleted by NULL) is refused. `path`: keys of
 * objects and indices of lists. */
static void refuses(const json_t *saved, const char *path, const char *value)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    json_t *damaged = json_deep_copy(saved), *at = damaged;
    guint last = g_strv_length(keys) - 1;
    json_t *part = value ? json_loads(value, JSON_DECODE_ANY, NULL) : NULL;
    for (guint k = 0; k < last; k++)
        at = json_is_array(at) ? json_array_get(at, (size_t)g_ascii_strtoull(keys[k], NULL, 10))
                               : json_object_get(at, keys[k]);
    assert_non_null(at);
    if (!part)
        json_object_del(at, keys[last]);
    else if (json_is_array(at))
        json_array_set_new(at, (size_t)g_ascii_strtoull(keys[last], NULL, 10), part);
    else
        json_object_set_new(at, keys[last], part);
    if (orch_matched_load(damaged, &error))
        fail_msg("'%s' as %s is accepted", path, value ? value : "nothing");
    assert_non_null(error);
    json_decref(damaged);
}

/* Kept as JSON it answers the same; what is damaged is refused. */
static void test_saved(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL);
    add_rows(text, "V100", TASKS, 8, 1);
    add_rows(text, "L40S", TASKS, 8, 1.2);
    struct orch_rows *seen = read_rows(text, NULL);
    struct orch_matched *t = learn(seen);
    json_t *saved = orch_matched_save(t);
    struct orch_matched *back = orch_matched_load(saved, NULL);
    assert_non_null(back);
    g_autofree double *a = errors_of(t, seen), *b = errors_of(back, seen);
    for (size_t i = 0; i < seen->rows; i++)
        assert_true(fabs(a[i] - b[i]) < 1e-9);
    /* the columns: the chip, then the batch */
    static const char *const parts[][2] = {{"own", NULL},
                                           {"all", NULL},
                                           {"slopes", NULL},
                                           {"columns", NULL},
                                           {"unknown", NULL},
                                           {"slopes", "[null, null, null]"},
                                           {"centre", "[1, 2, \"3\"]"},
                                           {"slopes", "\"AAAAAAAA+H8AAAAAAAD4fwAAAAAAAPh/\""},
                                           {"own", "[]"},
                                           {"own.task1", "7"},
                                           {"own.task1.smallest", NULL},
                                           {"own.task1.smallest", "[null]"},
                                           {"own.task1.smallest.1", "\"8\""},
                                           {"columns.0", "[\"\", \"3\"]"},
                                           {"columns.0", "[\"\", 99]"},
                                           {"all.values.0", "{}"},
                                           {"all.values.0", "7"},
                                           {"all.values.0.0", "[\"a\"]"},
                                           {"all.values.0.0", "[\"a\", 1, 2]"},
                                           {"all.values.0.0", "[null, 1]"},
                                           {"all.values.0.0", "[1, 1]"},
                                           {"all.values.1.0", "[null, 1]"},
                                           {"all.values.1.0", "[\"a\", 1]"},
                                           {"all.values.1.0", "[1, \"1\"]"}};
    for (size_t k = 0; k < G_N_ELEMENTS(parts); k++)
        refuses(saved, parts[k][0], parts[k][1]);
    json_decref(saved);
    orch_matched_free(back);
    orch_matched_free(t);
    orch_rows_free(seen);
}

/* A member that predicts from rows and was saved without them, or with anything else, is refused.
 */
static void test_saved_member(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL);
    add_rows(text, "V100", TASKS, 8, 1);
    struct orch_rows *seen = read_rows(text, NULL);
    struct orch_learn_options o = {.model = "auto", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &o, NULL);
    assert_non_null(l);
    json_t *saved = orch_learned_save(l, ORCH_SAVE_PLAIN), *question, *member;
    size_t q, k, found = 0;
    json_array_foreach(json_object_get(saved, "questions"), q, question)
    {
        json_array_foreach(json_object_get(question, "members"), k, member)
        {
            json_t *kept = json_incref(json_object_get(member, "matched"));
            if (!json_is_object(kept))
                continue;
            found++;
            struct orch_learned *back = orch_learned_load(saved, NULL);
            assert_non_null(back);
            orch_learned_free(back);
            json_object_set_new(member, "matched", json_integer(3));
            assert_null(orch_learned_load(saved, NULL));
            json_object_del(member, "matched");
            assert_null(orch_learned_load(saved, NULL));
            json_object_set_new(member, "matched", kept);
        }
    }
    assert_true(found > 0);
    json_decref(saved);
    orch_learned_free(l);
    orch_rows_free(seen);
}

/* ---- single columns ----------------------------------------------------------------------------
 */

/* A column of zeros and ones has two settings. */
static void test_zero_and_one(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int task = 0; task < TASKS; task++)
        for (int workers = 0; workers <= 4; workers++)
            g_string_append_printf(text, "V100,task%d,8,%d,%g\n", task, workers,
                                   100 * pow(5, task) * (workers ? 2 : 1));
    struct orch_rows *rows = table("gpu,task,batch,loaders,items_per_s\n", text, NULL);
    struct orch_matched *t = learn(rows);
    g_autofree double *out = g_new(double, rows->rows);
    orch_matched_predict(t, rows, out);
    for (size_t i = 0; i < rows->rows; i += 5) {
        assert_true(fabs(out[i + 1] - out[i] - log(2)) < 0.2);
        assert_true(fabs(out[i + 2] - out[i + 1]) < 0.15);
    }
    orch_matched_free(t);
    orch_rows_free(rows);
}

/* A batch per device and one of all devices are one fact: below both, items a second go with the
 * root of the batch, not with the batch. So they do where the table has only one of the two. */
static void test_two_batches(void **state)
{
    (void)state;
    static const char *const heads[] = {"gpu,task,batch,batch_total,items_per_s\n",
                                        "gpu,task,batch,other,items_per_s\n",
                                        "gpu,task,other,batch_total,items_per_s\n"};
    for (size_t h = 0; h < G_N_ELEMENTS(heads); h++) {
        g_autoptr(GString) text = g_string_new(NULL), less = g_string_new(NULL);
        for (int task = 0; task < TASKS; task++) {
            for (double batch = 16; batch <= 64; batch *= 2)
                g_string_append_printf(text, "V100,task%d,%g,%g,%g\n", task, h == 2 ? 1 : batch,
                                       h == 1 ? 1 : 8 * batch, 100 * pow(5, task));
            g_string_append_printf(less, "V100,task%d,%d,%d,%g\n", task, 1, h == 1 ? 1 : 8,
                                   100 * pow(5, task));
        }
        struct orch_rows *seen = table(heads[h], text, NULL), *asked = table(heads[h], less, seen);
        struct orch_matched *t = learn(seen);
        g_autofree double *first = g_new(double, seen->rows), *out = g_new(double, asked->rows);
        orch_matched_predict(t, seen, first);
        orch_matched_predict(t, asked, out);
        for (size_t i = 0; i < asked->rows; i++) {
            assert_true(fabs(out[i] - first[3 * i] - 0.5 * log(1 / 16.0)) < 0.2);
        }
        orch_matched_free(t);
        orch_rows_free(seen);
        orch_rows_free(asked);
    }
}

/* As a whole: of two GPUs' tasks a third is forecast by rows of the same task, not by what the
 * tasks have in common. */
static void test_learned(void **state)
{
    (void)state;
    g_autoptr(GString) text = g_string_new(NULL), other = g_string_new(NULL);
    add_rows(text, "H100", TASKS, 8, 1);
    add_rows(text, "L40S", TASKS, 8, 1);
    add_rows(other, "H200", TASKS, 8, 1);
    struct orch_rows *seen = read_rows(text, NULL), *asked = read_rows(other, seen);
    struct orch_learn_options o = {.model = "auto", .target = ORCH_LEARN_BEST, .seed = 1};
    struct orch_learned *l = orch_learn(seen, &o, NULL);
    g_autofree struct orch_answer *answers = g_new0(struct orch_answer, asked->rows);
    assert_non_null(l);
    orch_learned_predict(l, asked, answers);
    assert_true(orch_score_of(asked->target, answers, NULL, asked->rows).mean_relative_error < 0.1);
    orch_learned_free(l);
    orch_rows_free(seen);
    orch_rows_free(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_third_gpu),     cmocka_unit_test(test_board_of_chip),
        cmocka_unit_test(test_smaller_batch), cmocka_unit_test(test_unknown_task),
        cmocka_unit_test(test_applies),       cmocka_unit_test(test_saved),
        cmocka_unit_test(test_saved_member),  cmocka_unit_test(test_zero_and_one),
        cmocka_unit_test(test_two_batches),   cmocka_unit_test(test_learned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
