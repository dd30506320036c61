/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joining is a union of sets: any order, any grouping, any number of times. What travels, what
 * stays, and what is set apart. */
#include "tests/store/join_fixture.h"

#include <math.h>

#include <sys/stat.h>

static const int A[] = {1, 2, 3, 4, 0}, B[] = {3, 4, 5, 6, 0}, C[] = {1, 6, 7, 0};

/* A fresh store into which files are joined in this order, each `times` times; its digest. */
static char *joined(const char *folder, char *const *paths, const int *order, int times)
{
    static int serial;
    g_autofree char *name = g_strdup_printf("%s/joined-%d.db", folder, serial++);
    struct orch_store *store;
    assert_ok(store = orch_store_open(name, ORCH_STORE_CREATE, error));
    for (int i = 0; order[i] >= 0; i++)
        for (int k = 0; k < times; k++) {
            struct orch_receipt *receipt = join_well(store, paths[order[i]]);
            if (k > 0) {
                assert_int_equal(receipt->added, 0);
                assert_int_equal(receipt->conflicts, 0);
                assert_string_equal(receipt->before, receipt->after);
            }
            orch_receipt_free(receipt);
        }
    assert_sound(store);
    char *digest = digest_of(store);
    orch_store_close(store);
    return digest;
}

static const int ORDERS[][4] = {{0, 1, 2, -1}, {0, 2, 1, -1}, {1, 0, 2, -1},
                                {1, 2, 0, -1}, {2, 0, 1, -1}, {2, 1, 0, -1}};

static void assert_all_orders_equal(const char *folder, char *const *paths)
{
    g_autofree char *first = joined(folder, paths, ORDERS[0], 1);
    for (size_t i = 0; i < G_N_ELEMENTS(ORDERS); i++) {
        g_autofree char *once = joined(folder, paths, ORDERS[i], 1);
        g_autofree char *twice = joined(folder, paths, ORDERS[i], 2);
        assert_string_equal(once, first);
        assert_string_equal(twice, first);
    }
}

static void test_order(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    char *paths[] = {store_of(folder, "a", A, 0), store_of(folder, "b", B, 0),
                     store_of(folder, "c", C, 0)};
    assert_all_orders_equal(folder, paths);
    static const int all[] = {1, 2, 3, 4, 5, 6, 7, 0};
    g_autofree char *whole_path = store_of(folder, "whole", all, 0);
    struct orch_store *whole;
    assert_ok(whole = orch_store_open(whole_path, ORCH_STORE_READ, error));
    g_autofree char *expected = digest_of(whole), *got = joined(folder, paths, ORDERS[3], 1);
    assert_string_equal(got, expected);
    orch_store_close(whole);
    for (int i = 0; i < 3; i++)
        g_free(paths[i]);
    fixture_remove(folder);
}

/* (A + B) + C and A + (B + C), each group a store of its own. */
static void test_groups(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    char *paths[] = {store_of(folder, "a", A, 0), store_of(folder, "b", B, 0),
                     store_of(folder, "c", C, 0)};
    struct orch_store *left, *right;
    assert_ok(left = orch_store_open(paths[0], ORCH_STORE_WRITE, error));
    orch_receipt_free(join_well(left, paths[1]));
    orch_receipt_free(join_well(left, paths[2]));
    struct orch_store *b;
    assert_ok(b = orch_store_open(paths[1], ORCH_STORE_WRITE, error));
    orch_receipt_free(join_well(b, paths[2]));
    orch_store_close(b);
    g_autofree char *plain = store_of(folder, "a2", A, 0);
    assert_ok(right = orch_store_open(plain, ORCH_STORE_WRITE, error));
    struct orch_receipt *receipt = join_well(right, paths[1]);
    assert_int_equal(receipt->added, 3);
    assert_int_equal(receipt->known, 3); /* 3 and 4 of B, 1 of C */
    assert_int_equal(receipt->rows->len, 1);
    const struct orch_receipt_row *row = receipt->rows->pdata[0];
    assert_int_equal(row->added, 3);
    assert_int_equal(row->known, 3);
    assert_string_equal(row->experiment, "finetune");
    assert_string_not_equal(receipt->before, receipt->after);
    orch_receipt_free(receipt);
    g_autofree char *x = digest_of(left), *y = digest_of(right);
    assert_string_equal(x, y);
    assert_sound(right);
    orch_store_close(left);
    orch_store_close(right);
    for (int i = 0; i < 3; i++)
        g_free(paths[i]);
    fixture_remove(folder);
}

