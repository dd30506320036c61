/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory that GORILA's parameter server and its learners share: what the learners are to do,
 * and for each learner rings of gradients (to the server), of finished episodes (to the server) and
 * of batches (to the learner, with a central replay memory), and its counts. Parameters and steps
 * are in the actors' memory (actor_share.h), which the learners map, too.
 *
 * Why shared memory and not MPI, which the parameter server of plugin asyncsgd uses: a build need
 * not have MPI; MPI ends all processes when one dies, and here training goes on without it; and the
 * actors' processes are fed through such memory already. Each ring has one writer and one reader
 * and no lock, and an entry is published after it was written whole, so a process that dies leaves
 * none in part.
 */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_SHARE_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_SHARE_H

#include "plugins/replay/agent/q_learner.h"

/** What the learners do. Plain data: it is copied into the shared memory. */
struct orch_gorila_setup {
    char net[256], device[32];
    enum orch_q_engine engine;
    int64_t channels, height, width; /* of an observation */
    int64_t frames;                  /* observations of a state */
    bool is_bytes;                   /* its values, else floats */
    int actions;
    bool is_double, is_dueling, is_huber, has_target;
    int64_t target_period; /* updates of the server */
    double target_blend, value_limit;
    int64_t learners, actors, envs; /* envs: copies in each actor */
    int64_t steps;                  /* of all actors */
    bool is_central; /* one replay memory, the server's; else each learner has its own */
    int64_t capacity, n_step, batch, train_every, learning_starts; /* of all learners together */
    double gamma;
    int64_t pull_every; /* gradients of a learner between two pulls of the parameters */
    double deviations;  /* of the losses that are dropped; 0: none is */
    uint64_t seed;
};

/** An entry of the gradients' ring; orch_q_net_count floats follow. */
struct orch_gorila_gradient {
    int64_t version;         /* updates of the parameters that it was computed with */
    double loss, mean_value; /* of the batch; a loss that is not finite: training has diverged */
};

/** An entry of the episodes' ring. */
struct orch_gorila_episode {
    int64_t step; /* of all actors, at its end */
    double value; /* its return */
};

/** What a learner has done. It is the only writer; read it when the learner has ended. */
struct orch_gorila_counts {
    int64_t frames;               /* steps that it took from its actors */
    int64_t gradients;            /* computed, with those that were dropped */
    int64_t losses_dropped;       /* gradients that were not sent because of their loss */
    int64_t follows;              /* of the target network */
    int64_t learning_us;          /* computing gradients, with waiting_us */
    int64_t waiting_us;           /* waiting for a batch from the replay memory */
    int64_t idle_us;              /* waiting for steps, batches or room for a gradient */
    int64_t stale_steps;          /* that arrived with a version */
    double stale_sum, stale_most; /* updates since those versions */
    int64_t buffer_bytes;
};

enum orch_gorila_ring { ORCH_GORILA_GRADIENTS, ORCH_GORILA_EPISODES, ORCH_GORILA_BATCHES };
enum { ORCH_GORILA_RINGS = 3 };

struct orch_gorila_share;

/** Makes the memory for networks of `parameters` floats and observations of `frame_bytes`. Fails
 * with ORCH_ERROR_IO. */
struct orch_gorila_share *orch_gorila_share_new(const struct orch_gorila_setup *setup,
                                                int64_t parameters, int64_t frame_bytes,
                                                GError **error);
/** Maps the memory of a descriptor that was inherited. Fails with ORCH_ERROR_PROTOCOL. */
struct orch_gorila_share *orch_gorila_share_attach(int fd, GError **error);
void orch_gorila_share_free(struct orch_gorila_share *share);

int orch_gorila_share_fd(const struct orch_gorila_share *share);
const struct orch_gorila_setup *orch_gorila_share_setup(const struct orch_gorila_share *share);
struct orch_gorila_counts *orch_gorila_share_counts(struct orch_gorila_share *share,
                                                    int64_t learner);

/** The memory of the next entry of a learner's ring, for its writer; NULL: the ring is full. */
void *orch_gorila_share_reserve(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                                int64_t learner);
/** Gives the entry that was reserved last to the reader. */
void orch_gorila_share_commit(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                              int64_t learner);
/** The oldest entry of a ring, for its reader; NULL: the ring is empty. */
const void *orch_gorila_share_peek(const struct orch_gorila_share *share,
                                   enum orch_gorila_ring ring, int64_t learner);
/** Gives the memory of the oldest entry back to the writer. */
void orch_gorila_share_drop(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                            int64_t learner);
/** Bytes of all entries that moved through the rings of one kind. */
int64_t orch_gorila_share_bytes(const struct orch_gorila_share *share, enum orch_gorila_ring ring);

/** The arrays of a batch's entry. */
struct orch_gorila_batch {
    void *states, *next_states;
    int32_t *actions;
    float *returns, *discounts;
};
struct orch_gorila_batch orch_gorila_share_batch(const struct orch_gorila_share *share,
                                                 void *entry);

/** Claims the next of the training's steps, for one that was taken from an actor: its number from
 * 1, or 0 when all have been claimed. */
int64_t orch_gorila_share_claim(struct orch_gorila_share *share);
/** Steps that were claimed. */
int64_t orch_gorila_share_frames(const struct orch_gorila_share *share);

#endif
