/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a user names as RUN: a run that has ended, or a trial that is running. */
#ifndef ORCH_CORE_RESULTS_RUN_NAMED_H
#define ORCH_CORE_RESULTS_RUN_NAMED_H

#include "store/store.h"

/** Exactly one of them is set. */
struct orch_named_run {
    struct orch_run *run;
    struct orch_active_row *trial; /* its runner may be dead */
};
/** Finds what `text` names: a key or a part of one, a name, @last, @{2}. A running trial is found
 * by a part of its key and, with `prefers_running`, as "@last" while one runs. False with
 * ORCH_ERROR_NOT_FOUND, which lists candidates. Clear with orch_named_run_clear. */
bool orch_named_run_find(struct orch_store *store, const char *text, bool prefers_running,
                         struct orch_named_run *out, GError **error);
void orch_named_run_clear(struct orch_named_run *named);

/** Finds several runs before anything is done with them, so that a typing error has no effect.
 * struct orch_run *, in the order of `names`; the caller unrefs. */
GPtrArray *orch_named_runs(struct orch_store *store, const char *const *names, int count,
                           GError **error);

/** A file that a run wrote and the store keeps. */
struct orch_run_output {
    char *name; /* "stdout", "stderr", "log", or the artifact's name */
    char *path; /* NULL: not on this machine */
};
/** The artifacts of a run that has ended: struct orch_run_output *; the caller unrefs. */
GPtrArray *orch_run_outputs(struct orch_store *store, const struct orch_run *run, GError **error);

#endif
