/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `repeat: auto`: which settings of a run are repeated once more, by what their trials have given,
 * in this run or before. */
#ifndef ORCH_FEATURES_SEARCH_REPEAT_TRIALS_H
#define ORCH_FEATURES_SEARCH_REPEAT_TRIALS_H

#include "core/schedule/schedule.h"

struct orch_repeat_trials;
struct orch_repeat_trials *orch_repeat_trials_new(void);
void orch_repeat_trials_free(struct orch_repeat_trials *repeats);

/** Decides about a repeat that could start. A setting is repeated until the interval of its median
 * (core/stats/anytime.h) is narrow enough. The settings of a search are repeated one after the
 * other, that first which lowers the chance of a wrong winner most, until each is known or beaten.
 * `is_alone`: the search waits for this setting alone. `*out_why` (the caller frees): why the
 * repeat is not needed. */
bool orch_repeat_trials_ask(struct orch_repeat_trials *repeats, const struct orch_plan *plan,
                            unsigned index, bool is_alone, enum orch_search_turn *out,
                            char **out_why, GError **error);
/** Notes that a trial has started, and that it has ended and is not retried. `has_failed`: by
 * itself, so that its point of a search has no value. */
void orch_repeat_trials_note_start(struct orch_repeat_trials *repeats, unsigned index);
void orch_repeat_trials_note_end(struct orch_repeat_trials *repeats, unsigned index,
                                 bool has_failed);
/** Notes that a trial that has ended goes on. */
void orch_repeat_trials_note_promoted(struct orch_repeat_trials *repeats, unsigned index);
/** Notes that a trial is not needed, so that it is not counted as one that may still start. */
void orch_repeat_trials_note_left_out(struct orch_repeat_trials *repeats);

/** Names the settings that had all repeats and whose median is still not known well enough: "d
 * x=0.1: its median ...", char *. Caller unrefs. */
GPtrArray *orch_repeat_trials_unknown(struct orch_repeat_trials *repeats,
                                      const struct orch_plan *plan, GError **error);

/** Marks the repeats of a plan as UNUSED that are not needed by the runs that the store has. */
void orch_repeat_trials_leave_out(struct orch_plan *plan);

#endif
