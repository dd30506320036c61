/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluation of the session's model on images, or on features that were computed once. */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_VALIDATION_H
#define ORCH_PLUGINS_COMMON_TRAINING_VALIDATION_H

#include "plugins/common/training/session.h"

/** Sums over all rows of `subset`, without augmentation, in evaluation mode. `features`: the rows'
 * features if the head alone is evaluated, else NULL. Drops the model's sums so far. */
bool orch_validate(const struct orch_session *session, const struct orch_subset *subset,
                   const float *features, struct orch_torch_totals *out, GError **error);

#endif
