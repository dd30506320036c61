/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What opens stores by itself (creation, migration, adoption, stores of several hosts, repair),
 * with each call of SQLite, and each of the system's file functions, failing in turn. The error
 * names a file in the store's folder, no run is lost, and the same thing can be done again. */
#include "tests/fault/fault_vfs.h"
#include "tests/fault/store_calls.h"

#include "features/doctor/filesystem_probe.h"
#include "store/handle/store_dir.h"
#include "store/place/shards.h"
#include "store/repair/repair.h"

#include <time.h>

static char *model, *folder;

static char *below(const char *relative)
{
    return g_build_filename(folder, relative, NULL);
}

/* Number of files of a folder whose names contain a text. */
static unsigned count_in(const char *of, const char *text)
{
    g_autoptr(GDir) dir = g_dir_open(of, 0, NULL);
    const char *entry;
    unsigned count = 0;
    while ((entry = g_dir_read_name(dir)))
        count += strstr(entry, text) != NULL;
    return count;
}

/* ---- what is done -----------------------------------------------------------------------------
 */

static bool open_it(const char *relative, enum orch_store_mode mode, GError **error)
{
    g_autofree char *path = below(relative);
    struct orch_store *store = orch_store_open(path, mode, error);
    orch_store_close(store);
    return store != NULL;
}

static bool do_write(struct orch_store *unused, GError **error)
{
    (void)unused;
    return open_it("results.db", ORCH_STORE_WRITE, error);
}

static bool do_read(struct orch_store *unused, GError **error)
{
    (void)unused;
    return open_it("results.db", ORCH_STORE_READ, error);
}

static bool do_create(struct orch_store *unused, GError **error)
{
    (void)unused;
    return open_it("new/results.db", ORCH_STORE_CREATE, error);
}

static bool do_adopt(struct orch_store *unused, GError **error)
{
    (void)unused;
    g_autofree char *path = below("results.db");
    return orch_store_adopt_folder(path, error);
}

/* A changed schema has one backup beside it, however often that was tried, unless it cannot be
 * removed. */
static void check_backups(const char *place, bool is_changed)
{
    unsigned backups = count_in(place, "backup");
    bool may_stay = fault_calls.lasting && fault_calls.kind_of_hit == FAULT_FILES;
    if ((backups > 1 && !may_stay) || (is_changed && !backups)) {
        print_error("after %.60s: %u backups\n", fault_calls.what, backups);
        calls_findings++;
    }
}

static bool do_migrate(struct orch_store *unused, GError **error)
{
    (void)unused;
    static const struct store_migration steps[] = {
        {1, "CREATE TABLE extra(x INTEGER) STRICT; INSERT INTO extra VALUES(42)"}};
    static const struct store_migrations to_2 = {
        .target = 2, .create = "", .steps = steps, .step_count = 1};
    const struct store_options options = {.migrations = &to_2};
    g_autofree char *path = below("beside/other.db");
    struct orch_store *store = orch_store_open_with(path, ORCH_STORE_WRITE, &options, error);
    int64_t x = 0;
    bool ok = store && orch_store_get_int(store, &x, 0, error, "SELECT x FROM extra", "");
    assert_true(!ok || x == 42);
    orch_store_close(store);
    g_autofree char *place = below("beside");
    check_backups(place, ok);
    return ok;
}

/* A store with the names of columns from before the first release. */
static bool do_rename(struct orch_store *unused, GError **error)
{
    (void)unused;
    g_autofree char *place = below("before");
    bool ok = open_it("before/results.db", ORCH_STORE_READ, error);
    check_backups(place, ok);
    return ok;
}

/* The files of two hosts, for a third one. */
static bool do_share(struct orch_store *unused, GError **error)
{
    (void)unused;
    g_setenv("ORCH_SHARDS", "1", TRUE);
    g_setenv("ORCH_SHARD_HOST", "c", TRUE);
    g_autofree char *path = below("shared/results.db");
    struct orch_store *store = orch_store_open(path, ORCH_STORE_CREATE, error);
    if (store) {
        store->shards->looked_ns = 0;
        orch_store_refresh(store);
    }
    bool ok = store && orch_store_warnings(store)->len == 0;
    if (store && !ok)
        orch_error_set(error, ORCH_ERROR_STORE, "in a warning", "%s",
                       (char *)orch_store_warnings(store)->pdata[0]);
    orch_store_close(store);
    g_unsetenv("ORCH_SHARDS");
    return ok;
}

