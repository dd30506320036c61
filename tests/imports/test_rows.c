/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of runs: which runs give one, what their times are, how fast many are read. And the names of
 * features: what gives a target away. */
#include "tests/store/fixture.h"

#include "core/recipe/declared_cost.h"
#include "core/rows/run_rows.h"
#include "features/imports/import.h"
#include "predictors/features/feature_names.h"

static char *folder;
static struct orch_store *store;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    store = fixture_open(folder);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    orch_store_close(store);
    fixture_remove(folder);
    return 0;
}

#define COST                                                                                       \
    "\"cost\":{\"network\":\"resnet50\",\"batch\":100,\"images\":10000,\"workers\":2,"             \
    "\"input\":\"3x224x224\",\"precision\":\"fp16\",\"training\":1,\"epochs\":3.0}"

/** What differs between the runs of these tests. */
struct told {
    const char *facts, *state, *where;
    const struct orch_metric_row *metric; /* one */
    const struct orch_point *points;
    size_t point_count;
    const char *layout; /* "plain", "channels_last" or NULL: no such result */
    const char *graphs; /* "on", "off" or NULL: no such result */
};

static void put_run(const struct told *told, char key[ORCH_KEY_CHARS])
{
    struct fixture_points points;
    struct orch_record r;
    struct orch_named_real results[2];
    size_t result_count = 0;
    if (told->layout)
        results[result_count++] =
            (struct orch_named_real){"channels_last", g_str_equal(told->layout, "channels_last")};
    if (told->graphs)
        results[result_count++] =
            (struct orch_named_real){"cuda_graphs", g_str_equal(told->graphs, "on")};
    orch_key_make(key);
    fixture_record(&r, key, &points);
    points = (struct fixture_points){told->points, told->point_count, 0};
    r.facts = told->facts;
    r.state = told->state ? told->state : "ok";
    r.device_key = told->where ? told->where : "2x Tesla V100-SXM2-16GB";
    r.metrics = told->metric;
    r.metric_count = 1;
    r.results = results;
    r.result_count = result_count;
    r.wall_ms = 60000;
    assert_ok(orch_store_record(store, &r, error));
}

static struct orch_csv *rows_of(const char *target, GPtrArray *keys, struct orch_rows_tally *tally)
{
    struct orch_csv *rows;
    assert_ok(rows = orch_rows_of_runs(store, NULL, target, keys, tally, error));
    return rows;
}

static double number_at(const struct orch_csv *rows, size_t row, const char *column)
{
    double value;
    assert_ok(orch_csv_real(rows, row, orch_csv_find(rows, column), &value, error));
    return value;
}

static const char *text_at(const struct orch_csv *rows, size_t row, const char *column)
{
    return orch_csv_text(rows, row, orch_csv_find(rows, column));
}

static void assert_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", found, expected);
}

/* The target of the one run in the store. */
static double only(const char *target)
{
    struct orch_csv *rows = rows_of(target, NULL, NULL);
    assert_int_equal(orch_csv_rows(rows), 1);
    double value = number_at(rows, 0, target);
    orch_csv_free(rows);
    return value;
}

/* The first epoch is warm-up; the median of 10, 12, 20, 11 is 11.5 s. */
static void test_epochs(void **state)
{
    (void)state;
    static const struct orch_metric_row metric = {"epoch_time", "s", "min"};
    static const struct orch_point points[] = {{"epoch_time", 1, 0, 99},
                                               {"epoch_time", 2, 0, 10},
                                               {"epoch_time", 3, 0, 12},
                                               {"epoch_time", 4, 0, 20},
                                               {"epoch_time", 5, 0, 11}};
    char key[ORCH_KEY_CHARS];
    put_run(&(struct told){.facts = "{" COST "}", .metric = &metric, .points = points, 5}, key);
    assert_near(only("epoch_s"), 11.5);
    assert_near(only("images_per_s"), 10000.0 / 11.5);
    assert_near(only("step_ms"), 1e3 * 200 / (10000.0 / 11.5)); /* 2 workers */
    assert_near(only("wall_s"), 60);
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    struct orch_csv *rows = rows_of(NULL, keys, NULL);
    assert_int_equal(keys->len, 1);
    assert_string_equal(keys->pdata[0], key);
    assert_string_equal(text_at(rows, 0, "gpu"), "Tesla V100-SXM2-16GB");
    assert_string_equal(text_at(rows, 0, "net"), "resnet50");
    assert_string_equal(text_at(rows, 0, "mode"), "train");
    assert_string_equal(text_at(rows, 0, "threads"), "");
    assert_near(number_at(rows, 0, "img"), 224);
    assert_near(number_at(rows, 0, "workers"), 2);
    orch_csv_free(rows);
}

