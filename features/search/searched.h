/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a search has tried, as a report and the end of a run describe it: its points in the order in
 * which they ended, the best of them, what that cost, and how far its value can be trusted. */
#ifndef ORCH_FEATURES_SEARCH_SEARCHED_H
#define ORCH_FEATURES_SEARCH_SEARCHED_H

#include "core/plan/plan.h"
#include "core/stats/best_of.h"
#include "features/search/goals.h"

enum orch_searched_state {
    ORCH_SEARCHED_ENDED,  /* each of its runs has a value */
    ORCH_SEARCHED_PRUNED, /* the search's rule stopped a run of it: its value is not final */
    ORCH_SEARCHED_FAILED, /* it has no value: a trial failed, or has no number */
};

struct orch_searched_point {
    double at[ORCH_SPACE_PARAMS_MAX];
    enum orch_searched_state state;
    GArray *values;          /* double: of its runs that ended */
    struct orch_goals goals; /* means of what these runs have of several metrics and of limits */
    double value; /* their mean; PRUNED: the mean of what the stopped runs had then; NAN: none */
    unsigned failed, without; /* trials that failed by themselves, and those without a number */
    double device_s;
    int64_t ended_ns;
    const struct orch_plan_item *item; /* its first run that ended well, or NULL */
};

struct orch_searched {
    const struct orch_search *search;
    const struct orch_experiment *experiment;
    unsigned group;
    char *name;        /* "tune", or "tune depth=1" where values are swept, too */
    json_t *swept;     /* these values */
    unsigned planned;  /* points */
    GPtrArray *points; /* struct orch_searched_point *, in the order in which they ended */
    unsigned counts[ORCH_SEARCHED_FAILED + 1]; /* of the points, by state */
    /* Of those that ended and keep all limits, or NULL. Of several metrics `best` is the knee of
     * the front, and `second` is NULL. */
    const struct orch_searched_point *best, *second;
    GPtrArray *front; /* struct orch_searched_point *, borrowed: in the order of the first metric,
                         the best first; empty for one metric */
    unsigned broke;   /* points that ended and break a limit */
    /* Of those that FAILED, what would be the best by its other trials, and better than `best`; or
     * NULL. */
    const struct orch_searched_point *spoilt;
    GArray *fresh;           /* double: runs of the best point that it was not chosen by */
    struct orch_noise noise; /* of a run of the better half of the points */
    double device_s;         /* of all points */
    char *unit;              /* of the metric; NULL: none */
};

/** Reads the searches of a plan's experiments (names, char *; empty: all). Returns struct
 * orch_searched *, in the order of the recipe; NULL with an error when the store cannot be read.
 * The caller unrefs. */
GPtrArray *orch_searched_read(const struct orch_plan *plan, const GPtrArray *experiments,
                              GError **error);

/** The points as rows of goals, in their order: those that ended are final. The caller frees. */
struct orch_goal_row *orch_searched_rows(const struct orch_searched *searched);

#endif
