/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recording runs, claiming trials, reading back. */
#include "tests/store/fixture.h"

#include "lib/base/json.h"
#include "store/write/counted.h"

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

static struct orch_run *get_run(const char *key)
{
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, key, error));
    return run;
}

static int64_t count(const char *sql)
{
    int64_t n = -1;
    assert_ok(orch_store_get_int(store, &n, 0, error, sql, ""));
    return n;
}

/* ---- record -----------------------------------------------------------------------------------
 */

static void test_record_is_read_back(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    struct orch_run *run = get_run(FIXTURE_KEY);
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, FIXTURE_KEY, &points);
    const char *const pairs[][2] = {
        {run->recipe_key, r.recipe_key},
        {run->recipe, r.recipe},
        {run->experiment, r.experiment},
        {run->plugin, r.plugin},
        {run->plugin_version, r.plugin_version},
        {run->build, r.build},
        {run->source_tree, r.source_tree},
        {run->source_commit, r.source_commit},
        {run->source_branch, r.source_branch},
        {run->source_remote, r.source_remote},
        {run->fingerprint, r.fingerprint},
        {run->device_key, r.device_key},
        {run->state, "ok"},
        {run->machine_key, r.machine_key},
        {run->machine_facts, r.machine_facts},
        {run->who, r.who},
        {run->argv, r.argv},
        {run->facts, r.facts},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        assert_string_equal(pairs[i][0], pairs[i][1]);
    assert_true(run->source_dirty);
    assert_true(run->seed == UINT64_C(0xfedcba9876543210));
    assert_int_equal(run->repeat, 2);
    assert_int_equal(run->exit_code, 0);
    assert_int_equal(run->signal, 0);
    assert_null(run->reason);
    assert_true(run->started_ns == r.started_ns && run->ended_ns == r.ended_ns);
    assert_true(run->wall_ms == r.wall_ms);
    assert_false(run->hidden);
    assert_false(run->purged);
    orch_run_free(run);
}

static void test_details(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    struct orch_run *run = get_run(FIXTURE_KEY);
    g_autoptr(json_t) params = NULL, results = NULL;
    assert_ok(params = orch_store_params(store, run->id, error));
    g_autofree char *text = orch_json_canonical(params);
    assert_string_equal(text, "{\"epochs\":10,\"flip\":true,\"lr\":0.1,"
                              "\"milestones\":[\"30%\",\"60%\"],\"net\":\"resnet20\"}");
    assert_ok(results = orch_store_results(store, run->id, error));
    assert_true(json_real_value(json_object_get(results, "accuracy")) == 0.9375);
    g_autoptr(GPtrArray) rows = NULL;
    assert_ok(rows = orch_store_result_rows(store, run->id, error));
    const struct orch_stored_result *accuracy = rows->pdata[0];
    assert_string_equal(accuracy->unit, "%");
    assert_string_equal(accuracy->better, "max");
    g_autoptr(GPtrArray) inputs = NULL, artifacts = NULL;
    assert_ok(inputs = orch_store_inputs(store, run->id, error));
    assert_int_equal(inputs->len, 2);
    assert_null(((struct orch_stored_input *)inputs->pdata[0])->from_key);
    assert_string_equal(((struct orch_stored_input *)inputs->pdata[1])->name, "weights");
    assert_ok(artifacts = orch_store_artifacts(store, run->id, error));
    assert_int_equal(artifacts->len, 1);
    assert_false(((struct orch_stored_artifact *)artifacts->pdata[0])->here);
    orch_run_free(run);
}

