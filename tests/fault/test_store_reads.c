/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every question that can be asked of a store, with each of its calls of SQLite failing in turn:
 * the answer is an error that names the file, never a shorter answer, and the same handle answers
 * the same question afterwards. */
#include "tests/fault/store_calls.h"

#include "store/join/outgoing.h"
#include "store/join/run_text.h"
#include "store/read/bulk.h"
#include "store/read/find_runs.h"
#include "store/read/listing.h"
#include "store/write/signature.h"

#include "lib/base/json.h"
#include "lib/base/thin_series.h"

static char *folder, *path;

/* The run that the questions are about has the first row. */
enum { RUN = 1 };

static bool drop_array(GPtrArray *rows)
{
    if (rows)
        g_ptr_array_unref(rows);
    return rows != NULL;
}

static bool drop_json(json_t *json)
{
    json_decref(json);
    return json != NULL;
}

static bool drop_run(struct orch_run *run)
{
    orch_run_free(run);
    return run != NULL;
}

static bool drop_text(char *text)
{
    g_free(text);
    return text != NULL;
}

/* NULL without an error means that there is none. */
static bool is_absent_or(bool found, GError **error)
{
    return found || !*error;
}

#define READ_ARRAY(name, call)                                                                     \
    static bool name(struct orch_store *store, GError **error)                                     \
    {                                                                                              \
        return drop_array(call);                                                                   \
    }
#define READ_MAYBE(name, drop, call)                                                               \
    static bool name(struct orch_store *store, GError **error)                                     \
    {                                                                                              \
        return is_absent_or(drop(call), error);                                                    \
    }

static bool read_info(struct orch_store *store, GError **error)
{
    struct orch_store_info info = {0};
    bool ok = orch_store_info(store, &info, error);
    if (ok)
        orch_store_info_clear(&info);
    return ok;
}

static bool read_check(struct orch_store *store, GError **error)
{
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs;
    bool ok = orch_store_check(store, findings, &runs, error);
    if (ok && findings->len == 0)
        return true;
    /* a finding that comes from the failure must name it */
    for (guint i = 0; ok && i < findings->len; i++)
        if (!strstr(findings->pdata[i], "reading or writing failed"))
            fail_msg("check, call of %s: %s", fault_calls.what, (char *)findings->pdata[i]);
    if (ok)
        orch_error_set(error, ORCH_ERROR_STORE, "a finding", "%s: %s", folder,
                       (char *)findings->pdata[0]);
    return false;
}

static bool read_digest_all(struct orch_store *store, GError **error)
{
    char digest[ORCH_SHA256_CHARS];
    return orch_store_digest_all(store, digest, error);
}

static bool read_digest(struct orch_store *store, GError **error)
{
    char digest[ORCH_SHA256_CHARS];
    return orch_store_digest(store, RUN, digest, error);
}

static const struct orch_run_query ALL_RUNS = {.with_hidden = true};

static bool read_runs(struct orch_store *store, GError **error)
{
    int64_t total;
    struct orch_where *where = orch_where_parse("lr < 1 and accuracy > 0.5 and wall_s < 1h", error);
    const struct orch_run_query query = {.where = where, .limit = 1};
    bool ok = where && drop_array(orch_store_runs(store, &query, &total, error));
    orch_where_free(where);
    return ok;
}

static const char *const NAMES[] = {"loss", "accuracy", NULL};

static void ignore_bulk_run(void *ctx, const struct orch_bulk_run *run)
{
    (void)ctx, (void)run;
}

static void ignore_bulk_value(void *ctx, const struct orch_bulk_value *value)
{
    (void)ctx, (void)value;
}

static bool ignore_run(void *ctx, const struct orch_run *run, GError **error)
{
    (void)ctx, (void)run, (void)error;
    return true;
}

static bool ignore_point(void *ctx, const struct orch_point *point)
{
    (void)ctx, (void)point;
    return true;
}

static bool ignore_cells(void *ctx, int64_t run_id, const struct orch_row_cell *cells)
{
    (void)ctx, (void)run_id, (void)cells;
    return true;
}

