/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run of a command in the files of one commit. */
#ifndef ORCH_FEATURES_BISECT_BISECT_TRIAL_H
#define ORCH_FEATURES_BISECT_BISECT_TRIAL_H

#include "core/recipe/ad_hoc.h"
#include "core/record/commit_place.h"
#include "core/schedule/schedule.h"
#include "lib/vcs/history.h"

/** What all runs of a bisection have in common. */
struct orch_bisect_job {
    struct orch_workspace *base; /* of the work tree, its store open; borrowed */
    const char *const *plugin_paths;
    struct orch_ad_hoc wish; /* `folder`: in the work tree; `repeat` is set for each run */
    bool is_live;            /* call `listener.tick` */
    struct orch_listener listener;
    /** Returns the command line as stored with the runs; the caller frees. */
    char *(*argv_json)(void *ctx, const struct orch_expansion *expansion);
    void *ctx; /* of argv_json */
};

struct orch_bisect_trial {
    struct orch_commit_place place;
    struct orch_expansion *expansion;
    struct orch_plan *plan;
    unsigned index; /* of the trial in the plan */
};
/** Writes the commit's tree out and plans its run number `repeat` (from 1). The caller clears it,
 * also on error. ORCH_ERROR_RECIPE or ORCH_ERROR_USAGE: the command cannot run in this commit. */
bool orch_bisect_trial_open(struct orch_bisect_trial *trial, const struct orch_bisect_job *job,
                            const struct orch_vcs_commit *commit, int repeat, GError **error);
void orch_bisect_trial_clear(struct orch_bisect_trial *trial);

/** Returns the set of the fingerprints that runs of the command in a commit have, up to this number
 * of repeats; empty when it cannot be planned there. The caller unrefs. */
GHashTable *orch_bisect_trial_fingerprints(const struct orch_bisect_job *job,
                                           const struct orch_vcs_commit *commit, int repeats);

struct orch_bisect_end {
    struct orch_run *run; /* NULL: it was not recorded */
    double device_s;
    bool interrupted, terminated;
};
/** Runs it. False on errors of the store and the like; a trial that fails is none. The caller frees
 * the run. */
bool orch_bisect_trial_run(struct orch_bisect_trial *trial, const struct orch_bisect_job *job,
                           struct orch_bisect_end *out, GError **error);

#endif
