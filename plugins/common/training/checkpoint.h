/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file from which a later attempt of the same trial goes on. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_CHECKPOINT_H
#define ORCH_PLUGINS_COMMON_TRAINING_CHECKPOINT_H

#include "plugins/common/training/epochs.h"

/** Seconds since a training began, over all its attempts. What an attempt did after its last
 * checkpoint is lost, and so is its time. */
struct orch_training_clocks {
    double training_s;   /* steps and loading of all epochs; features that are computed once */
    double validation_s; /* the validation of each epoch */
    /* the same at the end of the first epoch that reached target_accuracy; epoch 0: none did */
    double target_epoch, target_training_s, target_validation_s;
};

/** Path of the trial's checkpoint; NULL if none is written (smoke runs). Caller frees. */
char *orch_checkpoint_path(const struct orch_session *session);
/** Restores an earlier attempt's checkpoint with what the plugin added. `*out_progress` and
 * `*out_clocks` are zero if there is none. `path` may be NULL. */
bool orch_checkpoint_resume(const struct orch_session *session,
                            const struct orch_training_parts *parts, const char *path,
                            struct orch_torch_progress *out_progress,
                            struct orch_training_clocks *out_clocks, GError **error);
/** Writes it, atomically. */
bool orch_checkpoint_write(const struct orch_session *session,
                           const struct orch_training_parts *parts, const char *path,
                           const struct orch_torch_progress *progress,
                           const struct orch_training_clocks *clocks, GError **error);

#endif
