/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bulk reading: selected columns of many runs in few queries. Predictors get their training data
 * here. */
#ifndef ORCH_STORE_BULK_H
#define ORCH_STORE_BULK_H

#include "store/store.h"

/** A row of orch_store_visit_runs; borrowed for the call. */
struct orch_bulk_run {
    int64_t id;
    const char *key, *device_key, *machine_facts, *facts; /* all but key may be "" */
    double wall_ms;
};
typedef void (*orch_bulk_run_fn)(void *ctx, const struct orch_bulk_run *run);
/** Visits every run that ended ok, is not hidden and meets `where` (NULL: all), by ascending id,
 * which is the order of writing. */
bool orch_store_visit_runs(struct orch_store *store, const struct orch_where *where,
                           orch_bulk_run_fn visit, void *ctx, GError **error);

/** A point of a metric (step), or a result (step -1); borrowed for the call. */
struct orch_bulk_value {
    int64_t run_id, step;
    const char *name, *unit;
    double value;
};
typedef void (*orch_bulk_value_fn)(void *ctx, const struct orch_bulk_value *value);
/** Visits the results and then the metric points with these names (NULL-terminated) of the runs
 * `ids`, which must be ascending. Both are ordered by run, name, step. NaN values are left out. */
bool orch_store_visit_values(struct orch_store *store, const int64_t *ids, size_t count,
                             const char *const *names, orch_bulk_value_fn visit, void *ctx,
                             GError **error);

/** Returns false to stop. The run is borrowed for the call, during which the store may be read. */
typedef bool (*orch_run_fn)(void *ctx, const struct orch_run *run, GError **error);
/** Visits the runs that orch_store_runs would return, one at a time, so that they need not fit into
 * memory. */
bool orch_store_visit_full_runs(struct orch_store *store, const struct orch_run_query *query,
                                orch_run_fn visit, void *ctx, GError **error);

/** Returns false to stop. The point is borrowed for the call; NaN stands where the store has
 * NULL. */
typedef bool (*orch_bulk_point_fn)(void *ctx, const struct orch_point *point);
/** Visits every point of a run, metric by metric, by ascending step. `names` (NULL-terminated)
 * restricts it to these metrics; NULL visits all. */
bool orch_store_visit_points(struct orch_store *store, int64_t run_id, const char *const *names,
                             orch_bulk_point_fn visit, void *ctx, GError **error);

/** The kind of names that orch_store_names lists. */
enum orch_name_kind {
    ORCH_NAME_PARAM,
    ORCH_NAME_RESULT,
    ORCH_NAME_METRIC,
    ORCH_NAME_DIRECTED, /* metrics that declare a direction (lower or higher is better) */
};
/** The names that occur in the runs of a query, sorted: char *; the caller unrefs. The query's
 * limit and order are ignored. */
GPtrArray *orch_store_names(struct orch_store *store, const struct orch_run_query *query,
                            enum orch_name_kind kind, GError **error);

#endif
