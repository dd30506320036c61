/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops trials of a run's searches early, by the rule of their objective (`stop`), from the curves
 * of the search: those of runs that ended, in this run or before, and of the trials that run. */
#ifndef ORCH_FEATURES_SEARCH_STOP_TRIALS_H
#define ORCH_FEATURES_SEARCH_STOP_TRIALS_H

#include "core/schedule/schedule.h"

struct orch_stop_trials;
struct orch_stop_trials *orch_stop_trials_new(void);
void orch_stop_trials_free(struct orch_stop_trials *trials);

/** The metric by which a trial may be stopped; NULL: no rule stops it. */
const char *orch_stop_trials_metric(const struct orch_plan_item *item);
/** Takes a value of a running trial. Returns why the trial is stopped (the caller frees), or NULL.
 * A value whose step is not above all before takes its place by its step, as in the store, and is
 * not judged. The values of an earlier attempt are forgotten. */
char *orch_stop_trials_judge(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_running *running, int64_t step, double value);
/** Forgets what was read of a trial's journal: its run has ended, and is in the store. */
void orch_stop_trials_note_end(struct orch_stop_trials *trials, const struct orch_plan_item *item);

/** What a rule has done in one search. */
struct orch_stop_effect {
    unsigned pruned;
    double pruned_s; /* seconds that the pruned trials took */
    double ended_s;  /* seconds of those that ended */
    double whole_s;  /* what the pruned ones would have taken, by the mean of these; NAN: none has
                        ended */
    unsigned shortest, longest; /* values of the trials that ended, where `forecast` has stopped
                                   nothing and they differ too much for it; else 0 */
    bool has_nothing; /* no trial has more than one value, so the rule had nothing to judge */
};
/** Sums up the trials of the search of `of`, also of earlier runs. False on error. */
bool orch_stop_trials_sum_up(struct orch_stop_trials *trials, const struct orch_plan *plan,
                             const struct orch_search_point *of, struct orch_stop_effect *out,
                             GError **error);

#endif