static bool ignore_text(void *ctx, const char *text)
{
    (void)ctx, (void)text;
    return true;
}

static bool ignore_recipe(void *ctx, const struct orch_recipe_row *row, GError **error)
{
    (void)ctx, (void)row, (void)error;
    return true;
}

static bool ignore_note(void *ctx, const struct orch_note *note, GError **error)
{
    (void)ctx, (void)note, (void)error;
    return true;
}

static bool read_bulk_runs(struct orch_store *store, GError **error)
{
    return orch_store_visit_runs(store, NULL, ignore_bulk_run, NULL, error);
}

static bool read_bulk_values(struct orch_store *store, GError **error)
{
    static const int64_t ids[] = {1, 2};
    return orch_store_visit_values(store, ids, 2, NAMES, ignore_bulk_value, NULL, error);
}

static bool read_each_run(struct orch_store *store, GError **error)
{
    return orch_store_visit_full_runs(store, &ALL_RUNS, ignore_run, NULL, error);
}

static bool read_each_point(struct orch_store *store, GError **error)
{
    return orch_store_visit_points(store, RUN, NULL, ignore_point, NULL, error) &&
           orch_store_visit_points(store, RUN, NAMES, ignore_point, NULL, error);
}

static bool read_names(struct orch_store *store, GError **error)
{
    bool ok = true;
    for (enum orch_name_kind kind = ORCH_NAME_PARAM; kind <= ORCH_NAME_DIRECTED; kind++)
        ok = ok && drop_array(orch_store_names(store, &ALL_RUNS, kind, error));
    return ok;
}

static bool read_listing(struct orch_store *store, GError **error)
{
    static const char *const sorts[] = {NULL, "lr", "loss", "wall_s", "setting"};
    for (size_t i = 0; i < G_N_ELEMENTS(sorts); i++) {
        const struct orch_listing listing = {.sort = sorts[i], .is_rising = i % 2};
        g_autoptr(GArray) ids = orch_store_listing(store, &listing, error);
        if (!ids)
            return false;
    }
    return true;
}

static bool read_cells(struct orch_store *store, GError **error)
{
    static const int64_t ids[] = {2, 1};
    static const char *const columns[] = {"state",   "lr",   "min(loss)", "accuracy",
                                          "setting", "cell", "nothing",   NULL};
    return orch_store_visit_rows(store, ids, 2, columns, ignore_cells, NULL, error);
}

static bool read_recipes(struct orch_store *store, GError **error)
{
    return orch_store_recent_recipes(store, 10, ignore_text, NULL, error);
}

static bool read_thin(struct orch_store *store, GError **error)
{
    g_autofree char *unit = NULL;
    struct orch_thin *thin =
        orch_store_thin_series(store, RUN, "loss", 0, 100, 10, true, &unit, error);
    bool ok = thin != NULL;
    g_free(thin);
    return ok;
}

static bool read_series(struct orch_store *store, GError **error)
{
    struct orch_series *series = orch_store_series(store, RUN, "loss", error);
    orch_series_free(series);
    return series != NULL;
}

static bool read_reusable(struct orch_store *store, GError **error)
{
    return drop_run(orch_store_find_reusable(store, FIXTURE_PRINT, "2x Tesla V100-SXM2-16GB", 0,
                                             error)) &&
           is_absent_or(drop_run(orch_store_find_reusable(store, FIXTURE_PRINT, NULL, 9, error)),
                        error);
}

static bool read_history(struct orch_store *store, GError **error)
{
    g_autoptr(json_t) params = json_pack("{s:i}", "epochs", 10);
    return drop_array(orch_store_history(store, "hw4", "finetune", 2, params, 5, error));
}

static bool read_run(struct orch_store *store, GError **error)
{
    return drop_run(orch_store_run(store, FIXTURE_KEY, error)) &&
           drop_run(orch_store_run(store, "hugo", error)) &&
           drop_run(orch_store_run(store, "@last", error)) &&
           drop_run(orch_store_run(store, "@{1}", error)) &&
           drop_run(orch_store_run(store, "099a8057", error));
}

