/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and winners, from runs of a store that is made here. */
#include "tests/store/fixture.h"

#include "core/report/grid_table.h"
#include "features/compare/question_tests.h"

/* One run: experiment, lr, repeat, who, accuracy (NaN: it left none), how it ended. */
struct made {
    const char *experiment, *lr;
    int repeat;
    const char *who;
    double accuracy;
    const char *state;
};

static void put(struct orch_store *store, int index, const struct made *m)
{
    struct fixture_points none = {NULL, 0, 0};
    struct orch_record r;
    fixture_record(&r, NULL, &none);
    g_autofree char *key = g_strdup_printf("01890a5d-ac96-774b-bcce-b302099b%04d", index);
    g_autofree char *print =
        g_strdup_printf("%s%s%d", m->experiment, m->lr, m->repeat); /* same trial, same print */
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, print, -1);
    bool is_warm = g_str_has_prefix(m->experiment, "warm"); /* begins with a file of weights */
    const struct orch_named_text params[] = {{"lr", "real", m->lr},
                                             {"weights", "path", "\"/models/base.pth\""}};
    const struct orch_named_real results[] = {{"accuracy", m->accuracy}};
    none = (struct fixture_points){NULL, 0, 0};
    r.key = key;
    r.fingerprint = digest;
    r.experiment = m->experiment;
    r.repeat = m->repeat;
    r.seed = (uint64_t)m->repeat;
    r.who = m->who;
    r.state = m->state;
    r.params = params;
    r.param_count = is_warm ? 2 : 1;
    r.results = results;
    r.result_count = isnan(m->accuracy) ? 0 : 1;
    r.artifact_count = r.input_count = 0;
    r.ended_ns += (int64_t)index * 1000000000;
    r.next_point = NULL;
    assert_ok(orch_store_record(store, &r, error));
}

static struct orch_store *make_store(char **out_folder, const struct made *runs, size_t count)
{
    *out_folder = fixture_folder();
    struct orch_store *store = fixture_open(*out_folder);
    for (size_t i = 0; i < count; i++)
        put(store, (int)i, &runs[i]);
    return store;
}

static GPtrArray *names(const char *text)
{
    json_t *list = json_array();
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    for (int i = 0; words[i]; i++)
        json_array_append_new(list, json_string(words[i]));
    GPtrArray *out = orch_texts_from_json(list);
    json_decref(list);
    return out;
}

/* A grid over all runs of a store. */
struct bench {
    char *folder;
    struct orch_store *store;
    struct orch_trials *trials;
    GPtrArray *wanted, *rows, *columns;
    struct orch_grid *grid;
};

static struct bench begin(const struct made *runs, size_t count, const char *value,
                          const char *rows, const char *columns)
{
    struct bench b = {0};
    b.store = make_store(&b.folder, runs, count);
    assert_ok(b.trials = orch_trials_of_filter(b.store, NULL, error));
    json_t *word = json_string(value);
    b.wanted = orch_item_values_parse(word);
    json_decref(word);
    b.rows = names(rows);
    b.columns = names(columns);
    assert_ok(b.grid = orch_grid_new(b.trials, b.wanted, b.rows, b.columns, error));
    return b;
}

static void end(struct bench *b)
{
    orch_grid_free(b->grid);
    g_ptr_array_unref(b->wanted);
    g_ptr_array_unref(b->rows);
    g_ptr_array_unref(b->columns);
    orch_trials_free(b->trials);
    orch_store_close(b->store);
    fixture_remove(b->folder);
}

/* ---- winners -----------------------------------------------------------------------------------
 */

static const struct made CLEAR[] = {
    {"tune", "0.1", 1, "ada", 0.90, "ok"},  {"tune", "0.1", 2, "ada", 0.92, "ok"},
    {"tune", "0.01", 1, "ada", 0.80, "ok"}, {"tune", "0.01", 2, "ada", 0.82, "ok"},
    {"tune", "1", 1, "ada", 0.10, "ok"},    {"tune", "1", 2, "ada", 0.99, "failed"},
};

