/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many processes at one store; writers killed at random instants. */
#include "tests/store/fixture.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

enum { WRITERS = 16, RUNS_EACH = 1000, KILLS = 60 };

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
        struct orch_active a = {.trial_dir = "/nowhere", .record = "{}", .fingerprint = "f"};
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
    assert_ok(store_get_int(store, &points, 0, error, "SELECT count(*) FROM metric", ""));
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
    assert_ok(store_get_int(store, &runs, 0, error, "SELECT count(*) FROM run", ""));
    assert_ok(store_get_int(store, &active, 0, error, "SELECT count(*) FROM active", ""));
    assert_true(runs == WRITERS * RUNS_EACH && active == 0);
    orch_store_close(store);
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
            assert_ok(store_get_int(store, &there, 0, error, "SELECT id FROM run WHERE key = ?",
                                    "t", key));
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
    const struct CMUnitTest tests[] = {TEST(test_killed_writers), TEST(test_crowd)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