static void test_series_and_summaries(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    struct orch_run *run = get_run(FIXTURE_KEY);
    struct orch_series *loss;
    assert_ok(loss = orch_store_series(store, run->id, "loss", error));
    assert_int_equal(loss->count, 3);
    assert_string_equal(loss->better, "min");
    assert_string_equal(loss->unit, "");
    assert_true(loss->step[2] == 3 && loss->t_ms[1] == 20.25 && loss->value[0] == 2.5);
    assert_true(isnan(loss->value[1]) && isinf(loss->value[2]));
    orch_series_free(loss);
    GError *problem = NULL;
    assert_null(orch_store_series(store, run->id, "none", &problem));
    assert_null(problem);
    g_autoptr(GPtrArray) summaries = NULL;
    assert_ok(summaries = orch_store_summaries(store, run->id, error));
    assert_int_equal(summaries->len, 2);
    const struct orch_metric_summary *speed = summaries->pdata[1];
    assert_string_equal(speed->name, "speed");
    assert_true(speed->count == 3 && speed->last_step == 3);
    assert_true(speed->max == 1250.5 && speed->max_step == 2 && speed->min == 0);
    assert_true(fabs(speed->mean - (1234.0 + 1250.5) / 3) < 1e-9);
    const struct orch_metric_summary *first = summaries->pdata[0];
    assert_true(first->min == 2.5 && first->min_step == 1 && isinf(first->last));
    orch_run_free(run);
}

static void test_later_point_replaces_earlier(void **state)
{
    (void)state;
    static const struct orch_point again[] = {
        {"loss", 1, 1, 5}, {"acc", 1, 1, 1},  {"loss", 2, 2, 4}, {"loss", 1, 3, 3},
        {"acc", 2, 4, 2},  {"loss", 3, 5, 2}, {"loss", 3, 6, 1},
    };
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, FIXTURE_KEY, &points);
    points = (struct fixture_points){again, G_N_ELEMENTS(again), 0};
    assert_ok(orch_store_record(store, &r, error));
    struct orch_run *run = get_run(FIXTURE_KEY);
    struct orch_series *loss;
    assert_ok(loss = orch_store_series(store, run->id, "loss", error));
    assert_int_equal(loss->count, 3);
    assert_true(loss->value[0] == 3 && loss->value[1] == 4 && loss->value[2] == 1);
    assert_true(loss->t_ms[0] == 3);
    orch_series_free(loss);
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_store_digest(store, run->id, digest, error));
    assert_string_equal(digest, run->digest);
    /* the same points in order give the same digest: only what is stored counts */
    static const struct orch_point sorted[] = {
        {"acc", 1, 1, 1}, {"acc", 2, 4, 2}, {"loss", 1, 3, 3}, {"loss", 2, 2, 4}, {"loss", 3, 6, 1},
    };
    points = (struct fixture_points){sorted, G_N_ELEMENTS(sorted), 0};
    assert_ok(orch_store_record(store, &r, error));
    assert_true(count("SELECT count(*) FROM run") == 1);
    orch_run_free(run);
}

static void test_recording_twice(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    fixture_put(store, FIXTURE_KEY);
    assert_true(count("SELECT count(*) FROM run") == 1);
    assert_true(count("SELECT count(*) FROM metric") == 6);
    struct fixture_points points;
    struct orch_record other;
    fixture_record(&other, FIXTURE_KEY, &points);
    other.state = "failed";
    assert_fails(orch_store_record(store, &other, error), ORCH_ERROR_STORE,
                 "it is stored with digest");
    assert_true(count("SELECT count(*) FROM run") == 1);
    assert_true(count("SELECT count(*) FROM metric") == 6);
}

static bool break_stream(void *ctx, struct orch_point *out, GError **error)
{
    int *at = ctx;
    *out = (struct orch_point){"loss", (*at)++, 0, 0};
    if (*at < 100)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, NULL, "journal broke");
    return false;
}

static void test_failed_stream_leaves_nothing(void **state)
{
    (void)state;
    struct orch_active a;
    fixture_active(&a, FIXTURE_PRINT, NULL);
    enum orch_begin begun;
    char key[ORCH_KEY_CHARS];
    assert_ok(orch_store_begin(store, &a, ORCH_REUSE_ANY, false, &begun, key, error));
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, a.key, &points);
    int at = 0;
    r.next_point = break_stream;
    r.next_ctx = &at;
    assert_fails(orch_store_record(store, &r, error), ORCH_ERROR_IO, "journal broke");
    assert_true(count("SELECT count(*) FROM run") == 0);
    assert_true(count("SELECT count(*) FROM metric") == 0);
    assert_true(count("SELECT count(*) FROM active") == 1);
    fixture_put(store, a.key); /* the handle still works, and the claim goes */
    assert_true(count("SELECT count(*) FROM active") == 0);
    assert_true(count("SELECT count(*) FROM lease") == 0);
}

