/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tracks which stores need a captured tree, so that trees which no store needs any more can be
 * deleted. */
#ifndef ORCH_VCS_HOLDERS_H
#define ORCH_VCS_HOLDERS_H

#include "lib/vcs/vcs.h"

/** A store that captures trees in the repository. */
struct orch_holder {
    const char *id;   /* of the store */
    const char *path; /* absolute path of its file */
};

/** Records that the store needs the captured tree. Call before the first run of that tree
 * starts. */
bool orch_vcs_hold(struct orch_vcs *vcs, const struct orch_holder *holder, const char *tree,
                   GError **error);

/** Releases the store's recorded trees that are not in the set `kept` (hex id -> any value).
 * Deletes refs/orch/src/<tree> of those that no other store needs, and returns their number; -1 on
 * error. `out_absent` (char *) receives a message for each store that needs one of them but does
 * not exist at its path. */
int orch_vcs_release(struct orch_vcs *vcs, const struct orch_holder *holder, GHashTable *kept,
                     GPtrArray *out_absent, GError **error);

#endif
