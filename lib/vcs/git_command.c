/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the `git` program with an argument vector, never through a shell. Variables by which a hook
 * or an alias selects a repository (GIT_DIR, GIT_INDEX_FILE, ...) are removed: the folder
 * determines the repository. Hooks, file system monitors and locks of the user's index are
 * disabled, so that queries change nothing, and programs named only in the repository's own
 * settings are not run (git_config.c).
 *
 * Limits of time: a command on local files has ten minutes. One that talks to a remote may take as
 * long as it has much to send, so git ends it after five minutes without a byte (http), and ssh
 * after two minutes without an answer; whatever is left ends after an hour. On a terminal, where
 * somebody may be typing a password, nothing but Ctrl-C ends it. */
#include "lib/vcs/git_command.h"

#include "lib/base/error.h"
#include "lib/base/subprocess.h"
#include "lib/vcs/git_config.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define OUTPUT_BYTES_MAX ((size_t)1 << 30)
#define STDERR_LINES_MAX 4

enum { LOCAL_S = 600, REMOTE_S = 3600 };

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

/* A transfer without a byte in five minutes has ended. */
static const char *const network_settings[] = {"http.lowSpeedLimit=1", "http.lowSpeedTime=300"};

static bool talks_to_remote(const struct orch_git_run *run)
{
    static const char *const commands[] = {"fetch", "push", "ls-remote", "clone"};
    for (unsigned i = 0; i < G_N_ELEMENTS(commands); i++)
        if (g_strv_contains(run->args, commands[i]))
            return true;
    return false;
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
    for (unsigned i = 0; i < G_N_ELEMENTS(network_settings) && talks_to_remote(run); i++) {
        g_ptr_array_add(argv, g_strdup("-c"));
        g_ptr_array_add(argv, g_strdup(network_settings[i]));
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

static void set_failure(GError **error, const struct orch_git_run *run,
                        const struct orch_subprocess_end *end, const char *message)
{
    g_autofree char *folder = unsafe_folder(message);
    g_autofree char *hint =
        folder ? g_strdup_printf("if you trust its owner: git config --global --add safe.directory "
                                 "'%s'",
                                 folder)
               : NULL;
    g_autofree char *how = end->signal ? g_strdup_printf("signal %d", end->signal)
                                       : g_strdup_printf("exit status %d", end->status);
    orch_error_set(error, ORCH_ERROR_IO, hint, "'git %s' failed in '%s': %s", run->args[0],
                   run->dir ? run->dir : ".", *message ? message : how);
}

/* Runs git. False with an error only for ends that are none of git's own. */
static bool run_command(const struct orch_git_run *run, struct orch_subprocess_end *end,
                        GError **error)
{
    g_autoptr(GPtrArray) argv = child_argv(run);
    g_auto(GStrv) environment = child_environment(run);
    g_autofree char *name = g_strdup_printf("git %s", run->args[0]);
    g_autoptr(GError) problem = NULL;
    const struct orch_subprocess command = {.argv = (const char *const *)argv->pdata,
                                            .name = name,
                                            .environment = environment,
                                            .input = run->input ? run->input->str : NULL,
                                            .input_bytes = run->input ? run->input->len : 0,
                                            .timeout_s = run->may_ask           ? 0
                                                         : talks_to_remote(run) ? REMOTE_S
                                                                                : LOCAL_S,
                                            .output_bytes_max = run->max_output ? run->max_output
                                                                                : OUTPUT_BYTES_MAX,
                                            .is_cut = run->max_output > 0,
                                            .asks = run->may_ask,
                                            .grace_s = run->grace_s};
    if (orch_subprocess_run(&command, end, &problem))
        return true;
    if (g_error_matches(problem, ORCH_ERROR, ORCH_ERROR_NOT_FOUND))
        orch_error_set(error, ORCH_ERROR_IO, "install git: 'apt install git'",
                       "cannot start 'git': %s", strrchr(problem->message, ':') + 2);
    else
        g_propagate_error(error, g_steal_pointer(&problem));
    return false;
}

bool orch_git_spawn(const struct orch_git_run *run, GString **out, int *out_status, GError **error)
{
    struct orch_subprocess_end end;
    g_autoptr(GError) problem = NULL;
    if (!run_command(run, &end, &problem)) {
        if (run->out_stderr)
            *run->out_stderr = orch_error_what(problem);
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    g_autofree char *message = orch_subprocess_complaint(end.err, STDERR_LINES_MAX);
    bool ok = end.was_cut || end.status == 0 ||
              (run->quiet_status && !end.signal && end.status == run->quiet_status);
    if (!ok)
        set_failure(error, run, &end, message);
    if (run->out_stderr)
        *run->out_stderr = g_steal_pointer(&message);
    if (ok && out)
        *out = g_steal_pointer(&end.out);
    if (ok && out_status)
        *out_status = end.was_cut ? 0 : end.status;
    orch_subprocess_end_clear(&end);
    return ok;
}
