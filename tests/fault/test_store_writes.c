/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every change that can be made to a store, with each of its calls of SQLite, and each of its calls
 * of the system's file functions, failing in turn, once or from then on. The change is made as a
 * whole or not at all, the error names the file, the store is sound afterwards, and the same change
 * can be made again. */
#include "tests/fault/fault_vfs.h"
#include "tests/fault/store_calls.h"

#include "store/handle/store_dir.h"
#include "store/place/shards.h"
#include "store/repair/repair.h"

#include "lib/base/files_below.h"

static char *model, *folder, *path; /* a store that is copied for each try, and the copy */
static struct orch_process self;

/* ---- the changes ------------------------------------------------------------------------------
 */

static bool write_record(struct orch_store *store, GError **error)
{
    struct fixture_points points;
    struct orch_record record;
    fixture_record(&record, "01890a5d-ac96-774b-bcce-b302099a8059", &points);
    return orch_store_record(store, &record, error);
}

static bool write_begin(struct orch_store *store, GError **error)
{
    struct orch_active active = {
        .fingerprint = "1f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0bd822cd15d6c15b0f00a8",
        .device_key = "here",
        .record = "{}",
        .runner = self,
        .started_ns = 1};
    enum orch_begin begun;
    char key[ORCH_KEY_CHARS];
    orch_key_make(active.key);
    return orch_store_begin(store, &active, ORCH_REUSE_DEVICE, false, &begun, key, error) &&
           orch_store_begin(store, &active, ORCH_REUSE_ANY, false, &begun, key, error);
}

static char *active_key(struct orch_store *store, struct orch_process *runner, GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    if (!rows || !rows->len)
        return NULL;
    const struct orch_active_row *row = rows->pdata[0];
    *runner = row->runner;
    return g_strdup(row->key);
}

static bool write_adopt(struct orch_store *store, GError **error)
{
    struct orch_process from;
    bool taken;
    g_autofree char *key = active_key(store, &from, error);
    return key && orch_store_adopt(store, key, &from, &taken, error);
}

static bool write_forget(struct orch_store *store, GError **error)
{
    struct orch_process from;
    g_autoptr(GError) problem = NULL;
    g_autofree char *key = active_key(store, &from, &problem);
    if (problem)
        g_propagate_error(error, g_steal_pointer(&problem));
    else if (!key)
        return true; /* a second time */
    return key && orch_store_forget(store, key, error);
}

static bool write_recipe(struct orch_store *store, GError **error)
{
    return orch_store_put_recipe(store, FIXTURE_PRINT, "new", "{\"a\":1}", "a: 1", error);
}

static bool write_note(struct orch_store *store, GError **error)
{
    return orch_store_note(store, FIXTURE_KEY, "note", true, "second", error);
}

static bool write_hide(struct orch_store *store, GError **error)
{
    return orch_store_note(store, FIXTURE_KEY, "tombstone", true, "wrong too", error);
}

static bool write_restore(struct orch_store *store, GError **error)
{
    return orch_store_restore(store, CALLS_OTHER_KEY, "right after all", error);
}

static bool write_purge(struct orch_store *store, GError **error)
{
    return orch_store_purge(store, CALLS_OTHER_KEY, error);
}

static bool write_untag(struct orch_store *store, GError **error)
{
    bool had;
    return orch_store_untag(store, FIXTURE_KEY, "best", &had, error);
}

static bool write_name(struct orch_store *store, GError **error)
{
    return orch_store_set_name(store, FIXTURE_KEY, "otto", false, error);
}

static bool write_object(struct orch_store *store, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    int64_t bytes;
    g_autofree char *file = g_build_filename(folder, "beside", "other.db", NULL);
    return orch_store_put_object(store, file, sha256, &bytes, error);
}

static bool write_object_bytes(struct orch_store *store, GError **error)
{
    char sha256[ORCH_SHA256_CHARS];
    return orch_store_put_object_bytes(store, "bar", 3, sha256, error);
}