/* Workers are what the plugin declares: a trial that may use two GPUs trains on one unless it says
 * more. */
static void test_undeclared_workers(void **state)
{
    (void)state;
    static const struct orch_metric_row metric = {"epoch_time", "s", "min"};
    static const struct orch_point points[] = {{"epoch_time", 1, 0, 10}};
    char key[ORCH_KEY_CHARS];
    put_run(&(struct told){.facts = "{\"cost\":{\"network\":\"resnet50\",\"batch\":100,"
                                    "\"images\":10000,\"training\":1}}",
                           .metric = &metric,
                           .points = points,
                           .point_count = 1,
                           .where = "2x Tesla V100-SXM2-16GB"},
            key);
    struct orch_csv *rows = rows_of("step_ms", NULL, NULL);
    assert_near(number_at(rows, 0, "workers"), 1);
    assert_near(number_at(rows, 0, "step_ms"), 1e3 * 100 * 10 / 10000.0);
    orch_csv_free(rows);
}

/* A step of 100 images in 3 copies computes 300 of them, and an epoch 30,000. */
static void test_copies(void **state)
{
    (void)state;
    static const struct orch_metric_row metric = {"epoch_time", "s", "min"};
    static const struct orch_point points[] = {{"epoch_time", 1, 0, 10}};
    char key[ORCH_KEY_CHARS];
    put_run(&(struct told){.facts = "{\"cost\":{\"network\":\"resnet50\",\"batch\":100,"
                                    "\"images\":10000,\"training\":1,\"copies\":3}}",
                           .metric = &metric,
                           .points = points,
                           .point_count = 1},
            key);
    struct orch_csv *rows = rows_of("step_ms", NULL, NULL);
    assert_near(number_at(rows, 0, "batch"), 300);
    assert_near(number_at(rows, 0, "images"), 30000);
    assert_near(number_at(rows, 0, "step_ms"), 1e3 * 300 * 10 / 30000.0);
    orch_csv_free(rows);
    assert_near(only("images_per_s"), 3000);
}

/* What a declared cost amounts to: without a member, with it, with members that contradict. */
static void test_declared_cost(void **state)
{
    (void)state;
    static const struct {
        const char *cost;
        double step, epoch, all; /* 0: not known */
    } rows[] = {
        {"{}", 0, 0, 0},
        {"{\"batch\":64}", 64, 0, 0},
        {"{\"batch\":64,\"images\":640}", 64, 640, 640},
        {"{\"batch\":64,\"images\":640,\"epochs\":2.5}", 64, 640, 1600},
        {"{\"batch\":64,\"images\":640,\"epochs\":2,\"copies\":4}", 256, 2560, 5120},
        {"{\"batch\":64,\"images\":640,\"epochs\":2,\"steps\":5}", 64, 640, 1280},
        {"{\"batch\":64,\"images\":640,\"steps\":5}", 64, 640, 320},
        {"{\"samples\":32,\"steps\":10,\"workers\":3,\"copies\":2}", 64, 0, 1920},
        {"{\"batch\":8,\"samples\":32,\"steps\":10}", 8, 0, 80},
        {"{\"samples\":32,\"copies\":-2}", 32, 0, 0},
        {"{\"samples\":\"many\",\"steps\":10}", 0, 0, 0},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        json_t *cost = json_loads(rows[i].cost, 0, NULL);
        const double found[] = {orch_cost_step_samples(cost), orch_cost_epoch_samples(cost),
                                orch_cost_all_samples(cost)};
        const double expected[] = {rows[i].step, rows[i].epoch, rows[i].all};
        for (size_t k = 0; k < G_N_ELEMENTS(found); k++)
            if ((isnan(found[k]) ? 0 : found[k]) != expected[k])
                fail_msg("%s: number %d is %g, expected %g", rows[i].cost, (int)k, found[k],
                         expected[k]);
        json_decref(cost);
    }
}

