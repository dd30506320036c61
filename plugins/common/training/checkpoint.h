/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file from which a later attempt of the same trial goes on. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_CHECKPOINT_H
#define ORCH_PLUGINS_COMMON_TRAINING_CHECKPOINT_H

#include "plugins/common/training/epochs.h"

/** Path of the trial's checkpoint; NULL if none is written (smoke runs). Caller frees. */
char *orch_checkpoint_path(const struct orch_session *session);
/** Restores an earlier attempt's checkpoint with what the plugin added. `*out_progress` is zero if
 * there is none. `path` may be NULL. */
bool orch_checkpoint_resume(const struct orch_session *session,
                            const struct orch_training_parts *parts, const char *path,
                            struct orch_torch_progress *out_progress, GError **error);
/** Writes it, atomically. */
bool orch_checkpoint_write(const struct orch_session *session,
                           const struct orch_training_parts *parts, const char *path,
                           const struct orch_torch_progress *progress, GError **error);

#endif
