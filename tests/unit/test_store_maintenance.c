/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Objects, gc, backup, check, info. */
#include "store/write/predictor.h"
#include "tests/store/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* Keeps `text` as an object. */
static void put_object(const char *text, char sha256[ORCH_SHA256_CHARS])
{
    g_autofree char *file = g_build_filename(folder, "file", NULL);
    int64_t bytes;
    assert_ok(orch_file_write(file, text, strlen(text), false, error));
    assert_ok(orch_store_put_object(store, file, sha256, &bytes, error));
    assert_true(bytes == (int64_t)strlen(text));
}

static void make_old(const char *path)
{
    const struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, then, AT_SYMLINK_NOFOLLOW), 0);
}

static char *make_folder(const char *kind, const char *name)
{
    char *path = g_build_filename(folder, "results.db.d", kind, name, NULL);
    g_autofree char *file = g_build_filename(path, "log", NULL);
    assert_ok(orch_dir_make(path, error));
    assert_ok(orch_file_write(file, "12345", 5, false, error));
    make_old(path);
    return path;
}

/* ---- objects ----------------------------------------------------------------------------------
 */

static void test_objects(void **state)
{
    (void)state;
    char sha256[ORCH_SHA256_CHARS], again[ORCH_SHA256_CHARS];
    put_object("foo", sha256);
    assert_string_equal(sha256, FIXTURE_ARTIFACTS[0].sha256);
    put_object("foo", again);
    assert_string_equal(again, sha256);
    g_autofree char *path = orch_store_object_path(store, sha256);
    g_autofree char *expected =
        g_build_filename(folder, "results.db.d", "objects", "2c", sha256 + 2, NULL);
    assert_string_equal(path, expected);
    assert_null(orch_store_object_path(store, FIXTURE_PRINT));
    assert_null(orch_store_object_path(store, "../../etc/passwd"));
    assert_null(orch_store_object_path(store, ""));
    fixture_put(store, FIXTURE_KEY);
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, FIXTURE_KEY, error));
    g_autoptr(GPtrArray) artifacts = NULL;
    assert_ok(artifacts = orch_store_artifacts(store, run->id, error));
    assert_true(((struct orch_stored_artifact *)artifacts->pdata[0])->here);
    orch_run_free(run);
    int64_t bytes;
    assert_fails(orch_store_put_object(store, "/nowhere/x", sha256, &bytes, error), ORCH_ERROR_IO,
                 "/nowhere/x");
    assert_fails(orch_store_put_object(store, folder, sha256, &bytes, error), ORCH_ERROR_IO,
                 folder);
}

static void test_damaged_object_is_replaced(void **state)
{
    (void)state;
    char sha256[ORCH_SHA256_CHARS];
    put_object("foo bar", sha256);
    g_autofree char *path = orch_store_object_path(store, sha256);
    assert_int_equal(truncate(path, 2), 0);
    put_object("foo bar", sha256);
    char computed[ORCH_SHA256_CHARS];
    assert_ok(orch_file_sha256(path, computed, NULL, error));
    assert_string_equal(computed, sha256);
}