static void test_bad_text_is_repaired(void **state)
{
    (void)state;
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, FIXTURE_KEY, &points);
    r.state = "crashed";
    r.reason = "bytes \xff\xfe here";
    assert_ok(orch_store_record(store, &r, error));
    struct orch_run *run = get_run(FIXTURE_KEY);
    assert_true(g_utf8_validate(run->reason, -1, NULL));
    orch_run_free(run);
}

static void test_too_many_names(void **state)
{
    (void)state;
    struct orch_point *many = g_new0(struct orch_point, 4097);
    for (int i = 0; i < 4097; i++)
        many[i] = (struct orch_point){g_strdup_printf("m%d", i), 1, 0, 0};
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, FIXTURE_KEY, &points);
    points = (struct fixture_points){many, 4097, 0};
    assert_fails(orch_store_record(store, &r, error), ORCH_ERROR_STORE, "more than 4096");
    for (int i = 0; i < 4097; i++)
        g_free((char *)(uintptr_t)many[i].name);
    g_free(many);
}

/* ---- immutability -----------------------------------------------------------------------------
 */

static void test_ended_runs_never_change(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    static const char *const refused[] = {
        "UPDATE run SET state = 'ok'",
        "DELETE FROM run",
        "INSERT OR REPLACE INTO run SELECT * FROM run",
        "UPDATE param SET value = '1'",
        "DELETE FROM param",
        "INSERT INTO param VALUES(1, 'more', 'int', '1')",
        "UPDATE input SET sha256 = NULL",
        "DELETE FROM input",
        "UPDATE result SET value = 1",
        "DELETE FROM result",
        "INSERT OR REPLACE INTO result VALUES(1, 'accuracy', 1, '', 'none')",
        "UPDATE artifact SET bytes = 0",
        "DELETE FROM artifact",
        "UPDATE metric SET value = 0",
        "DELETE FROM metric",
        "UPDATE source SET dirty = 0",
        "UPDATE machine SET facts = '{}'",
        "UPDATE metric_name SET unit = 's'",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
        assert_fails(orch_store_exec(store, refused[i], "write to", error), ORCH_ERROR_STORE,
                     "never changes");
    struct orch_run *run = get_run(FIXTURE_KEY);
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_store_digest(store, run->id, digest, error));
    assert_string_equal(digest, run->digest);
    orch_run_free(run);
}

/* The one change that no trigger sees, for speed: the digest does. */
static void test_added_point_is_found(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    assert_ok(
        orch_store_exec(store, "INSERT INTO metric VALUES(1, 1, 99, 0, 0)", "write to", error));
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs;
    assert_ok(orch_store_check(store, findings, &runs, error));
    assert_int_equal(findings->len, 1);
    assert_true(runs == 1);
    assert_non_null(strstr(findings->pdata[0], FIXTURE_KEY));
}

static void test_purge(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    assert_ok(orch_store_purge(store, FIXTURE_KEY, error));
    assert_true(count("SELECT count(*) FROM metric") == 0);
    assert_true(count("SELECT count(*) FROM artifact") == 0);
    struct orch_run *run = get_run(FIXTURE_KEY);
    assert_true(run->purged);
    orch_run_free(run);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    assert_int_equal(findings->len, 0);
    assert_fails(orch_store_purge(store, "nothing", error), ORCH_ERROR_NOT_FOUND, "no run");
    assert_fails(orch_store_exec(store, "DELETE FROM param", "write to", error), ORCH_ERROR_STORE,
                 "never changes") /* not even now: params are not bytes */;
}

/* ---- claims -----------------------------------------------------------------------------------
 */

