/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops trials of a run's searches early, by the rule of their objective (`stop`), from the curves
 * of the search: those of runs that ended, in this run or before, and of the trials that run. */
#ifndef ORCH_FEATURES_SEARCH_STOP_TRIALS_H
#define ORCH_FEATURES_SEARCH_STOP_TRIALS_H

#include "core/schedule/schedule.h"
#include "features/search/stop/stop_trial.h"
#include "features/search/tried_points.h"

struct orch_stop_trials;
struct orch_stop_trials *orch_stop_trials_new(void);
void orch_stop_trials_free(struct orch_stop_trials *trials);

/** The metric by which a trial may be stopped; NULL: no rule stops it. */
const char *orch_stop_trials_metric(const struct orch_plan_item *item);
/** Takes a value of a running trial. Returns why the trial is stopped (the caller frees), or NULL.
 * A value whose step is not above all before takes its place by its step, as in the store, and is
 * not judged. The values of an earlier attempt are forgotten. `front`: for several metrics. */
char *orch_stop_trials_judge(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_running *running, int64_t step, double value,
                             const struct orch_stop_front *front);
/** Forgets what was read of a trial's journal: its run has ended, and is in the store. */
void orch_stop_trials_note_end(struct orch_stop_trials *trials, const struct orch_plan_item *item);

/** Finds a trial of the search of `of` that was stopped and goes on after all
 * (orch_stop_trial_promote). `*out_why`, which the caller frees: why; NULL: there is none. */
bool orch_stop_trials_promote(struct orch_stop_trials *trials, const struct orch_plan *plan,
                              const struct orch_search_point *of, unsigned *out_index,
                              char **out_why, GError **error);
/** Adds to the values of points whose trials were stopped what these would have changed until their
 * end (orch_stop_change_left): a value from the first epoch is not worse than one from the tenth
 * because it is early. None becomes better than the best value. For one metric. */
bool orch_stop_trials_complete(struct orch_stop_trials *trials, const struct orch_plan *plan,
                               const struct orch_search_point *of,
                               struct orch_tried_points *inout_points, GError **error);
/** Notes that this trial goes on: it does not twice with the same values. */
bool orch_stop_trials_note_promoted(struct orch_stop_trials *trials, const struct orch_plan *plan,
                                    unsigned index, GError **error);

/** What a rule has done in one search. */
struct orch_stop_effect {
    unsigned pruned, promoted; /* trials that are; those that were and then went on to their end */
    unsigned ended;            /* trials that ended well and were never stopped */
    double stopped_s;          /* seconds of all attempts of trials that were ever stopped */
    double back_s;             /* of these, those that went on to their end */
    double ended_s;            /* seconds of those that were never stopped */
    double whole_s;   /* what those that were stopped would have taken, by the mean of these; NAN:
                         none has ended */
    char *nothing;    /* why the rule could stop none of them (orch_stop_trial_nothing); or NULL */
    bool is_in_part;  /* `nothing` is about some brackets of hyperband */
    unsigned late;    /* trials that the rule stopped when they had given all of their values, or
                         would have stopped, had these come while they ran */
    unsigned in_time; /* trials that are pruned, and were not late */
};
/** Sums up the trials of the search of `of`, also of earlier runs. The caller clears `out`, after
 * an error, too. False on error. */
bool orch_stop_trials_sum_up(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_search_point *of, struct orch_stop_effect *out,
                             GError **error);
void orch_stop_effect_clear(struct orch_stop_effect *effect);

#endif
