/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder as a remote: all end with the same, only what is new is written, and what goes missing
 * there is sent again. */
#include "features/share/remotes/folder_remote.h"
#include "tests/store/exchange_fixture.h"

#include "lib/tar/tar_write.h"

enum { MEMBERS = 3 };

static struct member members[MEMBERS];
static char *folder;

static int set_up(void **state)
{
    (void)state;
    folder = fixture_folder();
    for (int i = 0; i < MEMBERS; i++)
        members[i] = member_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < MEMBERS; i++)
        member_free(&members[i]);
    fixture_remove(folder);
    return 0;
}

static const struct orch_item_choice EVERYTHING = {.artifact_bytes = ORCH_ARTIFACT_BYTES_DEFAULT};

static struct orch_exchanged exchange(int member, enum orch_exchange_way way)
{
    struct orch_exchanged out;
    assert_ok(orch_folder_exchange(members[member].store, folder, way, &EVERYTHING, &out, error));
    return out;
}

/* The number of runs that were sent. */
static int push(int member)
{
    struct orch_exchanged out = exchange(member, ORCH_EXCHANGE_PUSH);
    int sent = (int)out.sent_runs;
    orch_exchanged_clear(&out);
    return sent;
}

static int pull(int member)
{
    struct orch_exchanged out = exchange(member, ORCH_EXCHANGE_PULL);
    int added = out.receipt ? (int)out.receipt->added : -1;
    orch_exchanged_clear(&out);
    return added;
}

static void look(int member, int ahead, int behind)
{
    struct orch_exchanged out = exchange(member, ORCH_EXCHANGE_LOOK);
    assert_int_equal(out.ahead, ahead);
    assert_int_equal(out.behind, behind);
    orch_exchanged_clear(&out);
}

/* The names in the folder, sorted; the caller frees. */
static char **names(void)
{
    GStrvBuilder *builder = g_strv_builder_new();
    GDir *dir = g_dir_open(folder, 0, NULL);
    g_autoptr(GList) sorted = NULL;
    for (const char *name; (name = g_dir_read_name(dir));)
        sorted = g_list_insert_sorted(sorted, g_strdup(name), (GCompareFunc)strcmp);
    for (GList *at = sorted; at; at = at->next) {
        g_strv_builder_add(builder, at->data);
        g_free(at->data);
    }
    g_dir_close(dir);
    char **out = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    return out;
}

static unsigned count_files(void)
{
    g_auto(GStrv) all = names();
    return g_strv_length(all);
}

static void remove_one(unsigned at)
{
    g_auto(GStrv) all = names();
    g_autofree char *path = g_build_filename(folder, all[at], NULL);
    assert_int_equal(unlink(path), 0);
}

static void assert_all_same(void)
{
    for (int i = 0; i < MEMBERS; i++) {
        assert_same_stores(members[0].store, members[i].store);
        assert_sound(members[i].store);
    }
}

static void test_three_members(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 6; i++)
        put_run(members[i % MEMBERS].store, i + 1, 0);
    look(0, 2, 0);
    assert_int_equal(push(0), 2);
    look(0, 0, 0);
    look(1, 2, 2);
    assert_int_equal(push(1), 2); /* not what it just got */
    assert_int_equal(push(2), 2);
    assert_int_equal(pull(0), 4);
    assert_int_equal(pull(1), 2);
    assert_all_same();
    assert_int_equal(count_files(), 3);
    for (int i = 0; i < MEMBERS; i++) { /* nothing is new: nothing is written or joined */
        assert_int_equal(push(i), 0);
        assert_int_equal(pull(i), -1);
    }
    assert_int_equal(count_files(), 3);
    put_run(members[1].store, 9, 0);
    assert_int_equal(push(1), 1);
    assert_int_equal(pull(0), 1);
    assert_int_equal(push(0), 0);
}

static void test_conflicts_and_notes_spread(void **state)
{
    (void)state;
    g_autofree char *key = numbered_key(1);
    put_run(members[0].store, 1, 0);
    put_run(members[1].store, 1, 5);
    assert_int_equal(push(0), 1);
    struct orch_exchanged out = exchange(1, ORCH_EXCHANGE_PUSH);
    assert_int_equal(out.receipt->conflicts, 1);
    assert_int_equal(out.sent_runs, 1);
    orch_exchanged_clear(&out);
    pull(0);
    pull(2);
    assert_all_same();
    assert_ok(orch_store_note(members[0].store, key, "note", true, "late", error));
    exchange(0, ORCH_EXCHANGE_PUSH);
    pull(2);
    assert_int_equal(count_rows(members[2].store, "note"), 1);
    unsigned before = count_files();
    for (int i = 0; i < MEMBERS; i++)
        assert_int_equal(push(i), 0);
    assert_int_equal(count_files(), before);
}

/* Whoever notices that a bundle has gone sends again what was in it. */
static void test_what_vanishes_is_sent_again(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        put_run(members[0].store, i, 0);
        assert_int_equal(push(0), 1);
    }
    remove_one(1);
    assert_int_equal(push(0), 1);
    assert_int_equal(pull(1), 3);
    while (count_files())
        remove_one(0);
    assert_int_equal(push(1), 3);
    assert_int_equal(pull(2), 3);
    assert_all_same();
}