/* One epoch alone is taken as it is; units are those declared; a processor has its threads. */
static void test_units(void **state)
{
    (void)state;
    static const struct orch_metric_row metric = {"step_time", "us", "min"};
    static const struct orch_point points[] = {{"step_time", 1, 0, 5000}};
    char key[ORCH_KEY_CHARS];
    put_run(&(struct told){.facts = "{\"threads\":8," COST "}",
                           .metric = &metric,
                           .points = points,
                           .point_count = 1,
                           .where = "Xeon E5, 8 cores, 4 threads"},
            key);
    assert_near(only("step_ms"), 5);
    assert_near(only("images_per_s"), 200.0 / 5e-3);
    assert_near(only("epoch_s"), 10000 / (200.0 / 5e-3));
    struct orch_csv *rows = rows_of(NULL, NULL, NULL);
    assert_string_equal(text_at(rows, 0, "gpu"), "Xeon E5, 8 cores");
    assert_near(number_at(rows, 0, "threads"), 4);
    orch_csv_free(rows);
}

static void test_left_out(void **state)
{
    (void)state;
    static const struct orch_metric_row rate = {"images_per_s", "images/s", "max"};
    static const struct orch_metric_row odd = {"images_per_s", "furlongs", "max"};
    static const struct orch_point points[] = {{"images_per_s", 1, 0, 100}};
    const struct told all[] = {
        {.facts = "{" COST "}", .metric = &rate, .points = points, .point_count = 1},
        {.facts = "{\"co_runners\":1," COST "}", .metric = &rate, .points = points, 1},
        {.facts = "{" COST "}", .where = "0.5x A", .metric = &rate, .points = points, 1},
        {.facts = "{" COST "}", .state = "failed", .metric = &rate, .points = points, 1},
        {.facts = "{" COST "}", .state = "diverged", .metric = &rate, .points = points, 1},
        {.facts = "{\"cost\":{\"network\":\"resnet50\",\"epochs\":3.0,\"batch\":8}}",
         .metric = &rate,
         .points = points,
         .point_count = 1},
        {.facts = "{\"cost\":7}", .metric = &rate, .points = points, .point_count = 1},
        {.facts = "not \"cost\":{ JSON", .metric = &rate, .points = points, .point_count = 1},
        {.facts = NULL, .metric = &rate, .points = points, .point_count = 1},
        {.facts = "{" COST "}", .metric = &odd, .points = points, .point_count = 1},
        {.facts = "{" COST "}", .metric = &rate},
        {.facts = "{" COST "}", .metric = &rate, .points = points, .point_count = 1},
    };
    char key[ORCH_KEY_CHARS];
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        put_run(&all[i], key);
    assert_ok(orch_store_note(store, key, "tombstone", true, "", error)); /* the last */
    struct orch_rows_tally tally;
    struct orch_csv *rows = rows_of("images_per_s", NULL, &tally);
    assert_int_equal(orch_csv_rows(rows), 1);
    assert_int_equal(tally.rows, 1);
    assert_int_equal(tally.shared, 2);
    assert_int_equal(tally.no_cost, 3);
    assert_int_equal(tally.forward, 1);
    assert_int_equal(tally.unmeasured, 2);
    orch_csv_free(rows);
    assert_fails(orch_rows_of_runs(store, NULL, "steps_ms", NULL, NULL, error), ORCH_ERROR_USAGE,
                 "did you mean 'step_ms'?");
}

