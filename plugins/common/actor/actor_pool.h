/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The actors of a learner, as processes. */
#ifndef ORCH_PLUGINS_COMMON_ACTOR_POOL_H
#define ORCH_PLUGINS_COMMON_ACTOR_POOL_H

#include "plugins/common/actor/actor_share.h"

struct orch_actor_pool;

/** Starts the actors that the memory's setup names. Fails with ORCH_ERROR_PLUGIN where their
 * program was not built. */
struct orch_actor_pool *orch_actor_pool_new(struct orch_actor_share *share, GError **error);
/** Tells the actors to end, waits up to two seconds, and kills those that are left. */
void orch_actor_pool_free(struct orch_actor_pool *pool);

int64_t orch_actor_pool_alive(const struct orch_actor_pool *pool);
/** An actor that has ended since the last call: its index, and in `*out_how` ("ended with status
 * 1"), which the caller frees. -1: none. */
int64_t orch_actor_pool_next_death(struct orch_actor_pool *pool, char **out_how);

#endif