/* One key, three digests. */
static void test_conflicts(void **state)
{
    (void)state;
    static const int same[] = {9, 0};
    char *folder = fixture_folder();
    char *paths[] = {store_of(folder, "a", same, 0), store_of(folder, "b", same, 1),
                     store_of(folder, "c", same, 2)};
    assert_all_orders_equal(folder, paths);
    struct orch_store *store, *other;
    assert_ok(store = orch_store_open(paths[0], ORCH_STORE_WRITE, error));
    g_autofree char *alone = digest_of(store);
    struct orch_receipt *receipt = join_well(store, paths[1]);
    assert_int_equal(receipt->conflicts, 1);
    assert_int_equal(receipt->added, 0);
    assert_int_equal(receipt->problems->len, 1);
    assert_non_null(strstr(receipt->problems->pdata[0], "another digest"));
    assert_string_equal(receipt->before, alone);
    assert_string_not_equal(receipt->after, alone);
    orch_receipt_free(receipt);
    struct orch_store_info info;
    assert_ok(orch_store_info(store, &info, error));
    assert_int_equal(info.runs, 1);
    assert_int_equal(info.conflicts, 1);
    orch_store_info_clear(&info);
    /* it travels on from here to one that knows nothing, and to the one where it is the run */
    g_autofree char *digest = digest_of(store);
    orch_store_close(store);
    for (int i = 1; i < 3; i++) {
        g_autofree char *fresh = g_build_filename(folder, "fresh.db", NULL);
        assert_ok(other = orch_store_open(i == 1 ? paths[1] : fresh, ORCH_STORE_CREATE, error));
        receipt = join_well(other, paths[0]);
        assert_int_equal(receipt->conflicts, 1);
        assert_int_equal(receipt->refused, 0);
        orch_receipt_free(receipt);
        g_autofree char *there = digest_of(other);
        assert_string_equal(there, digest);
        assert_sound(other);
        orch_store_close(other);
    }
    for (int i = 0; i < 3; i++)
        g_free(paths[i]);
    fixture_remove(folder);
}

