/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models that are saved and read back answer alike; what is broken or newer is refused; what was
 * measured is found again. */
#include "predictors/learn/trained.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* A table of times: two GPUs, batches, and a law with a little noise. */
static char *table_text(size_t rows)
{
    GString *out = g_string_new("gpu,batch,net,step_ms\n");
    uint64_t random = 5;
    for (size_t i = 0; i < rows; i++) {
        int batch = 1 + (int)orch_random_below(&random, 64), gpu = (int)(i % 2);
        double noise = 1 + 0.02 * (orch_random_unit(&random) - 0.5);
        g_string_append_printf(out, "%s,%d,%s,%.6f\n", gpu ? "V100" : "P100", batch,
                               i % 3 ? "resnet18" : "vgg11",
                               noise * (3 + 0.7 * batch) * (gpu ? 1 : 1.8) * (i % 3 ? 1 : 2.5));
    }
    return g_string_free(out, FALSE);
}

static struct orch_rows *rows_of(const char *text, struct orch_csv **out_csv)
{
    struct orch_rows_options options = {.target = "step_ms"};
    GError *error = NULL;
    struct orch_csv *csv = orch_csv_parse("test", text, strlen(text), &error);
    assert_non_null(csv);
    struct orch_rows *rows = orch_rows_of_table(csv, &options, &error);
    assert_non_null(rows);
    if (out_csv)
        *out_csv = csv;
    else
        orch_csv_free(csv);
    return rows;
}

