/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees of results: the same items give the same tree in any order, what is new is told and nothing
 * else, and what is none of ours is told as such. */
#include "features/share/remotes/results_private.h"

#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    char *folder;
    struct results_place *place;
};

static int setup(void **state)
{
    struct fixture *f = g_new0(struct fixture, 1);
    f->folder = g_build_filename(g_get_tmp_dir(), "orch-results-XXXXXX", NULL);
    assert_non_null(g_mkdtemp(f->folder));
    f->place = orch_results_place_open(f->folder, f->folder, NULL);
    assert_non_null(f->place);
    f->place->remote = g_strdup("there");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    orch_results_place_close(f->place);
    orch_tree_remove(f->folder, NULL);
    g_free(f->folder);
    g_free(f);
    return 0;
}

static void run_path(unsigned i, char out[ORCH_ITEM_PATH_CHARS])
{
    struct orch_item_name name = {.kind = ORCH_ITEM_RUN};
    snprintf(name.key, sizeof name.key, "0190%04x-0000-7000-8000-0000000000%02x", i % 7 * 4096,
             i % 256);
    name.key[9] = "0123456789abcdef"[i / 256 % 16];
    snprintf(name.digest, sizeof name.digest, "%016x", i);
    orch_item_path(&name, out);
}

static void add(struct results_draft *draft, const char *path, const char *text)
{
    git_oid oid;
    assert_true(orch_results_blob(draft->place, text, strlen(text), &oid, NULL));
    orch_results_draft_add(draft, path, &oid, GIT_FILEMODE_BLOB);
}

/* A tree of runs `from` to `to`, on top of `base`, added upwards or downwards. */
static git_oid tree_of(struct fixture *f, const git_oid *base, unsigned from, unsigned to,
                       bool downwards)
{
    struct results_draft *draft = orch_results_draft_new(f->place, base);
    git_oid root;
    for (unsigned k = from; k < to; k++) {
        unsigned i = downwards ? to - 1 - (k - from) : k;
        char path[ORCH_ITEM_PATH_CHARS];
        g_autofree char *text = g_strdup_printf("run %u\n", i);
        run_path(i, path);
        add(draft, path, text);
    }
    assert_true(orch_results_draft_write(draft, &root, NULL));
    orch_results_draft_free(draft);
    return root;
}

struct told {
    unsigned items, junk, sources;
    char *last_junk;
};

static bool count(void *ctx, const struct results_news *news, GError **error)
{
    struct told *told = ctx;
    (void)error;
    told->items += news->name != NULL;
    told->junk += news->junk != NULL;
    told->sources += !news->name && !news->junk;
    if (news->junk) {
        g_free(told->last_junk);
        told->last_junk = g_strdup(news->junk);
    }
    return true;
}

static void same_items_same_tree(void **state)
{
    struct fixture *f = *state;
    git_oid up = tree_of(f, NULL, 0, 500, false);
    git_oid down = tree_of(f, NULL, 0, 500, true);
    git_oid half = tree_of(f, NULL, 250, 500, false);
    git_oid rest = tree_of(f, &half, 0, 250, true);
    assert_true(git_oid_equal(&up, &down));
    assert_true(git_oid_equal(&up, &rest));
    assert_false(git_oid_equal(&up, &half));
}

static void only_news_is_told(void **state)
{
    struct fixture *f = *state;
    struct told told = {0};
    git_oid old = tree_of(f, NULL, 0, 500, false);
    git_oid more = tree_of(f, &old, 500, 517, false);
    assert_true(orch_results_visit_news(f->place, &more, &old, count, &told, NULL));
    assert_int_equal(told.items, 17);
    assert_int_equal(told.junk, 0);
    assert_true(orch_results_visit_news(f->place, &old, &more, count, &told, NULL));
    assert_int_equal(told.items, 17);
    assert_true(orch_results_visit_news(f->place, &more, NULL, count, &told, NULL));
    assert_int_equal(told.items, 17 + 517);
}

static void junk_is_named(void **state)
{
    struct fixture *f = *state;
    static const char *const paths[] = {"README",     "runs/x",          "runs/01900/00/short",
                                        "etc/passwd", "sources/short/a", "runs/01900/zz/a"};
    for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
        struct told told = {0};
        struct results_draft *draft = orch_results_draft_new(f->place, NULL);
        git_oid root;
        add(draft, paths[i], "junk");
        assert_true(orch_results_draft_write(draft, &root, NULL));
        orch_results_draft_free(draft);
        assert_true(orch_results_visit_news(f->place, &root, NULL, count, &told, NULL));
        assert_int_equal(told.items, 0);
        assert_int_equal(told.junk, 1);
        g_free(told.last_junk);
    }
}

/* What git itself says of what was written, and that it is found again by a new handle. */
static void flushed_objects_are_gits(void **state)
{
    struct fixture *f = *state;
    for (unsigned size = 10; size <= 400; size += 390) { /* loose, and as a pack */
        git_oid root = tree_of(f, NULL, 0, size, false), commit, again;
        assert_true(orch_results_commit(f->place, &root, NULL, 0, "test", &commit, NULL));
        assert_true(orch_results_flush(f->place, NULL));
        char id[GIT_OID_HEXSZ + 1];
        git_oid_tostr(id, sizeof id, &commit);
        const char *const args[] = {"ls-tree", "-r", "--name-only", id, NULL};
        struct orch_git_run run = {.dir = f->place->dir, .args = args};
        GString *out = NULL;
        assert_true(orch_git_run(&run, &out, NULL, NULL));
        unsigned lines = 0;
        for (const char *at = out->str; *at; at++)
            lines += *at == '\n';
        assert_int_equal(lines, size + 1); /* `format` too */
        g_string_free(out, TRUE);
        struct results_place *other = orch_results_place_open(f->folder, f->folder, NULL);
        assert_true(orch_results_root(other, &commit, &again, NULL, NULL));
        assert_true(git_oid_equal(&root, &again));
        orch_results_place_close(other);
    }
}

static void refs_move_by_compare_and_swap(void **state)
{
    struct fixture *f = *state;
    git_oid root = tree_of(f, NULL, 0, 3, false), one, two, ours, none = {{0}};
    bool moved;
    assert_true(orch_results_commit(f->place, &root, NULL, 0, "one", &one, NULL));
    assert_true(orch_results_commit(f->place, &root, &one, 1, "two", &two, NULL));
    assert_true(orch_results_flush(f->place, NULL));
    assert_true(orch_results_ref_set(f->place, RESULTS_REF, &one, &none, &moved, NULL));
    assert_false(moved);
    assert_true(orch_results_ref_set(f->place, RESULTS_REF, &two, &none, &moved, NULL));
    assert_true(moved);
    f->place->tracking = g_strdup(RESULTS_REMOTES "x");
    assert_true(orch_results_refs_get(f->place, &ours, &none, NULL));
    assert_true(git_oid_equal(&ours, &one));
    assert_true(git_oid_is_zero(&none));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_items_same_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(only_news_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(junk_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(flushed_objects_are_gits, setup, teardown),
        cmocka_unit_test_setup_teardown(refs_move_by_compare_and_swap, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
