/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gradient of several copies of a batch, one copy at a time. */
#ifndef ORCH_PLUGINS_BATCHAUG_ACCUMULATE_H
#define ORCH_PLUGINS_BATCHAUG_ACCUMULATE_H

#include "plugins/common/training/step.h"

/** Classification, with one forward and backward pass for each of `copies` > 0 copies of the
 * samples and one update after the last: the gradient of the mean cross-entropy over all copies.
 * A batch has copy j of its sample i at j * samples + i (loader.h), in ordinary memory, with labels
 * and without targets or weights. Batch norms see the samples of one pass, and update their running
 * statistics in each. Free with orch_step_free. */
struct orch_step *orch_batchaug_step(int64_t copies);

#endif
