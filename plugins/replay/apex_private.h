/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of Ape-X's learner share. */
#ifndef ORCH_PLUGINS_REPLAY_APEX_PRIVATE_H
#define ORCH_PLUGINS_REPLAY_APEX_PRIVATE_H

#include "plugins/replay/actor/actor_pool.h"
#include "plugins/replay/apex_run.h"
#include "plugins/replay/learning_curve.h"
#include "plugins/replay/sampled_batch.h"
#include "plugins/replay/saved_training.h"

struct apex {
    struct replay_params p; /* envs: of all actors together */
    const struct orch_host *host;
    struct orch_env_kind kind;
    struct orch_actor_share *share;
    struct orch_worker_pool *pool;
    struct orch_replay *buffer;
    struct orch_q_learner *learner;
    struct orch_learning_curve curve;
    struct orch_saved saved;
    struct orch_sampled_batch batch;
    float *parameters;
    uint8_t *frame;
    int64_t envs;     /* of an actor */
    int64_t begun_at; /* steps of earlier attempts */
    int64_t step, updates, deaths_at_us;
    int64_t idle_us;                 /* the learner waits for steps */
    int64_t waiting_us, learning_us; /* of updates: sampling; everything */
    int64_t stale_steps, died;
    double stale_updates, largest_stale;
};

/* ---- apex_make.c ---- */

/** Makes buffer, learner and the memory that is shared with actors; `a` has its parameters and
 * host. The actors are started by orch_actor_pool_new. */
bool orch_apex_init(struct apex *a, GError **error);
void orch_apex_clear(struct apex *a);

/* ---- apex_take.c ---- */

/** Takes the steps that are there, in turns, up to what the updates so far allow. */
bool orch_apex_take(struct apex *a, int64_t *out_taken, GError **error);
/** Notes actors that have ended. Fails when all have. */
bool orch_apex_look_for_deaths(struct apex *a, GError **error);

/* ---- apex_learn.c ---- */

/** Makes the updates that the steps so far allow, and publishes the parameters after them.
 * `*out_diverged` is true where it failed because the loss is not finite. */
bool orch_apex_learn(struct apex *a, bool *out_diverged, GError **error);
/** Gives the parameters to the actors. */
bool orch_apex_publish(struct apex *a, GError **error);

/* ---- apex_resume.c ---- */

/** Writes a checkpoint. */
bool orch_apex_save(struct apex *a, GError **error);
/** Goes on from an earlier attempt's checkpoint, if there is one. */
bool orch_apex_resume(struct apex *a, GError **error);

#endif