static json_t *through_text(json_t *saved)
{
    char *text = json_dumps(saved, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_t *back = json_loads(text, 0, NULL);
    assert_non_null(back);
    json_decref(saved);
    free(text);
    return back;
}

static void test_round_trip(void **state)
{
    (void)state;
    g_autofree char *text = table_text(30);
    struct orch_rows *rows = rows_of(text, NULL);
    struct orch_answer before[30], after[30];
    for (const struct orch_model_kind *kind = orch_model_kinds(); kind->name; kind++) {
        struct orch_learn_options options = {
            .model = kind->name, .target = ORCH_LEARN_GREY, .no_tuning = true};
        GError *error = NULL;
        struct orch_learned *learned = orch_learn(rows, &options, &error);
        assert_non_null(learned);
        orch_learned_predict(learned, rows, before);
        for (int style = 0; style < 2; style++) {
            json_t *saved = through_text(orch_learned_save(learned, (enum orch_save_style)style));
            struct orch_learned *loaded = orch_learned_load(saved, &error);
            if (!loaded)
                print_error("%s: %s\n", kind->name, error->message);
            assert_non_null(loaded);
            orch_learned_predict(loaded, rows, after);
            for (size_t i = 0; i < rows->rows; i++) {
                assert_true(fabs(before[i].value.mid - after[i].value.mid) <=
                            1e-9 * before[i].value.mid);
                assert_true(fabs(before[i].value.low - after[i].value.low) <=
                            1e-9 * before[i].value.mid);
                assert_true(fabs(before[i].value.high - after[i].value.high) <=
                            1e-9 * before[i].value.mid);
            }
            orch_learned_free(loaded);
            json_decref(saved);
        }
        orch_learned_free(learned);
    }
    orch_rows_free(rows);
}

/* The same text with `word` in place of the value behind a colon; NULL: that is an object or list.
 */
static char *spoil(const char *dump, const char *colon, const char *word)
{
    size_t length = colon[1] == '"' ? strcspn(colon + 2, "\"") + 2 : strcspn(colon + 1, ",}]");
    if (colon[1] == '{' || colon[1] == '[')
        return NULL;
    return g_strdup_printf("%.*s%s%s", (int)(colon + 1 - dump), dump, word, colon + 1 + length);
}

/* Is what was broken refused with an error? What can be read answers something. */
static bool is_model_refused(const json_t *saved, const struct orch_rows *rows)
{
    g_autoptr(GError) error = NULL;
    g_autofree double *answers = g_new(double, rows->rows);
    struct orch_model *model = orch_model_load(saved, &error);
    if (model)
        orch_model_predict(model, rows->matrix, answers);
    assert_true(model || error);
    orch_model_free(model);
    return !model;
}

static bool is_whole_refused(const json_t *saved, const struct orch_rows *rows)
{
    g_autoptr(GError) error = NULL;
    g_autofree struct orch_answer *answers = g_new(struct orch_answer, rows->rows);
    struct orch_learned *loaded = orch_learned_load(saved, &error);
    if (loaded)
        orch_learned_predict(loaded, rows, answers);
    assert_true(loaded || error);
    orch_learned_free(loaded);
    return !loaded;
}

/* Puts nonsense in the place of members, at up to `most` places: an error, never a crash. Returns
 * how much of it was refused. Takes over `saved`. */
static int break_members(json_t *saved, const struct orch_rows *rows, size_t most,
                         bool (*is_refused)(const json_t *, const struct orch_rows *))
{
    static const char *const nonsense[] = {"null", "7", "\"x\"", "[]", "{}", "[1,2,3]", "\"AAAA\""};
    char *dump = json_dumps(saved, JSON_COMPACT);
    size_t colons = 0, number = 0;
    int refused = 0;
    for (const char *at = strchr(dump, ':'); at; at = strchr(at + 1, ':'))
        colons++;
    for (const char *at = strchr(dump, ':'); at; at = strchr(at + 1, ':')) {
        if (number++ % (colons / most + 1))
            continue;
        for (size_t k = 0; k < G_N_ELEMENTS(nonsense); k++) {
            g_autofree char *changed = spoil(dump, at, nonsense[k]);
            json_t *broken = changed ? json_loads(changed, 0, NULL) : NULL;
            refused += broken && is_refused(broken, rows);
            json_decref(broken);
        }
    }
    free(dump);
    json_decref(saved);
    return refused;
}

/* Each kind of model by itself. */
static void test_broken(void **state)
{
    (void)state;
    g_autofree char *text = table_text(16);
    struct orch_rows *rows = rows_of(text, NULL);
    double logs[16];
    for (size_t i = 0; i < rows->rows; i++)
        logs[i] = log(rows->target[i]);
    for (const struct orch_model_kind *kind = orch_model_kinds(); kind->name; kind++) {
        const struct orch_hyperparams *grid;
        kind->grid(&grid);
        struct orch_hyperparams small = *grid; /* it is read some hundred times */
        small.trees = MIN(small.trees, 2);
        small.width = MIN(small.width, 4);
        struct orch_model *model = orch_model_fit(kind, rows->matrix, logs, NULL, &small, 1, NULL);
        json_t *saved = orch_model_save(model, ORCH_SAVE_PACKED);
        assert_true(break_members(saved, rows, 60, is_model_refused) > 20);
        orch_model_free(model);
    }
    orch_rows_free(rows);
}

/* One whole with its questions and distances. */
static void test_broken_whole(void **state)
{
    (void)state;
    g_autofree char *text = table_text(16);
    struct orch_rows *rows = rows_of(text, NULL);
    struct orch_learn_options options = {
        .model = "linear", .target = ORCH_LEARN_LOG, .no_tuning = true};
    struct orch_learned *learned = orch_learn(rows, &options, NULL);
    json_t *saved = orch_learned_save(learned, ORCH_SAVE_PACKED), *question;
    size_t k;
    json_array_foreach(json_object_get(saved, "questions"), k, question)
        /* a large model like those above */
        json_object_set_new(json_object_get(question, "width"), "difficulty", json_null());
    assert_true(break_members(saved, rows, 120, is_whole_refused) > 100);
    orch_learned_free(learned);
    orch_rows_free(rows);
}

static struct orch_trained *train(const char *text)
{
    struct orch_csv *csv;
    struct orch_rows *rows = rows_of(text, &csv);
    struct orch_trained *t = g_new0(struct orch_trained, 1);
    struct orch_learn_options options = {.model = "linear", .no_tuning = true};
    t->name = g_strdup("step_ms");
    t->target = g_strdup("step_ms");
    t->made = g_strdup("2026-01-01T00:00:00Z");
    t->sources = g_strsplit("runs", ",", -1);
    t->rows = rows->rows;
    t->known =
        orch_trained_cells_of_table(csv, "step_ms", NULL, NULL, &t->columns, &t->repeat_spread);
    t->learned = orch_learn(rows, &options, NULL);
    assert_non_null(t->learned);
    orch_csv_free(csv);
    orch_rows_free(rows);
    return t;
}

/* What another method learned is refused with what to do; if nobody asked for it, it is read as one
 * that knows nothing. Before methods had numbers there was the first. */
static void other_methods(json_t *saved)
{
    for (int method = ORCH_TRAINED_METHOD + 1; method >= 0; method -= ORCH_TRAINED_METHOD + 1) {
        GError *error = NULL;
        json_object_set_new(saved, "method", json_integer(method));
        if (!method)
            json_object_del(saved, "method");
        json_object_set_new(saved, "automatic", json_false());
        assert_null(orch_trained_load(saved, &error));
        g_autofree char *said = g_strdup_printf("by method %d,", method ? method : 1);
        assert_non_null(strstr(error->message, said));
        assert_non_null(strstr(orch_error_hint(error), "orch predictor train"));
        g_clear_error(&error);
        json_object_set_new(saved, "automatic", json_true());
        struct orch_trained *empty = orch_trained_load(saved, &error);
        assert_non_null(empty);
        assert_true(empty->is_outdated && !empty->learned && !empty->known->len);
        assert_int_equal(empty->last_run, 0);
        orch_trained_free(empty);
    }
}

static void test_trained(void **state)
{
    (void)state;
    g_autofree char *text = table_text(80);
    struct orch_trained *t = train(text);
    json_t *saved = through_text(orch_trained_save(t, ORCH_SAVE_PLAIN));
    GError *error = NULL;
    struct orch_trained *back = orch_trained_load(saved, &error);
    assert_non_null(back);
    assert_int_equal(back->rows, 80);
    assert_int_equal(back->known->len, t->known->len);
    assert_true(fabs(orch_learned_question(back->learned, 0).error -
                     orch_learned_question(t->learned, 0).error) < 1e-12);
    orch_trained_free(back);
    /* as the store keeps it: two lines more, of the questions about GPUs and networks never seen */
    struct orch_rows *rows = rows_of(text, NULL);
    g_autofree char *kept = orch_trained_text(t);
    struct orch_trained *of_text = orch_trained_of_text(kept, &error);
    assert_non_null(of_text);
    struct orch_answer a[80], b[80];
    for (size_t i = 0; i < 2; i++) /* networks that were never seen */
        g_clear_pointer((char **)&orch_matrix_feature(rows->matrix, 2)->levels->pdata[i], g_free);
    orch_matrix_feature(rows->matrix, 2)->levels->pdata[0] = g_strdup("new1");
    orch_matrix_feature(rows->matrix, 2)->levels->pdata[1] = g_strdup("new2");
    orch_learned_predict(t->learned, rows, a);
    orch_learned_predict(of_text->learned, rows, b);
    assert_true(a[0].question > 0 && a[0].extrapolates);
    for (size_t i = 0; i < rows->rows; i++)
        assert_true(fabs(a[i].value.mid - b[i].value.mid) <= 1e-9 * a[i].value.mid);
    orch_trained_free(of_text);
    /* the last model of those lines is broken: said each time, NaN as an answer, nothing left over
     */
    char *member = g_strrstr(kept, "\"kind\"");
    memcpy(member, "\"kynd\"", 6);
    of_text = orch_trained_of_text(kept, &error);
    assert_non_null(of_text);
    orch_learned_predict(of_text->learned, rows, b);
    assert_true(isnan(b[0].value.mid));
    for (int k = 0; k < 2; k++) {
        assert_false(orch_learned_ready(of_text->learned, &error));
        assert_non_null(strstr(error->message, "damaged"));
        g_clear_error(&error);
    }
    orch_trained_free(of_text);
    *strchr(kept, '\n') = '\0';
    assert_null(orch_trained_of_text(kept, &error));
    g_clear_error(&error);
    orch_rows_free(rows);
    json_object_set_new(saved, "format", json_integer(ORCH_TRAINED_FORMAT + 1));
    assert_null(orch_trained_load(saved, &error));
    assert_non_null(strstr(error->message, "format 2; this orch reads up to 1"));
    g_clear_error(&error);
    json_object_set_new(saved, "format", json_integer(ORCH_TRAINED_FORMAT));
    other_methods(saved);
    json_decref(saved);
    orch_trained_free(t);
}

/* One GPU was seen, so none could be left out: the interval for others is wide by what is known of
 * GPUs in general, and it is so, too, after it was kept as text and read again. */
static void test_lone_gpu_is_kept(void **state)
{
    (void)state;
    g_autofree char *both = table_text(80);
    g_auto(GStrv) lines = g_strsplit(both, "\n", -1);
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; lines[i]; i++)
        if (!g_str_has_prefix(lines[i], "P100,"))
            g_string_append_printf(text, "%s\n", lines[i]);
    g_string_truncate(text, text->len - 1); /* the last piece was behind the last line end */
    struct orch_trained *t = train(text->str);
    g_autofree char *kept = orch_trained_text(t);
    struct orch_trained *back = orch_trained_of_text(kept, NULL);
    assert_non_null(back);
    struct orch_rows *rows = rows_of(text->str, NULL);
    assert_int_equal(rows->rows, 40);
    struct orch_answer seen[40], before[40], after[40];
    orch_learned_predict(back->learned, rows, seen);
    char **level = (char **)&orch_matrix_feature(rows->matrix, 0)->levels->pdata[0];
    g_free(*level);
    *level = g_strdup("P100");
    orch_learned_predict(t->learned, rows, before);
    orch_learned_predict(back->learned, rows, after);
    for (size_t i = 0; i < rows->rows; i++) {
        double wide = log(after[i].value.high / after[i].value.low) / 2;
        assert_true(wide >= 0.8 - 1e-9); /* LONE_SPREAD of predictors/learn/learn.c */
        assert_true(wide > 3 * log(seen[i].value.high / seen[i].value.low) / 2);
        assert_true(fabs(wide - log(before[i].value.high / before[i].value.low) / 2) < 1e-9);
    }
    orch_rows_free(rows);
    orch_trained_free(back);
    orch_trained_free(t);
}