static int64_t count(struct orch_store *store, const char *sql)
{
    sqlite3_stmt *s;
    assert_int_equal(sqlite3_prepare_v2(store->db, sql, -1, &s, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return value;
}

static void exec(struct orch_store *store, const char *sql)
{
    char *message = NULL;
    if (sqlite3_exec(store->db, sql, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", sql, message);
}

#define KEY_1 "01890a5d-ac96-774b-bcce-000000000001"
#define KEY_2 "01890a5d-ac96-774b-bcce-000000000002"

static void test_what_travels(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    char key[ORCH_SHA256_CHARS];
    orch_sha256("{}", 2, key);
    assert_ok(orch_store_put_recipe(store, key, "hw4", "{}", "recipe: hw4", error));
    assert_ok(orch_store_note(store, KEY_1, "note", true, "public", error));
    assert_ok(orch_store_note(store, KEY_1, "note", false, "mine alone", error));
    g_autofree char *bytes = g_build_filename(folder, "bytes", NULL);
    assert_ok(orch_file_write(bytes, "foo", 3, false, error));
    char sha256[ORCH_SHA256_CHARS];
    int64_t length;
    assert_ok(orch_store_put_object(store, bytes, sha256, &length, error));
    exec(store, "INSERT INTO forecast VALUES('f', 'm', 'paleo', 7, 1, 2, 3, 'fitted', '" KEY_1 "'),"
                " ('f', 'm', 'paleo', 8, 1, 2, 3, 'fitted', NULL);"
                "INSERT INTO predictor VALUES('p', 1, '{}');"
                "INSERT INTO active VALUES('x', NULL, NULL, NULL, 'b', 1, 1, 1)");
    struct orch_dataset *set = orch_dataset_new("alpha", "ms", "", 2);
    set->targets[0] = 1, set->targets[1] = 2;
    orch_dataset_add_numbers(set, "x")[0] = 3;
    enum orch_dataset_put put;
    assert_ok(orch_store_put_dataset(store, set, &put, NULL, error));
    orch_store_close(store);

    struct orch_store *other = fixture_open(folder);
    set->targets[0] = 5; /* other rows of the same name */
    assert_ok(orch_store_put_dataset(other, set, &put, NULL, error));
    orch_dataset_free(set);
    struct orch_receipt *receipt = join_well(other, path);
    assert_int_equal(receipt->added, 4);
    assert_int_equal(receipt->recipes, 1);
    assert_int_equal(receipt->notes, 1);
    assert_int_equal(receipt->forecasts, 1);
    assert_int_equal(receipt->datasets, 1);
    assert_int_equal(receipt->artifacts, 1);
    assert_int_equal(receipt->artifact_bytes, 3);
    assert_int_equal(receipt->remarks->len, 1); /* the data set's new name */
    assert_int_equal(receipt->refused + receipt->conflicts, 0);
    orch_receipt_free(receipt);
    assert_int_equal(count(other, "SELECT count(*) FROM note"), 1);
    assert_int_equal(count(other, "SELECT count(*) FROM predictor"), 0);
    assert_int_equal(count(other, "SELECT count(*) FROM active"), 0);
    assert_int_equal(count(other, "SELECT count(*) FROM forecast"), 1);
    assert_int_equal(count(other, "SELECT count(*) FROM dataset"), 2);
    assert_int_equal(count(other, "SELECT count(*) FROM recipe WHERE verbatim = 'recipe: hw4'"), 1);
    g_autofree char *object = orch_store_object_path(other, sha256);
    assert_non_null(object);
    assert_sound(other);
    receipt = join_well(other, path);
    assert_int_equal(receipt->known, 4);
    assert_int_equal(receipt->added + receipt->recipes + receipt->notes + receipt->forecasts +
                         receipt->datasets + receipt->artifacts + receipt->remarks->len,
                     0);
    orch_receipt_free(receipt);
    orch_store_close(other);
    fixture_remove(folder);
}

/* The guards of ended runs are off while a join lasts, and on again whatever became of it. */
static void test_guards(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store = fixture_open(folder);
    for (int commits = 0; commits < 2; commits++) {
        struct orch_join *join;
        assert_ok(join = orch_join_begin(store, "test", error));
        assert_ok(orch_join_store(join, path, 0, error));
        if (commits) {
            struct orch_receipt *receipt;
            assert_ok(receipt = orch_join_commit(join, error));
            orch_receipt_free(receipt);
        } else {
            orch_join_rollback(join);
        }
        assert_int_equal(count(store, "SELECT count(*) FROM run"), commits ? 4 : 0);
        assert_int_not_equal(sqlite3_exec(store->db, "INSERT INTO param VALUES(999, 'a', 'b', 'c')",
                                          NULL, NULL, NULL),
                             SQLITE_OK);
    }
    assert_int_not_equal(sqlite3_exec(store->db, "DELETE FROM run", NULL, NULL, NULL), SQLITE_OK);
    assert_int_not_equal(sqlite3_exec(store->db, "UPDATE run SET who = 'x'", NULL, NULL, NULL),
                         SQLITE_OK);
    orch_store_close(store);
    fixture_remove(folder);
}

static int64_t hidden(struct orch_store *store)
{
    struct orch_store_info info;
    assert_ok(orch_store_info(store, &info, error));
    orch_store_info_clear(&info);
    return info.hidden;
}

static void test_tombstones(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store = fixture_open(folder), *author;
    orch_receipt_free(join_well(store, path));
    struct orch_note note = {.key = FIXTURE_KEY,
                             .target = KEY_1,
                             .kind = "tombstone",
                             .text = "I do not like it",
                             .who = "mallory",
                             .made_ns = 1};
    for (int own = 0; own < 2; own++) {
        struct orch_join *join;
        struct orch_receipt *receipt;
        if (own) {
            note.key = "01890a5d-ac96-774b-bcce-b302099a8058";
            note.who = "gr\xc3\xbc\xc3\x9f";
        }
        assert_ok(join = orch_join_begin(store, "test", error));
        assert_ok(orch_join_note(join, &note, error));
        assert_ok(receipt = orch_join_commit(join, error));
        assert_int_equal(receipt->tombstones, own);
        assert_int_equal(receipt->foreign_tombstones, !own);
        orch_receipt_free(receipt);
        assert_int_equal(hidden(store), own);
    }
    /* one that I make of somebody else's run holds here alone */
    g_setenv("ORCH_USER", "tester", true);
    assert_ok(orch_store_note(store, KEY_2, "tombstone", true, "", error));
    assert_int_equal(hidden(store), 2);
    g_setenv("ORCH_USER", "gr\xc3\xbc\xc3\x9f", true);
    assert_ok(author = orch_store_open(path, ORCH_STORE_WRITE, error));
    assert_ok(orch_store_note(author, KEY_2, "tombstone", true, "", error));
    g_unsetenv("ORCH_USER");
    orch_receipt_free(join_well(author, orch_store_path(store)));
    assert_int_equal(hidden(author), 2); /* its own, and the author's of run 1 */
    assert_int_equal(count(author, "SELECT count(*) FROM note WHERE who = 'tester'"), 0);
    orch_store_close(author);
    orch_store_close(store);
    fixture_remove(folder);
}

/* Is run 1 hidden once these notes have come, in this order? Nothing of it stays. */
static bool hides(struct orch_store *store, const struct orch_note *notes, const size_t *order,
                  size_t n)
{
    struct orch_join *join;
    assert_ok(join = orch_join_begin(store, "test", error));
    for (size_t i = 0; i < n; i++)
        assert_ok(orch_join_note(join, &notes[order[i]], error));
    int64_t count = hidden(store);
    orch_join_rollback(join);
    return count != 0;
}

/* Of n notes, in each of their orders. */
static void assert_hides(struct orch_store *store, const struct orch_note *notes, size_t n, bool is)
{
    size_t order[4] = {0, 1, 2, 3}, turn[4] = {0};
    assert_int_equal(hides(store, notes, order, n), is);
    for (size_t i = 0; i < n;) { /* Heap's permutations */
        if (turn[i] >= i) {
            turn[i++] = 0;
            continue;
        }
        size_t other = i % 2 ? turn[i] : 0, swap = order[other];
        order[other] = order[i];
        order[i] = swap;
        assert_int_equal(hides(store, notes, order, n), is);
        turn[i]++;
        i = 0;
    }
}

static void test_restored(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store = fixture_open(folder);
    orch_receipt_free(join_well(store, path));
    const char *author = "gr\xc3\xbc\xc3\x9f";
#define NOTE(digit, what, name, at)                                                                \
    {                                                                                              \
        .key = "01890a5d-ac96-774b-bcce-b302099a805" digit, .target = KEY_1, .kind = what,         \
        .who = name, .made_ns = at                                                                 \
    }
    struct orch_note notes[] = {
        NOTE("1", "tombstone", author, 10), NOTE("2", "restored", author, 20),
        NOTE("3", "restored", "mallory", 99), NOTE("4", "tombstone", author, 30)};
    assert_hides(store, notes, 1, true);
    assert_hides(store, notes, 2, false);
    assert_hides(store, notes, 3, false);
    assert_hides(store, notes, 4, true); /* the author's last word; a stranger's counts nothing */
    notes[3].made_ns = 20;               /* at the same time: the later key */
    assert_hides(store, notes, 4, true);
    notes[3].key = "01890a5d-ac96-774b-bcce-b302099a8050";
    assert_hides(store, notes, 4, false);

    /* what one hides for oneself, nobody else brings back; and a fast clock does not keep it */
    g_setenv("ORCH_USER", "tester", true);
    assert_ok(orch_store_note(store, KEY_1, "tombstone", true, "mine alone", error));
    assert_hides(store, notes, 2, true);
    struct orch_hidden *what;
    assert_ok(what = orch_store_hidden(store, KEY_1, error));
    assert_string_equal(what->who, "tester");
    assert_string_equal(what->why, "mine alone");
    assert_false(what->is_public);
    orch_hidden_free(what);
    sqlite3_exec(store->db, "UPDATE note SET made = made + 3600000000000", NULL, NULL, NULL);
    assert_ok(orch_store_restore(store, KEY_1, "", error));
    assert_int_equal(hidden(store), 0);
    assert_hides(store, notes, 1, true); /* its author's stays */
    assert_ok(orch_store_restore(store, KEY_1, "", error));
    assert_int_equal(count(store, "SELECT count(*) FROM note"), 2); /* nothing hid it: no note */

    /* one's own comes back everywhere */
    struct orch_store *mine;
    g_setenv("ORCH_USER", author, true);
    assert_ok(mine = orch_store_open(path, ORCH_STORE_WRITE, error));
    assert_ok(orch_store_note(mine, KEY_1, "tombstone", true, "", error));
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->tombstones, 1);
    orch_receipt_free(receipt);
    assert_int_equal(hidden(store), 1);
    assert_ok(orch_store_restore(mine, KEY_1, "", error));
    g_unsetenv("ORCH_USER");
    receipt = join_well(store, path);
    assert_int_equal(receipt->restored, 1);
    orch_receipt_free(receipt);
    assert_int_equal(hidden(store), 0);
    orch_store_close(mine);
    orch_store_close(store);
    fixture_remove(folder);
}

/* The tags of run 1, joined by blanks, and its name, once these notes have come in this order. */
static char *labels(struct orch_store *store, const struct orch_note *notes, const size_t *order,
                    size_t n)
{
    struct orch_join *join;
    assert_ok(join = orch_join_begin(store, "test", error));
    for (size_t i = 0; i < n; i++)
        assert_ok(orch_join_note(join, &notes[order[i]], error));
    GString *text = g_string_new(NULL);
    g_autoptr(GPtrArray) tags = NULL;
    assert_ok(tags = orch_store_tags(store, KEY_1, error));
    for (guint i = 0; i < tags->len; i++)
        g_string_append_printf(text, "%s ", (char *)tags->pdata[i]);
    g_autofree char *name = orch_store_name(store, KEY_1, NULL);
    g_string_append_printf(text, "| %s", name ? name : "-");
    orch_join_rollback(join);
    return g_string_free(text, FALSE);
}

static void assert_labels(struct orch_store *store, const struct orch_note *notes, size_t n,
                          const char *expected)
{
    size_t order[6] = {0, 1, 2, 3, 4, 5}, turn[6] = {0};
    for (size_t i = 0; i < n;) { /* Heap's permutations, after the first */
        g_autofree char *found = labels(store, notes, order, n);
        assert_string_equal(found, expected);
        for (i = 0; i < n && turn[i] >= i; i++)
            turn[i] = 0;
        if (i == n)
            break;
        size_t other = i % 2 ? turn[i] : 0, swap = order[other];
        order[other] = order[i];
        order[i] = swap;
        turn[i]++;
        i = 0;
    }
}

/* In every order in which they come, the same tags hold and the same name counts. */
static void test_labels(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store = fixture_open(folder);
    orch_receipt_free(join_well(store, path));
    const char *author = "gr\xc3\xbc\xc3\x9f";
#define SAID(digit, what, name, at, words)                                                         \
    {                                                                                              \
        .key = "01890a5d-ac96-774b-bcce-b302099a805" digit, .target = KEY_1, .kind = what,         \
        .who = name, .made_ns = at, .text = words                                                  \
    }
    struct orch_note notes[] = {
        SAID("1", "tag", author, 10, "paper"),      SAID("2", "tag", "bob", 11, "paper"),
        SAID("3", "untag", author, 20, "paper"),    SAID("4", "name", author, 10, "base"),
        SAID("5", "name", "mallory", 99, "stolen"), SAID("6", "name", author, 20, "best")};
    assert_labels(store, notes, 2, "paper | -");
    assert_labels(store, notes, 4, "paper | base"); /* Bob's tag stays */
    assert_labels(store, notes, 6, "paper | best"); /* a stranger's name counts nothing */
    notes[1].who = author;
    assert_labels(store, notes, 6, "| best"); /* one untag undoes both */
    notes[5].made_ns = 10;                    /* at the same time: the later key */
    assert_labels(store, notes, 6, "| best");
    notes[5].text = "";
    assert_labels(store, notes, 6, "| -");

    /* here: a private word counts for its reader, and a fast clock does not keep the last one */
    bool had;
    g_setenv("ORCH_USER", "tester", true);
    assert_ok(orch_store_note(store, KEY_1, "tag", false, "mine", error));
    assert_ok(orch_store_set_name(store, KEY_1, "here", false, error));
    sqlite3_exec(store->db, "UPDATE note SET made = made + 3600000000000", NULL, NULL, NULL);
    assert_ok(orch_store_untag(store, KEY_1, "mine", &had, error));
    assert_true(had);
    assert_ok(orch_store_untag(store, KEY_1, "mine", &had, error));
    assert_false(had);
    assert_ok(orch_store_set_name(store, KEY_1, "there", false, error));
    assert_labels(store, notes, 2, "paper | there");
    assert_fails(orch_store_set_name(store, KEY_1, "mine", true, error), ORCH_ERROR_USAGE,
                 "only the author");
    struct orch_run *run;
    assert_ok(run = orch_store_run(store, "there", error));
    assert_string_equal(run->key, KEY_1);
    orch_run_free(run);
    g_unsetenv("ORCH_USER");
    orch_store_close(store);
    fixture_remove(folder);
}

static void test_itself(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->added + receipt->known, 0);
    assert_int_equal(receipt->remarks->len, 1);
    orch_receipt_free(receipt);
    orch_store_close(store);
    fixture_remove(folder);
}

/* What is purged there cannot prove its digest; what is whole here stays. */
static void test_purged(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *path = store_of(folder, "a", A, 0);
    struct orch_store *store;
    assert_ok(store = orch_store_open(path, ORCH_STORE_WRITE, error));
    assert_ok(orch_store_purge(store, KEY_1, error));
    orch_store_close(store);
    store = fixture_open(folder);
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->added, 3);
    assert_int_equal(receipt->purged, 1);
    assert_int_equal(receipt->refused, 0);
    orch_receipt_free(receipt);
    assert_sound(store);
    orch_store_close(store);
    fixture_remove(folder);
}

/* A file whose writer was killed, beside which nothing may be written: a USB stick. */
static void test_leftovers(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    g_autofree char *stick = g_build_filename(folder, "stick", NULL);
    g_autofree char *path = g_build_filename(stick, "a.db", NULL);
    g_autofree char *at = g_build_filename(folder, "at", NULL);
    assert_ok(orch_dir_make(stick, error) && orch_dir_make(at, error));
    g_autofree char *live_path = store_of(at, "a", A, 0);
    struct orch_store *live;
    assert_ok(live = orch_store_open(live_path, ORCH_STORE_WRITE, error));
    put_variant(live, 8, 0); /* in the log, not yet in the file */
    static const char *const endings[] = {"", "-wal"};
    for (int i = 0; i < 2; i++) {
        g_autofree char *from = g_strconcat(live_path, endings[i], NULL);
        g_autofree char *to = g_strconcat(path, endings[i], NULL), *bytes = NULL;
        gsize length;
        assert_true(g_file_get_contents(from, &bytes, &length, NULL));
        assert_true(i == 0 || length > 0);
        assert_true(g_file_set_contents(to, bytes, (gssize)length, NULL));
    }
    orch_store_close(live);
    assert_int_equal(chmod(stick, 0555), 0);
    struct orch_store *store = fixture_open(folder);
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->added, 5);
    orch_receipt_free(receipt);
    orch_store_close(store);
    chmod(stick, 0755);
    fixture_remove(folder);
}

