/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of several hosts: one file each. ORCH_SHARDS=1 and ORCH_SHARD_HOST make this machine play
 * all of them. */
#include "store/handle/handle.h"
#include "store/handle/sql.h"
#include "store/place/shards.h"
#include "tests/store/fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *folder, *path;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    g_setenv("ORCH_SHARDS", "1", TRUE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    chmod(folder, 0755);
    g_clear_pointer(&path, g_free);
    fixture_remove(folder);
    return 0;
}

static struct orch_store *open_as(const char *host, enum orch_store_mode mode)
{
    struct orch_store *store;
    g_setenv("ORCH_SHARD_HOST", host, TRUE);
    assert_ok(store = orch_store_open(path, mode, error));
    return store;
}

static void put_runs(struct orch_store *store, int count)
{
    for (int i = 0; i < count; i++) {
        char key[ORCH_KEY_CHARS];
        orch_key_make(key);
        fixture_put(store, key);
    }
}

static int64_t count_runs(struct orch_store *store)
{
    int64_t count;
    assert_ok(orch_store_get_int(store, &count, 0, error, "SELECT count(*) FROM run", ""));
    return count;
}

/* Opens as `host`; runs and digest; no warning; all is well. */
static int64_t look(const char *host, char digest[ORCH_SHA256_CHARS])
{
    struct orch_store *store = open_as(host, ORCH_STORE_READ);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    if (findings->len || orch_store_warnings(store)->len)
        fail_msg("%s", (char *)(findings->len ? findings : orch_store_warnings(store))->pdata[0]);
    assert_ok(orch_store_digest_all(store, digest, error));
    assert_string_equal(orch_store_path(store), path);
    int64_t runs = count_runs(store);
    orch_store_close(store);
    return runs;
}

static void test_two_hosts(void **state)
{
    (void)state;
    char a[ORCH_SHA256_CHARS], b[ORCH_SHA256_CHARS], c[ORCH_SHA256_CHARS];
    struct orch_store *store = open_as("Alpha.Lab", ORCH_STORE_CREATE);
    assert_true(orch_store_is_shared(store));
    assert_false(store->wal);
    g_autofree char *beside = g_strconcat(path, ".d", NULL);
    assert_string_equal(orch_store_folder(store), beside);
    assert_true(g_str_has_suffix(orch_store_local_folder(store), "/shards/alpha.lab.d"));
    put_runs(store, 3);
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    fixture_put(store, key);
    assert_ok(orch_store_note(store, key, "tombstone", false, "mine", error));
    orch_store_close(store);
    store = open_as("../beta", ORCH_STORE_WRITE); /* as a name only */
    assert_true(count_runs(store) == 4);
    put_runs(store, 2);
    orch_store_close(store);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(orch_store_exists(path));
    assert_true(look("alpha.lab", a) == 6 && look("../beta", b) == 6 && look("gamma", c) == 6);
    assert_string_equal(a, b);
    assert_string_equal(a, c);
    store = open_as("gamma", ORCH_STORE_READ); /* a private note is the store's, too */
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, key, error));
    assert_true(run->hidden);
    orch_run_free(run);
    g_autoptr(GPtrArray) shards = orch_store_shards(store);
    assert_int_equal(shards->len, 3);
    assert_string_equal(((struct orch_shard *)shards->pdata[0])->host, "gamma");
    assert_string_equal(((struct orch_shard *)shards->pdata[1])->host, "-.-beta");
    assert_true(((struct orch_shard *)shards->pdata[1])->runs == 6);
    orch_store_close(store);
}

/* How many other files opening it reads. */
static unsigned reads_of(const char *host)
{
    struct orch_store *store = open_as(host, ORCH_STORE_READ);
    unsigned count = store->shards->read_count;
    orch_store_close(store);
    return count;
}

