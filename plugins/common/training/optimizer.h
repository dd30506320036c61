/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The optimizer that a training's parameters ask for, and which layers it leaves alone. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_OPTIMIZER_H
#define ORCH_PLUGINS_COMMON_TRAINING_OPTIMIZER_H

#include "plugins/common/training/session.h"

/** Gives a model of the session's network the training's optimizer. */
bool orch_training_optimizer(const struct orch_session *session, struct orch_torch_model *model,
                             GError **error);
/** Layer groups below this one keep their weights. */
int orch_training_frozen_groups(const struct orch_session *session);
/** Number of parameters that learn. */
int64_t orch_training_learned_params(const struct orch_session *session);

#endif