/* Runs during which the machine did other work teach nothing, unless their device has no others. */
static void test_disturbed(void **state)
{
    (void)state;
    static const struct orch_metric_row rate = {"images_per_s", "images/s", "max"};
    static const struct orch_point points[] = {{"images_per_s", 1, 0, 100}};
    const char *const facts[] = {"{\"foreign_cpu\":0.5," COST "}", "{" COST "}",
                                 "{\"foreign_cpu\":0.1," COST "}"};
    struct orch_rows_tally tally;
    char key[ORCH_KEY_CHARS];
    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
        put_run(&(struct told){.facts = facts[i], .metric = &rate, .points = points, 1}, key);
        orch_csv_free(rows_of("images_per_s", NULL, &tally));
        assert_int_equal(tally.rows, i ? i : 1);
        assert_int_equal(tally.disturbed, i ? 1 : 0);
        assert_int_equal(tally.disturbed_rows, i ? 0 : 1); /* the first is all that there is */
    }
    put_run(&(struct told){.facts = facts[0], .where = "1x Tesla P4", .metric = &rate, points, 1},
            key);
    orch_csv_free(rows_of("images_per_s", NULL, &tally));
    assert_int_equal(tally.rows, 3);
    assert_int_equal(tally.disturbed_rows, 1); /* of another device */
}

/* Puts a run of `rate` images a second; `cost` is resnet50's, or another network's. */
static void put_rate(const char *where, const char *environment, const char *layout, double rate,
                     bool is_other)
{
    static const struct orch_metric_row metric = {"images_per_s", "images/s", "max"};
    const struct orch_point point = {"images_per_s", 1, 0, rate};
    char key[ORCH_KEY_CHARS];
    g_autofree char *facts = g_strdup_printf(
        "{\"environment\":%s,%s}", environment,
        is_other ? "\"cost\":{\"network\":\"vgg16\",\"batch\":8,\"training\":1}" : COST);
    put_run(&(struct told){.facts = facts,
                           .where = where,
                           .metric = &metric,
                           .points = &point,
                           .point_count = 1,
                           .layout = layout},
            key);
}

/* Checks the rates of the rows, in their order ("100 200"), and how many runs were left out. */
static void expect_rates(const char *expected, int64_t other_libraries, int64_t other_layouts)
{
    struct orch_rows_tally tally;
    struct orch_csv *rows = rows_of("images_per_s", NULL, &tally);
    g_autoptr(GString) found = g_string_new(NULL);
    for (size_t i = 0; i < orch_csv_rows(rows); i++)
        g_string_append_printf(found, "%s%g", i ? " " : "", number_at(rows, i, "images_per_s"));
    assert_string_equal(found->str, expected);
    assert_int_equal(tally.other_libraries, other_libraries);
    assert_int_equal(tally.other_layouts, other_layouts);
    orch_csv_free(rows);
}

#define OLD "{\"libtorch\":\"1.13.1\"}"
#define NEW "{\"libtorch\":\"2.11.0\"}"

/* Of each device the version of its newest run counts; other devices, other libraries and runs
 * without a version are not concerned. */
static void test_versions_are_not_pooled(void **state)
{
    (void)state;
    put_rate("Xeon, 2 threads", OLD, NULL, 100, false);
    put_rate("Xeon, 2 threads", OLD, NULL, 101, true);
    put_rate("1x Tesla P4", OLD, NULL, 102, false);
    put_rate("Xeon, 2 threads", "{}", NULL, 103, false);
    put_rate("Xeon, 2 threads", "{\"torch\":\"2.0.0\"}", NULL, 104, false);
    expect_rates("100 101 102 103 104", 0, 0);
    put_rate("Xeon, 4 threads", NEW, NULL, 150, false);
    expect_rates("102 103 104 150", 2, 0);
    put_rate("1x Tesla P4", NEW, NULL, -1, false); /* without a time: does not decide */
    expect_rates("102 103 104 150", 2, 0);
    put_rate("Xeon, 2 threads", OLD, NULL, 105, false);
    expect_rates("100 101 102 103 104 105", 1, 0);
}

/* Of each network on a device the layout of its newest run counts; runs of an older version of the
 * library do not decide. */
