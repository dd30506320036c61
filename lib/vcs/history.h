/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commits between two commits. */
#ifndef ORCH_VCS_HISTORY_H
#define ORCH_VCS_HISTORY_H

#include "lib/vcs/vcs.h"

/** Upper bound of the commits of a path. */
#define ORCH_VCS_PATH_MAX 20000

struct orch_vcs_commit {
    char *commit, *tree; /* hex */
    char *subject, *author;
    int64_t authored_s; /* UTC */
    unsigned parents;
};

/** Returns commit `from`, then those on the chain of first parents of `to` that are not reachable
 * from `from`, oldest first: struct orch_vcs_commit *, the caller unrefs. Both are hex ids of
 * commits. NULL with ORCH_ERROR_IO when the history cannot be read (a shallow clone), and with
 * ORCH_ERROR_USAGE when the path has more than ORCH_VCS_PATH_MAX commits. */
GPtrArray *orch_vcs_path(struct orch_vcs *vcs, const char *from, const char *to, GError **error);

/** Returns the newest common ancestor of two commits; NULL without error when there is none. The
 * caller frees. */
char *orch_vcs_common_ancestor(struct orch_vcs *vcs, const char *a, const char *b, GError **error);

#endif
