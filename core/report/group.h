/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs gathered by the values of their parameters, each group with one number a run: what tables,
 * winners and comparisons are made of. */
#ifndef ORCH_CORE_REPORT_GROUP_H
#define ORCH_CORE_REPORT_GROUP_H

#include "core/report/seeds.h"
#include "core/report/spread.h"
#include "store/store.h"

/** Which number of a metric's series speaks for the run. */
enum orch_aggregate {
    ORCH_AGGREGATE_LAST,
    ORCH_AGGREGATE_BEST, /* by the metric's declaration */
    ORCH_AGGREGATE_MIN,
    ORCH_AGGREGATE_MAX,
    ORCH_AGGREGATE_MEAN,
    ORCH_AGGREGATE_FIRST,
    ORCH_AGGREGATE_COUNT,
    ORCH_AGGREGATE_SUM,
};
/** "last", "best", ...; false for another word. */
bool orch_aggregate_parse(const char *word, enum orch_aggregate *out);

/** One number of one run: a metric's aggregate, else the result of that name, else the run's own
 * `wall_s`. NaN without error when the run has none. `out_better` (may be NULL): "min", "max" or
 * "none" as declared; `out_unit` likewise (borrowed for the process's life). */
bool orch_run_number(struct orch_store *store, const struct orch_run *run, const char *name,
                     enum orch_aggregate aggregate, double *out, const char **out_better,
                     const char **out_unit, GError **error);

/** The same for several numbers of a run: read once, then looked up. */
struct orch_run_numbers;
/** NULL with an error when the store cannot be read. The caller frees. */
struct orch_run_numbers *orch_run_numbers_read(struct orch_store *store, const struct orch_run *run,
                                               GError **error);
void orch_run_numbers_free(struct orch_run_numbers *numbers);
/** NaN when the run has none of that name. */
double orch_run_numbers_get(const struct orch_run_numbers *numbers, const char *name,
                            enum orch_aggregate aggregate, const char **out_better,
                            const char **out_unit);

/** The value of `name` for a run as text: a parameter, or experiment, plugin, repeat, who, state,
 * machine, gpu, where, commit, branch, recipe. NULL when the run has none. Caller frees. */
char *orch_run_field(struct orch_store *store, const struct orch_run *run, const char *name);

struct orch_group {
    char **values;             /* one for each name that it is grouped by */
    char *label;               /* "lr=0.1 mode=full" */
    GPtrArray *runs;           /* struct orch_run *, borrowed */
    GArray *numbers;           /* double, one a run, NaN where missing */
    GArray *seeds;             /* uint64_t, one a run */
    GArray *means;             /* struct orch_seed_mean: the numbers averaged by seed */
    struct orch_spread spread; /* of the means by seed */
};
void orch_group_free(struct orch_group *group);

/** Groups `runs` by `by` (NULL-terminated names; NULL: experiment and every swept name that
 * varies). Of several runs of one trial (same_trial.h) only the newest counts, on each device.
 * `out_by` (may be NULL) gets the names in use, the caller frees. struct orch_group *, in order of
 * first sight. */
GPtrArray *orch_groups_make(struct orch_store *store, GPtrArray *runs, const char *const *by,
                            const char *metric, enum orch_aggregate aggregate, char ***out_by,
                            const char **out_better, const char **out_unit, GError **error);

/** Names of all numbers of a run: metrics, then results, each once. const char *, borrowed; the
 * caller unrefs. */
GPtrArray *orch_run_numbers_names(const struct orch_run_numbers *numbers);
/** The number of one metric's series that speaks for it. */
double orch_summary_number(const struct orch_metric_summary *summary,
                           enum orch_aggregate aggregate);

#endif
