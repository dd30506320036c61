/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the `git` program with an argument vector, never through a shell. Variables by which a hook
 * or an alias selects a repository (GIT_DIR, GIT_INDEX_FILE, ...) are removed: the folder
 * determines the repository. Hooks, file system monitors and locks of the user's index are
 * disabled, so that queries change nothing, and programs named only in the repository's own
 * settings are not run (git_config.c). stdin and stderr are files, not pipes, so that reads and
 * writes cannot deadlock. */
#include "lib/vcs/spawn.h"

#include "lib/base/error.h"
#include "lib/vcs/git_config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_BYTES_MAX ((size_t)1 << 30)
#define STDERR_BYTES_MAX 4096
#define STDERR_LINES_MAX 4

/* `git rev-parse --local-env-vars` without those that carry `git -c` settings, plus variables that
 * change the meaning of paths. */
static const char *const dropped_variables[] = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_PREFIX",
    "GIT_NAMESPACE",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_REPLACE_REF_BASE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_CONFIG",
    "GIT_QUARANTINE_PATH",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_LITERAL_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
};

/* Overrides of user settings that would run programs, take locks or fail. */
static const char *const settings[] = {
    "core.hooksPath=/dev/null",   "core.fsmonitor=false",    "core.splitIndex=false",
    "core.safecrlf=false",        "core.quotePath=false",    "maintenance.auto=false",
    "status.relativePaths=false", "submodule.recurse=false", "core.logAllRefUpdates=false",
};

static char **child_environment(const struct orch_git_run *run)
{
    char **environment = g_get_environ();
    for (unsigned i = 0; i < G_N_ELEMENTS(dropped_variables); i++)
        environment = g_environ_unsetenv(environment, dropped_variables[i]);
    environment = g_environ_setenv(environment, "GIT_OPTIONAL_LOCKS", "0", TRUE);
    if (!run->may_ask)
        environment = g_environ_setenv(environment, "GIT_TERMINAL_PROMPT", "0", TRUE);
    const struct orch_git_guard *guard = run->guard;
    const char *ssh = guard && guard->ssh ? guard->ssh : run->ssh;
    if (ssh)
        environment = g_environ_setenv(environment, "GIT_SSH_COMMAND", ssh, FALSE);
    if (guard && guard->has_proxy)
        environment = g_environ_setenv(environment, "GIT_PROXY_COMMAND", "", FALSE);
    environment = g_environ_setenv(environment, "LC_ALL", "C", TRUE);
    if (run->index_path)
        environment = g_environ_setenv(environment, "GIT_INDEX_FILE", run->index_path, TRUE);
    return environment;
}

/* Uses git's own programs at the remote end if the repository's settings name others. */
static void add_other_end(GPtrArray *argv, const struct orch_git_guard *guard, const char *command)
{
    bool gets = strcmp(command, "fetch") == 0 || strcmp(command, "ls-remote") == 0;
    if (gets && guard->has_upload)
        g_ptr_array_add(argv, g_strdup("--upload-pack=git-upload-pack"));
    if (strcmp(command, "push") == 0 && guard->has_receive)
        g_ptr_array_add(argv, g_strdup("--receive-pack=git-receive-pack"));
}

static GPtrArray *child_argv(const struct orch_git_run *run)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(argv, g_strdup("git"));
    if (run->dir) {
        g_ptr_array_add(argv, g_strdup("-C"));
        g_ptr_array_add(argv, g_strdup(run->dir));
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(settings); i++) {
        g_ptr_array_add(argv, g_strdup("-c"));
        g_ptr_array_add(argv, g_strdup(settings[i]));
    }
    const struct orch_git_guard *guard = run->guard;
    for (guint i = 0; guard && i < guard->settings->len; i++) {
        g_ptr_array_add(argv, g_strdup("-c"));
        g_ptr_array_add(argv, g_strdup(guard->settings->pdata[i]));
    }
    for (const char *const *setting = run->settings; setting && *setting; setting++) {
        g_ptr_array_add(argv, g_strdup("-c"));
        g_ptr_array_add(argv, g_strdup(*setting));
    }
    bool is_command = true; /* the next word that is not a setting is the command */
    for (const char *const *arg = run->args; *arg; arg++) {
        g_ptr_array_add(argv, g_strdup(*arg));
        if (strcmp(*arg, "-c") == 0 && is_command && arg[1]) {
            g_ptr_array_add(argv, g_strdup(*++arg));
            continue;
        }
        if (is_command && guard)
            add_other_end(argv, guard, *arg);
        is_command = false;
    }
    g_ptr_array_add(argv, NULL);
    return argv;
}

