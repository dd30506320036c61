/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/base/walk.h: trees of any depth, links, folders that cannot be read. */
#include "lib/base/walk.h"

#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DEPTH = 3000, DESCRIPTORS = 40, NOBODY = 65534 };

static char *folder;
static int root = -1;

static int set_up(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-walk-XXXXXX", NULL);
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(root >= 0 && fchmod(root, 0777) == 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(root);
    orch_tree_remove(folder, NULL);
    g_clear_pointer(&folder, g_free);
    return 0;
}

static void put(int at, const char *name)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0 && write(fd, "12345", 5) == 5);
    close(fd);
}

/* Visits as text: "a a/f a/ " */
static bool list(void *ctx, const struct orch_walked *entry)
{
    g_string_append_printf(ctx, "%s%s ", entry->path, entry->is_left ? "/" : "");
    return strcmp(entry->name, "closed") != 0;
}

static void test_order(void **state)
{
    (void)state;
    g_autoptr(GString) seen = g_string_new(NULL);
    assert_int_equal(mkdirat(root, "b", 0777), 0);
    assert_int_equal(mkdirat(root, "closed", 0777), 0);
    put(root, "b/g");
    put(root, "a");
    put(root, "closed/f");
    assert_int_equal(symlinkat("closed", root, "link"), 0);
    assert_true(orch_walk(root, false, list, seen, NULL));
    assert_string_equal(seen->str, "a b b/g b/ closed link ");
}

static bool count(void *ctx, const struct orch_walked *entry)
{
    *(int *)ctx += !entry->is_left;
    return true;
}

static void test_deep(void **state)
{
    (void)state;
    struct rlimit before, few;
    int at = dup(root), seen = 0;
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(at, "deep", 0777), 0);
        put(at, "file");
        int inner = openat(at, "deep", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        close(at);
        at = inner;
    }
    close(at);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = DESCRIPTORS;
    setrlimit(RLIMIT_NOFILE, &few);
    assert_true(orch_walk(root, false, count, &seen, NULL));
    assert_int_equal(seen, 2 * DEPTH);
    assert_true(orch_walk_remove(root, "deep", NULL));
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(faccessat(root, "deep", F_OK, 0), -1);
    assert_int_equal(faccessat(root, "file", F_OK, 0), 0);
}

/* As a user who is not root: folders of their own that they locked, and one of somebody else's. */
static void test_locked(void **state)
{
    (void)state;
    const bool is_root = geteuid() == 0;
    g_autofree char *failed = NULL, *unread = NULL;
    int seen = 0;
    if (is_root)
        assert_int_equal(seteuid(NOBODY), 0);
    assert_int_equal(mkdirat(root, "own", 0777), 0);
    assert_int_equal(mkdirat(root, "own/secret", 0777), 0);
    put(root, "own/secret/file");
    assert_int_equal(fchmodat(root, "own/secret", 0, 0), 0);
    assert_int_equal(fchmodat(root, "own", 0555, 0), 0);
    assert_false(orch_walk(root, false, count, &seen, &unread));
    assert_int_equal(errno, EACCES);
    assert_string_equal(unread, "own/secret");
    if (is_root) {
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(mkdirat(root, "own/theirs", 0755), 0);
        put(root, "own/theirs/file");
        assert_int_equal(seteuid(NOBODY), 0);
        assert_false(orch_walk_remove(root, "own", &failed));
        assert_int_equal(errno, EACCES);
        assert_string_equal(failed, "own/theirs");
        assert_int_equal(faccessat(root, "own/secret", F_OK, 0), -1); /* the rest is gone */
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(unlinkat(root, "own/theirs/file", 0), 0);
        assert_int_equal(unlinkat(root, "own/theirs", AT_REMOVEDIR), 0);
        assert_int_equal(seteuid(NOBODY), 0);
    }
    assert_true(orch_walk_remove(root, "own", NULL));
    if (is_root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(faccessat(root, "own", F_OK, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_deep, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_locked, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
