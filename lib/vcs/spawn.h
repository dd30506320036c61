/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For lib/vcs and store/exchange: runs the `git` program. */
#ifndef ORCH_VCS_SPAWN_H
#define ORCH_VCS_SPAWN_H

#include <glib.h>
#include <stdbool.h>

/** One run of git. Zero what is not needed. */
struct orch_git_run {
    const char *dir;             /* git -C DIR */
    const char *const *args;     /* after git's own options; NULL at the end */
    const char *index_path;      /* another index than the repository's */
    const char *const *settings; /* further "name=value" settings for this run; NULL at the end */
    const GString *input;        /* on its stdin */
    size_t max_output; /* bytes; more is cut and not an error; 0: 1 GiB, more is an error */
    int quiet_status;  /* an exit status that is an answer and no error */
    bool may_ask;      /* it may ask for a password on the terminal, where there is one */
    const char *ssh;   /* GIT_SSH_COMMAND where the user has set none; NULL: git's own */
    char **out_said;   /* gets the first lines of stderr, whatever the outcome; to be freed */
};

/** Runs git and waits. Its stdout in `out` (may be NULL; the caller frees with g_string_free), its
 * exit status in `out_status` (may be NULL). False with ORCH_ERROR_IO that quotes what git said. */
bool orch_git_run(const struct orch_git_run *run, GString **out, int *out_status, GError **error);

#endif