/* Nothing new: no file is opened; and looking does not make work for the others. */
static void test_nothing_new(void **state)
{
    (void)state;
    static const char *const hosts[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        struct orch_store *store = open_as(hosts[i], ORCH_STORE_CREATE);
        put_runs(store, 5);
        orch_store_close(store);
    }
    for (int round = 0; round < 3; round++) /* until all know what all know */
        for (int i = 0; i < 4; i++)
            reads_of(hosts[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(reads_of(hosts[i]), 0);
    struct orch_store *store = open_as("b", ORCH_STORE_WRITE);
    put_runs(store, 1);
    orch_store_close(store);
    assert_int_equal(reads_of("a"), 1); /* b's alone */
    assert_int_equal(reads_of("a"), 0);
    /* a backup that is put back forgets what it had seen */
    g_autofree char *own = g_build_filename(folder, "results.db.d", "shards", "a.db", NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    char digest[ORCH_SHA256_CHARS];
    assert_ok(orch_file_read(own, 64 << 20, &bytes, &length, error));
    store = open_as("c", ORCH_STORE_WRITE);
    put_runs(store, 1);
    orch_store_close(store);
    assert_true(look("a", digest) == 22);
    assert_ok(orch_file_write(own, bytes, length, false, error));
    assert_true(look("a", digest) == 22);
}

/* What begins on one host is found done when another has it. */
static void test_begin_sees_others(void **state)
{
    (void)state;
    struct orch_store *a = open_as("a", ORCH_STORE_CREATE), *b = open_as("b", ORCH_STORE_CREATE);
    struct orch_active active;
    enum orch_begin begun;
    char key[ORCH_KEY_CHARS], other[ORCH_KEY_CHARS];
    orch_key_make(key);
    fixture_put(b, key);
    a->shards->looked_ns = 0;
    fixture_active(&active, FIXTURE_PRINT, "anywhere");
    assert_ok(orch_store_begin(a, &active, ORCH_REUSE_ANY, false, &begun, other, error));
    assert_int_equal(begun, ORCH_BEGIN_DONE);
    assert_string_equal(other, key);
    orch_store_close(a);
    orch_store_close(b);
}

/* The one file from before is a source, and not written again. */
static void test_from_one_file(void **state)
{
    (void)state;
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS], digest[ORCH_SHA256_CHARS];
    g_setenv("ORCH_SHARDS", "0", TRUE);
    struct orch_store *store = fixture_open(folder);
    put_runs(store, 4);
    orch_store_close(store);
    assert_ok(orch_file_sha256(path, before, NULL, error));
    g_setenv("ORCH_SHARDS", "1", TRUE);
    store = open_as("a", ORCH_STORE_WRITE);
    assert_true(count_runs(store) == 4);
    put_runs(store, 1);
    orch_store_close(store);
    assert_true(look("b", digest) == 5);
    assert_ok(orch_file_sha256(path, after, NULL, error));
    assert_string_equal(before, after);
}

/* A copy on a local disk is one file again; the very folder is not, for others may reach it. */
static void test_moved_to_local(void **state)
{
    (void)state;
    char digest[ORCH_SHA256_CHARS], folded[ORCH_SHA256_CHARS];
    for (int i = 0; i < 3; i++) {
        g_autofree char *host = g_strdup_printf("h%d", i);
        struct orch_store *store = open_as(host, ORCH_STORE_CREATE);
        put_runs(store, 2 + i);
        orch_store_close(store);
    }
    assert_true(look("h0", digest) == 9);
    g_unsetenv("ORCH_SHARDS");
    assert_int_equal(orch_store_layout_of(path), STORE_SHARDED);
    g_autofree char *place = g_build_filename(folder, "results.db.d", "shards", ".place", NULL);
    assert_ok(orch_file_write(place, "1\n", 2, false, error)); /* as in a copy */
    assert_int_equal(orch_store_layout_of(path), STORE_TO_FOLD);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    assert_false(orch_store_is_shared(store));
    assert_true(count_runs(store) == 9);
    assert_ok(orch_store_digest_all(store, folded, error));
    assert_string_equal(folded, digest);
    assert_int_equal(orch_store_warnings(store)->len, 0);
    orch_store_close(store);
    assert_int_equal(orch_store_layout_of(path), STORE_ONE_FILE);
    g_autofree char *kept =
        g_build_filename(folder, "results.db.d", "shards", "h1.db.joined", NULL);
    assert_int_equal(access(kept, F_OK), 0);
}

/* Root may write anywhere: the test is then of no use. */
static void test_read_only(void **state)
{
    (void)state;
    if (getuid() == 0) {
        if (fork() == 0) { /* as nobody */
            if (chmod(folder, 0755) != 0 || setgid(65534) != 0 || setuid(65534) != 0)
                _exit(2);
            g_setenv("ORCH_SHARDS", "1", TRUE);
            g_setenv("ORCH_SHARD_HOST", "reader", TRUE);
            _exit(orch_store_open(path, ORCH_STORE_READ, NULL) ? 1 : 0); /* nothing there yet */
        }
        int status;
        wait(&status);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct orch_store *store = open_as("a", ORCH_STORE_CREATE);
    put_runs(store, 3);
    orch_store_close(store);
    store = open_as("b", ORCH_STORE_CREATE);
    put_runs(store, 2);
    orch_store_close(store);
    g_autofree char *shards = g_build_filename(folder, "results.db.d", "shards", NULL);
    assert_int_equal(chmod(shards, 0555), 0);
    assert_int_equal(chmod(folder, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        g_setenv("ORCH_SHARD_HOST", "reader", TRUE);
        store = orch_store_open(path, ORCH_STORE_READ, NULL);
        int64_t runs = 0;
        bool ok = store && orch_store_is_shared(store) &&
                  orch_store_get_int(store, &runs, 0, NULL, "SELECT count(*) FROM run", "") &&
                  runs == 5;
        orch_store_close(store);
        _exit(!ok || orch_store_open(path, ORCH_STORE_WRITE, NULL) != NULL);
    }
    int status;
    waitpid(child, &status, 0);
    chmod(shards, 0755);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    g_autoptr(GDir) dir = g_dir_open(shards, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir));)
        assert_false(g_str_has_prefix(name, "reader"));
}

/* The writer of another host holds its file, or died in the middle of a write. */
static void test_writer_at_work(void **state)
{
    (void)state;
    struct orch_store *a = open_as("a", ORCH_STORE_CREATE);
    put_runs(a, 3);
    orch_store_close(a);
    char digest[ORCH_SHA256_CHARS];
    assert_true(look("b", digest) == 3);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        alarm(60);
        /* pages are in the file, the commit is not */
        a = open_as("a", ORCH_STORE_WRITE);
        put_runs(a, 1);
        sqlite3_exec(
            a->db,
            "PRAGMA cache_spill = 1; PRAGMA cache_size = 1; BEGIN IMMEDIATE;"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
            " INSERT INTO predictor SELECT 'x' || i, i, hex(zeroblob(200)) FROM n",
            NULL, NULL, NULL);
        if (write(ends[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    char ready;
    assert_int_equal(read(ends[0], &ready, 1), 1);
    g_setenv("ORCH_SHARD_HOST", "c", TRUE);
    int64_t begin = orch_mono_ns();
    struct orch_store *c;
    assert_ok(c = orch_store_open(path, ORCH_STORE_CREATE, error));
    assert_int_equal(orch_store_warnings(c)->len, 1); /* left out, said, and not waited for long */
    assert_non_null(strstr(orch_store_warnings(c)->pdata[0], "a.db"));
    assert_true(orch_mono_ns() - begin < INT64_C(15000000000));
    assert_true(count_runs(c) == 3); /* from b */
    orch_store_close(c);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    g_autofree char *file = g_build_filename(folder, "results.db.d", "shards", "a.db", NULL);
    g_autofree char *journal = g_strconcat(file, "-journal", NULL);
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS];
    assert_ok(orch_file_sha256(file, before, NULL, error));
    assert_true(look("c", digest) == 4); /* from a copy that was played back */
    assert_ok(orch_file_sha256(file, after, NULL, error));
    assert_string_equal(before, after); /* another host's file and journal are its own */
    struct stat info;
    assert_true(stat(journal, &info) == 0 && info.st_size > 0);
    assert_true(look("a", digest) == 4);
    assert_true(stat(journal, &info) != 0 || info.st_size == 0);
}

static void test_damaged_shard(void **state)
{
    (void)state;
    struct orch_store *store = open_as("a", ORCH_STORE_CREATE);
    put_runs(store, 3);
    orch_store_close(store);
    g_autofree char *file = g_build_filename(folder, "results.db.d", "shards", "z.db", NULL);
    g_autofree char *junk = g_strnfill(50000, 'z');
    assert_ok(orch_file_write(file, junk, 50000, false, error));
    store = open_as("a", ORCH_STORE_WRITE);
    assert_int_equal(orch_store_warnings(store)->len, 1);
    assert_non_null(strstr(orch_store_warnings(store)->pdata[0], "not a database"));
    assert_true(count_runs(store) == 3);
    put_runs(store, 1);
    int count;
    int64_t bytes;
    assert_fails(orch_store_gc(store, true, &count, &bytes, NULL, error), ORCH_ERROR_STORE, "z.db");
    orch_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_two_hosts),      TEST(test_nothing_new),    TEST(test_begin_sees_others),
        TEST(test_from_one_file),  TEST(test_moved_to_local), TEST(test_read_only),
        TEST(test_writer_at_work), TEST(test_damaged_shard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
