/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many processes at one store; writers killed at random instants. */
#include "store/join/join.h"
#include "tests/store/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { WRITERS = 16, RUNS_EACH = 1000, KILLS = 60 };
enum { RESTARTERS = 2, SHORT_LOG_RUNS = 1500, LOG_PAGES = 4 };

static char *folder, *path;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    orch_store_close(fixture_open(folder));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (wait(NULL) > 0) /* of a test that failed with children at work */
        continue;
    g_clear_pointer(&path, g_free);
    fixture_remove(folder);
    return 0;
}

static bool put_small(struct orch_store *store, const char *key, GError **error)
{
    static const struct orch_point stream[] = {
        {"loss", 1, 1, 3}, {"loss", 2, 2, 2}, {"loss", 3, 3, 1}};
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, key, &points);
    points = (struct fixture_points){stream, 3, 0};
    return orch_store_record(store, &r, error);
}

/* Claims, records, again; says what went wrong. */
static int write_runs(int count)
{
    GError *problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, &problem);
    for (int i = 0; store && !problem && i < count; i++) {
        char other[ORCH_KEY_CHARS];
        struct orch_active a = {.record = "{}", .fingerprint = "f"};
        enum orch_begin begun;
        orch_key_make(a.key);
        if (orch_store_begin(store, &a, ORCH_REUSE_NEVER, false, &begun, other, &problem))
            put_small(store, a.key, &problem);
    }
    if (problem)
        fprintf(stderr, "writer: %s\n", problem->message);
    orch_store_close(store);
    return problem ? 1 : 0;
}

static void assert_clean(const char *file, int64_t runs_at_least)
{
    struct orch_store *store;
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    int64_t runs, points;
    assert_ok(store = orch_store_open(file, ORCH_STORE_WRITE, error));
    assert_ok(orch_store_check(store, findings, &runs, error));
    if (findings->len)
        fail_msg("%s: %s", file, (char *)findings->pdata[0]);
    assert_ok(orch_store_get_int(store, &points, 0, error, "SELECT count(*) FROM metric", ""));
    assert_true(points == 3 * runs);
    if (runs < runs_at_least)
        fail_msg("%s: %d runs, expected %d", file, (int)runs, (int)runs_at_least);
    orch_store_close(store);
}

static void test_crowd(void **state)
{
    (void)state;
    int64_t start = orch_mono_ns();
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0)
            _exit(write_runs(RUNS_EACH));
    int left = WRITERS, failed = 0, backups = 0;
    while (left > 0) {
        struct orch_store *store;
        g_autofree char *dest = g_strdup_printf("%s/backup-%d.db", folder, backups);
        assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
        assert_ok(orch_store_backup(store, dest, error));
        orch_store_close(store);
        if (backups++ % 8 == 0)
            assert_clean(dest, 0);
        orch_tree_remove(dest, NULL);
        g_usleep(50000);
        int status;
        for (; waitpid(-1, &status, WNOHANG) > 0; left--)
            failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    print_message("%d processes, %d runs each: %.1f s, %d backups meanwhile\n", WRITERS, RUNS_EACH,
                  (double)(orch_mono_ns() - start) / 1e9, backups);
    assert_int_equal(failed, 0);
    assert_clean(path, WRITERS * RUNS_EACH);
    struct orch_store *store;
    int64_t runs, active;
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    assert_ok(orch_store_get_int(store, &runs, 0, error, "SELECT count(*) FROM run", ""));
    assert_ok(orch_store_get_int(store, &active, 0, error, "SELECT count(*) FROM active", ""));
    assert_true(runs == WRITERS * RUNS_EACH && active == 0);
    orch_store_close(store);
}

/* Commits one run after the other, with a log that is started anew at every few of them. */
static int write_with_a_short_log(void)
{
    struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, NULL);
    bool ok = store && sqlite3_wal_autocheckpoint(store->db, LOG_PAGES) == SQLITE_OK;
    for (int i = 0; ok && i < SHORT_LOG_RUNS; i++) {
        char key[ORCH_KEY_CHARS];
        orch_key_make(key);
        ok = put_small(store, key, NULL);
    }
    orch_store_close(store);
    return ok ? 0 : 1;
}

