/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a training's record says of its data and network. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_DESCRIBE_H
#define ORCH_PLUGINS_COMMON_TRAINING_DESCRIBE_H

#include "plugins/common/training/session.h"

/** Reports the results and writes the artifacts that describe data and network before the first
 * step: counts, `classes` and `samples`, in the working folder. */
bool orch_training_describe(const struct orch_session *session, GError **error);

#endif
