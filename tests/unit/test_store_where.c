/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The --where language: what it finds, and what it says when it cannot. */
#include "tests/store/fixture.h"

static char *folder;
static struct orch_store *store;

/* One run for each letter. */
static void put(char letter, const char *lr, const char *state, double accuracy, uint64_t seed,
                int64_t ended_ns, double wall_ms)
{
    struct fixture_points points;
    struct orch_record r;
    g_autofree char *key = g_strdup_printf("01890a5d-0000-7000-8000-%c00000000000", letter);
    const struct orch_named_text params[] = {
        {"lr", "real", lr},          {"net", "string", "\"ResNet-20\""},
        {"flip", "bool", "true"},    {"warmup", "duration", "90"},
        {"cache", "bytes", "65536"}, {"label", "string", "\"0.10\""}};
    const struct orch_named_real results[] = {{"accuracy", accuracy}, {"wins", 3}};
    const struct orch_point stream[] = {{"loss", 1, 0, 9}, {"loss", 2, 0, accuracy * 10}};
    fixture_record(&r, key, &points);
    points = (struct fixture_points){stream, 2, 0};
    r.params = params;
    r.param_count = G_N_ELEMENTS(params) - (letter == 'c'); /* c has no label */
    r.results = results;
    r.result_count = 2;
    r.state = state;
    r.seed = seed;
    r.ended_ns = ended_ns;
    r.wall_ms = wall_ms;
    assert_ok(orch_store_record(store, &r, error));
}

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    store = fixture_open(folder);
    const int64_t day_ns = INT64_C(86400) * 1000000000;
    put('a', "0.1", "ok", 0.9, 1, INT64_C(1763700000) * 1000000000, 1000); /* 2025-11-21 04:40 */
    put('b', "0.01", "ok", 0.8, UINT64_MAX, INT64_C(1763600000) * 1000000000, 400000);
    put('c', "0.001", "failed", 0.5, 3, orch_now_ns() - day_ns, 10);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_store_close(store);
    fixture_remove(folder);
    return 0;
}

/* The letters of the runs that a condition finds, sorted. */
static char *find(const char *text)
{
    struct orch_where *where;
    assert_ok(where = orch_where_parse(text, error));
    struct orch_run_query query = {.where = where};
    int64_t total;
    g_autoptr(GPtrArray) runs = NULL;
    assert_ok(runs = orch_store_runs(store, &query, &total, error));
    assert_true(total == runs->len);
    orch_where_free(where);
    GString *letters = g_string_new(NULL);
    for (char letter = 'a'; letter <= 'c'; letter++)
        for (guint i = 0; i < runs->len; i++)
            if (((struct orch_run *)runs->pdata[i])->key[24] == letter)
                g_string_append_c(letters, letter);
    return g_string_free(letters, FALSE);
}

