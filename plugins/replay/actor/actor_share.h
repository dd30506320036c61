/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that a learner and its actors share: what the actors are to do, the newest parameters,
 * and a ring of steps for each actor. It is anonymous (memfd), so it is gone with the last process.
 *
 * A ring has one writer, the actor, and one reader, the learner, and no lock: a step is published
 * by the writer's counter after it was written whole, so an actor that dies leaves no half step.
 * The parameters lie in one or more shards. Each has one writer and many readers: a reader repeats
 * its copy of a shard when the writer's counter was odd or has changed meanwhile (a sequence lock).
 */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_SHARE_H
#define ORCH_PLUGINS_REPLAY_ACTOR_ACTOR_SHARE_H

#include "plugins/replay/agent/exploration.h"
#include "plugins/replay/agent/q_net.h"
#include "plugins/replay/env/env.h"

/** What the actors do. Plain data: it is copied into the shared memory. */
struct orch_actor_setup {
    char environment[64]; /* "": the program */
    char program[1024];
    char net[256];
    enum orch_q_engine engine;
    bool is_dueling;
    int64_t actors, envs; /* processes; copies of the environment in each */
    int64_t shards;       /* of the parameters; 0 is 1 */
    int64_t n_step, learning_starts;
    int64_t frame_stack; /* frames of a state, 1 to 64 */
    int64_t pull_every;  /* steps of an actor's copies between two pulls of the parameters */
    double gamma, sticky;
    double value_limit; /* of targets, as the learner's; 0: none */
    struct orch_exploration exploration;
    uint64_t seed;
};

/** One step of one copy, without its frame. */
struct orch_actor_step {
    int64_t version; /* updates of the parameters that chose the action */
    int32_t env, action;
    float reward, priority; /* |error| of the n-step return, by the actor's parameters */
    uint32_t end;           /* enum orch_replay_end */
};

struct orch_actor_share;

/** Makes the memory, for `parameters` floats, frames of `frame_bytes`, and rings of `room` steps.
 * Fails with ORCH_ERROR_IO. */
struct orch_actor_share *orch_actor_share_new(const struct orch_actor_setup *setup,
                                              int64_t parameters, int64_t frame_bytes, int64_t room,
                                              GError **error);
/** Maps the memory of a descriptor that was inherited. Fails with ORCH_ERROR_PROTOCOL. */
struct orch_actor_share *orch_actor_share_attach(int fd, GError **error);
void orch_actor_share_free(struct orch_actor_share *share);

int orch_actor_share_fd(const struct orch_actor_share *share);
const struct orch_actor_setup *orch_actor_share_setup(const struct orch_actor_share *share);
int64_t orch_actor_share_parameters(const struct orch_actor_share *share);
int64_t orch_actor_share_frame_bytes(const struct orch_actor_share *share);

/** Tells all actors to end; pushes that wait return false. */
void orch_actor_share_stop(struct orch_actor_share *share);
bool orch_actor_share_is_stopped(const struct orch_actor_share *share);
/** Steps that the learner has taken from all rings. */
void orch_actor_share_set_frames(struct orch_actor_share *share, int64_t frames);
int64_t orch_actor_share_frames(const struct orch_actor_share *share);

/** Gives parameters after `updates` updates to the actors. */
void orch_actor_share_publish(struct orch_actor_share *share, const float *parameters,
                              int64_t updates);
/** The same for one shard (orch_weight_shard_bounds). `values` are the shard's own. */
void orch_actor_share_publish_shard(struct orch_actor_share *share, int64_t shard,
                                    const float *values, int64_t updates);
/** Copies the newest parameters. Returns their number of updates, that of the oldest shard, or -1
 * when none were given yet. */
int64_t orch_actor_share_pull(const struct orch_actor_share *share, float *out);
/** The number of updates of the newest parameters, without a copy: -1 when none were given yet. */
int64_t orch_actor_share_updates(const struct orch_actor_share *share);

/** What has moved through the memory. */
struct orch_actor_traffic {
    int64_t step_bytes;      /* from actors: steps with their frames */
    int64_t parameter_bytes; /* to all who pulled */
};
struct orch_actor_traffic orch_actor_share_traffic(const struct orch_actor_share *share);

/** Adds a step to an actor's ring, waiting for room. False: the actors are to end. */
bool orch_actor_share_push(struct orch_actor_share *share, int64_t actor,
                           const struct orch_actor_step *step, const void *frame);
/** Takes the oldest step of a ring. False: it is empty. */
bool orch_actor_share_pop(struct orch_actor_share *share, int64_t actor,
                          struct orch_actor_step *out, void *out_frame);

#endif
