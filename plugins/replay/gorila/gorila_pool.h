/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learners of a parameter server, as processes. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_POOL_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_POOL_H

#include "plugins/replay/actor/actor_share.h"
#include "plugins/replay/actor/worker_pool.h"
#include "plugins/replay/gorila/gorila_share.h"

/** Starts the learners that the memory's setup names. They end when the actors are told to
 * (orch_actor_share_stop). Free with orch_worker_pool_free. */
struct orch_worker_pool *orch_gorila_pool_new(struct orch_gorila_share *share,
                                              struct orch_actor_share *actors, GError **error);

#endif
