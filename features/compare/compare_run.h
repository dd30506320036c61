/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs both sides of a comparison now, from the sources of two commits. */
#ifndef ORCH_FEATURES_COMPARE_COMPARE_RUN_H
#define ORCH_FEATURES_COMPARE_COMPARE_RUN_H

#include "features/compare/compare_arm.h"

struct orch_compare_side {
    char *name;      /* as typed; "HEAD" for the empty end of a range */
    char *what;      /* "experiment 'finetune' of recipe 'hw4'", "commit 1a2b3c4d", ... */
    GPtrArray *runs; /* struct orch_run *, newest first, that ended ok or diverged */
};
void orch_compare_side_clear(struct orch_compare_side *side);

/** Writes out the trees of `names` (commits, "." for the work tree, or settings of it), reads the
 * recipe in each, and runs their trials in turns, A B B A. `plugin_paths`: folders searched first
 * for plugins (NULL-terminated, or NULL); a folder in the work tree stands for the same folder of
 * each side. Fills both sides with the runs that ended well. Returns false with ORCH_ERROR_TRIAL
 * when a trial did not end well, with ORCH_ERROR_INTERRUPTED after an interrupt, or with another
 * error. Runs that ended are kept. */
bool orch_compare_run_both(struct orch_workspace *workspace, const char *const *plugin_paths,
                           const struct orch_compare_run *request, const char *const names[2],
                           const struct orch_compare_listener *listener,
                           struct orch_compare_side sides[2], GError **error);

#endif
