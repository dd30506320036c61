/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actors of a learner, as processes. */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_POOL_H
#define ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_POOL_H

#include "plugins/replay/actor/actor_share.h"
#include "plugins/replay/actor/worker_pool.h"

/** Starts the actors that the memory's setup names. Fails with ORCH_ERROR_PLUGIN where their
 * program was not built. */
struct orch_worker_pool *orch_actor_pool_new(struct orch_actor_share *share, GError **error);
/** Tells the actors to end, and ends those that do not. */
void orch_actor_pool_free(struct orch_worker_pool *pool, struct orch_actor_share *share);

#endif
