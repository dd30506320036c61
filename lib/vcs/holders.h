/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Captured trees are kept for the stores whose runs name them; a tree that no store needs any more
 * is let go. */
#ifndef ORCH_VCS_HOLDERS_H
#define ORCH_VCS_HOLDERS_H

#include "lib/vcs/vcs.h"

/** A store that captures trees in the repository. */
struct orch_holder {
    const char *id;   /* the store's */
    const char *path; /* absolute, of its file */
};

/** Notes that the store needs the captured tree. Before its first run of that tree begins. */
bool orch_vcs_hold(struct orch_vcs *vcs, const struct orch_holder *holder, const char *tree,
                   GError **error);

/** Lets go of the trees that were noted for the store and are not in the set `kept` (hex id ->
 * anything). Drops refs/orch/src/<tree> of those that no other store needs, and returns how many;
 * -1 on error. `out_absent` (char *) gets a phrase for each store that keeps one of them and is
 * not there. */
int orch_vcs_release(struct orch_vcs *vcs, const struct orch_holder *holder, GHashTable *kept,
                     GPtrArray *out_absent, GError **error);

#endif
