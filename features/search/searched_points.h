/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the points of a search from the runs of its plan, and from runs that failed. For
 * searched.c. */
#ifndef ORCH_FEATURES_SEARCH_SEARCHED_POINTS_H
#define ORCH_FEATURES_SEARCH_SEARCHED_POINTS_H

#include "features/search/searched.h"

/** Runs of an experiment that are looked at. */
#define ORCH_SEARCHED_HISTORY_MAX 100000

/** An empty array of struct orch_searched_point *, which owns them. The caller unrefs. */
GPtrArray *orch_searched_points_new(void);
/** Reads the value of a run, its unit where that is not known yet, and the run itself, which the
 * caller frees. */
struct orch_run *orch_searched_run_read(struct orch_store *store, struct orch_searched *searched,
                                        const char *key, double *out_value, GError **error);
/** The mean of values (double); NAN: there are none. */
double orch_searched_mean(const GArray *values);
/** Reads a point, whose first item has the index `first`, and adds the code of its runs to `codes`
 * (run_code.h). */
bool orch_searched_add_point(const struct orch_plan *plan, struct orch_searched *searched,
                             unsigned first, GHashTable *codes, GError **error);
/** Adds what failed and was not done again since: to the points that are there, and as points that
 * are not. Such a point has no value. `item`: any of the search. */
bool orch_searched_add_failures(const struct orch_plan *plan, struct orch_searched *searched,
                                const struct orch_plan_item *item, GHashTable *codes,
                                GError **error);

#endif
