/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that are no store, not ours, damaged, newer, older, locked, read-only; a full disk. */
#include "store/handle/filesystem.h"
#include "store/handle/open.h"
#include "tests/store/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *folder, *path;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    path = g_build_filename(folder, "results.db", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    g_clear_pointer(&path, g_free);
    fixture_remove(folder);
    return 0;
}

static void write_bytes(const char *text, size_t length)
{
    assert_ok(orch_file_write(path, text, length, false, error));
}

static void make_store(void)
{
    struct orch_store *store = fixture_open(folder);
    fixture_put(store, FIXTURE_KEY);
    orch_store_close(store);
}

static void raw_sql(const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void file_digest(char out[ORCH_SHA256_CHARS])
{
    assert_ok(orch_file_sha256(path, out, NULL, error));
}

/* Every mode refuses with these words and the file's name, and no byte changes. */
static void assert_refused(const char *words)
{
    char before[ORCH_SHA256_CHARS], after[ORCH_SHA256_CHARS];
    file_digest(before);
    for (enum orch_store_mode mode = ORCH_STORE_READ; mode <= ORCH_STORE_CREATE; mode++) {
        assert_fails(orch_store_open(path, mode, error), ORCH_ERROR_STORE, words);
        assert_fails(orch_store_open(path, mode, error), ORCH_ERROR_STORE, path);
        assert_fails(orch_store_open(path, mode, error), ORCH_ERROR_STORE, "hint: ");
    }
    file_digest(after);
    assert_string_equal(before, after);
}

/* ---- what is not a store ----------------------------------------------------------------------
 */

static void test_missing(void **state)
{
    (void)state;
    assert_fails(orch_store_open(path, ORCH_STORE_READ, error), ORCH_ERROR_STORE, "No such file");
    assert_fails(orch_store_open(path, ORCH_STORE_WRITE, error), ORCH_ERROR_STORE, "orch init");
    assert_int_equal(access(path, F_OK), -1);
}

static void test_folder(void **state)
{
    (void)state;
    assert_fails(orch_store_open(folder, ORCH_STORE_READ, error), ORCH_ERROR_STORE,
                 "not a regular file");
}

static void test_not_a_database(void **state)
{
    (void)state;
    g_autofree char *text = g_strnfill(10000, 'x');
    write_bytes(text, 10000);
    assert_refused("not a database");
}

static void test_other_program(void **state)
{
    (void)state;
    raw_sql("CREATE TABLE moz_places(id INTEGER PRIMARY KEY)");
    assert_refused("another program");
    raw_sql("PRAGMA application_id = 1234");
    assert_refused("another program");
}

static void make_old(void)
{
    const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_empty_file(void **state)
{
    (void)state;
    write_bytes("", 0);
    make_old(); /* a fresh one may be a store that is just being created */
    assert_fails(orch_store_open(path, ORCH_STORE_READ, error), ORCH_ERROR_STORE, "empty");
    assert_fails(orch_store_open(path, ORCH_STORE_WRITE, error), ORCH_ERROR_STORE, "empty");
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
    orch_store_close(store);
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    orch_store_close(store);
}

static void test_truncated(void **state)
{
    (void)state;
    make_store();
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size / 2 / 4096 * 4096), 0);
    assert_refused("damaged or truncated");
}

static void test_corrupt_page(void **state)
{
    (void)state;
    make_store();
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char junk[4096];
    memset(junk, 0x5a, sizeof junk);
    struct stat info;
    fstat(fd, &info);
    for (off_t at = 4096; at < info.st_size; at += 4096)
        assert_int_equal(pwrite(fd, junk, sizeof junk, at), sizeof junk);
    close(fd);
    GError *problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, &problem);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    if (store) {
        assert_ok(orch_store_check(store, findings, NULL, error));
        assert_true(findings->len > 0);
        orch_store_close(store);
    } else {
        assert_non_null(strstr(problem->message, "damaged"));
        g_error_free(problem);
    }
}

static void test_newer_schema(void **state)
{
    (void)state;
    make_store();
    raw_sql("PRAGMA user_version = 99");
    assert_refused("schema version 99 is newer than 1");
    /* the version may still stand in the log alone: left there too */
    raw_sql("PRAGMA user_version = 1");
    sqlite3 *db;
    sqlite3_open(path, &db);
    sqlite3_exec(db, "PRAGMA journal_mode = WAL; PRAGMA user_version = 98", NULL, NULL, NULL);
    assert_refused("newer than 1");
    sqlite3_close(db);
}