static enum orch_begin begin(struct orch_active *a, enum orch_reuse reuse, bool force, char *key)
{
    enum orch_begin begun;
    key[0] = 0;
    assert_ok(orch_store_begin(store, a, reuse, force, &begun, key, error));
    return begun;
}

/* Of equal trials in one transaction the first is claimed; when one cannot be, none is. */
static void test_claims_together(void **state)
{
    (void)state;
    struct orch_beginning rows[3] = {0};
    for (unsigned i = 0; i < G_N_ELEMENTS(rows); i++) {
        fixture_active(&rows[i].active, FIXTURE_PRINT, "V100");
        rows[i].reuse = ORCH_REUSE_ANY;
    }
    rows[2].is_forced = true;
    assert_ok(orch_store_begin_all(store, rows, 3, error));
    assert_int_equal(rows[0].outcome, ORCH_BEGIN_STARTED);
    assert_int_equal(rows[1].outcome, ORCH_BEGIN_HELD);
    assert_string_equal(rows[1].other, rows[0].active.key);
    assert_int_equal(rows[2].outcome, ORCH_BEGIN_STARTED);
    assert_true(count("SELECT count(*) FROM active") == 2);
    struct orch_beginning again[2] = {0};
    fixture_active(&again[0].active, FIXTURE_PRINT, "V100");
    again[0].is_forced = again[1].is_forced = true;
    again[1].active = rows[0].active; /* a key that exists */
    GError *problem = NULL;
    assert_false(orch_store_begin_all(store, again, 2, &problem));
    assert_non_null(problem);
    g_clear_error(&problem);
    assert_true(count("SELECT count(*) FROM active") == 2);
    assert_true(count("SELECT count(*) FROM lease") == 2);
}