static bool write_object_at(struct orch_store *store, GError **error)
{
    int64_t bytes;
    bool fits;
    int from = orch_below_root(folder);
    if (from < 0) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot open '%s'", folder);
        return false;
    }
    bool ok = orch_store_put_object_at(store, from, "results.db.d/orch-store", FIXTURE_PRINT,
                                       &bytes, &fits, error);
    close(from);
    return ok;
}

static bool write_gc(struct orch_store *store, GError **error)
{
    int count;
    int64_t bytes;
    return orch_store_gc(store, false, &count, &bytes, NULL, error);
}

static bool write_dataset(struct orch_store *store, GError **error)
{
    enum orch_dataset_put put;
    g_autofree char *name = NULL;
    struct orch_dataset *set = calls_dataset("others", 7);
    bool ok = orch_store_put_dataset(store, set, &put, &name, error);
    orch_dataset_free(set);
    return ok;
}

static bool write_no_dataset(struct orch_store *store, GError **error)
{
    struct orch_dataset *removed = NULL;
    bool ok = orch_store_remove_dataset(store, "timings", &removed, error);
    orch_dataset_free(removed);
    return ok;
}

static bool write_imported(struct orch_store *store, GError **error)
{
    bool added;
    struct orch_imported_run *run = calls_imported("a1");
    orch_imported_result(run, "accuracy", 0.75); /* the run went on since the first import */
    g_ptr_array_add(run->tags, g_strdup("green"));
    bool ok = orch_store_put_imported(store, run, &added, error);
    orch_imported_run_free(run);
    return ok;
}

static bool write_predictor(struct orch_store *store, GError **error)
{
    return orch_store_put_predictor(store, "mine", "{\"a\":2}", error);
}

static bool write_no_predictor(struct orch_store *store, GError **error)
{
    bool removed;
    return orch_store_remove_predictor(store, "mine", &removed, error);
}

static bool write_remembered(struct orch_store *store, GError **error)
{
    return orch_store_remember(store, "exchange.commit", "def", error);
}

/* A store with runs, a conflict, notes, a recipe, a forecast and a data set that this one lacks. */
static bool write_join(struct orch_store *store, GError **error)
{
    g_autofree char *other = g_build_filename(folder, "join", "results.db", NULL);
    struct orch_join *join = orch_join_begin(store, other, error);
    if (!join)
        return false;
    if (!orch_join_store(join, other, -1, error)) {
        orch_join_rollback(join);
        return false;
    }
    struct orch_receipt *receipt = orch_join_commit(join, error);
    if (receipt && receipt->refused && error && !*error) /* told apart: nothing was lost */
        orch_error_set(error, ORCH_ERROR_STORE, "refused", "%s: %s", folder,
                       (char *)receipt->problems->pdata[0]);
    bool ok = receipt && !receipt->refused;
    orch_receipt_free(receipt);
    return ok;
}

static bool write_sync(struct orch_store *store, GError **error)
{
    return orch_store_put_recipe(store, FIXTURE_PRINT, "new", "{}", "", error) &&
           orch_store_sync(store, error);
}

static bool write_folders(struct orch_store *store, GError **error)
{
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    return orch_store_dir_make(store, ORCH_STORE_DIR_TRIAL, key, 0755, error) &&
           orch_store_dir_make_parent(store, ORCH_STORE_DIR_CHECKPOINT, error) &&
           orch_store_dir_remove(store, ORCH_STORE_DIR_TRIAL, key, error);
}

static const struct calls_operation WRITES[] = {
    {.name = "record", .run = write_record},
    {.name = "begin", .run = write_begin},
    {.name = "adopt", .run = write_adopt, .place = "/proc/"},
    {.name = "forget", .run = write_forget},
    {.name = "recipe", .run = write_recipe},
    {.name = "note", .run = write_note},
    {.name = "hide", .run = write_hide},
    {.name = "restore", .run = write_restore},
    {.name = "purge", .run = write_purge},
    {.name = "untag", .run = write_untag},
    {.name = "name", .run = write_name},
    {.name = "object", .run = write_object, .may_lack_files = true},
    {.name = "object of bytes", .run = write_object_bytes, .may_lack_files = true},
    {.name = "object in a folder",
     .run = write_object_at,
     .may_lack_files = true,
     .place = "results.db.d/orch-store"},
    {.name = "gc", .run = write_gc, .may_lack_files = true},
    {.name = "data set", .run = write_dataset},
    {.name = "no data set", .run = write_no_dataset, .is_once = true, .is_advisory = true},
    {.name = "import", .run = write_imported},
    {.name = "forecast", .run = calls_put_forecast},
    {.name = "predictor", .run = write_predictor},
    {.name = "no predictor", .run = write_no_predictor},
    {.name = "remember", .run = write_remembered},
    {.name = "join", .run = write_join, .is_advisory = true, .is_partial = true},
    {.name = "sync", .run = write_sync},
    {.name = "folders beside it", .run = write_folders, .may_lack_files = true},
};