/* ---- migrations -------------------------------------------------------------------------------
 */

static const struct store_migration STEPS[] = {
    {1, "ALTER TABLE run ADD COLUMN colour TEXT"},
    {2, "CREATE TABLE extra(x INTEGER) STRICT; INSERT INTO extra VALUES(42)"},
};
static const struct store_migrations TO_3 = {
    .target = 3, .create = "", .steps = STEPS, .step_count = 2};

static int64_t version_of(const char *file)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t version = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return version;
}

static void test_migration(void **state)
{
    (void)state;
    make_store();
    const struct store_options options = {.migrations = &TO_3};
    assert_fails(orch_store_open_with(path, ORCH_STORE_READ, &options, error), ORCH_ERROR_STORE,
                 "orch db migrate");
    struct orch_store *store;
    assert_ok(store = orch_store_open_with(path, ORCH_STORE_WRITE, &options, error));
    int64_t x;
    assert_ok(orch_store_get_int(store, &x, 0, error, "SELECT x FROM extra", ""));
    assert_true(x == 42);
    assert_ok(orch_store_get_int(store, &x, 0, error,
                                 "SELECT count(*) FROM run WHERE colour IS NULL", ""));
    assert_true(x == 1);
    orch_store_close(store);
    assert_true(version_of(path) == 3);
    g_autofree char *backup = g_strconcat(path, ".schema-1.backup", NULL);
    assert_true(version_of(backup) == 1);
    assert_ok(store = orch_store_open(backup, ORCH_STORE_READ, error));
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, FIXTURE_KEY, error));
    orch_run_free(run);
    orch_store_close(store);
    assert_refused("schema version 3 is newer than 1");
}

static void test_migration_that_fails(void **state)
{
    (void)state;
    make_store();
    static const struct store_migration broken[] = {{1, "CREATE TABLE a(x INTEGER) STRICT"},
                                                    {2, "INSERT INTO nowhere VALUES(1)"}};
    const struct store_migrations to_3 = {.target = 3, .steps = broken, .step_count = 2};
    const struct store_migrations gap = {.target = 3, .steps = broken, .step_count = 1};
    const struct store_options options = {.migrations = &to_3}, with_gap = {.migrations = &gap};
    assert_fails(orch_store_open_with(path, ORCH_STORE_WRITE, &options, error), ORCH_ERROR_STORE,
                 "nowhere");
    assert_fails(orch_store_open_with(path, ORCH_STORE_WRITE, &with_gap, error), ORCH_ERROR_STORE,
                 "there is no migration from schema version 2 to 3");
    assert_true(version_of(path) == 1);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    assert_fails(orch_store_exec(store, "SELECT * FROM a", "read", error), ORCH_ERROR_STORE, "a");
    orch_store_close(store);
}

