/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tree of the repository, written out beside the store, in which trials run as they would have
 * when it was the work tree. The user's files are not touched. */
#ifndef ORCH_CORE_RECORD_COMMIT_PLACE_H
#define ORCH_CORE_RECORD_COMMIT_PLACE_H

#include "core/plan/plan.h"

struct orch_commit_place {
    struct orch_workspace *base; /* of the work tree; borrowed */
    struct orch_workspace *workspace;
    struct orch_plugins *plugins;
    char *root;       /* absolute: the copy of the base's root */
    GPtrArray *built; /* char *: what git ignores and is not in the copy, because it looks built
                         from the files of the work tree; empty for the work tree itself */
};

/** Keeps the tree of `source` (taken over, also on error), writes it out and opens the store for
 * its runs. `folder`: absolute, in the base's work tree; the place's workspace begins at its copy.
 * `plugin_paths`: folders searched first for plugins (NULL-terminated, or NULL); a folder in the
 * work tree stands for its copy. `is_here`: the tree is that of the work tree, and what was built
 * there belongs to it. The base's store is open. False on error. Clear it in any case. */
bool orch_commit_place_open(struct orch_commit_place *place, struct orch_workspace *base,
                            struct orch_source *source, bool is_here, const char *folder,
                            const char *const *plugin_paths, GError **error);
void orch_commit_place_clear(struct orch_commit_place *place);

/** Says what of the work tree is not in the copy because it looks built there; NULL: nothing. The
 * caller frees. */
char *orch_commit_place_built_text(const struct orch_commit_place *place);

/** Maps a path in the base's work tree to the copy at `root`; returns a duplicate of any other
 * path. The caller frees. */
char *orch_commit_place_path(const struct orch_workspace *base, const char *root, const char *path);

/** Fails when a trial of the plan would use files of the work tree instead of its own tree's.
 * `what` begins the second half of the message: "both sides of the comparison". */
bool orch_commit_place_holds(struct orch_plan *plan, const char *what, GError **error);

#endif
