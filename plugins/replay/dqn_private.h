/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the agent in one process share. */
#ifndef ORCH_PLUGINS_REPLAY_DQN_PRIVATE_H
#define ORCH_PLUGINS_REPLAY_DQN_PRIVATE_H

#include "plugins/replay/dqn_run.h"
#include "plugins/replay/env/frame_stack.h"
#include "plugins/replay/learning_curve.h"
#include "plugins/replay/sampled_batch.h"
#include "plugins/replay/saved_training.h"

/** Arrays of one step of all environments. */
struct dqn_stage {
    void *observations, *next, *finals; /* as the environment has them: floats or bytes */
    float *states;                      /* stacks of observations, as a network takes them */
    float *rewards;
    uint8_t *ends;
    int32_t *actions;
    double *epsilons;
};

struct orch_dqn {
    struct replay_params params;
    const struct orch_host *host;
    const struct orch_env_kind *kind;
    struct orch_exploration exploration;
    struct orch_envs *envs;
    struct orch_replay *buffer;
    struct orch_q_learner *learner;
    struct orch_learning_curve curve;
    struct dqn_stage stage;
    struct orch_frame_stack frames;
    struct orch_sampled_batch batch;
    uint64_t random; /* of actions */
    int64_t step;    /* of all environments together */
    int64_t updates_due_at;
    int64_t waiting_us, learning_us; /* the learner's: sampling; everything */
    int64_t updates;
    struct orch_saved saved;
};

/* ---- dqn_act.c ---- */

void orch_dqn_stage_init(struct orch_dqn *d);
void orch_dqn_stage_clear(struct orch_dqn *d);
/** Bytes of an observation of each environment. */
size_t orch_dqn_stage_bytes(const struct orch_dqn *d);
/** Chooses an action for each environment, steps them and stores what they did. */
bool orch_dqn_act(struct orch_dqn *d, GError **error);

/* ---- dqn_learn.c ---- */

/** Makes one update for each train_every steps since learning began. `*out_diverged` is true where
 * it failed because the loss is not finite. */
bool orch_dqn_learn(struct orch_dqn *d, bool *out_diverged, GError **error);

/* ---- dqn_resume.c ---- */

/** Writes a checkpoint. */
bool orch_dqn_save(struct orch_dqn *d, GError **error);
/** Goes on from an earlier attempt's checkpoint, or starts the first episodes. */
bool orch_dqn_resume(struct orch_dqn *d, GError **error);

#endif