/* ---- points by the batch ----------------------------------------------------------------------
 */

/* Records run `number` with `count` points of three metrics, some without a value. */
static void put_long(struct orch_store *store, int number, int count)
{
    static const char *const names[] = {"loss", "accuracy", "rate"};
    struct fixture_points stream;
    struct orch_record record;
    g_autofree char *key = numbered_key(number);
    g_autofree struct orch_point *points = g_new(struct orch_point, MAX(count, 1));
    for (int i = 0; i < count; i++)
        points[i] = (struct orch_point){.name = names[i % 3],
                                        .step = i / 3,
                                        .t_ms = i * 0.5,
                                        .value = i % 50 ? 1.0 / (i + 1) : (double)NAN};
    fixture_record(&record, key, &stream);
    stream = (struct fixture_points){points, (size_t)count, 0};
    assert_ok(orch_store_record(store, &record, error));
}

/* However many points a run has, none among them, and whichever runs are here already. */
static void test_many_points(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    struct orch_store *store = fixture_open(folder);
    static const int counts[] = {511, 0, 512, 513, 1, 1023, 1024, 1025, 0, 3000};
    g_autofree char *path = g_build_filename(folder, "long.db", NULL);
    struct orch_store *long_one;
    assert_ok(long_one = orch_store_open(path, ORCH_STORE_CREATE, error));
    for (int i = 0; i < (int)G_N_ELEMENTS(counts); i++) {
        put_long(long_one, i + 1, counts[i]);
        if (i % 4 == 1) /* known: left out */
            put_long(store, i + 1, counts[i]);
    }
    g_autofree char *wanted = digest_of(long_one);
    orch_store_close(long_one);
    struct orch_receipt *receipt = join_well(store, path);
    assert_int_equal(receipt->refused, 0);
    assert_int_equal(receipt->added, 7);
    assert_int_equal(receipt->known, 3);
    assert_string_equal(receipt->after, wanted);
    orch_receipt_free(receipt);
    assert_sound(store);
    orch_store_close(store);
    fixture_remove(folder);
}