static void test_layouts_are_not_pooled(void **state)
{
    (void)state;
    put_rate("Xeon, 2 threads", "{}", "plain", 100, false);
    put_rate("Xeon, 2 threads", "{}", "channels_last", 101, true);
    put_rate("1x Tesla P4", "{}", "plain", 102, false);
    put_rate("Xeon, 2 threads", "{}", NULL, 103, false);
    expect_rates("100 101 102 103", 0, 0);
    put_rate("Xeon, 2 threads", NEW, "channels_last", 150, false);
    expect_rates("101 102 103 150", 0, 1);
    put_rate("Xeon, 2 threads", OLD, "channels_last", 110, true);
    expect_rates("100 101 102 103 110", 1, 0);
}

/* Puts a run of `rate` images a second of resnet50 on a GPU. */
static void put_graphs_rate(const char *where, const char *layout, const char *graphs, double rate)
{
    static const struct orch_metric_row metric = {"images_per_s", "images/s", "max"};
    const struct orch_point point = {"images_per_s", 1, 0, rate};
    char key[ORCH_KEY_CHARS];
    put_run(&(struct told){.facts = "{" COST "}",
                           .where = where,
                           .metric = &metric,
                           .points = &point,
                           .point_count = 1,
                           .layout = layout,
                           .graphs = graphs},
            key);
}

/* Of each network on a device the newest run decides whether times with CUDA graphs or those
 * without them count; runs of another layout do not decide. */
static void test_graphs_are_not_pooled(void **state)
{
    (void)state;
    struct orch_rows_tally tally;
    put_graphs_rate("1x Tesla P4", "plain", "off", 100);
    put_graphs_rate("1x Tesla V100", "plain", "off", 101);
    put_graphs_rate("1x Tesla P4", "plain", NULL, 102);
    expect_rates("100 101 102", 0, 0);
    put_graphs_rate("1x Tesla P4", "plain", "on", 150);
    expect_rates("101 102 150", 0, 0);
    orch_csv_free(rows_of("images_per_s", NULL, &tally));
    assert_int_equal(tally.other_graphs, 1);
    assert_int_equal(orch_rows_tally_with_cost(&tally), 4);
    put_graphs_rate("1x Tesla P4", "channels_last", "off", 90);
    expect_rates("101 90", 0, 3); /* those of the plain layout on this device */
}