static bool read_hidden(struct orch_store *store, GError **error)
{
    struct orch_hidden *hidden = orch_store_hidden(store, CALLS_OTHER_KEY, error);
    orch_hidden_free(hidden);
    return hidden != NULL;
}

static bool read_forecast(struct orch_store *store, GError **error)
{
    struct orch_forecast_row row;
    return orch_store_forecast_of(store, FIXTURE_KEY, &row, error);
}

static bool read_timings(struct orch_store *store, GError **error)
{
    const struct orch_timing_query query = {.plugin = "finetune",
                                            .device_key = "2x Tesla V100-SXM2-16GB",
                                            .experiment = "finetune",
                                            .limit = 10};
    return drop_array(orch_store_timings(store, &query, error));
}

static bool read_dataset(struct orch_store *store, GError **error)
{
    struct orch_dataset *set = orch_store_dataset(store, "timings", error);
    orch_dataset_free(set);
    return set != NULL;
}

static bool read_predictor(struct orch_store *store, GError **error)
{
    struct orch_predictor_row *row = orch_store_predictor(store, "mine", error);
    orch_predictor_row_free(row);
    return row != NULL;
}

static bool read_newer_runs(struct orch_store *store, GError **error)
{
    int64_t count, last;
    return orch_store_newer_runs(store, 0, &count, &last, error);
}

static bool read_private_notes(struct orch_store *store, GError **error)
{
    return orch_store_private_notes(store, error) >= 0;
}

static bool read_source(struct orch_store *store, GError **error)
{
    return orch_store_has_source(store, "4b825dc642cb6eb9a060e54bf8d69288fbee4904", error);
}

static bool read_run_text(struct orch_store *store, GError **error)
{
    GString *text = orch_run_text_encode(store, RUN, error);
    if (text)
        g_string_free(text, TRUE);
    return text != NULL;
}

static const struct orch_outgoing ALL = {.where = NULL};

static bool read_pairs(struct orch_store *store, GError **error)
{
    int64_t last;
    g_autoptr(GArray) pairs = orch_outgoing_pairs(store, &ALL, &last, error);
    if (!pairs)
        return false;
    for (guint i = 0; i < pairs->len; i++) {
        const struct orch_pair *pair = &g_array_index(pairs, struct orch_pair, i);
        if (!pair->run_id && !drop_text(orch_outgoing_conflict(store, pair, error)))
            return false;
    }
    return true;
}

static bool read_outgoing(struct orch_store *store, GError **error)
{
    return drop_array(orch_outgoing_artifacts(store, &ALL, error)) &&
           orch_outgoing_recipes(store, &ALL, ignore_recipe, NULL, error) &&
           orch_outgoing_notes(store, &ALL, ignore_note, NULL, error);
}

static bool read_wheres(struct orch_store *store, GError **error)
{
    bool ok = false;
    struct orch_where *where = orch_where_parse("lr > 0 or state = ok", error);
    const struct orch_outgoing some = {.where = where};
    int64_t last;
    GArray *pairs = orch_outgoing_pairs(store, &some, &last, error);
    if (pairs) {
        g_array_unref(pairs);
        ok = drop_array(orch_outgoing_artifacts(store, &some, error)) &&
             orch_outgoing_recipes(store, &some, ignore_recipe, NULL, error) &&
             orch_outgoing_notes(store, &some, ignore_note, NULL, error) &&
             orch_store_visit_runs(store, where, ignore_bulk_run, NULL, error);
    }
    orch_where_free(where);
    return ok;
}

static bool read_active(struct orch_store *store, GError **error)
{
    (void)error;
    orch_active_row_free(orch_store_find_active(store, "no such key"));
    return true;
}

static bool read_hint(struct orch_store *store, GError **error)
{
    (void)error;
    return drop_text(orch_store_metric_hint(store, "los"));
}

