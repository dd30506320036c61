/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queries for lists of many runs: the ids in order, selected columns of some runs, and long series
 * thinned out.
 *
 * A column is named as in a condition (orch_where_parse): `state`, `wall_s`, ..., else a parameter,
 * a result or a metric's last value; `param.x`, `result.x`, `metric.x`. Further columns are
 * `min(x)` and `max(x)` of a metric, `setting` (the swept parameters, as a JSON object), `cell`
 * (recipe, experiment, plugin and parameters as text, without the repeat and the seed), `reason`,
 * `dirty`, `plugin_version`, `device_key` and `forecast_s` (the middle of the newest forecast that
 * was made before the run).
 */
#ifndef ORCH_STORE_LISTING_H
#define ORCH_STORE_LISTING_H

#include "lib/base/thin_series.h"
#include "store/store.h"

/** Runs without a value are last in both directions. */
struct orch_order {
    const char *column;
    bool is_rising; /* ascending */
};
enum { ORCH_ORDERS_MAX = 8 };
struct orch_listing {
    const struct orch_where *where; /* NULL: all */
    const char *sort;               /* a column; NULL: the time when the run ended */
    bool is_rising;                 /* as in struct orch_order */
    const struct orch_order *then;  /* orders runs that are equal in `sort`, and so on */
    int then_count;                 /* at most ORCH_ORDERS_MAX */
};
/** The ids (int64_t) of the runs that are not hidden, in order; the caller unrefs. Fails with
 * ORCH_ERROR_USAGE when a condition names something that no run has. A sort column that no run has
 * is empty. */
GArray *orch_store_listing(struct orch_store *store, const struct orch_listing *listing,
                           GError **error);

/** The value of a column of a run: NULL, an integer, a real or a text; borrowed for the call. */
struct orch_row_cell {
    enum { ORCH_CELL_NONE, ORCH_CELL_INTEGER, ORCH_CELL_REAL, ORCH_CELL_TEXT } kind;
    int64_t integer;
    double real;
    const char *text;
};
/** Returns false to stop. */
typedef bool (*orch_row_fn)(void *ctx, int64_t run_id, const struct orch_row_cell *cells);
/** Visits these runs in this order with these columns (NULL-terminated, at most 64). */
bool orch_store_visit_rows(struct orch_store *store, const int64_t *ids, size_t count,
                           const char *const *columns, orch_row_fn visit, void *ctx,
                           GError **error);

/** A name that occurs in runs, from which a user can choose columns. */
struct orch_known_name {
    const char *kind; /* "column", "param", "result", "metric": static */
    char *name, *unit, *better;
};
/** The built-in columns first, then parameters, results and metrics, each by name; at most 2,000.
 * struct orch_known_name *; the caller unrefs. */
GPtrArray *orch_store_known_names(struct orch_store *store, GError **error);

/** Returns false to stop. */
typedef bool (*orch_recipe_text_fn)(void *ctx, const char *canonical);
/** Visits the canonical texts of all recipes that have an objective. */
bool orch_store_visit_searches(struct orch_store *store, orch_recipe_text_fn visit, void *ctx,
                               GError **error);
/** Visits the canonical texts of the recipes of the newest runs, newest first, at most `most`. */
bool orch_store_recent_recipes(struct orch_store *store, int most, orch_recipe_text_fn visit,
                               void *ctx, GError **error);

/** The metrics of which a run has points, by name, found without scanning the points. struct
 * orch_known_name *; the caller unrefs. */
GPtrArray *orch_store_metric_names(struct orch_store *store, int64_t run_id, GError **error);

/** A text that changes whenever the list of ended runs, or which of them are hidden, changes. The
 * caller frees. */
char *orch_store_version(struct orch_store *store, GError **error);

/** Sets a deadline `seconds` from now, after which queries are aborted with an error; 0 removes
 * it. */
void orch_store_limit_time(struct orch_store *store, double seconds);

/** One metric of a run, restricted to from <= step <= to and thinned to `buckets`. The caller
 * frees. Returns NULL without error when the run has no such metric. `out_unit` (may be NULL): the
 * caller frees. Without `has_time`
 * the times are NAN, which is faster. */
struct orch_thin *orch_store_thin_series(struct orch_store *store, int64_t run_id, const char *name,
                                         int64_t from, int64_t to, unsigned buckets, bool has_time,
                                         char **out_unit, GError **error);

/** The runs of one user for one experiment. */
struct orch_share {
    char *recipe, *experiment, *who;
    int64_t runs, ok; /* ok: ended ok or diverged */
    int64_t trials;   /* number of different fingerprints among the ok runs */
    int64_t ended_ns; /* of the newest run */
    double wall_s;    /* of all runs */
};
/** Shares sorted by recipe, experiment, who. struct orch_share *; the caller unrefs. */
GPtrArray *orch_store_shares(struct orch_store *store, GError **error);

#endif
