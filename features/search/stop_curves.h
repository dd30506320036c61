/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The curves by which a rule stops trials of searches: of runs in the store, and of trials that
 * run.
 *
 * A trial that goes on from a checkpoint reports what is left of it. Its curve has the values of
 * its attempts before that, up to the step with which it goes on. */
#ifndef ORCH_FEATURES_SEARCH_STOP_CURVES_H
#define ORCH_FEATURES_SEARCH_STOP_CURVES_H

#include "core/schedule/schedule.h"
#include "features/search/stop/stop_trial.h"

struct orch_trial_curve {
    const struct orch_cell *cell;
    const struct orch_plan_item *running; /* NULL: it is in the store */
    GArray *points;                       /* struct orch_trial_point, by step */
    int64_t last_step;                    /* the largest one of a running trial's own steps */
    bool has_own;                         /* it has some */
    struct orch_stop_sum sum;
    GArray *so_far;     /* double: the objective's summary up to each value */
    GArray *sums;       /* double: their costs, added up */
    bool is_stale;      /* an earlier value has changed, so that `so_far` is to be made anew */
    bool has_diverged;  /* the run ended so */
    bool has_restarted; /* a step came after a larger one, as where each epoch counts from 1: the
                           store has the last values only, so that the n-th ones of two such curves
                           are of different times */
};

struct orch_trial_point {
    int64_t step;
    double value;
};

struct orch_stop_curves;
struct orch_stop_curves *orch_stop_curves_new(void);
void orch_stop_curves_free(struct orch_stop_curves *curves);

/** The curve of an item's run of the store, borrowed. NULL with an error. */
const struct orch_trial_curve *orch_stop_curve_stored(struct orch_stop_curves *curves,
                                                      const struct orch_plan *plan,
                                                      const struct orch_plan_item *item,
                                                      GError **error);
/** The curve of a running trial, borrowed; begins with the values of its attempts before. */
struct orch_trial_curve *orch_stop_curve_running(struct orch_stop_curves *curves,
                                                 const struct orch_plan *plan,
                                                 const struct orch_running *running);
/** Puts a value of a running trial in its place by its step, as the store does: the last value of a
 * step counts. Returns whether it continues the curve. */
bool orch_stop_curve_put(struct orch_trial_curve *curve, int64_t step, double value);
/** Calls a function for each trial of the search of `of` that runs. */
void orch_stop_curves_each_running(struct orch_stop_curves *curves,
                                   const struct orch_search_point *of,
                                   void (*call)(void *ctx, const struct orch_trial_curve *curve),
                                   void *ctx);
/** Forgets what was read of a trial's journal: its run has ended, and is in the store. Returns how
 * many values were read while it ran. */
guint orch_stop_curves_note_end(struct orch_stop_curves *curves, const struct orch_plan_item *item);
/** The attempts at an item before its run (trial_attempts.h). NULL with an error. */
GPtrArray *orch_stop_curves_attempts(const struct orch_stop_curves *curves,
                                     const struct orch_plan *plan,
                                     const struct orch_plan_item *item, const struct orch_run *run,
                                     GError **error);

/** Whether an item is of the search of `of`. */
bool orch_stop_curves_is_of(const struct orch_cell *cell, const struct orch_search_point *of);

#endif
