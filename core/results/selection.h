/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs that a command is about, as its options name them: a filter, a recipe, tags and so on.
 * The filter language is that of --where (docs/where.md). */
#ifndef ORCH_CORE_RESULTS_SELECTION_H
#define ORCH_CORE_RESULTS_SELECTION_H

#include "store/read/bulk.h"
#include "store/store.h"

struct orch_selection {
    const char *where;                       /* a filter; NULL: all runs */
    const char *recipe, *experiment, *state; /* NULL: any */
    const char *since;       /* only runs that ended since: "2026-11-01", "7d"; NULL: any time */
    const char *const *tags; /* runs that have all of these tags; NULL-terminated, or NULL */
    const char *const *any_recipes; /* with any_runs: only runs of one of these recipes, or ... */
    const char *const *any_runs;    /* ... with one of these keys; NULL-terminated, or NULL */
    bool ended_well;                /* only ok and diverged runs, which count as results */
    bool with_hidden, without_imported, oldest_first;
    bool with_counted; /* of recipe and experiment also runs of other names that they count */
    int64_t limit;     /* 0: no limit */
};

/** Returns the selected runs (struct orch_run *, newest first), which the caller unrefs.
 * `out_total` (may be NULL) receives their number without the limit. NULL with ORCH_ERROR_USAGE for
 * a filter or a state that is invalid, else with the store's error. */
GPtrArray *orch_selection_runs(const struct orch_selection *selection, struct orch_store *store,
                               int64_t *out_total, GError **error);

/** Visits the selected runs one at a time, so that they need not fit into memory. `visit` returns
 * false to stop. Errors as those of orch_selection_runs. */
bool orch_selection_visit(const struct orch_selection *selection, struct orch_store *store,
                          orch_run_fn visit, void *ctx, GError **error);

/** Compiles filter, time, tags, recipes and runs into one condition; `*out` is NULL when all runs
 * meet it. The caller frees. Errors name columns of `where` as the user wrote it. */
bool orch_selection_condition(const struct orch_selection *selection, struct orch_where **out,
                              GError **error);
/** The same with recipe, experiment and state in the condition, for readers that take no query. */
bool orch_selection_whole_condition(const struct orch_selection *selection, struct orch_where **out,
                                    GError **error);
/** The selection as a query of the store, with a condition made by orch_selection_condition. */
struct orch_run_query orch_selection_query(const struct orch_selection *selection,
                                           const struct orch_where *condition);

#endif
