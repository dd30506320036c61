/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an actor of Ape-X does (Horgan et al. 2018, arXiv 1803.00933, algorithm 1): acts in its
 * environments with an old copy of the parameters, computes the priority of each step from the
 * n-step return, sends steps to the learner, and pulls the parameters now and then. */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_LOOP_H
#define ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_LOOP_H

#include "plugins/replay/actor/actor_share.h"

/** Acts as actor `index` until the learner says to end. */
bool orch_actor_loop(struct orch_actor_share *share, int64_t index, GError **error);

#endif