/* A reader whose snapshot needs no page of the log does not keep a writer from overwriting it. */
static void test_log_is_started_anew(void **state)
{
    (void)state;
    GError *problem = NULL;
    int opened = 0, left = RESTARTERS, failed = 0, status;
    for (int i = 0; i < RESTARTERS; i++)
        if (fork() == 0)
            _exit(write_with_a_short_log());
    while (left > 0 && !problem) {
        orch_store_close(orch_store_open(path, ORCH_STORE_READ, &problem));
        opened++;
        for (; waitpid(-1, &status, WNOHANG) > 0; left--)
            failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    if (problem)
        fail_msg("open %d: %s", opened, problem->message);
    print_message("%d opens beside a log that is started anew all the time\n", opened);
    assert_int_equal(failed, 0);
    assert_clean(path, RESTARTERS * SHORT_LOG_RUNS);
}

/* ---- joins, readers and hosts ------------------------------------------------------------------
 */

enum { HOSTS = 2, WRITERS_A_HOST = 8, RUNS_A_WRITER = 60, JOINS = 12 };

/* Reads as 'orch ls' and 'orch db check' do; 0: never less than before, and all digests fit. */
static int read_all(int rounds)
{
    int64_t last = 0, runs = 0;
    for (int i = 0; i < rounds; i++) {
        struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, NULL);
        g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
        bool ok = store && orch_store_check(store, findings, &runs, NULL) && !findings->len &&
                  runs >= last;
        if (findings->len)
            fprintf(stderr, "reader: %s\n", (char *)findings->pdata[0]);
        orch_store_close(store);
        if (!ok)
            return 1;
        last = runs;
        g_usleep(20000);
    }
    return 0;
}

/* Joins the same other store again and again. */
static int join_all(const char *other, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        GError *problem = NULL;
        struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, &problem);
        struct orch_join *join = store ? orch_join_begin(store, other, &problem) : NULL;
        bool ok = join && orch_join_store(join, other, 0, &problem);
        struct orch_receipt *receipt = ok ? orch_join_commit(join, &problem) : NULL;
        if (!receipt)
            fprintf(stderr, "join: %s\n", problem ? problem->message : "?");
        ok = receipt && !receipt->refused && !receipt->conflicts;
        orch_receipt_free(receipt);
        orch_store_close(store);
        if (!ok)
            return 1;
        g_usleep(30000);
    }
    return 0;
}

static int wait_for(int count)
{
    int failed = 0, status;
    for (; count > 0 && wait(&status) > 0; count--)
        failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return failed;
}

static void test_joins_and_readers(void **state)
{
    (void)state;
    g_autofree char *other = g_build_filename(folder, "other.db", NULL);
    struct orch_store *store;
    assert_ok(store = orch_store_open(other, ORCH_STORE_CREATE, error));
    for (int i = 0; i < 200; i++) {
        char key[ORCH_KEY_CHARS];
        orch_key_make(key);
        assert_ok(put_small(store, key, error));
    }
    orch_store_close(store);
    for (int i = 0; i < WRITERS; i++)
        if (fork() == 0)
            _exit(write_runs(RUNS_A_WRITER));
    for (int i = 0; i < 2; i++) {
        if (fork() == 0)
            _exit(read_all(JOINS));
        if (fork() == 0)
            _exit(join_all(other, JOINS));
    }
    assert_int_equal(wait_for(WRITERS + 4), 0);
    assert_clean(path, WRITERS * RUNS_A_WRITER + 200);
}

/* Each writer opens the store anew now and then, as commands do. */
static int write_as(const char *host)
{
    int failed = 0;
    g_setenv("ORCH_SHARD_HOST", host, TRUE);
    for (int i = 0; i < RUNS_A_WRITER / 10; i++)
        failed += write_runs(10);
    return failed;
}

