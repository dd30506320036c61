/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run with everything that the store has on it, as `orch show` prints it. */
#ifndef ORCH_CORE_RESULTS_WHOLE_RUN_H
#define ORCH_CORE_RESULTS_WHOLE_RUN_H

#include "core/inputs/left_files.h"

struct orch_whole_run {
    const struct orch_run *run;
    json_t *params, *results;   /* objects */
    json_t *facts, *machine;    /* objects, or NULL when none are recorded */
    GPtrArray *inputs;          /* struct orch_stored_input * */
    GPtrArray *artifacts;       /* struct orch_stored_artifact * */
    GPtrArray *notes;           /* struct orch_stored_note * */
    GPtrArray *summaries;       /* struct orch_metric_summary *: what the plugin reported */
    GPtrArray *system;          /* the same: what orch-host sampled beside it */
    GPtrArray *tags;            /* char *, sorted */
    char *name;                 /* or NULL */
    struct orch_hidden *hidden; /* NULL: not hidden */
    bool is_hidden_by_user;     /* hidden by this user, or in this store only: --undo restores it */
    uint32_t seed31;            /* the seed as plugins with 31 bits get it */
    double foreign_cpu;         /* share of the CPUs that other programs used; NaN: unknown */
    bool is_disturbed;          /* that share is so large that its times are left out */
    struct orch_left left;      /* what its trial left in folders of its own, on this machine */
};
/** Reads everything but the points of `run`, which is borrowed. False when the store cannot be
 * read. Clear with orch_whole_run_clear in both cases. */
bool orch_whole_run_read(struct orch_store *store, const struct orch_run *run,
                         struct orch_whole_run *out, GError **error);
void orch_whole_run_clear(struct orch_whole_run *whole);

/** The run as an object with the fields of docs/run-fields.md, its related data and the summaries
 * of its metrics. New reference; NULL when the store cannot be read. */
json_t *orch_whole_run_json(struct orch_store *store, const struct orch_whole_run *whole,
                            GError **error);

/** Visits the points of one metric, which are borrowed for the call. */
typedef void (*orch_series_fn)(void *ctx, const struct orch_series *series);
/** Visits all points of these metrics (NULL-terminated) of a run, in that order. False with
 * ORCH_ERROR_NOT_FOUND when the run does not have one of them. */
bool orch_run_visit_series(struct orch_store *store, const struct orch_run *run,
                           const char *const *names, orch_series_fn visit, void *ctx,
                           GError **error);

/** Reads an artifact's bytes; the caller frees. NULL with ORCH_ERROR_NOT_FOUND when the run has no
 * such artifact (the hint lists those that it has), or its bytes are not on this machine. */
char *orch_whole_run_artifact(struct orch_store *store, const struct orch_whole_run *whole,
                              const char *name, size_t *out_length, GError **error);

/** The last value of each metric of a run: name (char *) -> double *; empty when there is no such
 * run. The caller unrefs. */
GHashTable *orch_run_last_values(struct orch_store *store, const char *key);

#endif