/* Times of what was measured that are none. */
static void test_known_is_checked(void **state)
{
    (void)state;
    static const char *const names[] = {"median", "low", "high"};
    g_autofree char *text = table_text(30);
    struct orch_trained *t = train(text);
    for (size_t k = 0; k < 3; k++) {
        json_t *saved = orch_trained_save(t, ORCH_SAVE_PLAIN);
        GError *error = NULL;
        json_object_set_new(json_array_get(json_object_get(saved, "known"), 3), names[k],
                            json_real(-1));
        assert_null(orch_trained_load(saved, &error));
        assert_non_null(strstr(error->message, "an invalid time"));
        g_clear_error(&error);
        json_decref(saved);
    }
    orch_trained_free(t);
}

/* What stands alone in a white box without terms is kept: the prior, where it is the steadier. */
static void test_base_is_kept(void **state)
{
    (void)state;
    g_autofree char *text = table_text(40);
    struct orch_rows *rows = rows_of(text, NULL);
    const double *prior =
        orch_matrix_column(rows->matrix, orch_matrix_find(rows->matrix, "white prior_ms"));
    for (size_t i = 0; i < rows->rows;
         i++) { /* a law of the prior, and rows with no white box fit */
        rows->target[i] = 2 * prior[i];
        rows->white[i] = rows->white_ms[i] = prior[i] * (1 + (double)(i % 7));
    }
    struct orch_learn_options options = {
        .model = "auto", .target = ORCH_LEARN_BEST, .no_tuning = true};
    GError *error = NULL;
    struct orch_answer before[40], after[40];
    struct orch_learned *learned = orch_learn(rows, &options, &error);
    assert_non_null(learned);
    json_t *saved = through_text(orch_learned_save(learned, ORCH_SAVE_PLAIN));
    char *dump = json_dumps(saved, JSON_COMPACT);
    assert_non_null(strstr(dump, "\"base\""));
    struct orch_learned *loaded = orch_learned_load(saved, &error);
    assert_non_null(loaded);
    orch_learned_predict(learned, rows, before);
    orch_learned_predict(loaded, rows, after);
    for (size_t i = 0; i < rows->rows; i++)
        assert_true(fabs(before[i].value.mid - after[i].value.mid) <= 1e-9 * before[i].value.mid);
    free(dump);
    json_decref(saved);
    orch_learned_free(learned);
    orch_learned_free(loaded);
    orch_rows_free(rows);
}

