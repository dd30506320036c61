/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What packs are judged by: trees by their lists, reports number by number, runs across a class. */
#include "features/pack/class.h"
#include "features/pack/listed.h"
#include "features/pack/recheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HELLO "ce013625030ba8dba906f756967f9e9ca394464a" /* git hash-object of "hello\n" */

static void test_tree_ids(void **state)
{
    (void)state;
    char blob[ORCH_OBJECT_ID_CHARS];
    orch_blob_id("hello\n", 6, 40, blob);
    assert_string_equal(blob, HELLO);
    g_autoptr(GPtrArray) files = orch_tree_files_new();
    g_autofree char *empty = orch_tree_files_id(files);
    assert_string_equal(empty, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    /* a folder sorts as if its name ended in a slash: a.c, a/, a0; the id is git write-tree's */
    assert_true(orch_tree_files_add(files, "a0", 0100755, HELLO));
    assert_true(orch_tree_files_add(files, "a/deep/x", 0100644, HELLO));
    assert_true(orch_tree_files_add(files, "a.c", 0100644, HELLO));
    assert_true(orch_tree_files_add(files, "a/b", 0100644, HELLO));
    g_autofree char *id = orch_tree_files_id(files);
    assert_string_equal(id, "c7bf8511f23607263978b977c90ad95a3c7ab316");
    static const char *const paths[] = {"", "/a", "a//b", "../a", "a/..", "a/./b", "a/"};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
        assert_false(orch_tree_files_add(files, paths[i], 0100644, HELLO));
    assert_false(orch_tree_files_add(files, "b", 0100600, HELLO));
    assert_false(orch_tree_files_add(files, "b", 0100644, "ce01"));
}

static void test_listed(void **state)
{
    (void)state;
    GPtrArray *files = orch_tree_files_new();
    orch_tree_files_add(files, "exp/a.py", 0100644, HELLO);
    orch_tree_files_add(files, "exp/b.txt", 0100644, HELLO);
    g_autofree char *tree = orch_tree_files_id(files);
    GHashTable *trees =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    g_hash_table_insert(trees, g_strdup(tree), files);
    struct orch_vcs *vcs = orch_vcs_listed("/nowhere", trees);
    g_autoptr(GPtrArray) paths = orch_vcs_list(vcs, tree, "exp", NULL);
    assert_int_equal(paths->len, 2);
    const char *const python[] = {"exp/*.py", NULL};
    g_autofree char *part = orch_vcs_subtree(vcs, tree, python, NULL);
    g_autoptr(GPtrArray) alone = orch_tree_files_new();
    orch_tree_files_add(alone, "exp/a.py", 0100644, HELLO);
    g_autofree char *expected = orch_tree_files_id(alone);
    assert_string_equal(part, expected);
    g_autoptr(GError) error = NULL;
    assert_null(orch_vcs_diff_text(vcs, tree, tree, 1000, &error)); /* that needs objects */
    assert_non_null(error);
    orch_vcs_close(vcs);
}

/* ---- reports -----------------------------------------------------------------------------------
 */

static json_t *report(const char *value, const char *winner)
{
    g_autofree char *text = g_strdup_printf(
        "{\"sections\": [{\"question\": \"1.1\", \"kind\": \"table\", \"command\": \"%s\","
        " \"blocks\": [{\"kind\": \"table\", \"rows\": [{\"lr\": \"0.1\", \"final\": %s}]},"
        " {\"kind\": \"text\", \"text\": \"%s\"}]}]}",
        winner, value, winner);
    json_t *out = json_loads(text, 0, NULL);
    assert_non_null(out);
    return out;
}

static unsigned differences(const char *said, const char *found, const char *winner,
                            char **out_place)
{
    g_autoptr(GPtrArray) items = NULL;
    json_t *a = report(said, "full"), *b = report(found, winner);
    items = orch_recheck(a, b, NULL, NULL);
    const struct orch_rechecked *item = items->pdata[0];
    if (out_place && item->disagreements->len)
        *out_place = g_strdup(((struct orch_disagreement *)item->disagreements->pdata[0])->place);
    json_decref(a);
    json_decref(b);
    return item->differs;
}

static void test_recheck(void **state)
{
    (void)state;
    g_autofree char *place = NULL;
    assert_int_equal(differences("0.95", "0.95", "full", NULL), 0);
    assert_int_equal(differences("0.95", "0.95000000000001", "full", NULL), 0);
    assert_int_equal(differences("0.95", "0.950000002", "full", &place), 1);
    assert_string_equal(place, "block 1, row 1, final");
    assert_int_equal(differences("0.95", "null", "full", NULL), 1);
    assert_int_equal(differences("\"nan\"", "\"nan\"", "full", NULL), 0);
    assert_int_equal(differences("\"nan\"", "0.1", "full", NULL), 1);
    /* a winner without a digit is a claim too; the command is none */
    assert_int_equal(differences("0.95", "0.95", "feature", NULL), 1);
}

/* Numbers are counted, also those written as text; names, keys and dates are not. */
static void test_recheck_count(void **state)
{
    (void)state;
    json_t *value =
        json_pack("[s, s, s, s, s, s, {s:s, s:f, s:i}]", "resnet18", "2026-11-22", "0199abcd/ef",
                  "3d-unet", "", "lr", "a", "0.87 +- 0.02", "b", 0.5, "c", 3);
    assert_int_equal(orch_recheck_count(value), 3);
    json_array_append_new(value, json_string("$3.06"));
    json_array_append_new(value, json_string("-12.5 %"));
    json_array_append_new(value, json_string("1..4"));
    assert_int_equal(orch_recheck_count(value), 6);
    json_decref(value);
}

static void test_recheck_lost(void **state)
{
    (void)state;
    json_t *a = report("0.95", "full"), *none = json_loads("{\"sections\": []}", 0, NULL);
    g_autoptr(GPtrArray) gone = orch_recheck(a, none, NULL, NULL);
    g_autoptr(GPtrArray) new = orch_recheck(none, a, NULL, NULL);
    assert_int_equal(gone->len, 1);
    assert_true(((struct orch_rechecked *)gone->pdata[0])->differs > 0);
    assert_true(((struct orch_rechecked *)new->pdata[0])->differs > 0);
    json_decref(a);
    json_decref(none);
}

static char *excuse_all(void *ctx, const json_t *said, const json_t *found, bool differs)
{
    (void)said;
    (void)found;
    (void)differs;
    return g_strdup(ctx);
}

static void test_recheck_excused(void **state)
{
    (void)state;
    json_t *a = report("0.95", "full");
    char why[] = "no data";
    g_autoptr(GPtrArray) items = orch_recheck(a, a, excuse_all, why);
    const struct orch_rechecked *item = items->pdata[0];
    assert_int_equal(item->confirmed, 0);
    assert_int_equal(item->differs, 0);
    assert_int_equal(item->left,
                     orch_recheck_count(json_array_get(json_object_get(a, "sections"), 0)));
    assert_string_equal(item->unchecked, "no data");
    json_decref(a);
}

/* ---- a class -----------------------------------------------------------------------------------
 */

static void add_handin(GPtrArray *handins, const char *who, const char *collaborators,
                       const char *maker, const char *key, const char *digest, const char *started,
                       double wall_ms, int points, double bits, const char *times)
{
    struct orch_submission *handin = orch_submission_new(who);
    g_autofree char *wall = g_strdup_printf("%a", wall_ms);
    json_t *list = collaborators ? json_pack("[s]", collaborators) : json_array();
    handin->outcome = json_pack(
        "{s:s, s:o, s:[{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:i, s:f, s:s, s:s}]}", "who", who,
        "collaborators", list, "facts", "key", key, "digest", digest, "fingerprint", "f", "who",
        maker, "experiment", "e", "started", started, "wall", wall, "wall_ms", wall_ms, "points",
        points, "times_bits", bits, "values", "same for all", "times", times);
    assert_non_null(handin->outcome);
    g_ptr_array_add(handins, handin);
}

/* The kinds of what two hand-ins have in common, joined; of equal values alone: nothing. */
static char *common(GPtrArray *handins)
{
    g_autoptr(GPtrArray) found = orch_class_compare(handins);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < found->len; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : "",
                               ((struct orch_in_common *)found->pdata[i])->kind);
    return g_string_free(out, FALSE);
}

