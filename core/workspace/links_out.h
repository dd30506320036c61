/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Symbolic links of a work tree that lead out of it, as `data` to a folder on another disk: what a
 * program opens there by its own path is a file of the project, too. */
#ifndef ORCH_CORE_WORKSPACE_LINKS_OUT_H
#define ORCH_CORE_WORKSPACE_LINKS_OUT_H

#include "core/workspace/workspace.h"

/** List of [name relative to the root, absolute path without links]: the first of each path. Looked
 * for once, folder by folder from the root on, among ORCH_LINKS_OUT_ENTRIES entries; not in hidden
 * folders, and without links to environments of Python's or conda's, to the user's home, to folders
 * for temporary files, and to what the root lies in. Borrowed. */
#define ORCH_LINKS_OUT_ENTRIES 20000
const json_t *orch_workspace_links_out(struct orch_workspace *workspace);

#endif
