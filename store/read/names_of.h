/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the runs of a list have in common, and in what they differ: the names of their parameters,
 * results and metrics with how many of the runs have each, and the recipes that made them. The
 * cost depends on the list's length and not on that of the store or of the curves. */
#ifndef ORCH_STORE_NAMES_OF_H
#define ORCH_STORE_NAMES_OF_H

#include "store/read/listing.h"

/** A metric with at least this many points in a run is a curve there. */
#define ORCH_CURVE_POINTS 3

struct orch_name_of_runs {
    struct orch_known_name name;
    int64_t runs;     /* number of the runs that have it */
    int64_t distinct; /* different values of a parameter; 0 for others */
    int64_t curves;   /* number of the runs in which the metric is a curve */
};

/** The names of `count` runs, by kind (param, result, metric) and name; the seed is none of them.
 * struct orch_name_of_runs *; the caller unrefs. NULL with an error. */
GPtrArray *orch_store_names_of(struct orch_store *store, const int64_t *ids, size_t count,
                               GError **error);

/** Visits the canonical texts of the recipes of these runs, those of the newest runs first, at most
 * `most`. */
bool orch_store_recipes_of(struct orch_store *store, const int64_t *ids, size_t count, int most,
                           orch_recipe_text_fn visit, void *ctx, GError **error);

/** Returns up to `most` different values of a parameter in these runs, as canonical JSON texts, the
 * most frequent first: char *. The caller unrefs. NULL with an error. */
GPtrArray *orch_store_values_of(struct orch_store *store, const int64_t *ids, size_t count,
                                const char *param, int most, GError **error);

#endif
