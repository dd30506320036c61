/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the points of a run's searches: the values of the trials that ended, in this run
 * or before, and the points that failed. */
#ifndef ORCH_FEATURES_SEARCH_TRIED_POINTS_H
#define ORCH_FEATURES_SEARCH_TRIED_POINTS_H

#include "core/plan/plan.h"
#include "core/record/collect.h"
#include "features/search/goals.h"
#include "features/search/samplers/sampler.h"
#include "lib/base/text.h"
#include "lib/wire/verdict.h"

struct orch_tried;
struct orch_tried *orch_tried_new(void);
void orch_tried_free(struct orch_tried *tried);

/** The points of one search that are chosen, or failed in an earlier run. */
struct orch_tried_points {
    GArray *sampled;    /* struct orch_sampled; borrows from `tried` and plan */
    GArray *bounds;     /* guint: indices in `sampled` of points whose value is not final, because a
                           rule stopped a trial */
    GArray *rows;       /* struct orch_goal_row, one for each of `sampled` */
    GPtrArray *of_rows; /* const struct orch_search_point *: theirs; NULL: not of the plan */
    /* Of several metrics: the knee of the front. NULL: none has a value in each repeat that ended,
     * or all break a limit. */
    const struct orch_search_point *best;
    double best_value; /* as measured, of the first metric; NAN: none has one */
    /* Of the points of which all repeats have ended; NAN: none has a value. Of several metrics it
     * and `hopeful` are of points that reach the reference point (`until`). */
    double best_whole;
    const struct orch_search_point *hopeful; /* the best of the others; NULL: none has a value */
    double hopeful_value;
    unsigned points;        /* of this plan, of which a trial has ended */
    unsigned done, lacking; /* trials that have ended well, and those without the metric */
    double spent_s;         /* device seconds of the trials of this recipe that have ended, with
                               failed ones and each attempt */
    unsigned ended;         /* these runs */
    unsigned running;       /* trials that are chosen and have not ended */
};

/** Whether a rule stopped the trial, in this run or before: its value is a bound, and its point has
 * no final value, so that the point is not the best one. */
bool orch_tried_is_stopped(const struct orch_plan_item *item);
/** Reads the points of the search of `of`. The caller clears `out`, after an error, too. */
bool orch_tried_read(struct orch_tried *tried, const struct orch_plan *plan,
                     const struct orch_search_point *of, struct orch_tried_points *out,
                     GError **error);
void orch_tried_points_clear(struct orch_tried_points *points);
/** Writes a point's value, which is a mean, to nine digits. Returns `out`. */
const char *orch_tried_value_format(double value, char out[ORCH_REAL_CHARS]);
/** Whether one value of the search's metric is better than another; nothing is worse than NAN. */
bool orch_tried_is_better(const struct orch_search *search, double value, double than);
/** Whether a trial failed because of what it is. Others were cancelled, lost or taken from the
 * machine, or need something that the machine lacks. */
bool orch_tried_failed_by_itself(enum orch_verdict verdict);

/** Reads, once for each search, which points have failed before, and what that has cost: a search
 * that goes on knows them.
 * An earlier failure counts when the trial would be the same one again. `index`: of an item of the
 * search whose point is open; or of any, where none is: then failures of points that are not in the
 * plan are not known. */
bool orch_tried_read_failures(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                              GError **error);
/** Notes that a trial has ended and is not retried. `collected` is NULL for one that did not run.
 */
void orch_tried_note_end(struct orch_tried *tried, struct orch_plan *plan, unsigned index,
                         const struct orch_collected *collected);
/** Notes that a trial that was stopped goes on: its run counts as spent, and it runs once more.
 * False on error. */
bool orch_tried_note_promoted(struct orch_tried *tried, const struct orch_plan *plan,
                              unsigned index, GError **error);
/** Notes a point that the plugin rejects. Returns its coordinates, borrowed. */
const double *orch_tried_note_rejected(struct orch_tried *tried,
                                       const struct orch_search_point *of);

#endif
