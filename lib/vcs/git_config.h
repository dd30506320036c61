/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: settings by which a repository's own configuration (.git/config) would make
 * git run programs. They may have come with an unpacked archive, so git gets the values of the
 * user's own configuration (global, system) or git's defaults instead. */
#ifndef ORCH_VCS_GIT_CONFIG_H
#define ORCH_VCS_GIT_CONFIG_H

#include <glib.h>
#include <stdbool.h>

struct orch_git_guard {
    GPtrArray *names;    /* settings that are overridden: char *, as git writes them */
    GPtrArray *settings; /* "name=value" for git -c: char * */
    char *ssh;           /* GIT_SSH_COMMAND, or NULL if the repository sets none */
    bool has_proxy;      /* the repository sets core.gitProxy */
    bool has_upload;     /* it sets a remote's uploadpack */
    bool has_receive;    /* it sets a remote's receivepack */
};

/** The guard of the repository at `dir` (NULL: the current folder), computed once per process.
 * Borrowed. */
const struct orch_git_guard *orch_git_guard(const char *dir);
/** True if a setting of that name runs a program, so that a repository must not set it. */
bool orch_git_names_program(const char *name);

#endif
