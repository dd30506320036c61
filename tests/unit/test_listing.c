/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Orders of runs, their columns by name, thinned series, shares of the group. */
#include "store/read/listing.h"
#include "store/read/names_of.h"
#include "store/read/run_json.h"
#include "store/read/spark.h"
#include "tests/store/fixture.h"

#include <math.h>

static char *folder;
static struct orch_store *store;

enum { LONG = 5000 };

/* One run for each letter; `b` has no tag and another metric, `d` is hidden. */
static void put(char letter, const char *lr, const char *who, uint64_t seed, int64_t ended_s)
{
    static struct orch_point stream[LONG];
    struct fixture_points points;
    struct orch_record r;
    g_autofree char *key = g_strdup_printf("01890a5d-0000-7000-8000-%c00000000000", letter);
    g_autofree char *seed_text = g_strdup_printf("%d", letter);
    const struct orch_named_text params[] = {
        {"lr", "real", lr}, {"seed", "int", seed_text}, {"tag", "string", "\"x, 'y'\""}};
    const struct orch_named_real results[] = {{"accuracy", letter == 'b' ? (double)NAN : letter}};
    fixture_record(&r, key, &points);
    for (int i = 0; i < LONG; i++)
        stream[i] = (struct orch_point){letter == 'b' ? "time" : "loss", i, i * 2.0,
                                        i == 4321 ? 99
                                        : i == 17 ? -99
                                                  : i % 10};
    points = (struct fixture_points){stream, LONG, 0};
    r.params = params;
    r.param_count = G_N_ELEMENTS(params) - (letter == 'b');
    r.results = results;
    r.result_count = 1;
    r.state = letter == 'c' ? "failed" : "ok";
    r.seed = seed;
    r.who = who;
    r.ended_ns = ended_s * INT64_C(1000000000);
    assert_ok(orch_store_record(store, &r, error));
    if (letter == 'd')
        assert_ok(orch_store_note(store, key, "tombstone", true, NULL, error));
}

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    store = fixture_open(folder);
    put('a', "0.1", "ada", 7, 400);
    put('b', "0.02", "ada", UINT64_MAX, 300);
    put('c', "0.1", "grace", INT64_MAX, 200);
    put('d', "0.5", "grace", 1, 100);
    put('e', "10", "<script>", 8, 100);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_store_close(store);
    fixture_remove(folder);
    return 0;
}

static bool add_letter(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    g_string_append_c(ctx, cells[0].text[24]);
    return true;
}

/* The letters of the runs in order. */
static char *order_of(const char *where_text, const char *sort, bool is_rising)
{
    struct orch_where *where = NULL;
    if (where_text)
        assert_ok(where = orch_where_parse(where_text, error));
    const struct orch_listing listing = {.where = where, .sort = sort, .is_rising = is_rising};
    g_autoptr(GArray) ids = NULL;
    assert_ok(ids = orch_store_listing(store, &listing, error));
    orch_where_free(where);
    GString *letters = g_string_new(NULL);
    static const char *const columns[] = {"key", NULL};
    assert_ok(orch_store_visit_rows(store, (const int64_t *)(const void *)ids->data, ids->len,
                                    columns, add_letter, letters, error));
    return g_string_free(letters, FALSE);
}