static void test_claims(void **state)
{
    (void)state;
    struct orch_active a, b;
    char key[ORCH_KEY_CHARS];
    fixture_active(&a, FIXTURE_PRINT, "V100");
    assert_int_equal(begin(&a, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_STARTED);
    fixture_active(&b, FIXTURE_PRINT, "V100");
    assert_int_equal(begin(&b, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_HELD);
    assert_string_equal(key, a.key);
    assert_int_equal(begin(&b, ORCH_REUSE_ANY, false, key), ORCH_BEGIN_HELD);
    fixture_active(&b, FIXTURE_PRINT, "P100"); /* elsewhere is another trial */
    assert_int_equal(begin(&b, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_STARTED);
    fixture_active(&b, FIXTURE_PRINT, "V100");
    assert_int_equal(begin(&b, ORCH_REUSE_NEVER, false, key), ORCH_BEGIN_STARTED);
    fixture_active(&b, FIXTURE_PRINT, "V100");
    assert_int_equal(begin(&b, ORCH_REUSE_ANY, true, key), ORCH_BEGIN_STARTED);
    assert_ok(orch_store_forget(store, a.key, error));
    fixture_active(&b, FIXTURE_PRINT, "V100"); /* never and force hold nobody up */
    assert_int_equal(begin(&b, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_STARTED);
    g_autoptr(GPtrArray) rows = NULL;
    assert_ok(rows = orch_store_actives(store, error));
    assert_int_equal(rows->len, 4);
    assert_true(count("SELECT count(*) FROM lease") == 4);
}

static void test_done_meanwhile(void **state)
{
    (void)state;
    struct orch_active a;
    char key[ORCH_KEY_CHARS];
    fixture_put(store, FIXTURE_KEY);
    fixture_active(&a, FIXTURE_PRINT, "2x Tesla V100-SXM2-16GB");
    assert_int_equal(begin(&a, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_DONE);
    assert_string_equal(key, FIXTURE_KEY);
    a.device_key = "P100";
    assert_int_equal(begin(&a, ORCH_REUSE_ANY, false, key), ORCH_BEGIN_DONE);
    assert_int_equal(begin(&a, ORCH_REUSE_DEVICE, false, key), ORCH_BEGIN_STARTED);
    assert_ok(orch_store_forget(store, a.key, error));
    assert_ok(orch_store_note(store, FIXTURE_KEY, "tombstone", false, "wrong data", error));
    assert_int_equal(begin(&a, ORCH_REUSE_ANY, false, key), ORCH_BEGIN_STARTED);
}

static void test_failed_run_is_not_reused(void **state)
{
    (void)state;
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, FIXTURE_KEY, &points);
    r.state = "crashed";
    assert_ok(orch_store_record(store, &r, error));
    GError *problem = NULL;
    assert_null(orch_store_find_reusable(store, FIXTURE_PRINT, NULL, 0, &problem));
    assert_null(problem);
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    fixture_record(&r, key, &points);
    r.state = "diverged";
    assert_ok(orch_store_record(store, &r, error));
    struct orch_run *run;
    assert_ok(run = orch_store_find_reusable(store, FIXTURE_PRINT, r.device_key, 0, error));
    assert_string_equal(run->key, key);
    orch_run_free(run);
    assert_null(orch_store_find_reusable(store, FIXTURE_PRINT, "elsewhere", 0, &problem));
    assert_null(problem);
}

/* The store's list of words and the table of verdicts are one. */
static void test_verdicts_that_are_reused(void **state)
{
    (void)state;
    for (enum orch_verdict v = ORCH_VERDICT_OK; v < ORCH_VERDICT_UNKNOWN; v++) {
        const struct orch_verdict_facts *facts = orch_verdict_facts(v);
        char key[ORCH_KEY_CHARS];
        struct fixture_points points;
        struct orch_record r;
        orch_key_make(key);
        fixture_record(&r, key, &points);
        r.state = facts->name;
        r.fingerprint = key;
        assert_ok(orch_store_record(store, &r, error));
        struct orch_run *run = orch_store_find_reusable(store, key, NULL, 0, NULL);
        assert_int_equal(run != NULL, facts->is_reused);
        orch_run_free(run);
    }
}

static void test_adopt(void **state)
{
    (void)state;
    struct orch_active a;
    char key[ORCH_KEY_CHARS];
    fixture_active(&a, FIXTURE_PRINT, NULL);
    a.runner.pid = 4000000; /* cannot be alive: over the kernel's limit of process numbers */
    struct orch_process dead = a.runner;
    assert_int_equal(begin(&a, ORCH_REUSE_ANY, false, key), ORCH_BEGIN_STARTED);
    bool taken = false;
    assert_ok(orch_store_adopt(store, a.key, &dead, &taken, error));
    assert_true(taken);
    assert_ok(orch_store_adopt(store, a.key, &dead, &taken, error));
    assert_false(taken);
    g_autoptr(GPtrArray) rows = NULL;
    assert_ok(rows = orch_store_actives(store, error));
    const struct orch_active_row *row = rows->pdata[0];
    assert_true(row->runner.pid == getpid());
    assert_string_equal(row->record, "{}");
}

/* ---- finding ----------------------------------------------------------------------------------
 */

static void put_at(const char *key, int64_t ended_ns, const char *experiment, const char *lr)
{
    struct fixture_points points;
    struct orch_record r;
    struct orch_named_text params[] = {{"lr", "real", lr}, {"net", "string", "\"r20\""}};
    fixture_record(&r, key, &points);
    r.ended_ns = ended_ns;
    r.experiment = experiment;
    r.params = params;
    r.param_count = 2;
    assert_ok(orch_store_record(store, &r, error));
}

static void test_runs_and_resolver(void **state)
{
    (void)state;
    put_at("01890a5d-0000-7000-8000-0000aaaa1111", 3000, "one", "0.1");
    put_at("01890a5d-0000-7000-8000-0000aaaa2222", 1000, "two", "0.1");
    put_at("01890a5e-0000-7000-8000-0000bbbb3333", 2000, "one", "0.2");
    struct orch_run_query all = {.limit = 2};
    int64_t total;
    g_autoptr(GPtrArray) runs = NULL;
    assert_ok(runs = orch_store_runs(store, &all, &total, error));
    assert_int_equal(runs->len, 2);
    assert_true(total == 3);
    assert_true(((struct orch_run *)runs->pdata[0])->ended_ns == 3000);
    static const struct {
        const char *text;
        int64_t ended;
    } found[] = {
        {"@last", 3000},    {"@{1}", 2000},     {"@{2}", 1000},
        {"01890a5e", 2000}, {"AAAA2222", 1000}, {"aaaa1", 3000},
        {"bbbb", 2000},     {"0000bbbb", 2000}, {"01890a5d-0000-7000-8000-0000aaaa1111", 3000}};
    for (size_t i = 0; i < G_N_ELEMENTS(found); i++) {
        struct orch_run *run = get_run(found[i].text);
        assert_true(run->ended_ns == found[i].ended);
        orch_run_free(run);
    }
    assert_fails(orch_store_run(store, "01890a5d", error), ORCH_ERROR_NOT_FOUND, "aaaa2222");
    assert_fails(orch_store_run(store, "@{3}", error), ORCH_ERROR_NOT_FOUND, "fewer");
    assert_fails(orch_store_run(store, "ffff", error), ORCH_ERROR_NOT_FOUND, "no run");
    assert_fails(orch_store_run(store, "abc", error), ORCH_ERROR_NOT_FOUND, "4 or more");
    assert_fails(orch_store_run(store, "x' OR 1", error), ORCH_ERROR_NOT_FOUND, "not the key");
}

static void test_hidden_runs(void **state)
{
    (void)state;
    put_at("01890a5d-0000-7000-8000-0000aaaa1111", 3000, "one", "0.1");
    put_at("01890a5d-0000-7000-8000-0000aaaa2222", 1000, "two", "0.1");
    assert_ok(orch_store_note(store, "01890a5d-0000-7000-8000-0000aaaa1111", "tombstone", true,
                              NULL, error));
    assert_ok(orch_store_note(store, "01890a5d-0000-7000-8000-0000aaaa2222", "tag", false, "keep",
                              error));
    assert_fails(orch_store_note(store, FIXTURE_KEY, "note", false, "x", error),
                 ORCH_ERROR_NOT_FOUND, "no run");
    assert_fails(orch_store_note(store, FIXTURE_KEY, "rumour", false, "x", error), ORCH_ERROR_USAGE,
                 "rumour");
    struct orch_run_query query = {0};
    int64_t total;
    g_autoptr(GPtrArray) runs = NULL, with = NULL, notes = NULL;
    assert_ok(runs = orch_store_runs(store, &query, &total, error));
    assert_int_equal(runs->len, 1);
    query.with_hidden = true;
    assert_ok(with = orch_store_runs(store, &query, &total, error));
    assert_int_equal(with->len, 2);
    assert_true(((struct orch_run *)with->pdata[0])->hidden);
    struct orch_run *last = get_run("@last");
    assert_true(last->ended_ns == 1000);
    orch_run_free(last);
    assert_ok(notes = orch_store_notes(store, "01890a5d-0000-7000-8000-0000aaaa2222", error));
    assert_string_equal(((struct orch_stored_note *)notes->pdata[0])->text, "keep");
}

static void test_history(void **state)
{
    (void)state;
    put_at("01890a5d-0000-7000-8000-0000aaaa1111", 3000, "one", "0.1");
    put_at("01890a5d-0000-7000-8000-0000aaaa2222", 1000, "one", "0.1");
    put_at("01890a5e-0000-7000-8000-0000bbbb3333", 2000, "one", "0.2");
    put_at("01890a5e-0000-7000-8000-0000bbbb4444", 2000, "two", "0.1");
    g_autoptr(json_t) params = json_pack("{sfss}", "lr", 0.1, "net", "r20");
    g_autoptr(GPtrArray) rows = NULL;
    assert_ok(rows = orch_store_history(store, "hw4", "one", 2, params, 10, error));
    assert_int_equal(rows->len, 2);
    const struct orch_history_row *newest = rows->pdata[0];
    assert_true(newest->ended_ns == 3000);
    assert_string_equal(newest->plugin_version, "1.2.0");
    g_autoptr(json_t) none = json_object();
    g_autoptr(GPtrArray) all = NULL;
    assert_ok(all = orch_store_history(store, "hw4", "one", 2, none, 2, error));
    assert_int_equal(all->len, 2);
    g_autoptr(GPtrArray) other = NULL;
    assert_ok(other = orch_store_history(store, "hw4", "one", 1, none, 2, error));
    assert_int_equal(other->len, 0);
}

static guint count_of(const char *recipe, const char *experiment, bool with_counted)
{
    const struct orch_run_query query = {
        .recipe = recipe, .experiment = experiment, .with_counted = with_counted};
    g_autoptr(GPtrArray) runs = orch_store_runs(store, &query, NULL, NULL);
    assert_non_null(runs);
    return runs->len;
}

static void test_counted(void **state)
{
    (void)state;
    put_at("01890a5d-0000-7000-8000-0000aaaa1111", 3000, "one", "0.1");
    put_at("01890a5d-0000-7000-8000-0000aaaa2222", 1000, "two", "0.2");
    const struct orch_counted counted[] = {{"one", "01890a5d-0000-7000-8000-0000aaaa1111"},
                                           {"one", "01890a5d-0000-7000-8000-0000aaaa2222"},
                                           {"three", "01890a5d-0000-7000-8000-0000aaaa2222"}};
    g_autoptr(json_t) none = json_object();
    g_autoptr(json_t) rare = json_pack("{sf}", "lr", 0.2);
    g_autoptr(GPtrArray) all = NULL, some = NULL, limited = NULL, of = NULL;
    for (int i = 0; i < 2; i++) /* twice is once */
        assert_ok(orch_store_count_runs(store, "hw4", counted, G_N_ELEMENTS(counted), error));
    assert_ok(all = orch_store_history(store, "hw4", "one", 2, none, 10, error));
    assert_int_equal(all->len, 2);
    assert_true(((struct orch_history_row *)all->pdata[0])->ended_ns == 3000);
    assert_ok(some = orch_store_history(store, "hw4", "one", 2, rare, 10, error));
    assert_int_equal(some->len, 1);
    assert_ok(limited = orch_store_history(store, "hw4", "one", 2, none, 1, error));
    assert_int_equal(limited->len, 1);
    assert_int_equal(count_of("hw4", "one", false), 1);
    assert_int_equal(count_of("hw4", "one", true), 2);
    assert_int_equal(count_of(NULL, "three", true), 1);
    assert_int_equal(count_of("hw", NULL, true), 0);
    assert_int_equal(count_of("hw4", "ne", true), 0);
    const struct orch_history_row *first = all->pdata[0];
    assert_ok(of = orch_store_history_of(store, first->fingerprint, 10, error));
    assert_true(of->len >= 1);
    assert_ok(orch_store_note(store, counted[1].key, "tombstone", true, NULL, error));
    assert_int_equal(count_of("hw4", "one", true), 1);
}

static void test_recipe_text(void **state)
{
    (void)state;
    assert_ok(orch_store_put_recipe(store, "k", "hw4", "{}", "# as written", error));
    assert_ok(orch_store_put_recipe(store, "k", "hw4", "{}", "# another comment", error));
    assert_true(count("SELECT count(*) FROM recipe WHERE verbatim = '# as written'") == 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_record_is_read_back),
        TEST(test_details),
        TEST(test_series_and_summaries),
        TEST(test_later_point_replaces_earlier),
        TEST(test_recording_twice),
        TEST(test_failed_stream_leaves_nothing),
        TEST(test_bad_text_is_repaired),
        TEST(test_too_many_names),
        TEST(test_ended_runs_never_change),
        TEST(test_added_point_is_found),
        TEST(test_purge),
        TEST(test_claims),
        TEST(test_claims_together),
        TEST(test_done_meanwhile),
        TEST(test_failed_run_is_not_reused),
        TEST(test_verdicts_that_are_reused),
        TEST(test_adopt),
        TEST(test_runs_and_resolver),
        TEST(test_hidden_runs),
        TEST(test_history),
        TEST(test_counted),
        TEST(test_recipe_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