static bool read_backup(struct orch_store *store, GError **error)
{
    g_autofree char *copy = g_build_filename(folder, "copy.db", NULL);
    bool ok = orch_store_backup(store, copy, error);
    if (!ok && access(copy, F_OK) == 0)
        fail_msg("backup, call of %s: half of a copy is left", fault_calls.what);
    unlink(copy);
    return ok;
}

READ_ARRAY(read_find_runs, orch_store_find_runs(store, "lr < 1", error))
READ_ARRAY(read_filter_runs, orch_store_filter_runs(store, "state = ok", error))
READ_ARRAY(read_notes, orch_store_notes(store, FIXTURE_KEY, error))
READ_ARRAY(read_tags, orch_store_tags(store, FIXTURE_KEY, error))
READ_ARRAY(read_inputs, orch_store_inputs(store, RUN, error))
READ_ARRAY(read_artifacts, orch_store_artifacts(store, RUN, error))
READ_ARRAY(read_result_rows, orch_store_result_rows(store, RUN, error))
READ_ARRAY(read_summaries, orch_store_summaries(store, RUN, error))
READ_ARRAY(read_actives, orch_store_actives(store, error))
READ_ARRAY(read_datasets, orch_store_datasets(store, error))
READ_ARRAY(read_grades, orch_store_grades(store, error))
READ_ARRAY(read_known_names, orch_store_known_names(store, error))
READ_ARRAY(read_metric_names, orch_store_metric_names(store, RUN, error))
READ_ARRAY(read_shares, orch_store_shares(store, error))
READ_ARRAY(read_predictors, orch_store_predictors(store, true, error))
READ_ARRAY(read_digests, orch_store_run_digests(store, error))
READ_ARRAY(read_signatures, orch_store_signatures(store, NULL, error))
READ_ARRAY(read_signatures_of, orch_store_signatures(store, FIXTURE_KEY, error))
READ_MAYBE(read_name, drop_text, orch_store_name(store, FIXTURE_KEY, error))
READ_MAYBE(read_remembered, drop_text, orch_store_remembered(store, "exchange.commit", error))
READ_MAYBE(read_version, drop_text, orch_store_version(store, error))
READ_MAYBE(read_params, drop_json, orch_store_params(store, RUN, error))
READ_MAYBE(read_results, drop_json, orch_store_results(store, RUN, error))

static const struct calls_operation READS[] = {
    {.name = "info", .run = read_info},
    {.name = "check", .run = read_check},
    {.name = "digest of all", .run = read_digest_all},
    {.name = "digest", .run = read_digest},
    {.name = "runs", .run = read_runs},
    {.name = "run", .run = read_run},
    {.name = "find runs", .run = read_find_runs},
    {.name = "filter runs", .run = read_filter_runs},
    {.name = "each run", .run = read_each_run},
    {.name = "each point", .run = read_each_point},
    {.name = "bulk runs", .run = read_bulk_runs},
    {.name = "bulk values", .run = read_bulk_values},
    {.name = "names", .run = read_names},
    {.name = "listing", .run = read_listing},
    {.name = "cells", .run = read_cells},
    {.name = "recent recipes", .run = read_recipes},
    {.name = "known names", .run = read_known_names},
    {.name = "metric names", .run = read_metric_names},
    {.name = "thin series", .run = read_thin},
    {.name = "series", .run = read_series},
    {.name = "summaries", .run = read_summaries},
    {.name = "params", .run = read_params},
    {.name = "results", .run = read_results},
    {.name = "result rows", .run = read_result_rows},
    {.name = "inputs", .run = read_inputs},
    {.name = "artifacts", .run = read_artifacts},
    {.name = "notes", .run = read_notes},
    {.name = "tags", .run = read_tags},
    {.name = "name", .run = read_name},
    {.name = "hidden", .run = read_hidden},
    {.name = "reusable", .run = read_reusable},
    {.name = "history", .run = read_history},
    {.name = "actives", .run = read_actives},
    {.name = "active by name", .run = read_active, .is_advisory = true},
    {.name = "timings", .run = read_timings},
    {.name = "forecast", .run = read_forecast},
    {.name = "grades", .run = read_grades},
    {.name = "datasets", .run = read_datasets},
    {.name = "dataset", .run = read_dataset},
    {.name = "predictor", .run = read_predictor},
    {.name = "predictors", .run = read_predictors},
    {.name = "newer runs", .run = read_newer_runs},
    {.name = "remembered", .run = read_remembered},
    {.name = "private notes", .run = read_private_notes},
    {.name = "source", .run = read_source},
    {.name = "version", .run = read_version},
    {.name = "shares", .run = read_shares},
    {.name = "run digests", .run = read_digests},
    {.name = "signatures", .run = read_signatures},
    {.name = "signatures of a run", .run = read_signatures_of},
    {.name = "run text", .run = read_run_text},
    {.name = "outgoing pairs", .run = read_pairs},
    {.name = "outgoing", .run = read_outgoing},
    {.name = "outgoing of some", .run = read_wheres},
    {.name = "hint", .run = read_hint, .is_advisory = true},
    {.name = "backup", .run = read_backup, .optional = "PRAGMA synchronous = OFF"},
};