static void orders(void **state)
{
    (void)state;
    static const struct {
        const char *where, *sort;
        bool is_rising;
        const char *letters;
    } rows[] = {
        {NULL, NULL, false, "abce"},          {NULL, "ended", true, "ecba"},
        {NULL, "lr", true, "bace"},           {NULL, "lr", false, "eacb"},
        {NULL, "seed", true, "aecb"}, /* as 64 bits without a sign */
        {NULL, "accuracy", true, "aceb"},     {NULL, "accuracy", false, "ecab"}, /* b has none */
        {NULL, "metric.time", false, "bace"}, {NULL, "no such name", false, "abce"},
        {"lr = 0.1", "lr", false, "ac"},      {"state = ok", "who", true, "eab"},
        {"lr > 100", "lr", false, ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *got = order_of(rows[i].where, rows[i].sort, rows[i].is_rising);
        if (strcmp(got, rows[i].letters) != 0)
            fail_msg("where %s by %s: %s, expected %s", rows[i].where, rows[i].sort, got,
                     rows[i].letters);
    }
}

/* a and c are equal in lr. */
static void further_orders(void **state)
{
    (void)state;
    static const char *const columns[] = {"key", NULL};
    static const struct {
        const char *sort, *then;
        bool is_rising, is_then_rising;
        const char *letters;
    } rows[] = {
        {"lr", "ended", false, true, "ecab"},
        {"lr", "ended", false, false, "eacb"},
        {"state", "lr", true, false, "ceab"},
        {NULL, "lr", false, false, "abce"}, /* no two ended together */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct orch_order then[] = {{rows[i].then, rows[i].is_then_rising},
                                          {"no such name", true}};
        const struct orch_listing listing = {
            .sort = rows[i].sort, .is_rising = rows[i].is_rising, .then = then, .then_count = 2};
        g_autoptr(GArray) ids = NULL;
        g_autoptr(GString) letters = g_string_new(NULL);
        assert_ok(ids = orch_store_listing(store, &listing, error));
        assert_ok(orch_store_visit_rows(store, (const int64_t *)(const void *)ids->data, ids->len,
                                        columns, add_letter, letters, error));
        assert_string_equal(letters->str, rows[i].letters);
    }
    const struct orch_order wrong = {"", false};
    const struct orch_listing refused = {.then = &wrong, .then_count = 1};
    g_autoptr(GError) error = NULL;
    assert_null(orch_store_listing(store, &refused, &error));
}

/* All counts -1: none of the runs has it. */
static struct orch_name_of_runs name_of(const GPtrArray *names, const char *name)
{
    for (guint i = 0; i < names->len; i++) {
        const struct orch_name_of_runs *found = names->pdata[i];
        if (strcmp(found->name.name, name) == 0)
            return *found;
    }
    return (struct orch_name_of_runs){.runs = -1, .distinct = -1, .curves = -1};
}

/* What some runs have, and nothing that only others have. */
static void names_of_runs(void **state)
{
    (void)state;
    const struct orch_listing listing = {0}; /* a b c e */
    g_autoptr(GArray) ids = NULL;
    assert_ok(ids = orch_store_listing(store, &listing, error));
    const int64_t *all = (const int64_t *)(const void *)ids->data;
    g_autoptr(GPtrArray) names = NULL, of_first = NULL;
    assert_ok(names = orch_store_names_of(store, all, ids->len, error));
    assert_int_equal(name_of(names, "lr").distinct, 3);
    assert_int_equal(name_of(names, "lr").runs, 4);
    assert_int_equal(name_of(names, "seed").runs, -1);
    assert_int_equal(name_of(names, "accuracy").runs, 4);
    assert_int_equal(name_of(names, "loss").runs, 3);
    assert_int_equal(name_of(names, "loss").curves, 3);
    assert_ok(of_first = orch_store_names_of(store, all, 1, error));
    assert_int_equal(name_of(of_first, "time").runs, -1);
    assert_int_equal(name_of(of_first, "loss").runs, 1);
    g_autoptr(GPtrArray) values = NULL;
    assert_ok(values = orch_store_values_of(store, all, ids->len, "lr", 2, error));
    assert_int_equal(values->len, 2);
    assert_string_equal(values->pdata[0], "0.1"); /* two runs have it */
}

static void sparks_seek(void **state)
{
    (void)state;
    const struct orch_listing listing = {0};
    g_autoptr(GArray) ids = NULL, points = NULL, short_one = NULL, none = NULL;
    assert_ok(ids = orch_store_listing(store, &listing, error));
    const int64_t a = g_array_index(ids, int64_t, 0);
    assert_ok(points = orch_store_spark(store, a, "loss", 11, error));
    assert_int_equal(points->len, 11);
    for (guint i = 0; i < points->len; i++) {
        const struct orch_thin_point *p = &g_array_index(points, struct orch_thin_point, i);
        assert_int_equal(p->step, (int64_t)((LONG - 1) * (double)i / 10));
    }
    assert_ok(short_one = orch_store_spark(store, a, "loss", 3 * LONG, error));
    assert_int_equal(short_one->len, LONG);
    assert_ok(none = orch_store_spark(store, a, "time", 11, error));
    assert_int_equal(none->len, 0);
    assert_int_equal(orch_store_series_is_long(store, a, "loss", LONG - 1, NULL), 1);
    assert_int_equal(orch_store_series_is_long(store, a, "loss", LONG, NULL), 0);
    assert_int_equal(orch_store_series_is_long(store, a, "time", 1, NULL), 0);
}

static void refusals(void **state)
{
    (void)state;
    static const char *const columns[] = {""};
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        g_autoptr(GError) error = NULL;
        const struct orch_listing listing = {.sort = columns[i]};
        assert_null(orch_store_listing(store, &listing, &error));
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
    }
    g_autoptr(GError) error = NULL;
    const char *many[70];
    for (int i = 0; i < 69; i++)
        many[i] = "key";
    many[69] = NULL;
    const int64_t id = 1;
    assert_false(orch_store_visit_rows(store, &id, 1, many, add_letter, NULL, &error));
    assert_non_null(strstr(error->message, "64"));
}

