/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/base/shared_file.h: only a regular file of the right owner is opened. */
#include "lib/base/shared_file.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char *folder;
static int root = -1;

static char *at(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static void refuses(const char *name, int flags, uid_t owner, const char *what)
{
    g_autoptr(GError) error = NULL;
    assert_int_equal(orch_shared_open(root, name, "SHOWN", flags, 0600, owner, &error), -1);
    if (!strstr(error->message, what) || !strstr(error->message, "'SHOWN'"))
        fail_msg("'%s' lacks '%s'", error->message, what);
}

static void test_kinds(void **state)
{
    (void)state;
    const uid_t me = geteuid();
    g_autofree char *file = at("file"), *link_path = at("link"), *pipe_path = at("pipe"),
                    *second = at("second"), *sub = at("folder"), *sock = at("socket");
    assert_true(orch_file_write(file, "12345", 5, false, NULL));
    assert_int_equal(symlink(file, link_path), 0);
    assert_int_equal(mkfifo(pipe_path, 0644), 0);
    assert_int_equal(mkdir(sub, 0755), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    g_strlcpy(address.sun_path, sock, sizeof address.sun_path);
    int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof address), 0);
    int fd = orch_shared_open(root, "file", "SHOWN", O_RDONLY, 0600, me, NULL);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    static const int flags[] = {O_RDONLY, O_RDWR, O_RDWR | O_CREAT, O_WRONLY | O_TRUNC};
    for (unsigned i = 0; i < G_N_ELEMENTS(flags); i++) {
        refuses("link", flags[i], me, "a symbolic link of user");
        refuses("pipe", flags[i], me, "a named pipe of user");
        refuses("folder", flags[i], me, "a folder of user");
        refuses("socket", flags[i], me, "a socket of user");
    }
    refuses("file", O_WRONLY | O_TRUNC, me + 1, "a file of user");
    g_autofree char *text = NULL;
    assert_true(orch_file_read(file, 100, &text, NULL, NULL));
    assert_string_equal(text, "12345"); /* not emptied before it was refused */
    fd = orch_shared_open(root, "file", "SHOWN", O_RDWR, 0600, ORCH_SHARED_ANY_OWNER, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(link(file, second), 0);
    refuses("file", O_RDONLY, me, "a file with further names");
    close(server);
}

static void test_missing_and_new(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct stat info;
    assert_int_equal(orch_shared_open(root, "none", "SHOWN", O_RDONLY, 0600, geteuid(), &error),
                     -1);
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_NOT_FOUND));
    assert_null(orch_shared_describe(root, "none"));
    int fd = orch_shared_open(root, "new", "SHOWN", O_RDWR | O_CREAT, 0600, geteuid(), NULL);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(write(fd, "123", 3), 3);
    close(fd);
    fd = orch_shared_open(root, "new", "SHOWN", O_WRONLY | O_TRUNC, 0600, geteuid(), NULL);
    assert_true(fd >= 0 && fstat(fd, &info) == 0);
    assert_int_equal(info.st_size, 0);
    close(fd);
}

static int setup(void **state)
{
    (void)state;
    folder = g_dir_make_tmp("orch-shared-XXXXXX", NULL);
    root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return root < 0;
}

static int teardown(void **state)
{
    (void)state;
    close(root);
    orch_tree_remove(folder, NULL);
    g_free(folder);
    return 0;
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_and_new, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