static void test_two_hosts(void **state)
{
    (void)state;
    g_autofree char *shared = g_build_filename(folder, "shared", NULL);
    g_free(path);
    path = g_build_filename(shared, "results.db", NULL);
    g_setenv("ORCH_SHARDS", "1", TRUE);
    int64_t begin = orch_mono_ns();
    for (int host = 0; host < HOSTS; host++) {
        char name[8];
        snprintf(name, sizeof name, "h%d", host);
        g_setenv("ORCH_SHARD_HOST", name, TRUE);
        struct orch_store *store;
        assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
        orch_store_close(store);
        for (int i = 0; i < WRITERS_A_HOST; i++)
            if (fork() == 0)
                _exit(write_as(name));
    }
    assert_int_equal(wait_for(HOSTS * WRITERS_A_HOST), 0);
    char digests[HOSTS + 1][ORCH_SHA256_CHARS];
    for (int i = 0; i <= HOSTS; i++) { /* and one that comes new */
        char name[8];
        snprintf(name, sizeof name, "h%d", i);
        g_setenv("ORCH_SHARD_HOST", name, TRUE);
        assert_clean(path, HOSTS * WRITERS_A_HOST * RUNS_A_WRITER);
        struct orch_store *store;
        assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
        assert_int_equal(orch_store_warnings(store)->len, 0);
        assert_ok(orch_store_digest_all(store, digests[i], error));
        orch_store_close(store);
        assert_string_equal(digests[i], digests[0]);
    }
    g_unsetenv("ORCH_SHARDS");
    g_unsetenv("ORCH_SHARD_HOST");
    print_message("%d hosts of %d processes, %d runs each: %.1f s\n", HOSTS, WRITERS_A_HOST,
                  RUNS_A_WRITER, (double)(orch_mono_ns() - begin) / 1e9);
}

/* Says the key of every run that was recorded, until it is killed. */
static void write_and_tell(int to)
{
    struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, NULL);
    for (;;) {
        char key[ORCH_KEY_CHARS];
        orch_key_make(key);
        if (!store || !put_small(store, key, NULL) ||
            write(to, key, ORCH_KEY_CHARS) != ORCH_KEY_CHARS)
            _exit(1);
    }
}

static int64_t kill_one(int instant_us, GHashTable *told)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        write_and_tell(ends[1]);
    }
    close(ends[1]);
    g_usleep((gulong)instant_us);
    kill(child, SIGKILL);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status)); /* it never failed by itself */
    char key[ORCH_KEY_CHARS];
    int64_t count = 0;
    for (; read(ends[0], key, sizeof key) == sizeof key; count++)
        g_hash_table_add(told, g_strdup(key));
    close(ends[0]);
    return count;
}

static void test_killed_writers(void **state)
{
    (void)state;
    g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint32_t x = 2463534242;
    int64_t total = 0;
    for (int i = 0; i < KILLS; i++) {
        x = x * 1664525 + 1013904223;
        total += kill_one(1000 + (int)((x >> 8) % 30000), told);
        struct orch_store *store;
        assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
        GHashTableIter iter;
        gpointer key;
        g_hash_table_iter_init(&iter, told);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
            int64_t there;
            assert_ok(orch_store_get_int(store, &there, 0, error,
                                         "SELECT id FROM run WHERE key = ?", "t", key));
            if (!there)
                fail_msg("run %s was recorded, and is lost after kill %d", (char *)key, i);
        }
        g_hash_table_remove_all(told);
        orch_store_close(store);
    }
    print_message("%d kills, %d recorded runs, none lost\n", KILLS, (int)total);
    assert_clean(path, total);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_killed_writers), TEST(test_crowd),
                                       TEST(test_log_is_started_anew), TEST(test_joins_and_readers),
                                       TEST(test_two_hosts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
