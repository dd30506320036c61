/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Much of many runs in few queries: what predictors learn from. */
#ifndef ORCH_STORE_BULK_H
#define ORCH_STORE_BULK_H

#include "store/store.h"

/** A run as orch_store_told_runs tells it; borrowed for the call. */
struct orch_told_run {
    int64_t id;
    const char *key, *where_key, *machine_facts, *facts; /* all but key may be NULL */
    double wall_ms;
};
typedef void (*orch_told_run_fn)(void *ctx, const struct orch_told_run *run);
/** Tells every run that ended ok, is not hidden and meets `where` (NULL: all), by its id, so oldest
 * first in the order of writing. */
bool orch_store_told_runs(struct orch_store *store, const struct orch_where *where,
                          orch_told_run_fn tell, void *ctx, GError **error);

/** A point of a metric (step), or a result (step -1); borrowed for the call. */
struct orch_told_value {
    int64_t run_id, step;
    const char *name, *unit;
    double value;
};
typedef void (*orch_told_value_fn)(void *ctx, const struct orch_told_value *value);
/** Tells the results, then the points of the metrics, of those names (NULL-terminated) of the runs
 * `ids`, rising; within each by run, then name, then step. NaN is left out. */
bool orch_store_told_values(struct orch_store *store, const int64_t *ids, size_t count,
                            const char *const *names, orch_told_value_fn tell, void *ctx,
                            GError **error);

/** Returns false to stop. The run is borrowed for the call, in which the store may be read. */
typedef bool (*orch_each_run_fn)(void *ctx, const struct orch_run *run, GError **error);
/** Tells the runs that orch_store_runs would list, one by one: they need not fit into memory. */
bool orch_store_each_run(struct orch_store *store, const struct orch_run_query *query,
                         orch_each_run_fn tell, void *ctx, GError **error);

/** A point of one run; borrowed for the call. */
struct orch_told_point {
    const char *metric;
    int64_t step;
    double t_ms, value; /* NaN where the store has NULL */
};
/** Returns false to stop. */
typedef bool (*orch_told_point_fn)(void *ctx, const struct orch_told_point *point);
/** Tells every point of a run, metric by metric, steps rising. `names` (NULL-terminated; NULL:
 * all): only these metrics. */
bool orch_store_each_point(struct orch_store *store, int64_t run_id, const char *const *names,
                           orch_told_point_fn tell, void *ctx, GError **error);

/** Which names of runs are asked for. */
enum orch_name_kind {
    ORCH_NAME_PARAM,
    ORCH_NAME_RESULT,
    ORCH_NAME_METRIC,
    ORCH_NAME_DIRECTED, /* metrics that declare whether less or more is better */
};
/** The names that the runs of a query have, sorted. char *; the caller unrefs. The query's limit
 * and order do not count. */
GPtrArray *orch_store_names(struct orch_store *store, const struct orch_run_query *query,
                            enum orch_name_kind kind, GError **error);

#endif