/* The files of several hosts on a local disk become one file again. */
static bool do_fold(struct orch_store *unused, GError **error)
{
    (void)unused;
    g_autofree char *path = below("shared/results.db");
    struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, error);
    bool ok = store && orch_store_warnings(store)->len == 0;
    if (store && !ok)
        orch_error_set(error, ORCH_ERROR_STORE, "in a warning", "%s",
                       (char *)orch_store_warnings(store)->pdata[0]);
    orch_store_close(store);
    return ok;
}

static bool salvage_into(struct orch_store *into, const char *from, GError **error)
{
    struct orch_salvage salvage;
    orch_salvage_init(&salvage);
    bool ok = orch_salvage_file(into, from, true, &salvage, error);
    g_autoptr(GPtrArray) missing = ok ? orch_salvage_missing(into, &salvage, error) : NULL;
    if (missing && (missing->len || salvage.lost->len)) /* told, and not hidden */
        orch_error_set(error, ORCH_ERROR_STORE, "in a list", "%s: %s", folder,
                       (char *)(missing->len ? missing : salvage.lost)->pdata[0]);
    ok = missing && !missing->len && !salvage.lost->len;
    orch_salvage_clear(&salvage);
    return ok;
}

static bool do_repair(struct orch_store *unused, GError **error)
{
    (void)unused;
    g_autofree char *from = below("results.db"), *to = below("repaired.db");
    orch_tree_remove(to, NULL);
    struct orch_store *into = orch_salvage_open(to, from, error);
    bool ok = into && salvage_into(into, from, error);
    orch_store_close(into);
    return ok;
}

/** What is done, and the store whose runs it could lose. */
static const struct doing {
    struct calls_operation op;
    const char *store;
} DOINGS[] = {
    {{.name = "open to write", .run = do_write, .is_advisory = true}, "results.db"},
    {{.name = "open to read", .run = do_read, .is_advisory = true}, "results.db"},
    {{.name = "create", .run = do_create, .is_advisory = true}, "results.db"},
    {{.name = "adopt", .run = do_adopt, .is_advisory = true}, "results.db"},
    {{.name = "migrate", .run = do_migrate, .is_advisory = true}, "results.db"},
    {{.name = "rename", .run = do_rename, .is_advisory = true}, "before/results.db"},
    {{.name = "share", .run = do_share, .is_advisory = true}, "shared/results.db"},
    {{.name = "fold", .run = do_fold, .is_advisory = true}, "shared/results.db"},
    {{.name = "repair", .run = do_repair, .is_advisory = true}, "results.db"},
};

/* ---- a sweep ----------------------------------------------------------------------------------
 */

/* Number of runs of a store; -1 when it cannot be opened. */
static int64_t runs_of(const char *relative)
{
    g_autofree char *path = below(relative);
    struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, NULL);
    int64_t runs = -1;
    if (!store)
        return runs;
    assert_sound(store);
    assert_ok(orch_store_get_int(store, &runs, 0, error, "SELECT count(*) FROM run", ""));
    orch_store_close(store);
    return runs;
}

/* What nobody may lose, whatever failed: the runs of the store. */
static void check_runs(const struct doing *doing, unsigned n, int64_t expected)
{
    int64_t now = runs_of(doing->store);
    if (now != expected)
        calls_wrong(&doing->op, n, "'%s' has %d runs, not %d", doing->store, (int)now,
                    (int)expected);
}

static bool try_once(const struct doing *doing, enum fault_kind kind, int code, bool lasting,
                     unsigned n, int64_t expected)
{
    const struct calls_operation *op = &doing->op;
    GError *problem = NULL;
    calls_copy(model, folder);
    fault_calls_begin(kind, n, lasting, code);
    clock_t begin = clock();
    bool ok = op->run(NULL, &problem);
    double busy_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    bool hit = fault_calls_end();
    if (busy_s > 3)
        calls_wrong(op, n, "the processor was busy for %.1f s", busy_s);
    calls_check_problem(op, n, ok, problem, folder);
    g_clear_error(&problem);
    check_runs(doing, n, expected);
    if (!op->run(NULL, &problem))
        calls_wrong(op, n, "done again: %s", problem ? problem->message : "(no error)");
    g_clear_error(&problem);
    check_runs(doing, n, expected);
    return hit;
}

/* The calls that are tried, with one beyond the last. */
static GArray *list_calls(const struct doing *doing, enum fault_kind kind, unsigned step)
{
    GError *problem = NULL;
    calls_copy(model, folder);
    fault_calls_list(kind);
    bool ok = doing->op.run(NULL, &problem);
    GArray *numbers = fault_calls_listed(step);
    assert_true(ok);
    return numbers;
}

