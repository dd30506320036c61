/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The runs of a trial before its last one, which a search's rule stopped or which ended before
 * their time. The trial may have gone on from where they were. */
#ifndef ORCH_FEATURES_SEARCH_TRIAL_ATTEMPTS_H
#define ORCH_FEATURES_SEARCH_TRIAL_ATTEMPTS_H

#include "core/plan/plan.h"

/** The attempts at an item before the run `key` (NULL: all of the store), struct orch_history_row
 * *, the newest first. None of them ended well: what is before such a run is another story.
 * `since_ns`: of a trial that makes a new run each time, only those that ended after this. NULL
 * with an error. */
GPtrArray *orch_trial_attempts(const struct orch_plan *plan, const struct orch_plan_item *item,
                               const char *key, int64_t since_ns, GError **error);
/** Whether a rule stopped one of these attempts. */
bool orch_trial_attempts_stopped(const GPtrArray *attempts);

#endif
