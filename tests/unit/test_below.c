/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/base/files_below.h: nothing outside of the folder is reached. */
#include "lib/base/files_below.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *folder, *outside;
static int root = -1;

static char *at(const char *base, const char *name)
{
    return g_build_filename(base, name, NULL);
}

static void put(const char *base, const char *name)
{
    g_autofree char *path = at(base, name);
    g_autofree char *parent = g_path_get_dirname(path);
    assert_true(orch_dir_make(parent, NULL) && orch_file_write(path, "12345", 5, false, NULL));
}

static bool is_there(const char *base, const char *name)
{
    g_autofree char *path = at(base, name);
    struct stat info;
    return lstat(path, &info) == 0;
}

static void link_to(const char *target, const char *name)
{
    g_autofree char *path = at(folder, name);
    assert_int_equal(symlink(target, path), 0);
}

static int set_up(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-below-XXXXXX", NULL);
    outside = g_dir_make_tmp("orch-below-XXXXXX", NULL);
    root = orch_below_root(folder);
    assert_true(root >= 0);
    put(outside, "secret");
    put(outside, "deep/secret");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(root);
    orch_tree_remove(folder, NULL);
    orch_tree_remove(outside, NULL);
    g_clear_pointer(&folder, g_free);
    g_clear_pointer(&outside, g_free);
    return 0;
}

static void test_paths(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "/etc", "..",  "a/../b", "a//b",
                                      "a/..", ".",    "./a", "a/",     "/"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct stat info;
        assert_false(orch_below_path_is_valid(bad[i]));
        assert_int_equal(orch_below_open(root, bad[i], O_RDONLY, 0), -1);
        assert_int_equal(errno, EINVAL);
        assert_int_equal(orch_below_make_folder(root, bad[i], 0777), -1);
        assert_false(orch_below_stat(root, bad[i], &info));
        assert_false(orch_below_remove(root, bad[i], NULL));
    }
    assert_true(orch_below_path_is_valid("a") && orch_below_path_is_valid("a/..b/c.d/..."));
    g_autofree char *long_name = g_strnfill(256, 'x');
    assert_false(orch_below_path_is_valid(long_name));
}

static void test_links(void **state)
{
    (void)state;
    struct stat info;
    char *text;
    put(folder, "own/file");
    link_to(outside, "link");
    g_autofree char *secret = at(outside, "secret");
    link_to(secret, "file-link");
    assert_int_equal(orch_below_open(root, "link", O_DIRECTORY, 0), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(orch_below_open(root, "link/secret", O_RDONLY, 0), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(orch_below_open_file(root, "file-link"), -1);
    assert_int_equal(orch_below_make_folder(root, "link/new", 0777), -1);
    assert_false(is_there(outside, "new"));
    assert_false(orch_below_read(root, "link/secret", 100, &text, NULL, NULL));
    assert_false(orch_below_write(root, "link/new", "x", 1, false, NULL));
    assert_false(orch_below_stat(root, "link/secret", &info));
    assert_true(orch_below_stat(root, "link", &info) && S_ISLNK(info.st_mode));
    assert_int_equal(orch_below_bytes(root, "link"), 0);
    g_autoptr(GPtrArray) none = orch_below_list(root, "link");
    assert_int_equal(none->len, 0);
    assert_false(orch_below_remove(root, "link/secret", NULL));
    assert_true(orch_below_remove(root, "link", NULL)); /* the link itself */
    assert_true(is_there(outside, "deep/secret") && !is_there(folder, "link"));
    g_autofree char *as_root = at(folder, "root-link");
    assert_int_equal(symlink(outside, as_root), 0);
    assert_int_equal(orch_below_root(as_root), -1);
    assert_int_equal(errno, ELOOP);
}

static void test_tree(void **state)
{
    (void)state;
    char *text = NULL;
    size_t length;
    int fd = orch_below_make_folder(root, "a/b/c", 0777);
    assert_true(fd >= 0);
    close(fd);
    assert_true(orch_below_write(root, "a/b/file", "abc", 3, true, NULL));
    assert_true(orch_below_read(root, "a/b/file", 3, &text, &length, NULL));
    assert_string_equal(text, "abc");
    g_free(text);
    assert_false(orch_below_read(root, "a/b/file", 2, &text, &length, NULL));
    assert_true(orch_below_bytes(root, "a") == 3);
    g_autoptr(GPtrArray) names = orch_below_list(root, "a/b");
    assert_int_equal(names->len, 2);
    assert_string_equal(names->pdata[0], "c");
    g_autofree char *inner = at(folder, "a/b/c/link");
    assert_int_equal(symlink(outside, inner), 0);
    g_autofree char *locked = at(folder, "a/b");
    assert_int_equal(chmod(locked, 0555), 0);
    assert_true(orch_below_remove(root, "a", NULL));
    assert_false(is_there(folder, "a"));
    assert_true(is_there(outside, "secret") && is_there(outside, "deep/secret"));
    assert_true(orch_below_remove(root, "a/b", NULL)); /* nothing there is success */
}

static void test_no_regular_file(void **state)
{
    (void)state;
    char *text;
    g_autoptr(GError) error = NULL;
    g_autofree char *pipe = at(folder, "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(orch_below_open_file(root, "pipe"), -1);
    assert_int_equal(errno, EINVAL);
    assert_false(orch_below_read(root, "pipe", 10, &text, NULL, &error));
    assert_non_null(strstr(error->message, "not a regular file"));
    put(folder, "sub/file");
    assert_int_equal(orch_below_open_file(root, "sub"), -1);
    assert_true(orch_below_remove(root, "pipe", NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_paths, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_regular_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
