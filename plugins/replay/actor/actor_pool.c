/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor/actor_pool.h"

struct orch_worker_pool *orch_actor_pool_new(struct orch_actor_share *share, GError **error)
{
    const struct orch_worker_options options = {.program = "orch-replay-actor",
                                                .what = "actor",
                                                .count = orch_actor_share_setup(share)->actors,
                                                .fds = {orch_actor_share_fd(share)},
                                                .fds_count = 1};
    return orch_worker_pool_new(&options, error);
}

void orch_actor_pool_free(struct orch_worker_pool *pool, struct orch_actor_share *share)
{
    if (pool)
        orch_actor_share_stop(share);
    orch_worker_pool_free(pool);
}