/* `step` 1: a call of each place fails in turn. */
static void sweep(enum fault_kind kind, int code, bool lasting, unsigned step)
{
    unsigned tries = 0, calls = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(DOINGS); i++) {
        const struct doing *doing = &DOINGS[i];
        calls_copy(model, folder);
        int64_t expected = runs_of(doing->store);
        assert_true(expected > 1);
        g_autoptr(GArray) numbers = list_calls(doing, kind, step);
        for (guint k = 0; k < numbers->len; k++) {
            unsigned n = g_array_index(numbers, guint, k);
            bool hit = try_once(doing, kind, code, lasting, n, expected);
            assert_true(hit == (k + 1 < numbers->len));
            tries += hit;
        }
        calls += g_array_index(numbers, guint, numbers->len - 1) - 1;
    }
    print_message("%u tries of %u calls\n", tries, calls);
    assert_int_equal(calls_findings, 0);
}

static void test_calls_of_sqlite_fail(void **state)
{
    (void)state;
    sweep(FAULT_SQLITE, SQLITE_IOERR, false, 2);
}

static void test_sqlite_fails_from_a_call_on(void **state)
{
    (void)state;
    sweep(FAULT_SQLITE, SQLITE_FULL, true, 5);
}

static void test_calls_of_the_system_fail(void **state)
{
    (void)state;
    sweep(FAULT_FILES, EIO, false, 1);
}

static void test_system_fails_from_a_call_on(void **state)
{
    (void)state;
    sweep(FAULT_FILES, ENOSPC, true, 2);
}

/* ---- probes of the file system -----------------------------------------------------------------
 */

/* The removal of a probe's folder is a stage of its own: how many calls come before it depends on
 * how often the probe could look at a file while a second process renamed it. */
static struct {
    unsigned fail_at;   /* this call of the removal fails; 0: none */
    bool is_hit_before; /* a call had failed when it began */
} removal;

bool __real_orch_tree_remove(const char *, GError **);
bool __wrap_orch_tree_remove(const char *, GError **);
bool __wrap_orch_tree_remove(const char *path, GError **error)
{
    removal.is_hit_before = fault_calls.hit;
    if (removal.fail_at)
        fault_calls_begin(FAULT_FILES, removal.fail_at, false, EIO);
    return __real_orch_tree_remove(path, error);
}

/* Number of folders that probes left. */
static unsigned left_in(const char *of)
{
    return count_in(of, ".doctor-");
}

/* The probes work, and say so, except for what a failing call explains. */
static void check_rows(const struct calls_operation *op, unsigned n, bool hit,
                       const GPtrArray *rows, unsigned *out_bad)
{
    if (rows->len == 0 || strcmp(((struct orch_probe *)rows->pdata[0])->what, "write") != 0)
        calls_wrong(op, n, "does not begin with the probe of writing");
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_probe *row = rows->pdata[i];
        *out_bad += !row->works;
        if (!*row->detail || (*row->follows != 0) == row->works)
            calls_wrong(op, n, "%s: '%s', follows '%s'", row->what, row->detail, row->follows);
        /* the second process that renames may meet call `n` where this one, which looks meanwhile,
         * makes fewer */
        if (!hit && !row->works && strcmp(row->what, "rename") != 0)
            calls_wrong(op, n, "%s: %s", row->what, row->detail);
    }
}

/* One look with call `n` failing, in the second process too. False when there were fewer. What an
 * earlier look left, because its removal failed, is not this one's. */
static bool probe(unsigned n, unsigned *out_bad)
{
    static const struct calls_operation op = {.name = "probe"};
    unsigned left = left_in(folder);
    fault_calls_begin(FAULT_FILES, n, false, n % 2 ? EIO : ENOSPC);
    g_autoptr(GPtrArray) rows = orch_probe_folder(folder);
    bool hit = fault_calls_end();
    check_rows(&op, n, hit, rows, out_bad);
    if (left_in(folder) > left && !(hit && !removal.is_hit_before))
        calls_wrong(&op, n, "its folder is left");
    return hit;
}

/* What does not work is said, with what follows from it, and nothing is left in the folder. */
static void test_each_call_of_a_probe_fails(void **state)
{
    (void)state;
    unsigned n = 1, bad = 0, tries = 0;
    /* the rounds of two processes are alike, and there is no end of the looks at a renamed file */
    for (; n < 700 && probe(n, &bad); tries++)
        n += n < 30 ? 1 : 41;
    print_message("%u tries, %u probes found what does not work\n", tries, bad);
    assert_true(tries >= 30 && bad > 10 && !probe(0, &bad));
    assert_int_equal(calls_findings, 0);
}