/* Starts `count` processes that open and close, and waits for them; true when all could. */
static bool open_at_once(int count, const struct store_options *options)
{
    bool ok = true;
    for (int i = 0; i < count; i++) {
        if (fork() == 0) {
            GError *error = NULL;
            struct orch_store *store =
                orch_store_open_with(path, ORCH_STORE_CREATE, options, &error);
            bool opened = store != NULL;
            if (!opened)
                fprintf(stderr, "%s\n", error->message);
            orch_store_close(store);
            _exit(opened ? 0 : 1);
        }
    }
    for (int i = 0; i < count; i++) {
        int status;
        wait(&status);
        ok = ok && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return ok;
}

static void test_many_create_and_migrate_at_once(void **state)
{
    (void)state;
    const struct store_options v1 = {.migrations = &store_migrations}, v3 = {.migrations = &TO_3};
    for (int round = 0; round < 3; round++) {
        assert_true(open_at_once(8, &v1));
        assert_true(open_at_once(8, &v3)); /* a column added twice would fail */
        assert_true(version_of(path) == 3);
        g_autofree char *second = g_strconcat(path, ".schema-1.1.backup", NULL);
        assert_int_equal(access(second, F_OK), -1);
        orch_tree_remove(folder, NULL);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
}

/* ---- permissions, locks, space ----------------------------------------------------------------
 */

/* Runs as a user without rights (root has them all). */
static bool without_rights(bool (*what)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(2);
        _exit(what() ? 0 : 1);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool write_is_refused(void)
{
    g_autoptr(GError) problem = NULL;
    struct orch_store *store = orch_store_open(path, ORCH_STORE_WRITE, &problem);
    return !store && problem->code == ORCH_ERROR_STORE && strstr(problem->message, path) &&
           (strstr(problem->message, "read-only") || strstr(problem->message, "permission")) &&
           strstr(problem->message, "hint: ");
}

static bool reading_works(void)
{
    struct orch_store *store = orch_store_open(path, ORCH_STORE_READ, NULL);
    struct orch_run *run = store ? orch_store_run(store, FIXTURE_KEY, NULL) : NULL;
    bool ok = run && strcmp(run->experiment, "finetune") == 0 &&
              !orch_store_note(store, FIXTURE_KEY, "note", false, "x", NULL);
    orch_run_free(run);
    orch_store_close(store);
    return ok;
}

static void test_read_only(void **state)
{
    (void)state;
    make_store();
    assert_int_equal(chmod(path, 0444) | chmod(folder, 0555), 0);
    assert_true(without_rights(write_is_refused));
    assert_true(without_rights(reading_works));
    assert_int_equal(chmod(folder, 0777), 0);
    assert_true(without_rights(write_is_refused)); /* the file alone */
    assert_true(without_rights(reading_works));
    static const char *const beside[] = {"-wal", "-shm"};
    for (size_t i = 0; i < 2; i++) { /* the reader may leave them, empty */
        g_autofree char *left = g_strconcat(path, beside[i], NULL);
        unlink(left);
    }
    assert_int_equal(chmod(path, 0666) | chmod(folder, 0555), 0);
    assert_true(without_rights(write_is_refused)); /* the folder alone: no place for the log */
    assert_true(without_rights(reading_works));
    chmod(folder, 0700);
}

/* Writes pages of a transaction into the file, and is killed before it commits. */
static void leave_hot_journal(const char *sql)
{
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db;
        sqlite3_open(path, &db);
        int code = sqlite3_exec(db, "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 2", NULL,
                                NULL, NULL);
        code |= sqlite3_exec(db, sql, NULL, NULL, NULL);
        kill(getpid(), code == SQLITE_OK ? SIGKILL : SIGTERM);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    g_autofree char *journal = g_strconcat(path, "-journal", NULL);
    struct stat info;
    assert_int_equal(stat(journal, &info), 0);
    assert_true(info.st_size > 0);
}

/* What a killed writer left is taken back by whoever comes next, a reader too. */
static void test_killed_writer(void **state)
{
    (void)state;
    make_store();
    leave_hot_journal("BEGIN IMMEDIATE; CREATE TABLE half(x);"
                      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 500)"
                      "INSERT INTO half SELECT randomblob(4000) FROM c");
    assert_true(reading_works());
    struct orch_store *store;
    int64_t tables;
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    assert_ok(orch_store_get_int(store, &tables, 0, error,
                                 "SELECT count(*) FROM sqlite_master WHERE name = 'half'", ""));
    assert_int_equal(tables, 0);
    orch_store_close(store);
}

/* Killed while the store was made: there is none yet, and the next one makes it. */
static void test_killed_maker(void **state)
{
    (void)state;
    leave_hot_journal("BEGIN IMMEDIATE; CREATE TABLE half(x);"
                      "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c LIMIT 500)"
                      "INSERT INTO half SELECT randomblob(4000) FROM c");
    assert_fails(orch_store_open(path, ORCH_STORE_READ, error), ORCH_ERROR_STORE, "orch run");
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_CREATE, error));
    orch_store_close(store);
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    orch_store_close(store);
}

static void test_reader_writes_nothing(void **state)
{
    (void)state;
    make_store();
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    assert_fails(orch_store_note(store, FIXTURE_KEY, "note", false, "x", error), ORCH_ERROR_STORE,
                 "reading only");
    assert_fails(orch_store_exec(store, "CREATE TABLE t(x)", "write to", error), ORCH_ERROR_STORE,
                 "read-only");
    orch_store_close(store);
}

static void test_locked(void **state)
{
    (void)state;
    make_store();
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    store->busy_ms = 100;
    sqlite3 *other;
    sqlite3_open(path, &other);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_fails(orch_store_note(store, FIXTURE_KEY, "note", false, "x", error), ORCH_ERROR_STORE,
                 "it is locked by another process");
    sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL);
    assert_ok(orch_store_note(store, FIXTURE_KEY, "note", false, "x", error));
    sqlite3_close(other);
    orch_store_close(store);
}