static struct orch_winner winner_of(const struct orch_grid *grid)
{
    struct orch_question_tests *tests = orch_question_tests_of_grid(grid);
    struct orch_winner winner = orch_question_winner(tests, grid);
    orch_question_tests_free(tests);
    return winner;
}

static void test_winner(void **state)
{
    (void)state;
    struct bench b = begin(CLEAR, G_N_ELEMENTS(CLEAR), "result accuracy", "lr", "");
    struct orch_winner winner = winner_of(b.grid);
    assert_non_null(winner.first);
    assert_string_equal(winner.first->row, "0.1");
    assert_int_equal(winner.others->len, 2);
    assert_string_equal(((const struct orch_grid_cell *)winner.others->pdata[0])->row, "0.01");
    assert_true(fabs(winner.margins[0].mean.mid - 0.1) < 1e-12);
    assert_true(winner.margins[0].is_paired); /* the same seeds */
    assert_true(winner.margins[0].is_more_than_noise);
    assert_true(isnan(winner.margins[1].p)); /* one run only */
    assert_int_equal(winner.worse, 1);
    assert_int_equal(orch_grid_at(b.grid, "1", "")->done, 1); /* what failed is no run */
    assert_int_equal(winner.missing, 0);
    orch_winner_clear(&winner);
    end(&b);
}

static const struct made NOISY[] = {
    {"tune", "0.1", 1, "ada", 0.70, "ok"},  {"tune", "0.1", 2, "ada", 0.95, "ok"},
    {"tune", "0.01", 1, "ada", 0.90, "ok"}, {"tune", "0.01", 2, "ada", 0.72, "ok"},
    {"tune", "1", 1, "ada", NAN, "ok"},
};

static void test_noise_and_missing(void **state)
{
    (void)state;
    struct bench b = begin(NOISY, G_N_ELEMENTS(NOISY), "result accuracy", "lr", "");
    struct orch_winner winner = winner_of(b.grid);
    assert_string_equal(winner.first->row, "0.1");
    assert_false(winner.margins[0].is_more_than_noise);
    orch_winner_clear(&winner);
    assert_null(orch_grid_at(b.grid, "1", "")); /* a run without the value is not about it */
    end(&b);
}

static const struct made SINGLE[] = {{"tune", "0.1", 1, "ada", 0.9, "ok"},
                                     {"tune", "0.01", 1, "ada", 0.8, "ok"}};

static void test_one_repeat(void **state)
{
    (void)state;
    struct bench b = begin(SINGLE, G_N_ELEMENTS(SINGLE), "result accuracy", "lr", "");
    struct orch_winner winner = winner_of(b.grid);
    assert_true(isnan(winner.margins[0].mean.low)); /* without repeats there is no test */
    g_autofree char *text = orch_difference_text(&winner.margins[0], NULL);
    orch_winner_clear(&winner);
    assert_non_null(strstr(text, "not tested, because one repeat shows no spread"));
    end(&b);
}

static const struct made WARM[] = {{"warm", "0.1", 1, "ada", 0.9, "ok"},
                                   {"warm", "0.1", 2, "ada", 0.8, "ok"},
                                   {"warm", "0.1", 3, "ada", 0.8, "ok"}};

/* Three seeds that begin with one file of weights; a single seed shares nothing. */
static void test_shared_weights(void **state)
{
    (void)state;
    struct bench b = begin(WARM, G_N_ELEMENTS(WARM), "result accuracy", "lr", "");
    g_autofree char *text = orch_grid_shared_base(b.grid, b.store);
    assert_string_equal(text, "the 3 repeats share one pretrained model (parameter 'weights'), so "
                              "their spread does not show how the result varies between such "
                              "models");
    end(&b);
    b = begin(WARM, 1, "result accuracy", "lr", "");
    assert_null(orch_grid_shared_base(b.grid, b.store));
    end(&b);
    b = begin(CLEAR, G_N_ELEMENTS(CLEAR), "result accuracy", "lr", "");
    assert_null(orch_grid_shared_base(b.grid, b.store));
    end(&b);
}

