/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every write of SQLite's fails in turn while a run is recorded, in both journal modes. Two
 * outcomes are right: the run is there as a whole, or there is an error and nothing of it. */
#include "tests/store/fixture.h"

#include "tests/fault/fault_vfs.h"

enum { RUNS_BEFORE = 3, WRITES_MAX = 2000 };

struct kind {
    const char *name;
    int code;
    bool lasting, never_wal;
};

static char *folder, *path;

static struct orch_store *open_kind(const struct kind *kind)
{
    const struct store_options options = {.migrations = &store_migrations,
                                          .never_wal = kind->never_wal};
    struct orch_store *store;
    assert_ok(store = orch_store_open_with(path, ORCH_STORE_CREATE, &options, error));
    return store;
}

static int64_t count(struct orch_store *store, const char *sql)
{
    int64_t n;
    assert_ok(orch_store_get_int(store, &n, 0, error, sql, ""));
    return n;
}

/* A run large enough for pages to be spilled and a checkpoint to happen. */
static bool many_points(void *ctx, struct orch_point *out, GError **error)
{
    (void)error;
    int *at = ctx;
    static const char *const names[] = {"loss", "accuracy", "speed"};
    *out = (struct orch_point){names[*at % 3], *at / 3, *at, *at * 0.1};
    return (*at)++ < 300;
}

static bool record(struct orch_store *store, const char *key, GError **error)
{
    struct fixture_points points;
    struct orch_record r;
    int at = 0;
    fixture_record(&r, key, &points);
    r.next_point = many_points;
    r.next_ctx = &at;
    return orch_store_record(store, &r, error);
}

static void assert_whole_or_nothing(struct orch_store *store, bool recorded, const char *what,
                                    int n)
{
    int64_t runs = count(store, "SELECT count(*) FROM run");
    int64_t points = count(store, "SELECT count(*) FROM metric");
    int64_t actives = count(store, "SELECT count(*) FROM active");
    int64_t expected = RUNS_BEFORE + recorded;
    if (runs != expected || points != 300 * expected || actives != 1 - recorded)
        fail_msg("%s at write %d: recorded %d, but %d runs, %d points, %d active", what, n,
                 recorded, (int)runs, (int)points, (int)actives);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    if (findings->len)
        fail_msg("%s at write %d: %s", what, n, (char *)findings->pdata[0]);
}

static void begin(struct orch_store *store, struct orch_active *a)
{
    enum orch_begin begun;
    char key[ORCH_KEY_CHARS];
    fixture_active(a, FIXTURE_PRINT, NULL);
    assert_ok(orch_store_begin(store, a, ORCH_REUSE_NEVER, true, &begun, key, error));
}

/* One attempt with write number `n` failing. False: there were fewer writes. */
static bool attempt(const struct kind *kind, int n, int *out_failed)
{
    orch_tree_remove(folder, NULL);
    orch_dir_make(folder, NULL);
    struct orch_store *store = open_kind(kind);
    struct orch_active a;
    char key[ORCH_KEY_CHARS];
    for (int i = 0; i < RUNS_BEFORE; i++) {
        orch_key_make(key);
        assert_ok(record(store, key, error));
    }
    begin(store, &a);
    /* a short log limit, so that the checkpoint falls into the recording too */
    sqlite3_wal_autocheckpoint(store->db, 4);
    fault.countdown = n;
    fault.code = kind->code;
    fault.lasting = kind->lasting;
    fault.hit = false;
    GError *problem = NULL;
    bool recorded = record(store, a.key, &problem);
    bool hit = fault.hit;
    fault.countdown = 0;
    fault.hit = false;
    if (!recorded) {
        assert_non_null(problem);
        assert_int_equal(problem->code, ORCH_ERROR_STORE);
        assert_non_null(strstr(problem->message, path));
        assert_non_null(strstr(problem->message, "hint: "));
        g_error_free(problem);
        (*out_failed)++;
    }
    assert_whole_or_nothing(store, recorded, kind->name, n);
    assert_ok(record(store, a.key, error)); /* the same handle goes on */
    assert_whole_or_nothing(store, true, kind->name, n);
    orch_store_close(store);
    store = open_kind(kind);
    assert_whole_or_nothing(store, true, kind->name, n);
    orch_store_close(store);
    return hit;
}

/* As above, but the process ends (here: the handle is dropped) right after the failure. */
static bool attempt_and_reopen(const struct kind *kind, int n)
{
    orch_tree_remove(folder, NULL);
    orch_dir_make(folder, NULL);
    struct orch_store *store = open_kind(kind);
    struct orch_active a;
    char key[ORCH_KEY_CHARS];
    for (int i = 0; i < RUNS_BEFORE; i++) {
        orch_key_make(key);
        assert_ok(record(store, key, error));
    }
    begin(store, &a);
    sqlite3_wal_autocheckpoint(store->db, 4);
    fault.countdown = n;
    fault.code = kind->code;
    fault.lasting = kind->lasting;
    fault.hit = false;
    bool recorded = record(store, a.key, NULL);
    bool hit = fault.hit;
    orch_store_close(store); /* still failing where the fault lasts */
    fault.countdown = 0;
    fault.hit = false;
    store = open_kind(kind);
    assert_whole_or_nothing(store, recorded, kind->name, n);
    orch_store_close(store);
    return hit;
}

static void test_every_write_fails(void **state)
{
    static const struct kind kinds[] = {
        {"WAL, write error", SQLITE_IOERR_WRITE, false, false},
        {"WAL, disk full", SQLITE_FULL, true, false},
        {"rollback journal, write error", SQLITE_IOERR_WRITE, false, true},
        {"rollback journal, disk full", SQLITE_FULL, true, true},
    };
    (void)state;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        int n = 1, failed = 0;
        while (n < WRITES_MAX && attempt(&kinds[i], n, &failed) && attempt_and_reopen(&kinds[i], n))
            n++;
        print_message("%-32s %d writes, %d failed the recording\n", kinds[i].name, n - 1, failed);
        assert_true(n > 5 && n < WRITES_MAX);
        assert_true(failed > 0);
    }
}

/* Making the store itself: whole, or nothing that hinders the next try. */
static void test_every_write_of_creation_fails(void **state)
{
    (void)state;
    for (int never_wal = 0; never_wal < 2; never_wal++) {
        const struct kind kind = {"creation", SQLITE_FULL, true, never_wal};
        const struct store_options options = {.migrations = &store_migrations,
                                              .never_wal = never_wal};
        int n = 1;
        for (bool hit = true; hit && n < WRITES_MAX; n++) {
            orch_tree_remove(folder, NULL);
            fault.countdown = n;
            fault.code = SQLITE_FULL;
            fault.lasting = true;
            fault.hit = false;
            GError *problem = NULL;
            struct orch_store *store =
                orch_store_open_with(path, ORCH_STORE_CREATE, &options, &problem);
            hit = fault.hit;
            if (!store)
                assert_non_null(strstr(problem->message, path));
            orch_store_close(store);
            g_clear_error(&problem);
            fault.countdown = 0;
            fault.hit = false;
            store = open_kind(&kind);
            fixture_put(store, FIXTURE_KEY);
            orch_store_close(store);
        }
        assert_true(n > 5 && n < WRITES_MAX);
    }
}

int main(void)
{
    fault_vfs_register();
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_write_fails),
        cmocka_unit_test(test_every_write_of_creation_fails),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    g_free(path);
    fixture_remove(folder);
    return failed;
}
