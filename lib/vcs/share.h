/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which part of a captured tree may be shared: the files that `inputs:` of a recipe named when it
 * was run here, without notebooks and secrets.
 *
 * It is noted in refs of this repository, refs/orch/inputs/TREE/PART, and refs/orch/share/TREE/PART
 * where the recipe said `share: source`. Nothing that comes from elsewhere can write them: a
 * stranger's run that names one of our trees gets nothing of it.
 */
#ifndef ORCH_VCS_SHARE_H
#define ORCH_VCS_SHARE_H

#include "lib/vcs/vcs.h"

/** Notes that tree `part` is what `inputs:` name of captured tree `tree`. */
bool orch_vcs_note_inputs(struct orch_vcs *vcs, const char *tree, const char *part, bool is_shared,
                          GError **error);

/** A file of a part. */
struct orch_source_file {
    char *tree, *path;
    int64_t bytes;
    char *why; /* why it stays here; NULL: it may go */
};
struct orch_shared_sources {
    GPtrArray *trees, *parts; /* hex ids, same order; each ends with a NULL */
    GPtrArray *files;         /* struct orch_source_file *, of all */
};
/** The parts that may go: of trees whose recipe says so, or of all with noted inputs. `wanted` is
 * asked for each tree first. Clear it with orch_shared_sources_clear. */
bool orch_vcs_shareable(struct orch_vcs *vcs, bool all, bool (*wanted)(void *ctx, const char *tree),
                        void *ctx, struct orch_shared_sources *out, GError **error);
void orch_shared_sources_clear(struct orch_shared_sources *sources);

#endif