/* Without what was remembered: never less, perhaps again. */
static void test_memory_is_lost(void **state)
{
    (void)state;
    put_run(members[0].store, 1, 0);
    assert_int_equal(push(0), 1);
    assert_ok(orch_store_exec(members[0].store, "DELETE FROM meta WHERE key LIKE 'folder.%'",
                              "write to", error));
    put_run(members[0].store, 2, 0);
    assert_true(push(0) >= 1);
    assert_int_equal(pull(1), 2);
    assert_int_equal(push(0), 0);
}

static void test_half_copied_and_foreign_files(void **state)
{
    (void)state;
    put_run(members[0].store, 1, 0);
    assert_int_equal(push(0), 1);
    g_auto(GStrv) all = names();
    g_autofree char *path = g_build_filename(folder, all[0], NULL);
    g_autofree char *bytes = NULL;
    size_t length;
    assert_ok(orch_file_read(path, 1 << 20, &bytes, &length, error));
    assert_ok(orch_file_write(path, bytes, length / 2, false, error));
    g_autofree char *foreign = g_build_filename(folder, "holiday.jpg", NULL);
    assert_ok(orch_file_write(foreign, "x", 1, false, error));
    struct orch_exchanged out = exchange(1, ORCH_EXCHANGE_PULL);
    assert_int_equal(out.receipt->added, 0);
    assert_problem(out.receipt, "incomplete or damaged");
    orch_exchanged_clear(&out);
    assert_ok(orch_file_write(path, bytes, length, false, error));
    assert_int_equal(pull(1), 1);
    /* one that is what its name says, and no bundle: a line, once */
    char sha256[ORCH_SHA256_CHARS];
    orch_sha256(bytes, length - 9, sha256);
    g_autofree char *cut = g_strdup_printf("%s/%s.orch", folder, sha256);
    assert_ok(orch_file_write(cut, bytes, length - 9, false, error));
    out = exchange(1, ORCH_EXCHANGE_PULL);
    assert_problem(out.receipt, "is truncated");
    orch_exchanged_clear(&out);
    assert_int_equal(pull(1), -1);
}

/* Somebody says that a run is there which is not, and takes away the bundle that had it: it comes
 * back from whoever has it. */
static void test_claimed_run_is_not_believed(void **state)
{
    (void)state;
    put_run(members[0].store, 1, 0);
    assert_int_equal(push(0), 1);
    g_autofree char *key = numbered_key(1);
    struct orch_run *run;
    assert_ok(run = orch_store_run(members[0].store, key, error));
    GString *text;
    assert_ok(text = orch_run_text_encode(members[0].store, run->id, error));
    char *at = strstr(text->str, "resnet20"); /* the claimed digest stands, the content does not */
    memcpy(at, "lenet-05", 8);
    g_autofree char *item = g_strdup_printf("runs/01890/01/%s-%.16s", key, run->digest);
    g_autofree char *temporary = g_build_filename(folder, "fake", NULL);
    struct orch_tar_writer *tar;
    assert_ok(tar = orch_tar_create(temporary, error));
    assert_ok(orch_tar_add(tar, "format", ORCH_ITEM_FORMAT, strlen(ORCH_ITEM_FORMAT), error));
    assert_ok(orch_tar_add(tar, item, text->str, text->len, error));
    assert_ok(orch_tar_finish(tar, true, NULL, error));
    char sha256[ORCH_SHA256_CHARS];
    assert_ok(orch_file_sha256(temporary, sha256, NULL, error));
    g_autofree char *fake = g_strdup_printf("%s/%s.orch", folder, sha256);
    assert_int_equal(rename(temporary, fake), 0);
    pull(0);
    g_auto(GStrv) all = names();
    for (int i = 0; all[i]; i++)
        if (!strstr(fake, all[i])) {
            g_autofree char *path = g_build_filename(folder, all[i], NULL);
            unlink(path);
        }
    assert_int_equal(push(0), 1);
    struct orch_exchanged out = exchange(1, ORCH_EXCHANGE_PULL);
    assert_int_equal(out.receipt->added, 1);
    assert_int_equal(out.receipt->refused <= 1, 1);
    orch_exchanged_clear(&out);
    assert_same_stores(members[0].store, members[1].store);
    g_string_free(text, TRUE);
    orch_run_free(run);
}

static void test_no_folder(void **state)
{
    (void)state;
    struct orch_exchanged out;
    assert_fails(orch_folder_exchange(members[0].store, "/nowhere/at/all", ORCH_EXCHANGE_PUSH,
                                      &EVERYTHING, &out, error),
                 ORCH_ERROR_IO, "cannot open folder '/nowhere/at/all'");
    assert_true(orch_folder_is(folder));
    assert_false(orch_folder_is("/nowhere"));
    g_autofree char *git = g_build_filename(folder, ".git", NULL);
    assert_ok(orch_dir_make(git, error));
    assert_false(orch_folder_is(folder));
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_three_members),
        T(test_conflicts_and_notes_spread),
        T(test_what_vanishes_is_sent_again),
        T(test_memory_is_lost),
        T(test_half_copied_and_foreign_files),
        T(test_claimed_run_is_not_believed),
        T(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
