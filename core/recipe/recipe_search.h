/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search: an experiment whose trials get their values one after the other, each chosen from the
 * results so far, instead of all being listed by a sweep. A recipe says which parameters
 * (`search:`) and what for (`objective:`). The trials are cells from the beginning; the point of a
 * cell is open until its trial starts (features/search), or is one that the store has already
 * (core/plan). */
#ifndef ORCH_CORE_RECIPE_RECIPE_SEARCH_H
#define ORCH_CORE_RECIPE_RECIPE_SEARCH_H

#include "lib/space/param_space.h"
#include "lib/space/stop_rule.h"
#include "lib/wire/direction.h"

#include <jansson.h>

struct orch_cell;

/** Trials of a search that does not say how many. */
#define ORCH_SEARCH_TRIALS 30

/** Metrics of an objective, and limits of it, at most. */
#define ORCH_SEARCH_GOALS_MAX 4
#define ORCH_SEARCH_BOUNDS_MAX 4

/** What one metric of an objective is judged by. */
struct orch_goal {
    char *metric, *summary;
    bool is_max;
    struct orch_direction direction;
    bool has_until;
    double until, until_number;
};

/** A limit of an objective (`subject to`): a setting that breaks it is not among the best. */
struct orch_search_bound {
    char *metric;            /* its last value is compared, or `wall_s` */
    bool is_most, is_strict; /* <, <=; else >, >= */
    double value;
    const char *unit; /* of `value`, static; "": none was written */
    char *text;       /* "peak_memory < 16GiB" */
};

struct orch_search {
    struct orch_space *space;
    char *metric;
    bool is_max;
    struct orch_direction direction; /* the same, and how it is known */
    char *summary;   /* "last", "best", ...: which number of the metric's curve counts */
    unsigned trials; /* points, per combination of the swept values */
    char *sampler;   /* of ORCH_SAMPLER_NAMES */
    uint64_t seed;
    bool has_until;
    double until;                /* the search ends when a value is at least as good */
    double until_number;         /* 90 where `until` is 0.9 because it was written as "90%"; else
                                    the same */
    double budget_usd, budget_s; /* its own trials may cost so much; 0: no such limit */
    double deadline_s;           /* no point is begun later, since the run began; 0: none */
    struct orch_stop_rule *stop; /* stops trials early; NULL: none does */
    struct orch_goal more[ORCH_SEARCH_GOALS_MAX - 1]; /* metrics beside the first one, above */
    unsigned more_count;
    struct orch_search_bound bounds[ORCH_SEARCH_BOUNDS_MAX];
    unsigned bound_count;
    GPtrArray *first; /* double *: points that it begins with, in this order; NULL: none */
};
void orch_search_free(struct orch_search *search);

/** A point of a search. Its repeats share it. */
struct orch_search_point {
    const struct orch_search *search;
    unsigned group;  /* of the cells with equal swept values, which are one search */
    unsigned number; /* within the group, from 1 */
    bool is_chosen;
    double at[ORCH_SPACE_PARAMS_MAX]; /* unit coordinates, once it is chosen */
};

/** Reads "max last val_accuracy", "min val_loss" or "val_loss": the direction (ORCH_BETTER_NONE:
 * not written), which number of the curve counts ("last" by default), and the name. False: the text
 * is no objective. The caller frees both texts. */
bool orch_objective_read(const char *text, enum orch_better *out_better, char **out_summary,
                         char **out_metric);
/** Adds the limits of a text, "peak_memory < 16GiB and wall_s < 60". */
bool orch_search_bounds_read(struct orch_search *search, const char *text, GError **error);
/** "lr=0.01 opt=sgd": the values of a point. The caller frees. */
char *orch_search_values(const struct orch_search *search, const double *at);
/** Whether the cell is one of a search whose point is not chosen yet. */
bool orch_cell_is_open(const struct orch_cell *cell);
/** Gives the cell the values of its point, which is chosen: parameters, coordinates, label. */
void orch_cell_take_point(const struct orch_cell *cell);
/** Takes the values away again: the cell has those at one share of each range (from 0 to 1), by
 * which its plugin is asked whether it knows the others. */
void orch_cell_open_point(const struct orch_cell *cell, double share);
#define ORCH_SEARCH_MIDDLE 0.5 /* where every open cell is */
/** The point at which a cell of a search has a run's parameters (object of canonical values). False
 * when its space has no such point, or when the run differs in a value that is not searched. */
bool orch_search_point_of(const struct orch_cell *cell, const json_t *params, double *out);

#endif