/* A folder that cannot be removed is left; the probes before it and the next look work. */
static void test_each_call_of_the_removal_fails(void **state)
{
    (void)state;
    static const struct calls_operation op = {.name = "probe's removal"};
    unsigned bad = 0, tries = 0;
    bool hit = true;
    for (unsigned n = 1; hit; n += n < 6 ? 1 : 23) {
        calls_copy(model, folder);
        removal.fail_at = n;
        g_autoptr(GPtrArray) rows = orch_probe_folder(folder);
        hit = fault_calls_end();
        removal.fail_at = 0;
        check_rows(&op, n, false, rows, &bad);
        unsigned left = left_in(folder);
        if (left != (hit && strcmp(fault_calls.what, "fchmod") != 0))
            calls_wrong(&op, n, "%u folders are left", left);
        probe(0, &bad);
        if (left_in(folder) != left)
            calls_wrong(&op, n, "the next look leaves a folder");
        tries += hit;
    }
    print_message("%u tries\n", tries);
    assert_true(tries > 8 && bad == 0);
    assert_int_equal(calls_findings, 0);
}

/* The lock that is held for another host: seen, not seen, and left by one that was killed. */
static void test_held_lock(void **state)
{
    (void)state;
    static const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    g_autofree char *lock = g_build_filename(folder, "doctor.lock", NULL);
    g_autoptr(GPtrArray) rows = orch_probe_folder(folder);
    guint before = rows->len;
    orch_probe_look(folder, rows);
    assert_int_equal(rows->len, before); /* nobody holds one */
    assert_ok(orch_file_write(lock, "far 1\n", 6, false, error));
    orch_probe_look(folder, rows);
    assert_int_equal(rows->len, before + 1);
    const struct orch_probe *row = rows->pdata[before];
    assert_false(row->works);
    assert_non_null(strstr(row->detail, "on far holds it, and it is not seen here"));
    assert_int_equal(utimensat(AT_FDCWD, lock, old, 0), 0);
    orch_probe_look(folder, rows);
    assert_int_equal(rows->len, before + 1);
    assert_int_equal(access(lock, F_OK), -1);
    assert_ok(orch_probe_hold(folder, 0, error));
    assert_int_equal(access(lock, F_OK), -1);
    assert_ok(orch_dir_make(lock, error));
    assert_fails(orch_probe_hold(folder, 0, error), ORCH_ERROR_IO, lock);
    orch_probe_look(folder, rows); /* a folder of that name is not a lock */
    assert_int_equal(rows->len, before + 1);
    assert_int_equal(rmdir(lock), 0);
}

/* The golden store of development versions, which has two runs. */
static void put_store_from_before(void)
{
    const char *source = g_getenv("ORCH_SOURCE_DIR");
    g_autofree char *golden = g_build_filename(source ? source : ".", "tests", "data",
                                               "store-v1-before-release.db", NULL);
    g_autofree char *to = g_build_filename(model, "before", "results.db", NULL), *bytes = NULL;
    g_autofree char *place = g_path_get_dirname(to);
    size_t length;
    assert_ok(orch_dir_make(place, error));
    assert_ok(orch_file_read(golden, 1 << 24, &bytes, &length, error));
    assert_ok(orch_file_write(to, bytes, length, false, error));
}

static void put_host(const char *host, int first)
{
    g_autofree char *path = g_build_filename(model, "shared", "results.db", NULL);
    g_setenv("ORCH_SHARD_HOST", host, TRUE);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
    put_variant(store, first, 0);
    put_variant(store, first + 1, 0);
    orch_store_close(store);
}

int main(void)
{
    char *scratch = fixture_folder();
    g_log_set_always_fatal(G_LOG_LEVEL_WARNING | G_LOG_FATAL_MASK); /* an error over another */
    fault_vfs_register();
    fault.no_sync = true;
    model = g_build_filename(scratch, "model", NULL);
    folder = g_build_filename(scratch, "copy", NULL);
    g_autofree char *shared = g_build_filename(model, "shared", NULL);
    assert_ok(orch_dir_make(shared, error));
    calls_make_store(model);
    put_store_from_before();
    g_setenv("ORCH_SHARDS", "1", TRUE);
    put_host("a", 1);
    put_host("b", 11);
    g_unsetenv("ORCH_SHARDS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_call_of_a_probe_fails, calls_begin_test),
        cmocka_unit_test_setup(test_each_call_of_the_removal_fails, calls_begin_test),
        cmocka_unit_test(test_held_lock),
        cmocka_unit_test_setup(test_calls_of_sqlite_fail, calls_begin_test),
        cmocka_unit_test_setup(test_sqlite_fails_from_a_call_on, calls_begin_test),
        cmocka_unit_test_setup(test_calls_of_the_system_fail, calls_begin_test),
        cmocka_unit_test_setup(test_system_fails_from_a_call_on, calls_begin_test),
    };
    calls_copy(model, folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_free(model);
    g_free(folder);
    fixture_remove(scratch);
    return failed;
}