static void fill_until_full(struct orch_store *store)
{
    GError *problem = NULL;
    int kept = 0;
    for (; kept < 1000 && !problem; kept++) {
        struct fixture_points points;
        struct orch_record r;
        char key[ORCH_KEY_CHARS];
        orch_key_make(key);
        fixture_record(&r, key, &points);
        r.facts = g_strnfill(4000, 'f');
        orch_store_record(store, &r, &problem);
        g_free((char *)(uintptr_t)r.facts);
    }
    assert_non_null(problem);
    assert_non_null(strstr(problem->message, "disk is full"));
    assert_non_null(strstr(problem->message, "free some space"));
    g_error_free(problem);
    int64_t runs;
    assert_ok(orch_store_get_int(store, &runs, 0, error, "SELECT count(*) FROM run", ""));
    assert_true(runs == kept - 1); /* all before, nothing of the one that failed */
}

static void test_full_disk(void **state)
{
    (void)state;
    if (mount("tmpfs", folder, "tmpfs", 0, "size=1m") != 0) {
        print_message("skipped: cannot mount a small tmpfs (%s)\n", strerror(errno));
        skip();
    }
    struct orch_store *store = fixture_open(folder);
    fill_until_full(store);
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    assert_int_equal(findings->len, 0);
    orch_store_close(store);
    assert_int_equal(umount(folder), 0);
}

/* ---- where it lies ----------------------------------------------------------------------------
 */

static void test_folders(void **state)
{
    (void)state;
    g_autofree char *deep = g_build_filename(folder, "a", ".orch", "results.db", NULL);
    g_autofree char *ignore = g_build_filename(folder, "a", ".orch", ".gitignore", NULL);
    g_autofree char *outer = g_build_filename(folder, ".gitignore", NULL);
    g_autofree char *plain = g_build_filename(folder, "runs.db", NULL);
    g_autofree char *beside = g_build_filename(folder, "runs.db.d", NULL);
    struct orch_store *store;
    assert_ok(store = orch_store_open(deep, ORCH_STORE_CREATE, error));
    assert_string_equal(orch_store_path(store), deep);
    g_autofree char *deep_beside = g_strconcat(deep, ".d", NULL);
    assert_string_equal(orch_store_folder(store), deep_beside);
    orch_store_close(store);
    g_autofree char *text = NULL;
    assert_ok(orch_file_read(ignore, 100, &text, NULL, error));
    assert_string_equal(text, "*\n");
    assert_ok(store = orch_store_open(plain, ORCH_STORE_CREATE, error));
    assert_string_equal(orch_store_folder(store), beside);
    orch_store_close(store);
    assert_int_equal(access(outer, F_OK), -1); /* never in a folder of the user's */
}

static void test_journal_choice(void **state)
{
    (void)state;
    bool local;
    g_autofree char *nfs = orch_store_filesystem_name(0x6969, &local);
    assert_string_equal(nfs, "nfs");
    assert_false(local);
    g_autofree char *ext = orch_store_filesystem_name(0xEF53, &local);
    assert_true(local);
    g_autofree char *unknown = orch_store_filesystem_name(0x12345678, &local);
    assert_string_equal(unknown, "0x12345678");
    assert_false(local);
    const struct store_options shared = {.migrations = &store_migrations, .never_wal = true};
    struct orch_store *store;
    struct orch_store_info info;
    make_store(); /* with WAL where it is local */
    assert_ok(store = orch_store_open_with(path, ORCH_STORE_WRITE, &shared, error));
    assert_ok(orch_store_info(store, &info, error));
    assert_string_equal(info.journal_mode, "truncate");
    orch_store_info_clear(&info);
    char key[ORCH_KEY_CHARS];
    orch_key_make(key);
    fixture_put(store, key);
    assert_ok(orch_store_sync(store, error));
    orch_store_close(store);
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    g_free(orch_store_filesystem_name(orch_store_filesystem_magic(path), &local));
    assert_ok(orch_store_info(store, &info, error));
    assert_string_equal(info.journal_mode, local ? "wal" : "truncate");
    assert_true(info.runs == 2);
    orch_store_info_clear(&info);
    assert_ok(orch_store_sync(store, error));
    orch_store_close(store);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_missing),
        TEST(test_folder),
        TEST(test_not_a_database),
        TEST(test_other_program),
        TEST(test_empty_file),
        TEST(test_truncated),
        TEST(test_corrupt_page),
        TEST(test_newer_schema),
        TEST(test_migration),
        TEST(test_migration_that_fails),
        TEST(test_many_create_and_migrate_at_once),
        TEST(test_read_only),
        TEST(test_killed_writer),
        TEST(test_killed_maker),
        TEST(test_reader_writes_nothing),
        TEST(test_locked),
        TEST(test_full_disk),
        TEST(test_folders),
        TEST(test_journal_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