static bool take_cells(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)run_id;
    struct orch_row_cell *out = ctx;
    for (int i = 0; i < 7; i++) {
        out[i] = cells[i];
        if (cells[i].kind == ORCH_CELL_TEXT)
            out[i].text = g_strdup(cells[i].text);
    }
    return false; /* the first is enough */
}

static void columns_by_name(void **state)
{
    (void)state;
    static const char *const columns[] = {"seed",      "lr",        "param.tag", "loss",
                                          "min(loss)", "max(loss)", "cell",      NULL};
    struct orch_row_cell cells[7];
    g_autoptr(GArray) ids = NULL;
    const struct orch_listing listing = {0};
    assert_ok(ids = orch_store_listing(store, &listing, error));
    assert_ok(orch_store_visit_rows(store, (const int64_t *)(const void *)ids->data, ids->len,
                                    columns, take_cells, cells, error));
    assert_string_equal(cells[0].text, "7");
    assert_true(cells[1].kind == ORCH_CELL_REAL && cells[1].real == 0.1);
    assert_string_equal(cells[2].text, "x, 'y'");
    assert_true(cells[3].kind == ORCH_CELL_REAL && cells[3].real == 9);
    assert_true(cells[4].real == -99 && cells[5].real == 99);
    assert_non_null(strstr(cells[6].text, "lr=0.1"));
    assert_null(strstr(cells[6].text, "seed")); /* a group's runs differ in it */
    for (int i = 0; i < 7; i++)
        if (cells[i].kind == ORCH_CELL_TEXT)
            g_free((char *)(uintptr_t)cells[i].text);
}

static void names_are_known(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) names = NULL;
    assert_ok(names = orch_store_known_names(store, error));
    int params = 0, metrics = 0;
    for (guint i = 0; i < names->len; i++) {
        const struct orch_known_name *n = names->pdata[i];
        params += strcmp(n->kind, "param") == 0;
        metrics += strcmp(n->kind, "metric") == 0;
    }
    assert_int_equal(params, 3);
    assert_int_equal(metrics, 2);
}

/* A column of the page and of conditions has the name that JSON and tables have for it. */
static void columns_are_called_as_in_json(void **state)
{
    (void)state;
    static const char *const others[] = {"tag", "run_name", "note", "cell", "forecast_s", NULL};
    g_autoptr(GPtrArray) names = NULL;
    assert_ok(names = orch_store_known_names(store, error));
    int found = 0;
    for (guint i = 0; i < names->len; i++) {
        const struct orch_known_name *n = names->pdata[i];
        bool is_field = g_strv_contains(others, n->name);
        const char *field;
        for (size_t k = 0; (field = orch_run_json_field(k)) != NULL; k++)
            is_field = is_field || strcmp(field, n->name) == 0;
        if (strcmp(n->kind, "column") != 0)
            continue;
        if (!is_field)
            fail_msg("no output has a field '%s'", n->name);
        found++;
    }
    assert_true(found > 20);
}