/* An unlinked temporary file; -1 on error. */
static int scratch_file(void)
{
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "orch-git-XXXXXX", NULL);
    int fd = g_mkstemp_full(path, O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool write_input(int fd, const GString *input)
{
    for (size_t done = 0; input && done < input->len;) {
        ssize_t n = write(fd, input->str + done, input->len - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return lseek(fd, 0, SEEK_SET) == 0;
}

/* Starts git. Returns 0 or an errno. */
static int start(const struct orch_git_run *run, int in, int out, int err, pid_t *out_pid)
{
    g_autoptr(GPtrArray) argv = child_argv(run);
    g_auto(GStrv) environment = child_environment(run);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_adddup2(&actions, err, 2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int status =
        posix_spawnp(out_pid, "git", &actions, &attributes, (char **)argv->pdata, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Reads to the end or until more than `max` bytes arrived; the closed pipe then stops git. */
static GString *read_output(int fd, size_t max)
{
    GString *text = g_string_new(NULL);
    char buffer[65536];
    ssize_t n;
    while (text->len <= max) {
        n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        g_string_append_len(text, buffer, n);
    }
    return text;
}

/* The first lines of git's stderr, joined to one line. Caller frees. */
static char *complaint(int fd)
{
    char buffer[STDERR_BYTES_MAX + 1];
    ssize_t n = pread(fd, buffer, STDERR_BYTES_MAX, 0);
    buffer[MAX(n, 0)] = 0;
    GString *text = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(buffer, "\n", -1);
    for (unsigned i = 0, used = 0; lines[i] && used < STDERR_LINES_MAX; i++) {
        const char *line = g_strstrip(lines[i]);
        if (*line) {
            g_string_append_printf(text, "%s%s", used ? "; " : "", line);
            used++;
        }
    }
    return g_string_free(text, FALSE);
}

/* The folder that git's message wants added to safe.directory; NULL for other messages. Caller
 * frees. */
static char *unsafe_folder(const char *message)
{
    if (!strstr(message, "dubious ownership"))
        return NULL;
    const char *begin = strchr(message, '\'');
    const char *end = begin ? strchr(begin + 1, '\'') : NULL;
    return end ? g_strndup(begin + 1, (gsize)(end - begin - 1)) : g_strdup("DIR");
}

static void set_failure(GError **error, const struct orch_git_run *run, int wait_status, int err)
{
    g_autofree char *message = complaint(err);
    g_autofree char *folder = unsafe_folder(message);
    g_autofree char *hint =
        folder ? g_strdup_printf("if you trust its owner: git config --global --add safe.directory "
                                 "'%s'",
                                 folder)
               : NULL;
    g_autofree char *how = WIFSIGNALED(wait_status)
                               ? g_strdup_printf("signal %d", WTERMSIG(wait_status))
                               : g_strdup_printf("exit status %d", WEXITSTATUS(wait_status));
    orch_error_set(error, ORCH_ERROR_IO, hint, "'git %s' failed in '%s': %s", run->args[0],
                   run->dir ? run->dir : ".", *message ? message : how);
}

/* Waits for a process and returns its wait status. */
static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* Runs git with the given descriptors. */
static bool run_with(const struct orch_git_run *run, int in, int err, int pipe_ends[2],
                     GString **out, int *out_status, GError **error)
{
    pid_t pid;
    int failure = start(run, in, pipe_ends[1], err, &pid);
    close(pipe_ends[1]);
    pipe_ends[1] = -1;
    if (failure) {
        orch_error_set(error, ORCH_ERROR_IO, "install git: 'apt install git'",
                       "cannot start 'git': %s", g_strerror(failure));
        return false;
    }
    size_t max = run->max_output ? run->max_output : OUTPUT_BYTES_MAX;
    GString *text = read_output(pipe_ends[0], max);
    close(pipe_ends[0]);
    pipe_ends[0] = -1;
    int status = wait_for(pid);
    bool is_cut = text->len > max;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    bool ok = is_cut ? run->max_output > 0
                     : code == 0 || (run->quiet_status && code == run->quiet_status);
    if (!ok && is_cut)
        orch_error_set(error, ORCH_ERROR_IO, NULL, "'git %s' wrote more than 1 GiB", run->args[0]);
    else if (!ok)
        set_failure(error, run, status, err);
    if (run->out_stderr)
        *run->out_stderr = complaint(err);
    if (is_cut)
        g_string_truncate(text, max);
    if (ok && out)
        *out = text;
    else
        g_string_free(text, TRUE);
    if (ok && out_status)
        *out_status = is_cut ? 0 : code;
    return ok;
}

bool orch_git_spawn(const struct orch_git_run *run, GString **out, int *out_status, GError **error)
{
    int pipe_ends[2] = {-1, -1};
    int in = scratch_file(), err = scratch_file();
    bool ok =
        in >= 0 && err >= 0 && write_input(in, run->input) && pipe2(pipe_ends, O_CLOEXEC) == 0;
    if (ok)
        ok = run_with(run, in, err, pipe_ends, out, out_status, error);
    else
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot prepare 'git %s' in '%s'",
                             run->args[0], g_get_tmp_dir());
    const int open_ends[] = {in, err, pipe_ends[0], pipe_ends[1]};
    for (unsigned i = 0; i < G_N_ELEMENTS(open_ends); i++)
        if (open_ends[i] >= 0)
            close(open_ends[i]);
    return ok;
}
