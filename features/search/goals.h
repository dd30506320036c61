/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches with several metrics (`metrics`) or with limits (`subject to`): what a run or a setting
 * has of them, which settings are on the front, and the one number that a sampler minimises. */
#ifndef ORCH_FEATURES_SEARCH_GOALS_H
#define ORCH_FEATURES_SEARCH_GOALS_H

#include "core/recipe/recipe_search.h"
#include "core/stats/front.h"
#include "core/stats/group.h"

/** Values of a run, or the means of a setting's. */
struct orch_goals {
    double at[ORCH_SEARCH_GOALS_MAX]; /* as measured, in the order of the objective; NAN: none */
    double excess; /* by how much limits are exceeded (core/plan/setting_limits.h); 0: all hold */
    double bound_at[ORCH_SEARCH_BOUNDS_MAX]; /* values of the metrics of limits, in the units in
                                                which these are written; NAN: none */
};

/** A setting of a search. */
struct orch_goal_row {
    struct orch_goals goals;
    bool is_final; /* all of its runs that ended have numbers, and none was stopped */
};

/** Whether the search has more than one metric or a limit. */
bool orch_goals_are_meant(const struct orch_search *search);
/** Number of metrics, 1 to ORCH_SEARCH_GOALS_MAX. */
unsigned orch_goals_count(const struct orch_search *search);
/** The goal of a metric by its number; texts are borrowed from the search. */
struct orch_goal orch_goals_goal(const struct orch_search *search, unsigned number);
/** Reads what a run has. */
void orch_goals_read(const struct orch_search *search, const struct orch_run *run,
                     const struct orch_run_numbers *numbers, struct orch_goals *out);
/** Whether the goals keep all limits and are at least as good as each `until` (the reference
 * point); false where the search has none. */
bool orch_goals_reach(const struct orch_search *search, const struct orch_goals *goals);
/** Returns "val_accuracy 0.93, latency_ms 12". The caller frees. */
char *orch_goals_text(const struct orch_search *search, const struct orch_goals *goals);

/** Returns the goals of the rows as numbers to minimise, `orch_goals_count` each; NAN where a row
 * is not final, breaks a limit or lacks a number. The caller frees. */
double *orch_goals_points(const struct orch_search *search, const struct orch_goal_row *rows,
                          size_t count);
/** Writes which rows are on the front; returns the knee (core/stats/front.h), or `count`. With one
 * metric the front is its best rows. */
size_t orch_goals_front(const struct orch_search *search, const struct orch_goal_row *rows,
                        size_t count, bool *out_is_on);

/** Returns the hypervolume of the first `n` rows for each n from 1 to `count`, as a share of the
 * box between the best values of all rows and their worst ones; the caller frees. */
double *orch_goals_volumes(const struct orch_search *search, const struct orch_goal_row *rows,
                           size_t count);

/** Writes the number that a sampler minimises for each row that has one, else NAN. Several metrics
 * become the augmented Tchebycheff norm with weights drawn by `seed` (ParEGO, Knowles 2006), of
 * shares between the front's ends. A row that breaks a limit is worse than all that keep them, and
 * the worse the more it exceeds them. `values`: of the first metric, to minimise. */
void orch_goals_scalars(const struct orch_search *search, const struct orch_goal_row *rows,
                        size_t count, uint64_t seed, double *out);

/** What a limit is on. Forecasts are judged by time and price before a trial starts. */
enum orch_limit_kind { ORCH_LIMIT_METRIC, ORCH_LIMIT_TIME, ORCH_LIMIT_PRICE };
enum orch_limit_kind orch_goals_limit_kind(const struct orch_search_bound *bound);
/** Returns the limit on `wall_s` or the price that a time breaks, which costs so much, borrowed, or
 * NULL. */
const struct orch_search_bound *orch_goals_broken_by_time(const struct orch_search *search,
                                                          double wall_s, double usd);

#endif