static void test_conditions(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"lr = 0.1", "a"},
        {"lr = 1e-1", "a"},
        {"lr == 0.10", "a"},
        {"lr < 0.1", "bc"},
        {"lr<=0.1", "abc"},
        {"lr != 0.1", "bc"},
        {"lr <> 0.1", "bc"},
        {"lr >= 0.01 and state = ok", "ab"},
        {"state = ok or lr = 0.001", "abc"},
        {"not state = ok", "c"},
        {"NOT (state = ok AND lr = 0.1)", "bc"},
        {"state = ok and lr = 0.1 or lr = 0.001", "ac"},
        {"state = ok and (lr = 0.1 or lr = 0.001)", "a"},
        {"not not state = 'ok'", "ab"},
        {"net ~ resnet", "abc"},
        {"net = resnet-20", ""},
        {"net = \"ResNet-20\"", "abc"},
        {"flip = true", "abc"},
        {"flip = false", ""},
        {"warmup = 1min30s", "abc"},
        {"warmup < 5min", "abc"},
        {"cache = 64KiB", "abc"},
        {"cache > 64KB", "abc"},
        {"label = 0.1", "ab"}, /* both are numbers */
        {"label != 0.1", ""},  /* c has none: it matches no comparison */
        {"not label = 0.1", ""},
        {"lr = fast", ""},
        {"lr != fast", "abc"},
        {"lr < fast", ""},
        {"accuracy > 0.6", "ab"},
        {"result.accuracy > 0.6", "ab"},
        {"loss > 8.5", "a"}, /* the last value */
        {"metric.loss = 5", "c"},
        {"param.lr = 0.01", "b"},
        {"wins = 3", "abc"},
        {"repeat = 2", "abc"},
        {"attempt > 1", ""},
        {"seed = 18446744073709551615", "b"},
        {"seed > 3", "b"}, /* unsigned order */
        {"seed <= 3", "ac"},
        {"commit = 83c3b1d4", "abc"},
        {"commit = 83C3", "abc"},
        {"commit != 83c3b1d4", ""},
        {"tree = 4b825dc642cb6eb9a060e54bf8d69288fbee4904", "abc"},
        {"machine = 01234567", "abc"},
        {"key = 01890a5d-0000-7000-8000-a", "a"},
        {"key = 00000000", "abc"},
        {"branch = main", "abc"},
        {"gpu ~ v100", "abc"},
        {"gpu = 'Tesla V100, Tesla V100'", "abc"},
        {"cpu = Xeon", "abc"},
        {"host = node1", "abc"},
        {"who ~ gr", "abc"},
        {"who = 'gr\xc3\xbc\xc3\x9f'", "abc"},
        {"who != nobody", "abc"},
        {"plugin = finetune and experiment = finetune and recipe = hw4", "abc"},
        {"ended = 2025-11-21", "a"},
        {"ended != 2025-11-21", "bc"},
        {"ended > 2025-11-21", "c"},
        {"ended >= 2025-11-21", "ac"},
        {"ended < 2025-11-21", "b"},
        {"ended <= 2025-11-21", "ab"},
        {"ended = '2025-11-21 04:40'", "a"},
        {"ended = 2025-11-21T04:40:00Z", "a"},
        {"ended = '2025-11-21 04:41'", ""},
        {"ended > 2d", "c"},
        {"ended < 2d", "ab"},
        {"ended > 1h", ""},
        {"wall_s > 5min", "b"},
        {"wall_s <= 1", "ac"},
        {"who = 'it''s'", ""},
        {"lr != 'net'", "abc"}, /* the text, for it is quoted */
        {"net != \"label\"", "abc"},
        {"branch != 'commit'", "abc"},
        {"state != wins", "abc"}, /* a word, whatever else has its name */
        {"net = 'x'' OR 1=1 --'", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *found = find(cases[i][0]);
        if (strcmp(found, cases[i][1]) != 0)
            fail_msg("%s: found '%s', not '%s'", cases[i][0], found, cases[i][1]);
    }
}

static void test_syntax_errors(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "character 1 "},
        {"lr", "expected an operator after 'lr'"},
        {"lr =", "character 5 "},
        {"größe =", "character 8 "},
        {"lr = ", "expected a value after 'lr ='"},
        {"lr = 0.1 and", "character 13 "},
        {"lr = 0.1 state = ok", "character 10 "},
        {"(lr = 0.1", "expected ')'"},
        {"lr = 0.1)", "character 9 "},
        {"= 5", "expected a name"},
        {"and = 5", "expected a name, found 'and'"},
        {"lr = 'x", "unterminated quoted text"},
        {"lr ! 5", "unexpected '!'"},
        {"lr = 1; drop", "unexpected ';'"},
        {"repeat = two", "'repeat' takes a number, not 'two'"},
        {"seed = -1", "whole number"},
        {"seed ~ 1", "whole number"},
        {"commit = 8", "4 or more"},
        {"commit < 83c3", "needs = or !="},
        {"ended = noon", "'ended' takes a time, not 'noon'"},
        {"ended = 2025-13-45", "takes a time"},
        {"ended ~ 2d", "takes a time"},
        {"para.lr = 1", "did you mean 'param.lr'?"},
        {"tag < x", "compared with =, != or ~"},
        {"branch != commit",
         "character 11 of condition 'branch != commit': expected a value, found the name 'commit'"},
        {"lr = seed", "hint: put the text 'seed' in quotes"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        assert_fails(orch_where_parse(cases[i][0], error), ORCH_ERROR_USAGE, cases[i][1]);
}

