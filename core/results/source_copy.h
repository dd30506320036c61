/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the source that a run was made from into a folder. */
#ifndef ORCH_CORE_RESULTS_SOURCE_COPY_H
#define ORCH_CORE_RESULTS_SOURCE_COPY_H

#include "core/workspace/workspace.h"

struct orch_source_copy {
    char *run_key, *tree, *folder;
    bool is_whole;         /* false: only the inputs, which is all that was shared */
    bool counts_as_source; /* the folder is in the repository and could not be kept out of its
                              source */
};
/** Writes the captured tree of the run that `named` names, or its shared part, into `folder` (NULL:
 * "run-KEY"), which must be empty or absent. A folder inside the repository gets a .gitignore, so
 * that it does not count as source. The workspace's store must be open. ORCH_ERROR_NOT_FOUND when
 * the run has no source or it is not here. Clear with orch_source_copy_clear. */
bool orch_source_copy_write(struct orch_workspace *workspace, const char *named, const char *folder,
                            struct orch_source_copy *out, GError **error);
void orch_source_copy_clear(struct orch_source_copy *copy);

#endif
