/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameter target_accuracy: the first epoch whose validation accuracy reaches it is timed, and
 * ends the training where stop_at_target is set. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_TARGET_H
#define ORCH_PLUGINS_COMMON_TRAINING_TARGET_H

#include "plugins/common/training/checkpoint.h"

/** Returns whether the training stops because `best`, its best validation accuracy so far, reaches
 * its target. */
bool orch_target_ends(const struct orch_training *training, double best);

/** Notes in `clocks` the target's epoch and times, if `epoch` (from 0) has just brought `best` to
 * it. */
void orch_target_time(const struct orch_training *training, double best, int64_t epoch,
                      struct orch_training_clocks *clocks);

/** Reports the results of a training with a target: reached_target, and, where `best` reaches it,
 * the epoch and the times of `clocks`. Without a target it reports nothing. `best` is 0 for a
 * training that diverged: its target counts as not reached. */
void orch_target_report(const struct orch_session *session, double best,
                        const struct orch_training_clocks *clocks);

#endif
