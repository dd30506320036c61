/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The part of a captured tree that may be shared: the files that the recipe's `inputs:` named when
 * it was run here, without notebooks and secrets.
 *
 * It is recorded in refs of this repository, refs/orch/inputs/TREE/PART, and also
 * refs/orch/share/TREE/PART if the recipe has `share: source`. Imported runs cannot write these
 * refs, so an imported run that names a local tree does not cause it to be shared. stranger's run
 * that names one of our trees gets nothing of it.
 */
#ifndef ORCH_VCS_SHARE_H
#define ORCH_VCS_SHARE_H

#include "lib/vcs/vcs.h"

/** Records that tree `part` is the subset of captured tree `tree` named by `inputs:`. */
bool orch_vcs_note_inputs(struct orch_vcs *vcs, const char *tree, const char *part, bool is_shared,
                          GError **error);

/** A file of a part. */
struct orch_source_file {
    char *tree, *path;
    int64_t bytes;
    char *why; /* why it is not shared; NULL: it may be shared */
};
struct orch_shared_sources {
    GPtrArray *trees, *parts; /* hex ids in the same order, each ended by NULL */
    GPtrArray *files;         /* struct orch_source_file * of all parts */
};
/** Finds the parts that may be shared: of trees whose recipe allows it, or (`all`) of all with
 * recorded inputs, if `wanted` returns true for the tree. Clear with orch_shared_sources_clear. */
bool orch_vcs_shareable(struct orch_vcs *vcs, bool all, bool (*wanted)(void *ctx, const char *tree),
                        void *ctx, struct orch_shared_sources *out, GError **error);
void orch_shared_sources_clear(struct orch_shared_sources *sources);

#endif
