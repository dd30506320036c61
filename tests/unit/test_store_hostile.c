/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of strangers that are opened directly, and what reading leaves behind: nothing. */
#include "store/handle/handle.h"
#include "store/handle/open.h"
#include "store/handle/open_to_read.h"
#include "store/handle/sql.h"
#include "tests/store/join_fixture.h"

#include "lib/base/temporary.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- shapes -----------------------------------------------------------------------------------
 */

static void raw_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    char *why = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
        fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static const char ENDLESS[] =
    "ALTER TABLE run RENAME TO ran;"
    "CREATE VIEW run AS WITH RECURSIVE r(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r)"
    " SELECT ran.* FROM ran JOIN r;";

/** What was done to a store, and why it is not opened (NULL: it is). */
static const struct {
    const char *sql, *words;
} SHAPES[] = {
    {"SELECT 1", NULL},
    {"DROP TRIGGER run_update; DROP INDEX run_by_ended", NULL},
    {"CREATE TABLE mine(x); CREATE VIEW seen AS SELECT * FROM run", NULL},
    {ENDLESS, "its table 'run' differs from orch's schema"},
    {"DROP TABLE sample; CREATE VIRTUAL TABLE sample USING fts5(dataset, row, target, features)",
     "its table 'sample' differs from orch's schema"},
    {"DROP TABLE metric", "its table 'metric' differs from orch's schema"},
    {"ALTER TABLE param ADD COLUMN more TEXT", "its table 'param' differs from orch's schema"},
    {"ALTER TABLE param ADD COLUMN more TEXT AS (hex(zeroblob(30000000)))",
     "its table 'param' differs from orch's schema"},
    {"CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM note; END", "its trigger 't'"},
    {"CREATE INDEX i ON param(hex(zeroblob(100)))", "its index 'i'"},
    {"DROP INDEX run_by_ended; CREATE INDEX run_by_ended ON run(hex(zeroblob(9)))",
     "its index 'run_by_ended'"},
};

static void test_shapes(void **state)
{
    (void)state;
    static const int numbers[] = {1, 2, 0};
    static const enum orch_store_mode modes[] = {ORCH_STORE_READ, ORCH_STORE_WRITE,
                                                 ORCH_STORE_CREATE};
    alarm(60);
    for (size_t i = 0; i < G_N_ELEMENTS(SHAPES) * G_N_ELEMENTS(modes); i++) {
        size_t shape = i / G_N_ELEMENTS(modes);
        enum orch_store_mode mode = modes[i % G_N_ELEMENTS(modes)];
        char *folder = fixture_folder();
        g_autofree char *path = store_of(folder, "a", numbers, 0);
        struct orch_store *store;
        raw_sql(path, SHAPES[shape].sql);
        if (SHAPES[shape].words) {
            assert_fails(orch_store_open(path, mode, error), ORCH_ERROR_STORE, SHAPES[shape].words);
        } else {
            assert_ok(store = orch_store_open(path, mode, error));
            orch_store_close(store);
        }
        fixture_remove(folder);
    }
    alarm(0);
}

/* What SQLite opens beside a file is a pipe, or a link to another file. */
static void test_beside(void **state)
{
    (void)state;
    static const int numbers[] = {1, 0};
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    g_autofree char *other = g_build_filename(folder, "other", NULL);
    assert_true(g_file_set_contents(other, "mine", 4, NULL));
    alarm(20);
    for (size_t i = 0; i < 2 * G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(path, endings[i / 2], NULL);
        unlink(name);
        assert_int_equal(i % 2 ? symlink(other, name) : mkfifo(name, 0600), 0);
        assert_fails(orch_store_open(path, ORCH_STORE_WRITE, error), ORCH_ERROR_IO,
                     "not a regular file");
        unlink(name);
    }
    alarm(0);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(other, &text, NULL, NULL));
    assert_string_equal(text, "mine");
    fixture_remove(folder);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static bool is_there(const char *path, const char *ending)
{
    g_autofree char *name = g_strconcat(path, ending, NULL);
    return access(name, F_OK) == 0;
}

static int64_t runs_of(struct orch_store *store)
{
    int64_t runs;
    assert_ok(orch_store_get_int(store, &runs, 0, error, "SELECT count(*) FROM run", ""));
    return runs;
}

static void remove_beside(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *name = g_strconcat(path, endings[i], NULL);
        unlink(name);
    }
}