/* ---- a sweep ----------------------------------------------------------------------------------
 */

/* All that a user can see of a store: digest, notes in effect, data sets, predictors, trials. */
static char *state_of(struct orch_store *store)
{
    static const char *const counts[] = {"SELECT count(*) FROM run",
                                         "SELECT count(*) FROM metric",
                                         "SELECT count(*) FROM note",
                                         "SELECT count(*) FROM note WHERE public",
                                         "SELECT count(*) FROM active",
                                         "SELECT count(*) FROM lease",
                                         "SELECT count(*) FROM sample",
                                         "SELECT count(*) FROM predictor",
                                         "SELECT sum(length(model)) FROM predictor",
                                         "SELECT count(*) FROM recipe",
                                         "SELECT count(*) FROM purged",
                                         "SELECT count(*) FROM forecast",
                                         "SELECT count(*) FROM conflict",
                                         "SELECT count(*) FROM artifact"};
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_store_digest_all(store, digest, error));
    GString *text = g_string_new(digest);
    for (size_t i = 0; i < G_N_ELEMENTS(counts); i++) {
        int64_t n;
        assert_ok(orch_store_get_int(store, &n, 0, error, counts[i], ""));
        g_string_append_printf(text, " %d", (int)n);
    }
    return g_string_free(text, FALSE);
}

struct sweep {
    enum fault_kind kind;
    bool lasting;
    int code;
    unsigned step; /* 1: a call of each place fails in turn */
};

/* The store is sound, and as it was before the change or as it is after it. */
static void check_outcome(const struct calls_operation *op, unsigned n, const char *before,
                          const char *after, bool ok)
{
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    for (guint i = 0; i < findings->len; i++)
        calls_wrong(op, n, "%s", (char *)findings->pdata[i]);
    g_autofree char *now = state_of(store);
    if (strcmp(now, after) != 0 && (ok || !(op->is_partial || strcmp(now, before) == 0)))
        calls_wrong(op, n, "%s, but the store is neither as before nor as after:\n  %s\n  %s\n  %s",
                    ok ? "succeeded" : "failed", before, after, now);
    GError *problem = NULL;
    bool is_done = strcmp(before, after) != 0 && strcmp(now, after) == 0;
    if (!(op->is_once && is_done) && !op->run(store, &problem))
        calls_wrong(op, n, "made again: %s", problem->message);
    g_clear_error(&problem);
    orch_store_close(store);
}

/* One try with call `n` failing. False when there were fewer calls. */
static bool change(const struct calls_operation *op, unsigned n, const struct sweep *sweep,
                   const char *before, const char *after)
{
    struct orch_store *store;
    GError *problem = NULL;
    calls_copy(model, folder);
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    fault_calls_begin(sweep->kind, n, sweep->lasting, sweep->code);
    bool ok = op->run(store, &problem);
    bool hit = fault_calls_end();
    calls_check_problem(op, n, ok, problem, folder);
    g_clear_error(&problem);
    calls_check_rest(store, op, n);
    orch_store_close(store);
    check_outcome(op, n, before, after, ok);
    return hit;
}

static char *state_after(const struct calls_operation *op)
{
    struct orch_store *store;
    calls_copy(model, folder);
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    if (op)
        assert_ok(op->run(store, error));
    char *text = state_of(store);
    orch_store_close(store);
    return text;
}