static void test_none(void **state)
{
    (void)state;
    struct bench b = begin(NULL, 0, "result accuracy", "lr", "");
    struct orch_winner winner = winner_of(b.grid);
    assert_null(winner.first);
    orch_winner_clear(&winner);
    end(&b);
}

/* ---- tables ------------------------------------------------------------------------------------
 */

static const struct made PAIRS[] = {
    {"tune", "0.1", 1, "ada", 0.5, "ok"},
    {"tune", "0.1", 1, "ada", 0.9, "ok"}, /* the newer run of the same trial */
    {"feature", "0.01", 1, "bob", 0.6, "ok"},
};

static void test_table(void **state)
{
    (void)state;
    struct bench b = begin(PAIRS, G_N_ELEMENTS(PAIRS), "result accuracy", "lr", "experiment");
    struct orch_table *table = orch_grid_table(b.grid);
    assert_int_equal(orch_table_rows(table), 2);
    assert_int_equal(orch_table_columns(table), 3);
    for (unsigned i = 0; i < 2; i++) {
        bool is_tune = strcmp(orch_table_cell(table, i, 0)->text, "0.1") == 0;
        unsigned tune = strcmp(orch_table_header(table, 1), "tune") == 0 ? 1 : 2;
        const struct orch_table_cell *own = orch_table_cell(table, i, is_tune ? tune : 3 - tune);
        const struct orch_table_cell *other = orch_table_cell(table, i, is_tune ? 3 - tune : tune);
        assert_true(own->number == (is_tune ? 0.9 : 0.6));
        assert_int_equal(own->spread.stat.count, 1);
        assert_string_equal(other->text, ""); /* no such trial: neither missing nor a number */
    }
    orch_table_free(table);
    end(&b);
}

/* ---- filters without a store -------------------------------------------------------------------
 */

static char *known(void *ctx, const char *name)
{
    (void)ctx;
    static const char *const values[][2] = {
        {"lr", "0.01"}, {"net", "resnet20"}, {"flip", "true"}, {"time", "90"}};
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
        if (strcmp(values[i][0], name) == 0)
            return g_strdup(values[i][1]);
    return NULL;
}

static void test_may_hold(void **state)
{
    (void)state;
    static const struct {
        const char *where;
        bool may;
    } cases[] = {
        {"lr = 0.01", true},
        {"lr = 1e-2", true},
        {"param.lr < 0.01", false},
        {"lr < 0.1 and net = resnet20", true},
        {"lr < 0.1 and net = resnet32", false},
        {"lr > 0.1 or net ~ RESNET", true},
        {"not net = resnet20", false},
        {"accuracy > 0.9", true}, /* not known: it may */
        {"not accuracy > 0.9", true},
        {"accuracy > 0.9 and lr = 1", false},
        {"lr = 1 or (accuracy > 0.9 and flip = true)", true},
        {"lr = 1 or (accuracy > 0.9 and flip = false)", false},
        {"time <= 1min", false},
        {"time = 1min30s", true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_where *where;
        assert_ok(where = orch_where_parse(cases[i].where, error));
        if (orch_where_may_hold(where, known, NULL) != cases[i].may)
            fail_msg("'%s' was judged wrongly", cases[i].where);
        orch_where_free(where);
    }
}

static void test_names_of_filter(void **state)
{
    (void)state;
    struct orch_where *where;
    assert_ok(where = orch_where_parse("lr < 1 and not (state = ok or metric.loss > 2)", error));
    g_autoptr(GArray) found = orch_where_names(where);
    assert_int_equal(found->len, 3);
    const struct orch_where_name *name = &g_array_index(found, struct orch_where_name, 0);
    assert_string_equal(name[0].name, "lr");
    assert_int_equal(name[0].column, 1);
    assert_false(name[0].is_column);
    assert_true(name[1].is_column);
    assert_string_equal(name[2].name, "metric.loss");
    orch_where_free(where);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_winner),     cmocka_unit_test(test_noise_and_missing),
        cmocka_unit_test(test_one_repeat), cmocka_unit_test(test_shared_weights),
        cmocka_unit_test(test_none),       cmocka_unit_test(test_table),
        cmocka_unit_test(test_may_hold),   cmocka_unit_test(test_names_of_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
