/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hiding runs, deleting what they own, and freeing the space of what no run needs any more. */
#ifndef ORCH_CORE_RESULTS_REMOVAL_H
#define ORCH_CORE_RESULTS_REMOVAL_H

#include "core/workspace/workspace.h"

/** Hides runs (struct orch_run *) from reuse, lists and reports: this user's for everybody once
 * they are pushed, others' in this store. */
bool orch_runs_hide(struct orch_store *store, const GPtrArray *runs, const char *reason,
                    GError **error);
/** Makes hidden runs visible again. Nothing changes when one of them is not hidden, or was hidden
 * by its author, who is somebody else (ORCH_ERROR_USAGE). */
bool orch_runs_restore(struct orch_store *store, const GPtrArray *runs, const char *reason,
                       GError **error);
/** Deletes metric points and artifact references of runs on this machine. */
bool orch_runs_purge(struct orch_store *store, const GPtrArray *runs, GError **error);

/** What orch_results_collect removed. */
struct orch_freed {
    int files, trees; /* files and folders of the store; captured source trees */
    int64_t bytes;
    GPtrArray *absent; /* char *: stores that need trees and are not found */
};
/** Deletes artifacts and folders that no kept run names and, while no trial runs, captured source
 * trees that neither this store nor another one of the repository needs. With `dry_run` only counts
 * files. Clear with orch_freed_clear. */
bool orch_results_collect(struct orch_workspace *workspace, bool dry_run, struct orch_freed *out,
                          GError **error);
void orch_freed_clear(struct orch_freed *freed);

#endif
