/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How two runs differ: parameters, recorded facts, files that they read, packages, source. */
#ifndef ORCH_CORE_RESULTS_DIFFERENCE_H
#define ORCH_CORE_RESULTS_DIFFERENCE_H

#include "core/workspace/workspace.h"

struct orch_run_difference {
    const char *kind; /* "parameter", "run", "input", "machine", ...: static */
    char *name;
    char *a, *b; /* NULL: that run has none */
};
struct orch_run_differences {
    GPtrArray *rows;       /* struct orch_run_difference * */
    char *tree_a, *tree_b; /* captured source trees; NULL: unversioned */
    bool has_unknown_tree; /* the trees differ, and one is not in this repository */
};
/** Compares the runs that `a` and `b` name. The workspace's store must be open. False with
 * ORCH_ERROR_NOT_FOUND, which says so when the text names a commit. Clear with
 * orch_run_differences_clear. */
bool orch_runs_differ(struct orch_workspace *workspace, const char *a, const char *b,
                      struct orch_run_differences *out, GError **error);
void orch_run_differences_clear(struct orch_run_differences *differences);
/** The lines of source that differ, at most 256 KiB. `*out_text` (freed by the caller) is NULL when
 * a run is unversioned or the workspace is in no repository. */
bool orch_run_differences_source(struct orch_workspace *workspace,
                                 const struct orch_run_differences *differences, char **out_text,
                                 GError **error);

#endif
