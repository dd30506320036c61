/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Everything before the student is trained on the labelled images. */
#ifndef ORCH_PLUGINS_SEMISUP_PRETRAIN_H
#define ORCH_PLUGINS_SEMISUP_PRETRAIN_H

#include "plugins/semisup/semisup.h"

/** Loads the teacher's weights into its model; fails with ORCH_ERROR_CHECK for those of another
 * network, before anything is trained. */
bool orch_semisup_load_teacher(const struct orch_semisup *semi, GError **error);

/** Trains the teacher if there are no weights of it, makes the pre-training set, and trains the
 * student on it, whose optimizer begins anew afterwards. Reports the results and the artifact
 * `pretraining_set`. What an earlier attempt of the trial finished is read from its checkpoint
 * folder. Returns early if the trial is cancelled. Sets semi->has_diverged and fails if a loss was
 * not finite. */
bool orch_semisup_pretrain(struct orch_semisup *semi, GError **error);

#endif
