/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Many runs as a page shows them: which they are and in which order, the wanted columns of some of
 * them, and long series made short.
 *
 * A column is named as in a condition (orch_where_parse): `state`, `wall_s`, ..., else a parameter,
 * a result or a metric's last value; `param.x`, `result.x`, `metric.x`. Besides them `min(x)`,
 * `max(x)` of a metric, `setting` (the swept parameters, as a JSON object), `cell` (everything but
 * the repeat and the seed: recipe, experiment, plugin and parameters, as text), `reason`, `dirty`,
 * `plugin_version` and `where`.
 */
#ifndef ORCH_STORE_LISTING_H
#define ORCH_STORE_LISTING_H

#include "lib/base/thin.h"
#include "store/store.h"

struct orch_listing {
    const struct orch_where *where; /* NULL: all */
    const char *sort;               /* a column; NULL: when it ended */
    bool is_rising;                 /* least first; runs without a value are last either way */
};
/** The ids of the runs (int64_t) in order, none hidden; the caller unrefs. ORCH_ERROR_USAGE for a
 * condition that names what no run has; a column that no run has is empty. */
GArray *orch_store_listing(struct orch_store *store, const struct orch_listing *listing,
                           GError **error);

/** A run's columns: NULL, an integer, a real or a text each; borrowed for the call. */
struct orch_told_cell {
    enum { ORCH_CELL_NONE, ORCH_CELL_INTEGER, ORCH_CELL_REAL, ORCH_CELL_TEXT } kind;
    int64_t integer;
    double real;
    const char *text;
};
/** False ends the telling. */
typedef bool (*orch_told_cells_fn)(void *ctx, int64_t run_id, const struct orch_told_cell *cells);
/** Tells these runs in this order with these columns (NULL-terminated, at most 64). */
bool orch_store_tell_cells(struct orch_store *store, const int64_t *ids, size_t count,
                           const char *const *columns, orch_told_cells_fn tell, void *ctx,
                           GError **error);

/** A name that runs have, for choosing columns. */
struct orch_known_name {
    const char *kind; /* "column", "param", "result", "metric": static */
    char *name, *unit, *better;
};
/** Columns of every run first, then parameters, results, metrics, each by name; at most 2,000.
 * struct orch_known_name *; the caller unrefs. */
GPtrArray *orch_store_known_names(struct orch_store *store, GError **error);

/** False ends the telling. */
typedef bool (*orch_recipe_text_fn)(void *ctx, const char *canonical);
/** Tells the canonical texts of the recipes of the newest runs, newest first, at most `most`. */
bool orch_store_recent_recipes(struct orch_store *store, int most, orch_recipe_text_fn tell,
                               void *ctx, GError **error);

/** The metrics that a run has points of, by name, without a look at the points. struct
 * orch_known_name *; the caller unrefs. */
GPtrArray *orch_store_metric_names(struct orch_store *store, int64_t run_id, GError **error);

/** A text that is another one as soon as the list of ended runs, or what is hidden, is another. The
 * caller frees. */
char *orch_store_version(struct orch_store *store, GError **error);

/** From now on a query that takes longer ends with an error; 0: as long as it likes. */
void orch_store_limit_time(struct orch_store *store, double seconds);

/** One metric of a run, thinned to `buckets`; points with from <= step <= to alone. The caller
 * frees. NULL without error when the run has none of that name. `out_unit` (may be NULL): caller
 * frees. */
struct orch_thin *orch_store_thin_series(struct orch_store *store, int64_t run_id, const char *name,
                                         int64_t from, int64_t to, unsigned buckets,
                                         char **out_unit, GError **error);

/** Who has run how much of an experiment. */
struct orch_share {
    char *recipe, *experiment, *who;
    int64_t runs, ok; /* ok: ended ok or diverged */
    int64_t trials;   /* different fingerprints among those */
    int64_t ended_ns; /* of the newest */
    double wall_s;    /* of all of them */
};
/** By recipe, experiment, who. struct orch_share *; the caller unrefs. */
GPtrArray *orch_store_shares(struct orch_store *store, GError **error);

#endif