/* Asks with call `n` failing. False when there were fewer calls. */
static bool ask(const struct calls_operation *op, unsigned n, enum orch_store_mode mode, int code)
{
    struct orch_store *store;
    GError *problem = NULL;
    assert_ok(store = orch_store_open(path, mode, error));
    fault_calls_begin(FAULT_SQLITE, n, false, code);
    bool ok = op->run(store, &problem);
    bool hit = fault_calls_end();
    calls_check_problem(op, n, ok, problem, folder);
    g_clear_error(&problem);
    calls_check_rest(store, op, n);
    if (!op->run(store, &problem))
        calls_wrong(op, n, "asked again: %s", problem ? problem->message : "(no error)");
    g_clear_error(&problem);
    orch_store_close(store);
    return hit;
}

static void test_each_call_of_a_question_fails(void **state)
{
    (void)state;
    unsigned calls = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(READS); i++) {
        unsigned n = 1;
        while (ask(&READS[i], n, ORCH_STORE_WRITE, SQLITE_IOERR)) {
            n++;
            assert_true(n < CALLS_MAX);
        }
        assert_true(n > 1);
        calls += n - 1;
    }
    assert_int_equal(calls_findings, 0);
    print_message("%zu questions, %u calls of SQLite failed\n", G_N_ELEMENTS(READS), calls);
}

/* Opening for reading fails at each call: nothing is opened, nothing changes. */
static void test_each_call_of_opening_fails(void **state)
{
    (void)state;
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS];
    assert_ok(orch_file_sha256(path, before, NULL, error));
    for (enum orch_store_mode mode = ORCH_STORE_READ; mode <= ORCH_STORE_CREATE; mode++) {
        bool hit = true;
        unsigned failed = 0;
        for (unsigned n = 1; hit; n++) {
            GError *problem = NULL;
            fault_calls_begin(FAULT_SQLITE, n, false, SQLITE_IOERR);
            struct orch_store *store = orch_store_open(path, mode, &problem);
            hit = fault_calls_end();
            failed += !store;
            if (!store && (!problem || !strstr(problem->message, path) ||
                           !strstr(problem->message, "hint: ")))
                fail_msg("opening, call %u (%s): %s", n, fault_calls.what,
                         problem ? problem->message : "(no error)");
            g_clear_error(&problem);
            orch_store_close(store);
        }
        assert_true(failed > 5);
    }
    assert_ok(orch_file_sha256(path, after, NULL, error));
    assert_string_equal(before, after);
}

int main(void)
{
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK); /* an error over another */
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    calls_make_store(folder);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_call_of_a_question_fails, calls_begin_test),
        cmocka_unit_test_setup(test_each_call_of_opening_fails, calls_begin_test),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_free(path);
    fixture_remove(folder);
    return failed;
}
