/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lib/base/subprocess.h: a program that hangs, floods or leaves others behind never hangs its
 * caller. lib/base/spawn.h: what a program that is started has of its own. */
#include "lib/base/subprocess.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/spawn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SOON_S = 30 }; /* on a loaded machine */

static struct orch_subprocess shell(const char *const *argv, double timeout_s)
{
    return (struct orch_subprocess){.argv = argv, .timeout_s = timeout_s};
}

#define SH(text)                                                                                   \
    (const char *const[])                                                                          \
    {                                                                                              \
        "sh", "-c", text, NULL                                                                     \
    }

static void test_ends(void **state)
{
    (void)state;
    struct orch_subprocess_end end;
    struct orch_subprocess command = shell(SH("cat; echo two >&2; exit 3"), 60);
    command.input = "one\n";
    command.input_bytes = 4;
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_string_equal(end.out->str, "one\n");
    assert_string_equal(end.err, "two\n");
    assert_int_equal(end.status, 3);
    assert_int_equal(end.signal, 0);
    orch_subprocess_end_clear(&end);
    command = shell(SH("pwd; kill -9 $$"), 60);
    command.folder = "/";
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_string_equal(end.out->str, "/\n");
    assert_int_equal(end.signal, 9);
    assert_int_equal(end.status, 137);
    orch_subprocess_end_clear(&end);
    command = shell(SH("cat"), 60); /* no input is an empty one */
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_int_equal(end.out->len, 0);
    orch_subprocess_end_clear(&end);
}

static void fails(const struct orch_subprocess *command, int code, const char *text)
{
    struct orch_subprocess_end end = {0};
    g_autoptr(GError) error = NULL;
    int64_t begin = orch_mono_ns();
    assert_false(orch_subprocess_run(command, &end, &error));
    assert_null(end.out);
    if (!g_error_matches(error, ORCH_ERROR, code) || !strstr(error->message, text))
        fail_msg("%s", error->message);
    assert_true((double)(orch_mono_ns() - begin) / 1e9 < SOON_S);
}

static void test_missing(void **state)
{
    (void)state;
    static const char *const argv[] = {"orch-no-such-program", NULL};
    struct orch_subprocess command = shell(argv, 60);
    fails(&command, ORCH_ERROR_NOT_FOUND, "cannot start 'orch-no-such-program'");
    command.name = "the probe";
    fails(&command, ORCH_ERROR_NOT_FOUND, "cannot start 'the probe'");
}

/* The program's whole group is ended, also when it ignores SIGTERM. */
static void test_hangs(void **state)
{
    (void)state;
    static const char *const texts[] = {"sleep 600", "trap '' TERM; sleep 600",
                                        "sleep 600 & sleep 600; true", "exec >&- 2>&-; sleep 600",
                                        "trap '' TERM; while :; do :; done"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        const struct orch_subprocess command = shell(SH(texts[i]), 0.2);
        fails(&command, ORCH_ERROR_IO, "'sh' gave no answer within 0.2 s");
    }
    g_setenv("ORCH_PROGRAM_TIMEOUT", "0.3", TRUE);
    const struct orch_subprocess command = shell(SH("sleep 600"), 60);
    fails(&command, ORCH_ERROR_IO, "within 0.3 s");
    g_unsetenv("ORCH_PROGRAM_TIMEOUT");
}

/* A process that it leaves behind holds its pipes: its own end counts. */
static void test_leaves_one(void **state)
{
    (void)state;
    struct orch_subprocess_end end;
    const struct orch_subprocess command = shell(SH("sleep 600 & echo $!"), 600);
    int64_t begin = orch_mono_ns();
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_true((double)(orch_mono_ns() - begin) / 1e9 < SOON_S);
    pid_t left = (pid_t)g_ascii_strtoll(end.out->str, NULL, 10);
    assert_true(left > 0);
    kill(left, SIGKILL);
    orch_subprocess_end_clear(&end);
}

static void test_floods(void **state)
{
    (void)state;
    struct orch_subprocess_end end;
    struct orch_subprocess command = shell(SH("yes"), 600);
    command.output_bytes_max = 100000;
    fails(&command, ORCH_ERROR_IO, "'sh' wrote more than 97.7 KiB");
    command.is_cut = true;
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_true(end.was_cut);
    assert_int_equal(end.out->len, 100000);
    orch_subprocess_end_clear(&end);
    /* on stderr what is too much is dropped */
    command = shell(SH("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo done"), 600);
    assert_true(orch_subprocess_run(&command, &end, NULL));
    assert_string_equal(end.out->str, "done\n");
    assert_true(strlen(end.err) >= 65536 && strlen(end.err) < 70000);
    orch_subprocess_end_clear(&end);
    command = shell(SH("yes >&2"), 0.3);
    fails(&command, ORCH_ERROR_IO, "gave no answer");
}

/* Ctrl-C ends the program, and then this process. */
static void test_interrupted(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        dup2(ends[1], 3);
        struct orch_subprocess_end end;
        const struct orch_subprocess command = shell(SH("echo $$ >&3; exec sleep 600"), 600);
        orch_subprocess_run(&command, &end, NULL);
        _exit(0);
    }
    char text[32] = "";
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    pid_t program = (pid_t)g_ascii_strtoll(text, NULL, 10);
    int status = 0;
    kill(child, SIGINT);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    struct orch_process process;
    bool is_gone = !orch_process_get(program, &process) || !orch_process_is_alive(&process);
    assert_true(is_gone);
    close(ends[0]);
}

static void test_complaint(void **state)
{
    (void)state;
    g_autofree char *two = orch_subprocess_complaint("\n one \n\ntwo\nthree\n", 2);
    assert_string_equal(two, "one; two");
    g_autofree char *none = orch_subprocess_complaint(NULL, 2);
    assert_string_equal(none, "");
}

/* Runs a shell with its streams in files, and returns what it wrote. */
static char *written_by(const char *text, bool shares_group)
{
    g_autofree char *folder = g_dir_make_tmp("orch-test-spawn-XXXXXX", NULL);
    g_autofree char *out = g_build_filename(folder, "out", NULL);
    g_autofree char *err = g_build_filename(folder, "err", NULL);
    struct orch_spawn program = {
        .argv = SH(text),
        .files = {"/dev/null", out, err},
        .file_mode = 0600,
        .shares_group = shares_group,
    };
    pid_t pid;
    int status;
    char *written = NULL;
    assert_true(g_file_set_contents(out, "an older and longer text\n", -1, NULL));
    assert_int_equal(orch_spawn(&program, &pid), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(orch_file_read(out, 1000, &written, NULL, NULL));
    assert_int_equal(access(err, F_OK), 0);
    unlink(out);
    unlink(err);
    rmdir(folder);
    return written;
}

static void test_spawn(void **state)
{
    (void)state;
    g_autofree char *own = g_strdup_printf("%d\n", (int)getpgrp());
    const char *group = "cat; cut -d' ' -f5 /proc/self/stat";
    g_autofree char *shared = written_by(group, true);
    g_autofree char *apart = written_by(group, false);
    assert_string_equal(shared, own);
    assert_string_not_equal(apart, own);
    pid_t pid;
    const char *const argv[] = {"orch-no-such-program", NULL};
    struct orch_spawn missing = {.argv = argv, .fds = {-1, -1, -1}};
    assert_int_equal(orch_spawn(&missing, &pid), ENOENT);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),      cmocka_unit_test(test_missing),
        cmocka_unit_test(test_hangs),     cmocka_unit_test(test_leaves_one),
        cmocka_unit_test(test_floods),    cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_complaint), cmocka_unit_test(test_spawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