static void test_many_bring_the_same_object(void **state)
{
    (void)state;
    g_autofree char *file = g_build_filename(folder, "big", NULL);
    g_autofree char *text = g_strnfill(1 << 20, 'z');
    assert_ok(orch_file_write(file, text, 1 << 20, false, error));
    for (int i = 0; i < 8; i++) {
        if (fork() == 0) {
            char sha256[ORCH_SHA256_CHARS];
            int64_t bytes;
            bool ok = true;
            for (int j = 0; j < 5; j++)
                ok = orch_store_put_object(store, file, sha256, &bytes, NULL) && ok;
            _exit(ok ? 0 : 1);
        }
    }
    for (int i = 0; i < 8; i++) {
        int status;
        wait(&status);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    g_autoptr(GPtrArray) findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    assert_int_equal(findings->len, 0);
}

/* ---- gc ---------------------------------------------------------------------------------------
 */

static int collect(bool dry_run)
{
    int count;
    int64_t bytes;
    assert_ok(orch_store_gc(store, dry_run, &count, &bytes, NULL, error));
    return count;
}

static void test_gc_keeps_what_runs_name(void **state)
{
    (void)state;
    char named[ORCH_SHA256_CHARS], other[ORCH_SHA256_CHARS];
    fixture_put(store, FIXTURE_KEY);
    put_object("foo", named);
    put_object("not named", other);
    int count;
    int64_t bytes;
    assert_ok(orch_store_gc(store, true, &count, &bytes, NULL, error));
    assert_int_equal(count, 1);
    assert_true(bytes == 9);
    g_autofree char *still = orch_store_object_path(store, other);
    assert_non_null(still); /* a dry run */
    assert_int_equal(collect(false), 1);
    assert_null(orch_store_object_path(store, other));
    g_autofree char *kept = orch_store_object_path(store, named);
    assert_non_null(kept);
    assert_ok(orch_store_note(store, FIXTURE_KEY, "tombstone", false, NULL, error));
    assert_int_equal(collect(false), 1);
    assert_null(orch_store_object_path(store, named));
}

static void test_gc_keeps_active_trials(void **state)
{
    (void)state;
    char used[ORCH_SHA256_CHARS], young[ORCH_SHA256_CHARS], old[ORCH_SHA256_CHARS];
    put_object("used", used);
    put_object("young", young);
    put_object("old", old);
    g_autofree char *used_path = orch_store_object_path(store, used);
    g_autofree char *old_path = orch_store_object_path(store, old);
    make_old(used_path);
    make_old(old_path);
    struct orch_active a;
    fixture_active(&a, FIXTURE_PRINT, NULL);
    g_autofree char *trial = make_folder("trials", a.key);
    g_autofree char *json = g_build_filename(trial, "trial.json", NULL);
    g_autofree char *text = g_strdup_printf("{\"params\":{\"weights\":\"%s\"}}", used_path);
    assert_ok(orch_file_write(json, text, strlen(text), false, error));
    make_old(trial);
    a.record = "{\"tree\":\"4b825dc642cb6eb9a060e54bf8d69288fbee4904\"}";
    g_autofree char *work = make_folder("work", "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    g_autofree char *other_work = make_folder("work", "0000000000cb6eb9a060e54bf8d69288fbee4904");
    g_autofree char *checkpoint = make_folder("checkpoints", FIXTURE_PRINT);
    enum orch_begin begun;
    char key[ORCH_KEY_CHARS];
    assert_ok(orch_store_begin(store, &a, ORCH_REUSE_ANY, false, &begun, key, error));
    assert_int_equal(collect(false), 2); /* the old object and the other work copy */
    g_autofree char *still_used = orch_store_object_path(store, used);
    g_autofree char *still_young = orch_store_object_path(store, young);
    assert_non_null(still_used);
    assert_non_null(still_young);
    assert_null(orch_store_object_path(store, old));
    assert_int_equal(access(trial, F_OK) | access(work, F_OK) | access(checkpoint, F_OK), 0);
    assert_int_equal(access(other_work, F_OK), -1);
}

static void test_gc_of_folders(void **state)
{
    (void)state;
    char lost[ORCH_KEY_CHARS];
    orch_key_make(lost);
    fixture_put(store, FIXTURE_KEY);
    g_autofree char *over = make_folder("trials", FIXTURE_KEY);
    g_autofree char *unknown = make_folder("trials", lost);
    g_autofree char *finished = make_folder("checkpoints", FIXTURE_PRINT);
    struct fixture_points points;
    struct orch_record r;
    fixture_record(&r, lost, &points);
    r.state = "preempted";
    r.fingerprint = "ffffd081884c7d659a2feaa0c55ad015a3bf4f1b2b0bd822cd15d6c15b0f00a8";
    assert_ok(orch_store_record(store, &r, error));
    g_autofree char *resumable = make_folder("checkpoints", r.fingerprint);
    assert_int_equal(collect(false), 3); /* the trials have ended, `finished` is done */
    assert_int_equal(access(finished, F_OK) & access(over, F_OK) & access(unknown, F_OK), -1);
    assert_int_equal(access(resumable, F_OK), 0);
    assert_ok(orch_store_note(store, lost, "tombstone", false, NULL, error));
    assert_int_equal(collect(false), 1);
}

/* ---- predictors -------------------------------------------------------------------------------
 */

/* A forest of many rows is longer than any other value may be. */
static void test_long_predictor(void **state)
{
    (void)state;
    enum { LENGTH = (64 << 20) + 5 };
    g_autofree char *model = g_malloc(LENGTH + 1);
    memset(model, 'x', LENGTH);
    model[LENGTH] = 0;
    assert_ok(orch_store_put_predictor(store, "step_ms", model, error));
    struct orch_predictor_row *row;
    assert_ok(row = orch_store_predictor(store, "step_ms", error));
    assert_int_equal(strlen(row->model), LENGTH);
    orch_predictor_row_free(row);
    fixture_put(store, FIXTURE_KEY); /* any other is refused, not cut */
    assert_fails(orch_store_note(store, FIXTURE_KEY, "note", false, model, error), ORCH_ERROR_STORE,
                 "larger than 64 MiB");
}

/* ---- backup, check, info ----------------------------------------------------------------------
 */

static void test_backup(void **state)
{
    (void)state;
    fixture_put(store, FIXTURE_KEY);
    g_autofree char *dest = g_build_filename(folder, "copy.db", NULL);
    assert_ok(orch_store_backup(store, dest, error));
    assert_fails(orch_store_backup(store, dest, error), ORCH_ERROR_IO, "already exists");
    assert_fails(orch_store_backup(store, "/nowhere/copy.db", error), ORCH_ERROR_STORE,
                 "/nowhere/copy.db");
    struct orch_store *copy;
    assert_ok(copy = orch_store_open(dest, ORCH_STORE_READ, error));
    struct orch_store_info a, b;
    assert_ok(orch_store_info(store, &a, error));
    assert_ok(orch_store_info(copy, &b, error));
    assert_string_equal(a.digest, b.digest);
    assert_true(b.runs == 1 && b.metrics == 6 && b.active == 0 && b.file_bytes > 0);
    orch_store_info_clear(&a);
    orch_store_info_clear(&b);
    orch_store_close(copy);
}

static GPtrArray *check(void)
{
    GPtrArray *findings = g_ptr_array_new_with_free_func(g_free);
    assert_ok(orch_store_check(store, findings, NULL, error));
    return findings;
}

static void test_check_finds_changes(void **state)
{
    (void)state;
    char sha256[ORCH_SHA256_CHARS];
    fixture_put(store, FIXTURE_KEY);
    put_object("foo", sha256);
    g_autoptr(GPtrArray) clean = check();
    assert_int_equal(clean->len, 0);
    static const char *const changes[] = {
        "DROP TRIGGER param_update; UPDATE param SET value = '0.2' WHERE name = 'lr'",
        "DROP TRIGGER metric_update; UPDATE metric SET value = 1 WHERE step = 2",
        "DROP TRIGGER run_update; UPDATE run SET state = 'failed'",
        "DROP TRIGGER machine_update; UPDATE machine SET key = 'other'",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autofree char *both = g_strdup_printf("SAVEPOINT s; %s", changes[i]);
        assert_ok(orch_store_exec(store, both, "write to", error));
        g_autoptr(GPtrArray) findings = check();
        assert_int_equal(findings->len, 1);
        assert_non_null(strstr(findings->pdata[0], FIXTURE_KEY));
        assert_ok(orch_store_exec(store, "ROLLBACK TO s; RELEASE s", "write to", error));
    }
    assert_ok(orch_store_exec(store,
                              "PRAGMA foreign_keys = OFF; INSERT INTO lease VALUES('x', 'nobody')",
                              "write to", error));
    g_autoptr(GPtrArray) dangling = check();
    assert_int_equal(dangling->len, 1);
    assert_non_null(strstr(dangling->pdata[0], "'lease'"));
    assert_ok(orch_store_exec(store, "DELETE FROM lease", "write to", error));
    g_autofree char *path = orch_store_object_path(store, sha256);
    assert_ok(orch_file_write(path, "bar", 3, false, error));
    g_autoptr(GPtrArray) object = check();
    assert_int_equal(object->len, 1);
    assert_non_null(strstr(object->pdata[0], path));
}

static void test_digest_of_all_ignores_order(void **state)
{
    (void)state;
    g_autofree char *path = g_build_filename(folder, "other.db", NULL);
    struct orch_store *other;
    assert_ok(other = orch_store_open(path, ORCH_STORE_CREATE, error));
    const char *second = "01890a5d-ac96-774b-bcce-b302099a8000";
    fixture_put(store, FIXTURE_KEY);
    fixture_put(store, second);
    fixture_put(other, second);
    struct orch_store_info a, b;
    assert_ok(orch_store_info(store, &a, error));
    assert_ok(orch_store_info(other, &b, error));
    assert_string_not_equal(a.digest, b.digest);
    orch_store_info_clear(&b);
    fixture_put(other, FIXTURE_KEY);
    assert_ok(orch_store_info(other, &b, error));
    assert_string_equal(a.digest, b.digest);
    orch_store_info_clear(&a);
    orch_store_info_clear(&b);
    orch_store_close(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_objects),
        TEST(test_damaged_object_is_replaced),
        TEST(test_many_bring_the_same_object),
        TEST(test_gc_keeps_what_runs_name),
        TEST(test_gc_keeps_active_trials),
        TEST(test_gc_of_folders),
        TEST(test_long_predictor),
        TEST(test_backup),
        TEST(test_check_finds_changes),
        TEST(test_digest_of_all_ignores_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
