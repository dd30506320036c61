/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameter target_accuracy: a training ends with the first epoch whose validation accuracy
 * reaches it, and reports the time until then. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_TARGET_H
#define ORCH_PLUGINS_COMMON_TRAINING_TARGET_H

#include "plugins/common/training/checkpoint.h"

/** Returns whether the training has a target and `best`, its best validation accuracy so far,
 * reaches it. */
bool orch_target_is_reached(const struct orch_training *training, double best);

/** Reports the results of a training with a target: reached_target, and, where `best` reaches it,
 * the epoch and the clocks at its end. Without a target it reports nothing. `best` is 0 for a
 * training that diverged: its target counts as not reached. */
void orch_target_report(const struct orch_session *session, double best, int64_t best_epoch,
                        const struct orch_training_clocks *clocks);

#endif
