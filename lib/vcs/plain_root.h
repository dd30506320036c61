/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to lib/vcs: finds an ordinary repository by looking at files alone. Starting libgit2
 * takes longer than most commands do, because it reads the certificates of the system, and most
 * commands need only the root. */
#ifndef ORCH_VCS_PLAIN_ROOT_H
#define ORCH_VCS_PLAIN_ROOT_H

#include <stdbool.h>

enum orch_root_kind {
    ORCH_ROOT_NONE,  /* no `.git` in the folder or above: there is no repository */
    ORCH_ROOT_PLAIN, /* a repository whose root is certain */
    ORCH_ROOT_ASK,   /* libgit2 must decide: linked work trees, core.worktree, bare repositories,
                        other owners */
};

/** Looks for the repository that contains `dir`. On ORCH_ROOT_PLAIN `*out_root` is the absolute
 * path of the work tree, without symbolic links and without a final slash (caller frees); else
 * NULL. */
enum orch_root_kind orch_plain_root(const char *dir, char **out_root);

#endif