static void series_keep_their_peaks(void **state)
{
    (void)state;
    g_autoptr(GArray) ids = NULL;
    const struct orch_listing listing = {0};
    assert_ok(ids = orch_store_listing(store, &listing, error));
    int64_t id = g_array_index(ids, int64_t, 0);
    g_autofree char *unit = NULL;
    struct orch_thin *thin = NULL;
    assert_ok(thin = orch_store_thin_series(store, id, "loss", INT64_MIN, INT64_MAX, 50, true,
                                            &unit, error));
    g_autoptr(GArray) points = orch_thin_points(thin);
    assert_int_equal(orch_thin_count(thin), LONG);
    assert_true(points->len <= 102);
    double least = 0, greatest = 0;
    for (guint i = 0; i < points->len; i++) {
        least = MIN(least, g_array_index(points, struct orch_thin_point, i).value);
        greatest = MAX(greatest, g_array_index(points, struct orch_thin_point, i).value);
    }
    assert_true(least == -99 && greatest == 99);
    orch_thin_free(thin);
    assert_ok(thin = orch_store_thin_series(store, id, "loss", 10, 12, 50, false, NULL, error));
    assert_int_equal(orch_thin_count(thin), 3);
    orch_thin_free(thin);
    g_autoptr(GError) error = NULL;
    assert_null(orch_store_thin_series(store, id, "none", 0, 9, 50, true, NULL, &error));
    assert_null(error);
    g_autoptr(GPtrArray) metrics = orch_store_metric_names(store, id, &error);
    assert_int_equal(metrics->len, 1);
    assert_string_equal(((struct orch_known_name *)metrics->pdata[0])->name, "loss");
}

static void shares_of_the_group(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) shares = NULL;
    assert_ok(shares = orch_store_shares(store, error));
    assert_int_equal(shares->len, 3);
    for (guint i = 0; i < shares->len; i++) {
        const struct orch_share *s = shares->pdata[i];
        bool is_ada = strcmp(s->who, "ada") == 0, is_grace = strcmp(s->who, "grace") == 0;
        assert_int_equal(s->runs, is_ada ? 2 : 1);
        assert_int_equal(s->ok, is_ada ? 2 : is_grace ? 0 : 1);
    }
}

static void a_version_changes(void **state)
{
    (void)state;
    g_autofree char *before = NULL, *after = NULL;
    assert_ok(before = orch_store_version(store, error));
    put('f', "1", "ada", 9, 50);
    assert_ok(after = orch_store_version(store, error));
    assert_string_not_equal(before, after);
}

static void time_is_limited(void **state)
{
    (void)state;
    orch_store_limit_time(store, 1e-9);
    g_autoptr(GError) late = NULL;
    const struct orch_listing listing = {.sort = "max(loss)"};
    assert_null(orch_store_listing(store, &listing, &late));
    assert_non_null(strstr(late->message, "too long"));
    orch_store_limit_time(store, 0);
    g_autoptr(GArray) ids = NULL;
    assert_ok(ids = orch_store_listing(store, &listing, error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders),
        cmocka_unit_test(further_orders),
        cmocka_unit_test(names_of_runs),
        cmocka_unit_test(sparks_seek),
        cmocka_unit_test(refusals),
        cmocka_unit_test(columns_by_name),
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(columns_are_called_as_in_json),
        cmocka_unit_test(series_keep_their_peaks),
        cmocka_unit_test(shares_of_the_group),
        cmocka_unit_test(a_version_changes),
        cmocka_unit_test(time_is_limited),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
