/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commits among which the culprit is. */
#ifndef ORCH_FEATURES_BISECT_BISECT_PATH_H
#define ORCH_FEATURES_BISECT_BISECT_PATH_H

#include "core/workspace/workspace.h"
#include "lib/vcs/history.h"

/** Reads "GOOD..BAD" (an empty BAD is HEAD) and returns the commits from GOOD to BAD along first
 * parents, oldest first: struct orch_vcs_commit *, two at least; the caller unrefs. Adds to `notes`
 * (char *) what the user should know of the path. NULL with ORCH_ERROR_USAGE or
 * ORCH_ERROR_NOT_FOUND for a range that is none. */
GPtrArray *orch_bisect_path(struct orch_workspace *workspace, const char *range, GPtrArray *notes,
                            GError **error);

#endif
