/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of GORILA's server process share. */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_PRIVATE_H
#define ORCH_PLUGINS_REPLAY_GORILA_PRIVATE_H

#include "plugins/replay/actor/actor_pool.h"
#include "plugins/replay/gorila/gorila_pool.h"
#include "plugins/replay/gorila/gorila_server.h"
#include "plugins/replay/gorila_run.h"
#include "plugins/replay/learning_curve.h"

struct gorila {
    struct replay_params p; /* envs: of all actors together */
    const struct orch_host *host;
    int64_t envs; /* of an actor */
    bool is_central;
    struct orch_env_kind kind;
    struct orch_actor_share *actors;
    struct orch_gorila_share *learners;
    struct orch_gorila_server *server;
    struct orch_worker_pool *actor_pool, *learner_pool;
    struct orch_replay *buffer; /* the central replay memory; NULL: the learners have their own */
    uint8_t *frame;
    struct orch_learning_curve curve;
    int64_t batches; /* of the central memory: drawn so far */
    int64_t deaths_at_us, actors_died, learners_died;
    int64_t points; /* of the series gradient_staleness */
    /* of the central memory: the steps that arrived with a version */
    int64_t stale_steps;
    double stale_sum, stale_most;
};

/* ---- gorila_make.c ---- */

/** Makes the shared memories, the server and the central memory; `g` has its parameters and host.
 * Publishes the first parameters. */
bool orch_gorila_init(struct gorila *g, GError **error);
/** Starts the actors and the learners. */
bool orch_gorila_start(struct gorila *g, GError **error);
/** Ends all processes. Their counts can be read afterwards. */
void orch_gorila_stop(struct gorila *g);
void orch_gorila_clear(struct gorila *g);

/* ---- gorila_central.c ---- */

/** Takes steps from the actors into the central memory, and draws batches for learners that wait,
 * as many as the steps so far allow. `*out_worked` becomes true where there was something to do. */
bool orch_gorila_serve_batches(struct gorila *g, bool *out_worked, GError **error);

/* ---- gorila_deaths.c ---- */

/** Notes actors and learners that have ended. Fails when no learner gets steps any more. */
bool orch_gorila_look_for_deaths(struct gorila *g, GError **error);

/* ---- gorila_report.c ---- */

/** Reports the results, after orch_gorila_stop. */
void orch_gorila_report(struct gorila *g);

#endif
