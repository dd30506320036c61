/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A replay buffer: the last steps of many actors, from which a learner draws batches.
 *
 * Each actor writes a lane of its own, a ring of records in the order of its steps. A record is one
 * frame (what the actor saw), the action that it took, the reward and whether the episode ended. A
 * frame is stored once: the next state of a step is the frame of the next record, and a state of
 * several frames (`stack`) is put together from neighbouring records when it is drawn. Only an
 * episode that was cut off needs a record more, for the frame that it ended with.
 *
 *     struct orch_replay *replay = orch_replay_new(&options, &error);
 *     an actor's thread:     orch_replay_add(replay, lane, &steps, &error);
 *     the learner's thread:  orch_replay_sample(replay, 256, beta, &batch, &error);
 *                            orch_replay_update(replay, batch.places, errors, 256, &error);
 *
 * Threads: a lane has one writer at a time, and one thread samples and updates; all of them at
 * once. There is no lock that they share: each lane has one, which is held while records are
 * copied.
 *
 * Prioritised sampling is that of Schaul et al. 2016 (arXiv 1511.05952), section 3.3: proportional,
 * p_i = |delta_i| + epsilon and P(i) = p_i^alpha / sum, or rank-based, P(i) in proportion to
 * rank(i)^-alpha; stratified; weights (N P(i))^-beta divided by their maximum in the batch.
 */
#ifndef ORCH_PLUGINS_REPLAY_MEMORY_REPLAY_H
#define ORCH_PLUGINS_REPLAY_MEMORY_REPLAY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_replay_sampling {
    ORCH_REPLAY_UNIFORM,
    ORCH_REPLAY_PROPORTIONAL,
    ORCH_REPLAY_RANK, /* ranks as of the last sorting, once for every capacity / 16 updates */
};

/** How a step ended. */
enum orch_replay_end {
    ORCH_REPLAY_GOES_ON = 0,
    ORCH_REPLAY_TERMINATED, /* the episode is over: nothing follows, so the next state counts 0 */
    ORCH_REPLAY_TRUNCATED,  /* it was cut off; the next record must be its FINAL one */
    ORCH_REPLAY_FINAL,      /* no step: the frame that a truncated episode ended with */
};

struct orch_replay_options {
    int64_t capacity; /* records of all lanes together, >= 2 a lane; below 2^31 */
    int lanes;        /* 1 to 4,096 */
    int64_t frame_values;
    bool is_bytes; /* values are uint8_t; else float */
    int stack;    /* frames of a state, 1 to 64; before an episode's first frame that is repeated */
    int n_step;   /* steps of a return, 1 to 64 */
    double gamma; /* in [0, 1] */
    enum orch_replay_sampling sampling;
    double alpha, epsilon; /* of the priorities; >= 0 */
    const char *file;      /* records lie in this file, mapped; NULL: in memory */
    uint64_t seed;
};

/** Steps of one lane, in order. Arrays of the caller's. */
struct orch_replay_steps {
    int64_t count;
    const void *frames;      /* count x frame_values */
    const int32_t *actions;  /* count */
    const float *rewards;    /* count, finite */
    const uint8_t *ends;     /* count, enum orch_replay_end; NULL: all go on */
    const float *priorities; /* count errors |delta| >= 0, finite; NULL: the largest so far */
};

/** What was drawn. Arrays of the caller's, of the batch's size. */
struct orch_replay_batch {
    void *states;      /* batch x stack x frame_values, oldest frame first */
    void *next_states; /* the same after n_step steps, or where the episode was cut off; unspecified
                          where the discount is 0 */
    int32_t *actions;
    float *returns;   /* r_0 + gamma r_1 + ... of the n steps, or of those until the end */
    float *discounts; /* gamma^steps; 0 where the episode terminated */
    float *weights;   /* of importance; 1 if the sampling is uniform. May be NULL */
    int64_t *places;  /* for orch_replay_update. May be NULL */
};

struct orch_replay;

/** Makes an empty buffer. Fails with ORCH_ERROR_RECIPE for an option out of its range and where the
 * records are larger than the machine's free memory, saying how much they need, and with
 * ORCH_ERROR_IO for a file that cannot be made. Free with orch_replay_free. */
struct orch_replay *orch_replay_new(const struct orch_replay_options *options, GError **error);
void orch_replay_free(struct orch_replay *replay);

/** Bytes of the whole buffer with its priorities. */
int64_t orch_replay_bytes(const struct orch_replay *replay);

/** Adds steps to a lane; the oldest ones are overwritten. Fails with ORCH_ERROR_TRIAL, without a
 * change, for a reward or priority that is not finite, a negative priority, a wrong order of ends,
 * and more steps than a lane holds. */
bool orch_replay_add(struct orch_replay *replay, int lane, const struct orch_replay_steps *steps,
                     GError **error);

/** Ends the episode of a lane where it is, for an actor that is gone and whose next frame will
 * never come: its last step is given up, and the one before counts as truncated. The next step of
 * the lane begins an episode. */
void orch_replay_cut(struct orch_replay *replay, int lane);

/** Steps that can be drawn now, about: of n_step returns that are complete. */
int64_t orch_replay_ready(struct orch_replay *replay);

/** Draws `count` steps, with replacement. `beta` is the exponent of the weights. Fails with
 * ORCH_ERROR_TRIAL when fewer steps than `count` can be drawn. */
bool orch_replay_sample(struct orch_replay *replay, int64_t count, double beta,
                        const struct orch_replay_batch *batch, GError **error);

/** Sets the priorities of steps that were drawn to |errors| (before epsilon and alpha). Steps that
 * have been overwritten meanwhile are skipped. Fails without a change for an error that is not
 * finite. */
bool orch_replay_update(struct orch_replay *replay, const int64_t *places, const float *errors,
                        int64_t count, GError **error);

/** Writes all records and priorities to a file, atomically; no other thread may add meanwhile.
 * Fails with ORCH_ERROR_IO. */
bool orch_replay_save(struct orch_replay *replay, const char *path, GError **error);
/** Replaces an empty buffer's content by that of a snapshot. Fails with ORCH_ERROR_CHECK for a file
 * that is no snapshot, was cut short or damaged (SHA-256), or has another shape, naming both; the
 * buffer is then unchanged. */
bool orch_replay_load(struct orch_replay *replay, const char *path, GError **error);

#endif
