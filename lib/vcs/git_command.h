/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the `git` program, for lib/vcs and features/share. */
#ifndef ORCH_VCS_GIT_COMMAND_H
#define ORCH_VCS_GIT_COMMAND_H

#include <glib.h>
#include <stdbool.h>

struct orch_git_guard;

/** One execution of git. Zero-initialise for defaults. */
struct orch_git_run {
    const char *dir;         /* git -C DIR */
    const char *const *args; /* after git's own options; NULL-terminated */
    const char *index_path;  /* alternative index file */
    const char *const
        *settings;        /* additional "name=value" settings for this run; NULL-terminated */
    const GString *input; /* for stdin */
    size_t max_output;    /* bytes; more is truncated without error. 0: 1 GiB, more is an error */
    int quiet_status;     /* an exit status that is not an error */
    double grace_s;       /* as of struct orch_subprocess */
    bool may_ask;         /* may ask for a password if there is a terminal */
    const char *ssh;      /* GIT_SSH_COMMAND unless the user has set one; NULL: git's default */
    const struct orch_git_guard *guard; /* set by orch_git_run */
    char **out_stderr; /* receives the first lines of stderr in any case; caller frees */
};

/** Runs git and waits for it. `out` receives its stdout (may be NULL; caller frees with
 * g_string_free), `out_status` its exit status (may be NULL). Fails with ORCH_ERROR_IO and git's
 * message. */
bool orch_git_run(const struct orch_git_run *run, GString **out, int *out_status, GError **error);
/** The same without the guard (git_config.h) against the repository's own settings, unless `run`
 * has one. Used to read those settings. */
bool orch_git_spawn(const struct orch_git_run *run, GString **out, int *out_status, GError **error);

#endif