static void test_unknown_names(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"state = ok and learning = 1", "character 16 "},
        {"lrr = 1", "did you mean 'lr'?"},
        {"acuracy > 0.5", "did you mean 'accuracy'?"},
        {"stat = ok", "did you mean 'state'?"},
        {"metric.lr = 1", "no run has a metric 'lr'"},
        {"param.loss = 1", "no run has a parameter 'loss'"},
        {"result.lr = 1", "no run has a result 'lr'"},
        {"foo.lr = 1", "no run has a column, parameter, result or metric 'foo.lr'"},
        {"lr!=net", "character 5 of condition 'lr!=net': expected a value, found the name 'net'"},
        {"net != label", "put the text 'label' in quotes"},
        {"lr < accuracy", "found the name 'accuracy'"},
        {"lr = metric.loss", "found the name 'metric.loss'"},
        {"who = lr", "found the name 'lr'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct orch_where *where;
        assert_ok(where = orch_where_parse(cases[i][0], error));
        struct orch_run_query query = {.where = where};
        assert_fails(orch_store_runs(store, &query, NULL, error), ORCH_ERROR_USAGE, cases[i][1]);
        orch_where_free(where);
    }
    g_autofree char *empty = g_build_filename(folder, "empty.db", NULL);
    struct orch_store *none;
    assert_ok(none = orch_store_open(empty, ORCH_STORE_CREATE, error));
    struct orch_where *where;
    assert_ok(where = orch_where_parse("anything = 1", error));
    struct orch_run_query query = {.where = where};
    g_autoptr(GPtrArray) runs = NULL; /* where there are no runs, no name is wrong */
    assert_ok(runs = orch_store_runs(none, &query, NULL, error));
    assert_int_equal(runs->len, 0);
    orch_where_free(where);
    orch_store_close(none);
}

static char *repeated(const char *begin, const char *middle, int count, const char *end)
{
    GString *text = g_string_new(begin);
    for (int i = 0; i < count; i++)
        g_string_append(text, middle);
    g_string_append(text, end);
    return g_string_free(text, FALSE);
}

static void test_bounds(void **state)
{
    (void)state;
    g_autofree char *most = repeated("lr=1", " or lr=1", 99, "");
    g_autofree char *found = find(most);
    assert_string_equal(found, "");
    g_autofree char *more = repeated("lr=1", " or lr=1", 100, "");
    assert_fails(orch_where_parse(more, error), ORCH_ERROR_USAGE, "more than 100 comparisons");
    g_autofree char *deep = repeated("", "(", 40, "lr=1");
    assert_fails(orch_where_parse(deep, error), ORCH_ERROR_USAGE, "at most 32 levels");
    g_autofree char *nots = repeated("", "not ", 40, "lr=1");
    assert_fails(orch_where_parse(nots, error), ORCH_ERROR_USAGE, "at most 32 levels");
    g_autofree char *open = repeated("", "(", 31, "lr = 0.1");
    g_autofree char *closed = repeated(open, ")", 31, "");
    g_autofree char *one = find(closed);
    assert_string_equal(one, "a");
    g_autofree char *odd = repeated("", "not ", 31, "lr = 0.1");
    g_autofree char *others = find(odd);
    assert_string_equal(others, "bc");
    g_autofree char *large = repeated("who = ", "x", 5000, "");
    assert_fails(orch_where_parse(large, error), ORCH_ERROR_USAGE, "longer than 4096");
    assert_fails(orch_where_parse("who = \xff", error), ORCH_ERROR_USAGE, "UTF-8");
}

/* Any bytes: an answer or an error, never a crash, never another program's SQL. */
static void test_junk(void **state)
{
    (void)state;
    static const char *const pieces[] = {
        "lr",    "=",  "(", ")",  "and",     "or", "not",   "'",  "\"", "0.1", "~",  "<",
        "state", "ok", ";", "--", "metric.", ".",  "ended", "2d", "%",  "?",   "@1", "\xc3\xa9"};
    uint32_t x = 12345;
    unsigned parsed = 0;
    for (int i = 0; i < 20000; i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (x = x * 1664525 + 1013904223; text->len < (x >> 8) % 40;
             x = x * 1664525 + 1013904223) {
            g_string_append(text, pieces[(x >> 16) % G_N_ELEMENTS(pieces)]);
            g_string_append_c(text, ' ');
        }
        struct orch_where *where = orch_where_parse(text->str, NULL);
        struct orch_run_query query = {.where = where};
        g_autoptr(GError) problem = NULL;
        GPtrArray *runs = where ? orch_store_runs(store, &query, NULL, &problem) : NULL;
        if (problem && problem->code != ORCH_ERROR_USAGE)
            fail_msg("%s: %s", text->str, problem->message);
        parsed += where != NULL;
        g_clear_pointer(&runs, g_ptr_array_unref);
        orch_where_free(where);
    }
    assert_true(parsed > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions),    cmocka_unit_test(test_syntax_errors),
        cmocka_unit_test(test_unknown_names), cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_junk),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