/* 10,000 runs of 10 epochs with two metrics each. */
static void test_many(void **state)
{
    (void)state;
    assert_ok(orch_store_exec(
        store,
        "BEGIN;"
        "INSERT INTO metric_name VALUES(1, 'loss', '', 'min'), (2, 'epoch_time', 's', 'min'),"
        " (3, 'images_per_s', 'images/s', 'max');"
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
        "INSERT INTO run SELECT i, printf('%08x-0000-7000-8000-%012x', i, i), 'k', 'r', 'e',"
        " 'train', '1', NULL, NULL, printf('%064x', i), '1x Tesla V100', i, 1, 1, 'ok', NULL, 0,"
        " NULL, NULL, 'me', i, i, 1000.0, '[]', '{\"co_runners\":0,\"coords\":{\"lr\":0.1},"
        "\"cost\":{\"batch\":64,\"classes\":10,\"epochs\":10.0,\"framework\":\"libtorch\","
        "\"images\":50000,\"input\":\"3x32x32\",\"network\":\"resnet20\",\"precision\":\"fp32\","
        "\"training\":1,\"workers\":1},\"load\":0.5,\"threads\":2}', 1, '' FROM n;"
        "WITH RECURSIVE s(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 10)"
        "INSERT INTO metric SELECT run.id, n.id, s.i, 0, 1.0 + run.id % 7 + s.i FROM run,"
        " metric_name n, s;"
        "COMMIT",
        "fill", error));
    int64_t begin = orch_mono_ns();
    struct orch_csv *rows = rows_of("epoch_s", NULL, NULL);
    double took_s = (double)(orch_mono_ns() - begin) / 1e9;
    assert_int_equal(orch_csv_rows(rows), 10000);
    assert_near(number_at(rows, 0, "epoch_s"), 1 + 1 + 6); /* median of 2..10 */
    print_message("10,000 runs: %.2f s\n", took_s);
    orch_csv_free(rows);
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void test_gives_away(void **state)
{
    (void)state;
    static const struct {
        const char *name, *target;
        bool expected;
    } cases[] = {
        {"ms_min", "ms", true},
        {"ms_std", "step_ms", true},
        {"img_per_s", "step_ms", true},
        {"step_ms", "img_per_s", true},
        {"throughput", "epoch_s", true},
        {"sec_per_epoch", "wall_s", true},
        {"hours", "epoch_s", true},
        {"tta_seconds", "hours", true},
        {"fw_ms", "total_ms", true},
        {"step_noise", "step_ms", true},
        {"cost_usd", "wall_s", true},
        {"step", "step_ms", false},
        {"epoch", "epoch_s", false},
        {"epochs", "epoch_s", false},
        {"batch", "step_ms", false},
        {"gpus", "step_ms", false},
        {"min_batch", "step_ms", false},
        {"params_M", "ms", false},
        {"accuracy_2", "accuracy", false},
        {"ms_min", "accuracy", false},
        {"price_usd", "throughput", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
        if (orch_feature_reveals(cases[i].name, cases[i].target) != cases[i].expected)
            fail_msg("'%s' beside '%s'", cases[i].name, cases[i].target);
    assert_string_equal(orch_target_unit("step_ms"), "ms");
    assert_string_equal(orch_target_unit("fw_us"), "us");
    assert_string_equal(orch_target_unit("hours"), "h");
    assert_string_equal(orch_target_unit("tokens_per_s"), "1/s");
    assert_string_equal(orch_target_unit("accuracy"), "");
    assert_near(orch_target_ms("tta_seconds"), 1e3);
    assert_near(orch_target_ms("fw_us"), 1e-3);
    assert_near(orch_target_ms("wall_hours"), 3.6e6);
    assert_near(orch_target_ms("accuracy"), 1);
}

/* No name twice, no other name that is a name. */
static void test_names(void **state)
{
    (void)state;
    for (const struct orch_feature_name *row = orch_feature_names(); row->name; row++) {
        assert_ptr_equal(orch_feature_name_find(row->name), row);
        g_auto(GStrv) others = g_strsplit(row->others, "|", -1);
        for (int i = 0; others[i]; i++) {
            assert_null(orch_feature_name_find(others[i]));
            assert_ptr_equal(orch_feature_name_of_other(others[i]), row);
        }
    }
}

static void assert_note(const char *note, const char *source, const char *licence)
{
    g_autofree char *file = g_build_filename(folder, "a.md", NULL);
    g_autofree char *table = g_build_filename(folder, "a.csv", NULL);
    g_autofree char *found_source = NULL, *found_licence = NULL;
    assert_ok(orch_file_write(file, note, strlen(note), false, error));
    orch_import_provenance(table, &found_source, &found_licence);
    if (g_strcmp0(found_source, source) != 0 || g_strcmp0(found_licence, licence) != 0)
        fail_msg("source '%s', licence '%s'", found_source, found_licence);
}

static void test_provenance(void **state)
{
    (void)state;
    assert_note("# x\n\nSource: a.org/b, licence MIT (LICENSE). More.\n",
                "a.org/b, licence MIT (LICENSE). More.", "MIT (LICENSE)");
    assert_note("- source: a.org\n- License: CC BY 4.0\n", "a.org", "CC BY 4.0");
    assert_note("Source: a.org, NO licence file here.", "a.org, NO licence file here.",
                "none stated");
    assert_note("Source: a, licence CC BY 4.0 (code Apache-2.0).",
                "a, licence CC BY 4.0 (code Apache-2.0).", "CC BY 4.0 (code Apache-2.0)");
    assert_note("Source: a.org licence", "a.org licence", NULL);
    assert_note("no such lines", NULL, NULL);
    assert_note("Source: \xff", NULL, NULL);
    assert_note("", NULL, NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_epochs),
        TEST(test_units),
        TEST(test_undeclared_workers),
        TEST(test_copies),
        TEST(test_declared_cost),
        TEST(test_left_out),
        TEST(test_disturbed),
        TEST(test_versions_are_not_pooled),
        TEST(test_layouts_are_not_pooled),
        TEST(test_graphs_are_not_pooled),
        TEST(test_many),
        TEST(test_gives_away),
        TEST(test_names),
        TEST(test_provenance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
