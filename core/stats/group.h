/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs grouped by the values of their parameters, with one number per run. Tables, winners and
 * comparisons are made from such groups. */
#ifndef ORCH_CORE_STATS_GROUP_H
#define ORCH_CORE_STATS_GROUP_H

#include "core/stats/seeds.h"
#include "core/stats/spread.h"
#include "lib/wire/aggregate.h"
#include "lib/wire/direction.h"
#include "store/store.h"

/** Reads one number of a run: a metric's aggregate, else the result of that name, else the run's
 * own `wall_s`. NaN without error when the run has none. `out_better` (may be NULL) becomes "min",
 * "max" or "none" (lib/wire/direction.h); `out_unit` likewise (valid until the process ends). */
bool orch_run_number(struct orch_store *store, const struct orch_run *run, const char *name,
                     enum orch_aggregate aggregate, double *out, const char **out_better,
                     const char **out_unit, GError **error);

/** Returns whether the run is simulated: its result `simulated` is above 0, so no machine ran what
 * its times describe. */
bool orch_run_is_simulated(struct orch_store *store, const struct orch_run *run);
/** Returns whether other programs disturbed the run's times. Those of a simulated run cannot be.
 * Without a store (NULL) the run's facts alone decide. */
bool orch_run_is_disturbed(struct orch_store *store, const struct orch_run *run);

/** All numbers of a run, read once for several lookups. */
struct orch_run_numbers;
/** Reads a run's numbers. NULL with an error when the store cannot be read. The caller frees. */
struct orch_run_numbers *orch_run_numbers_read(struct orch_store *store, const struct orch_run *run,
                                               GError **error);
void orch_run_numbers_free(struct orch_run_numbers *numbers);
/** Looks up one number, as orch_run_number does. NaN when the run has none of that name. */
double orch_run_numbers_get(const struct orch_run_numbers *numbers, const char *name,
                            enum orch_aggregate aggregate, const char **out_better,
                            const char **out_unit);

/** Which values of one number are better. */
struct orch_direction orch_run_numbers_direction(const struct orch_run_numbers *numbers,
                                                 const char *name);

/** Returns whether the run has a metric or a result of that name, even if all its values are NaN,
 * or the name is "wall_s". */
bool orch_run_numbers_has(const struct orch_run_numbers *numbers, const char *name);

/** Returns the value of `name` for a run as text: a parameter, or experiment, plugin, repeat, who,
 * state, machine, gpu, where, commit, branch, recipe, the command behind 'orch try --', or the
 * result class_count. NULL when the run
 * has none. The caller frees. */
char *orch_run_field(struct orch_store *store, const struct orch_run *run, const char *name);

struct orch_group {
    char **values;             /* one for each name in `by` */
    char *label;               /* "lr=0.1 mode=full" */
    GPtrArray *runs;           /* struct orch_run *, borrowed */
    GArray *numbers;           /* double, one for each run; NaN where missing */
    GArray *means;             /* struct orch_seed_mean: the numbers averaged by seed */
    struct orch_spread spread; /* of the means by seed */
    bool is_disturbed;         /* other programs disturbed a run that counts (disturbed.h) */
};

/** Groups `runs` by the names `by` (NULL-terminated; NULL: orch_varying_names). `runs` must have
 * the newest run first. grouping.h says which runs count; runs of one trial (same_trial.h) replace
 * each other on the same device. `out_by` (may be NULL) receives the names used; the caller frees
 * it. Returns struct orch_group * in order of first appearance. */
GPtrArray *orch_groups_make(struct orch_store *store, GPtrArray *runs, const char *const *by,
                            const char *metric, enum orch_aggregate aggregate, char ***out_by,
                            const char **out_better, const char **out_unit, GError **error);

/** Returns the names of all numbers of a run: metrics, then results, each once. const char *,
 * borrowed; the caller unrefs the array. */
GPtrArray *orch_run_numbers_names(const struct orch_run_numbers *numbers);
/** Returns the aggregate of one metric's series. */
double orch_summary_number(const struct orch_metric_summary *summary,
                           enum orch_aggregate aggregate);

/** Sets ORCH_ERROR_NOT_FOUND: no run `which` ("of A", "that ended well") has the metric or result,
 * with the nearest name that runs have as the hint. */
void orch_metric_not_found(struct orch_store *store, const char *which, const char *metric,
                           GError **error);

#endif
