/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameter server of GORILA: the master weights in shards, each with its part of the
 * optimizer's state. A gradient is either dropped or applied to all shards, and each shard is
 * published by itself, so that a reader waits for one shard at most. All shards are in the server's
 * process: on one machine a process for each would add messages and no memory. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_SERVER_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_SERVER_H

#include "plugins/common/shard/weight_shard.h"
#include "plugins/replay/actor/actor_share.h"

struct orch_gorila_server_options {
    int64_t parameters, shards; /* shards <= parameters */
    enum orch_weight_optimizer optimizer;
    int64_t stale_most;             /* older gradients are dropped; 0: none is */
    struct orch_actor_share *share; /* where the parameters are published, with as many shards */
};

struct orch_gorila_server;

/** Makes the server with its first parameters, and publishes them. */
struct orch_gorila_server *orch_gorila_server_new(const struct orch_gorila_server_options *options,
                                                  const float *parameters);
void orch_gorila_server_free(struct orch_gorila_server *server);

/** Takes a gradient that was computed with the parameters of `version` updates: applies it at the
 * learning rate `rate` and publishes the parameters, or drops it because it is stale. Returns
 * whether it was applied. */
bool orch_gorila_server_take(struct orch_gorila_server *server, const float *gradient,
                             int64_t version, double rate);

/** What the server has done. */
struct orch_gorila_server_counts {
    int64_t updates, dropped; /* gradients that were applied, and that were stale */
    double stale_sum;         /* over all of them: updates since their versions */
    int64_t stale_most;
    const GArray *by_staleness; /* int64_t: gradients by their staleness from 0 on, up to 9,999 */
};
struct orch_gorila_server_counts orch_gorila_server_counts(const struct orch_gorila_server *server);

#endif
