/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An average of the weights over the steps of a training (and of the running statistics of its
 * batch norms). It is what is validated and saved as the artifact `weights`.
 *
 * Every `average_every` steps the average moves towards the weights: average += (1 - d) * (weights
 * - average). For `ema` d is average_decay ^ average_every. For `lookahead` (Zhang et al. 2019) the
 * weights are then set to the average, and d grows over the training: it is average_decay ^
 * average_every * (share of the steps) ^ 3, as in Jordan 2024 (arXiv 2404.00498). */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_AVERAGE_H
#define ORCH_PLUGINS_COMMON_TRAINING_AVERAGE_H

#include "plugins/common/training/session.h"

struct orch_weights;

/** Makes session->average, a copy of the model, if the training has an average. */
bool orch_average_open(struct orch_session *session, GError **error);

/** The model that is validated and saved: the average, else the model. Borrowed. */
struct orch_torch_model *orch_average_judged(const struct orch_session *session);

/** Updates the average after step `step` (counted from 1), if it is due. `over` is the share of the
 * training's steps that are over, in (0, 1]. */
bool orch_average_after_step(const struct orch_session *session, int64_t step, double over,
                             GError **error);

/** Adds the average to a checkpoint, and reads it back. Restoring fails with ORCH_ERROR_CHECK if
 * the checkpoint was made without one. Both do nothing for a training without an average. */
bool orch_average_save(const struct orch_session *session, struct orch_weights *checkpoint,
                       GError **error);
bool orch_average_restore(const struct orch_session *session, const struct orch_weights *checkpoint,
                          GError **error);

#endif