/* The receipt's digests are those of the whole, before and after, whatever was remembered. */
static void test_digests_of_receipts(void **state)
{
    (void)state;
    char *folder = fixture_folder();
    struct orch_store *store = fixture_open(folder);
    static const int first[] = {1, 2, 0}, second[] = {3, 0}, other[] = {2, 5, 0};
    g_autofree char *a = store_of(folder, "a", first, 0);
    g_autofree char *b = store_of(folder, "b", second, 0);
    g_autofree char *c = store_of(folder, "c", other, 7); /* 2: another digest */
    const char *const paths[] = {a, b, c, c};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        if (i == 2)
            put_variant(store, 4, 0); /* what is remembered is out of date */
        g_autofree char *before = digest_of(store);
        struct orch_receipt *receipt = join_well(store, paths[i]);
        g_autofree char *after = digest_of(store);
        assert_string_equal(receipt->before, before);
        assert_string_equal(receipt->after, after);
        assert_int_equal(receipt->conflicts, i == 2);
        assert_int_equal(receipt->conflicts_here, i >= 2);
        assert_true((strcmp(before, after) == 0) == (i == 3));
        orch_receipt_free(receipt);
    }
    orch_store_close(store);
    fixture_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_what_travels),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_tombstones),
        cmocka_unit_test(test_restored),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_itself),
        cmocka_unit_test(test_purged),
        cmocka_unit_test(test_leftovers),
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_digests_of_receipts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