/* Opened, joined, or read by somebody who may not write it: no file of the reader's stays there. */
static void test_nothing_is_left(void **state)
{
    (void)state;
    static const int numbers[] = {1, 2, 3, 0};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    struct orch_store *store;
    raw_sql(path, "PRAGMA journal_mode = WAL");
    remove_beside(path);
    assert_ok(store = orch_store_open(path, ORCH_STORE_READ, error));
    assert_int_equal(runs_of(store), 3);
    orch_store_close(store);
    assert_false(is_there(path, "-wal") || is_there(path, "-shm"));

    struct orch_store *into = fixture_open(folder);
    orch_receipt_free(join_well(into, path));
    assert_int_equal(runs_of(into), 3);
    orch_store_close(into);
    assert_false(is_there(path, "-wal") || is_there(path, "-shm"));

    store = orch_store_new_handle(path);
    assert_ok(orch_store_open_to_read(store, error));
    assert_int_equal(runs_of(store), 3);
    orch_store_free_handle(store);
    assert_false(is_there(path, "-wal") || is_there(path, "-shm"));
    fixture_remove(folder);
}

static void copy(const char *from, const char *to, const char *ending)
{
    g_autofree char *source = g_strconcat(from, ending, NULL);
    g_autofree char *dest = g_strconcat(to, ending, NULL);
    assert_ok(orch_file_copy(source, dest, error));
}

/* A folder that was copied while a writer was at work: its last runs are in the log alone. */
static void test_log_without_memory(void **state)
{
    (void)state;
    static const int numbers[] = {1, 0};
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", numbers, 0);
    g_autofree char *there = g_build_filename(folder, "there.db", NULL);
    struct orch_store *writer, *store;
    assert_ok(writer = orch_store_open(path, ORCH_STORE_WRITE, error));
    if (!writer->wal) {
        print_message("skipped: no WAL on this file system\n");
        orch_store_close(writer);
        fixture_remove(folder);
        skip();
    }
    put_variant(writer, 2, 0);
    copy(path, there, "");
    copy(path, there, "-wal");

    store = orch_store_new_handle(there); /* as somebody who may not write it */
    assert_ok(orch_store_open_to_read(store, error));
    assert_non_null(store->copy);
    assert_int_equal(runs_of(store), 2);
    assert_string_equal(orch_store_path(store), there);
    g_autofree char *folder_of_copy = g_strdup(store->copy);
    orch_store_free_handle(store);
    assert_int_not_equal(access(folder_of_copy, F_OK), 0);
    assert_false(is_there(there, "-shm"));

    struct orch_store *into = fixture_open(folder);
    struct orch_receipt *receipt = join_well(into, there);
    assert_int_equal(receipt->added, 2);
    orch_receipt_free(receipt);
    orch_store_close(into);
    assert_false(is_there(there, "-shm"));

    /* the writer is alive: the reader takes part, and sees what it adds */
    store = orch_store_new_handle(path);
    assert_ok(orch_store_open_to_read(store, error));
    assert_null(store->copy);
    put_variant(writer, 3, 0);
    assert_int_equal(runs_of(store), 3);
    orch_store_free_handle(store);
    orch_store_close(writer);
    fixture_remove(folder);
}

/* ---- temporary names --------------------------------------------------------------------------
 */

static void test_litter(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *dest = g_build_filename(folder, "copy.db", NULL);
    g_autofree char *strange = g_strconcat(dest, ".orch-tmp-00000000-00000000-1-1-0", NULL);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        g_autofree char *mine = orch_temporary_name(dest);
        g_autofree char *log = g_strconcat(mine, "-wal", NULL);
        g_autofree char *inner = g_build_filename(log, "inner", NULL);
        bool ok = g_file_set_contents(mine, "x", 1, NULL) && mkdir(log, 0700) == 0 &&
                  g_file_set_contents(inner, "x", 1, NULL);
        _exit(write(ready[1], mine, strlen(mine) + 1) > 0 && ok ? (pause(), 0) : 1);
    }
    char theirs[4096] = "";
    assert_true(read(ready[0], theirs, sizeof theirs - 1) > 0);
    assert_true(g_file_set_contents(strange, "x", 1, NULL)); /* of another machine */
    g_free(orch_temporary_name(dest));
    assert_int_equal(access(theirs, F_OK), 0); /* it is alive */
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    g_free(orch_temporary_name(dest));
    assert_false(is_there(theirs, "") || is_there(theirs, "-wal"));
    assert_true(is_there(strange, ""));
    close(ready[0]);
    close(ready[1]);
    fixture_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),          cmocka_unit_test(test_beside),
        cmocka_unit_test(test_nothing_is_left), cmocka_unit_test(test_log_without_memory),
        cmocka_unit_test(test_litter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