static void test_class(void **state)
{
    (void)state;
    static const struct {
        const char *collaborators, *maker, *key, *digest, *started;
        double wall_ms;
        int points;
        double bits;
        const char *times, *expected;
    } cases[] = {
        /* against: ada's, key "a", digest "d", started "1", 5.5 ms, 3 points, times "t"; the bits
         * are those of 3 points in a burst after 0.3 ms, and of 3 epochs of 2 s */
        {NULL, "bob", "b", "e", "2", 6.5, 3, 2, "u", ""},
        {"ada", "ada", "a", "d", "1", 5.5, 3, 2, "t", "shared run"},
        {NULL, "ada", "a", "d", "1", 5.5, 3, 2, "t", "undeclared run"},
        {NULL, "bob", "a", "e", "1", 5.5, 3, 2, "t", "copied run"},  /* one key, two contents */
        {NULL, "bob", "b", "e", "1", 6.5, 3, 2, "u", "copied run"},  /* began at the same time */
        {NULL, "bob", "b", "e", "2", 5.5, 3, 43, "t", "copied run"}, /* point by point */
        {NULL, "bob", "b", "e", "2", 6.5, 3, 43, "t", "copied run"},
        {NULL, "bob", "b", "e", "2", 5.5, 3, 25, "t", "copied run"}, /* with the duration: enough */
        {NULL, "bob", "b", "e", "2", 6.5, 3, 25, "t", ""},           /* may be chance */
        {NULL, "bob", "b", "e", "2", 5.5, 3, 2, "t", ""},  /* a burst and an equal duration: too */
        {NULL, "bob", "b", "e", "2", 6.5, 12, 2, "t", ""}, /* many points in a burst are no proof */
        {NULL, "bob", "b", "e", "2", 5.5, 3, 43, "u", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GPtrArray) handins =
            g_ptr_array_new_with_free_func((GDestroyNotify)orch_submission_free);
        add_handin(handins, "ada", NULL, "ada", "a", "d", "1", 5.5, cases[i].points, cases[i].bits,
                   "t");
        add_handin(handins, "bob", cases[i].collaborators, cases[i].maker, cases[i].key,
                   cases[i].digest, cases[i].started, cases[i].wall_ms, cases[i].points,
                   cases[i].bits, cases[i].times);
        g_autofree char *kinds = common(handins);
        assert_string_equal(kinds, cases[i].expected);
    }
}

static void test_class_without_points(void **state)
{
    (void)state;
    g_autoptr(GPtrArray) handins =
        g_ptr_array_new_with_free_func((GDestroyNotify)orch_submission_free);
    add_handin(handins, "ada", NULL, "ada", "a", "d", "1", 5.5, 0, 0, "t");
    add_handin(handins, "bob", NULL, "bob", "b", "e", "2", 5.5, 0, 0, "t");
    add_handin(handins, "cy", NULL, "cy", "c", "f", "3", 0, 0, 0, "t");
    add_handin(handins, "dee", NULL, "dee", "g", "h", "4", 0, 0, 0, "t");
    struct orch_submission *broken = orch_submission_new("broken");
    g_ptr_array_add(handins, broken); /* it could not be verified */
    g_autofree char *kinds = common(handins);
    assert_string_equal(kinds, "equal time");
    assert_int_equal(((struct orch_submission *)handins->pdata[0])->copies, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_ids),     cmocka_unit_test(test_listed),
        cmocka_unit_test(test_recheck),      cmocka_unit_test(test_recheck_count),
        cmocka_unit_test(test_recheck_lost), cmocka_unit_test(test_recheck_excused),
        cmocka_unit_test(test_class),        cmocka_unit_test(test_class_without_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
