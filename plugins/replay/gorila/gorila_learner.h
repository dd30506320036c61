/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a learner of GORILA does (Nair et al. 2015, arXiv 1507.04296, algorithm 1): draws batches
 * from its own replay memory or gets them from the central one, computes gradients with a copy of
 * the parameters, and sends them to the parameter server. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_LEARNER_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_LEARNER_H

#include "plugins/replay/actor/actor_share.h"
#include "plugins/replay/gorila/gorila_share.h"

/** Learns as learner `index` until the server says to end. */
bool orch_gorila_learn(struct orch_gorila_share *share, struct orch_actor_share *actors,
                       int64_t index, GError **error);

#endif