/* Times that differ beyond all measure are kept, too. */
static void test_known_at_the_limits(void **state)
{
    (void)state;
    static const char text[] = "net,step_ms\na,1e-300\na,1e300\nb,1e308\nb,1.5e308\n";
    struct orch_csv *csv = orch_csv_parse("test", text, strlen(text), NULL);
    struct orch_trained t = {.name = "a", .target = "step_ms", .made = "now"};
    t.known = orch_trained_cells_of_table(csv, "step_ms", NULL, NULL, &t.columns, &t.repeat_spread);
    json_t *saved = orch_trained_save(&t, ORCH_SAVE_PLAIN);
    GError *error = NULL;
    struct orch_trained *back = orch_trained_load(saved, &error);
    assert_non_null(back);
    assert_int_equal(back->known->len, 2);
    orch_trained_free(back);
    json_decref(saved);
    g_ptr_array_unref(t.known);
    g_strfreev(t.columns);
    orch_csv_free(csv);
}

static void test_known(void **state)
{
    (void)state;
    static const char text[] = "gpu,batch,net,step_ms\n"
                               "V100,8,resnet18,10\nV100,8,resnet18,12\nV100,8,resnet18,11\n"
                               "V100,16,resnet18,20\nP100,8,resnet18,19\nP100,,resnet18,33\n";
    static const char *const names[] = {"gpu", "batch", "net", "threads", NULL};
    struct orch_csv *csv = orch_csv_parse("test", text, strlen(text), NULL);
    struct orch_trained t = {0};
    t.known = orch_trained_cells_of_table(csv, "step_ms", NULL, NULL, &t.columns, &t.repeat_spread);
    assert_int_equal(t.known->len, 4);
    const char *const asked[] = {"V100", "8", "resnet18", "4", NULL};
    const struct orch_trained_cell *k = orch_trained_find(&t, names, asked);
    assert_int_equal(k->count, 3);
    assert_true(fabs(k->time.mid - 11) < 1e-12);
    assert_true(k->time.low < 10.5 && k->time.low > 8 && k->time.high > 11.5 && k->time.high < 15);
    const char *const other[] = {"V100", "32", "resnet18", "", NULL};
    assert_null(orch_trained_find(&t, names, other));
    const char *const any_batch[] = {"P100", "64", "resnet18", "", NULL};
    assert_true(fabs(orch_trained_find(&t, names, any_batch)->time.mid - 33) < 1e-12);
    g_ptr_array_unref(t.known);
    g_strfreev(t.columns);
    orch_csv_free(csv);
}

/* With the argument "slow": what takes seconds. */
int main(int argc, char **argv)
{
    const struct CMUnitTest slow[] = {
        cmocka_unit_test(test_broken_whole),
    };
    if (argc > 1 && strcmp(argv[1], "slow") == 0)
        return cmocka_run_group_tests(slow, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_trained),
        cmocka_unit_test(test_known_is_checked),
        cmocka_unit_test(test_lone_gpu_is_kept),
        cmocka_unit_test(test_base_is_kept),
        cmocka_unit_test(test_known_at_the_limits),
        cmocka_unit_test(test_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