/* The calls that are tried, with one beyond the last. */
static GArray *list_calls(const struct calls_operation *op, const struct sweep *sweep)
{
    struct orch_store *store;
    GError *problem = NULL;
    calls_copy(model, folder);
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    fault_calls_list(sweep->kind);
    bool ok = op->run(store, &problem);
    GArray *numbers = fault_calls_listed(sweep->step);
    assert_true(ok);
    orch_store_close(store);
    return numbers;
}

static void sweep_changes(const struct sweep *sweep, const char *what)
{
    unsigned tries = 0, calls = 0;
    g_autofree char *before = state_after(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(WRITES); i++) {
        g_autofree char *after = state_after(&WRITES[i]);
        g_autoptr(GArray) numbers = list_calls(&WRITES[i], sweep);
        for (guint k = 0; k < numbers->len; k++) {
            unsigned n = g_array_index(numbers, guint, k);
            bool hit = change(&WRITES[i], n, sweep, before, after);
            assert_true(hit == (k + 1 < numbers->len));
            tries += hit;
        }
        calls += g_array_index(numbers, guint, numbers->len - 1) - 1;
    }
    print_message("%zu changes, %u of %u calls of %s failed\n", G_N_ELEMENTS(WRITES), tries, calls,
                  what);
    assert_int_equal(calls_findings, 0);
}

static void test_each_call_of_sqlite_fails(void **state)
{
    (void)state;
    sweep_changes(&(struct sweep){FAULT_SQLITE, false, SQLITE_IOERR, 1}, "SQLite");
}

static void test_sqlite_fails_from_a_call_on(void **state)
{
    (void)state;
    sweep_changes(&(struct sweep){FAULT_SQLITE, true, SQLITE_FULL, 3}, "SQLite and all after it");
}

static void test_each_call_of_the_system_fails(void **state)
{
    (void)state;
    sweep_changes(&(struct sweep){FAULT_FILES, false, EIO, 1}, "the system");
}

static void test_system_fails_from_a_call_on(void **state)
{
    (void)state;
    sweep_changes(&(struct sweep){FAULT_FILES, true, ENOSPC, 1}, "the system and all after it");
}

static void make_model(void)
{
    g_autofree char *join = g_build_filename(model, "join", NULL);
    assert_ok(orch_dir_make(model, error));
    calls_make_store(model);
    assert_ok(orch_dir_make(join, error));
    struct orch_store *store = fixture_open(join);
    char sha256[ORCH_SHA256_CHARS];
    put_variant(store, 1, 2); /* a third run of this key */
    put_variant(store, 7, 0);
    put_variant(store, 8, 0);
    g_autofree char *key = numbered_key(7);
    assert_ok(orch_store_note(store, key, "note", true, "from elsewhere", error));
    assert_ok(orch_store_note(store, key, "tombstone", true, "not this one", error));
    assert_ok(orch_store_put_object_bytes(store, "foo", 3, sha256, error));
    assert_ok(calls_put_forecast(store, error));
    struct orch_dataset *set = calls_dataset("timings", 3); /* other rows of the same name */
    enum orch_dataset_put put;
    assert_ok(orch_store_put_dataset(store, set, &put, NULL, error));
    orch_dataset_free(set);
    orch_store_close(store);
}

int main(void)
{
    char *scratch = fixture_folder();
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK); /* an error over another */
    fault_vfs_register();
    assert_true(orch_process_get(getpid(), &self));
    fault.no_sync = true;
    model = g_build_filename(scratch, "model", NULL);
    folder = g_build_filename(scratch, "copy", NULL);
    path = g_build_filename(folder, "results.db", NULL);
    make_model();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_call_of_sqlite_fails, calls_begin_test),
        cmocka_unit_test_setup(test_sqlite_fails_from_a_call_on, calls_begin_test),
        cmocka_unit_test_setup(test_each_call_of_the_system_fails, calls_begin_test),
        cmocka_unit_test_setup(test_system_fails_from_a_call_on, calls_begin_test),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_free(model);
    g_free(folder);
    g_free(path);
    fixture_remove(scratch);
    return failed;
}
