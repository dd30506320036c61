/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_pool.h"

struct orch_worker_pool *orch_gorila_pool_new(struct orch_gorila_share *share,
                                              struct orch_actor_share *actors, GError **error)
{
    const struct orch_worker_options options = {
        .program = "orch-replay-learner",
        .what = "learner",
        .count = orch_gorila_share_setup(share)->learners,
        .fds = {orch_actor_share_fd(actors), orch_gorila_share_fd(share)},
        .fds_count = 2};
    return orch_worker_pool_new(&options, error);
}
