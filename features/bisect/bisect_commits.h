/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The commits of a bisection with the runs that were made of each, by whom and whenever. A run
 * belongs to the commit whose tree it was made from, so that one of another commit, whose files
 * only seem to be the same, cannot count. */
#ifndef ORCH_FEATURES_BISECT_BISECT_COMMITS_H
#define ORCH_FEATURES_BISECT_BISECT_COMMITS_H

#include "features/bisect/bisect_metric.h"
#include "features/bisect/change_point.h"
#include "lib/vcs/history.h"
#include "store/store.h"

struct orch_bisect_value {
    char *key; /* of the run */
    double value, wall_s;
    bool is_disturbed;
    bool is_new; /* made by this command */
};

struct orch_bisect_commit {
    const struct orch_vcs_commit *is; /* borrowed from the path */
    GArray *values;                   /* struct orch_bisect_value */
    GArray *repeats;                  /* int: repeats that have a run, also one that failed */
    char *skipped;                    /* why it cannot be measured, or NULL */
};

struct orch_bisect_commits {
    GPtrArray *path; /* struct orch_vcs_commit *; owned */
    struct orch_bisect_commit *rows;
    size_t count;
    GHashTable *by_tree; /* tree -> struct orch_bisect_commit * */
};

/** Takes over `path`. A commit with the files of an earlier one that is not beside it (a revert) is
 * skipped, as runs of both could not be told apart. */
void orch_bisect_commits_init(struct orch_bisect_commits *commits, GPtrArray *path);
void orch_bisect_commits_clear(struct orch_bisect_commits *commits);

/** What the runs of a command have in common. */
struct orch_bisect_command {
    const char *experiment;
    const char *command_id; /* orch_command_id */
    const char *device_key; /* of this machine: times count only from there */
    /** Returns the set of fingerprints that runs of the command in a commit have, which tell apart
     * what has the same words: another folder, other data that git ignores. */
    GHashTable *(*fingerprints)(void *ctx, const struct orch_vcs_commit *commit, int repeats);
    void *ctx;
};

/** Adds the runs of the store that were made of the commits by the same command. */
bool orch_bisect_commits_load(struct orch_bisect_commits *commits, struct orch_store *store,
                              const struct orch_bisect_command *command,
                              struct orch_bisect_metric *metric, GError **error);
/** Adds a run. A run that failed makes its commit a skipped one, unless others ended well. */
bool orch_bisect_commits_add(struct orch_bisect_commits *commits, size_t index,
                             struct orch_store *store, const struct orch_run *run, bool is_new,
                             struct orch_bisect_metric *metric, GError **error);

/** Returns the first repeat, from 1, that the commit has no run of. */
int orch_bisect_commit_next_repeat(const struct orch_bisect_commit *commit);

/** What counts of the values: disturbed times do not where half of all runs or more are
 * undisturbed. */
struct orch_bisect_data {
    struct orch_change_data change;
    struct orch_change_place *places;
    double *badness, *values; /* of all places, one after the other, in the same order */
    const struct orch_bisect_value **from;
    size_t *first; /* of each place, in these; one more at the end */
    bool is_ratio;
    size_t left_out; /* disturbed runs */
};
void orch_bisect_data_make(const struct orch_bisect_commits *commits,
                           const struct orch_bisect_metric *metric, struct orch_bisect_data *out);
void orch_bisect_data_clear(struct orch_bisect_data *data);

#endif
