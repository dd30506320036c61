/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ORCH_PLUGINS_ASYNCSGD_LEARNER_RANK_H
#define ORCH_PLUGINS_ASYNCSGD_LEARNER_RANK_H

#include "plugins/asyncsgd/asyncsgd_settings.h"
#include "plugins/asyncsgd/flat_model.h"

/** Learner `learner` (from 0) computes gradients on its shard of the training images until server 0
 * tells it to end. Returns an enum orch_status; -1 with `error` set. */
int orch_asyncsgd_learn(const struct asyncsgd_params *params, const struct orch_flat_model *flat,
                        int learner, GError **error);

#endif
