/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deep Q-learning (Mnih et al. 2013, 2015): learns Q(s, a) from batches of a replay buffer.
 *
 * The target of a step is y = R + discount * Q'(s', a'), where R and discount come from the buffer
 * (n steps), Q' is the target network, and a' maximises Q' or, with `is_double`, Q of the online
 * network (van Hasselt et al. 2016). The loss is Huber's with threshold 1 (or the square) of y -
 * Q(s, a), weighted, mean over the batch. With `is_dueling` (Wang et al. 2016) the network has a
 * value and an advantage for each action on one body: Q = V + A - mean A.
 */
#ifndef ORCH_PLUGINS_REPLAY_AGENT_Q_LEARNER_H
#define ORCH_PLUGINS_REPLAY_AGENT_Q_LEARNER_H

#include "plugins/replay/agent/q_net.h"

struct orch_q_learner_options {
    struct orch_q_net_options net; /* `outputs` is set by the learner */
    int actions;
    bool is_double, is_dueling, is_huber;
    bool has_target;       /* false: the online network makes its own targets, without gradient */
    int64_t target_period; /* updates between changes of the target network; 0 is 1 */
    double target_blend;   /* share of the online network in a change, in (0, 1]; 1 copies */
    double rate;           /* of Adam, > 0 */
    double value_limit;    /* y is kept within +- this; 0: any y */
};

/** A batch as orch_replay_sample gives it, with states as floats. */
struct orch_q_batch {
    int64_t count;
    const float *states, *next_states;
    const int32_t *actions;
    const float *returns, *discounts;
    const float *weights; /* NULL: 1 */
};

struct orch_q_report {
    double loss;       /* weighted mean */
    double mean_value; /* of Q(s, a) */
};

struct orch_q_learner;

struct orch_q_learner *orch_q_learner_new(const struct orch_q_learner_options *options,
                                          GError **error);
void orch_q_learner_free(struct orch_q_learner *learner);

/** The online network. */
struct orch_q_net *orch_q_learner_net(struct orch_q_learner *learner);
/** The target network, or NULL. */
struct orch_q_net *orch_q_learner_target(struct orch_q_learner *learner);
int64_t orch_q_learner_updates(const struct orch_q_learner *learner);
/** For a resumed training. */
void orch_q_learner_updates_set(struct orch_q_learner *learner, int64_t updates);
/** What a resumed training needs: parameters, moments of the optimizer, counters. Getting writes
 * orch_q_learner_state_bytes, and setting reads them into a learner with the same options. */
size_t orch_q_learner_state_bytes(struct orch_q_learner *learner);
bool orch_q_learner_state_get(struct orch_q_learner *learner, void *out, GError **error);
bool orch_q_learner_state_set(struct orch_q_learner *learner, const void *state, GError **error);
/** The learning rate of the following updates. */
void orch_q_learner_rate_set(struct orch_q_learner *learner, double rate);

/** Writes Q of `count` states, count x actions. */
bool orch_q_learner_values(struct orch_q_learner *learner, const float *states, int64_t count,
                           float *out, GError **error);
/** Chooses an action for each of `count` states: random with probability epsilons[i], else the
 * first with the largest Q. */
bool orch_q_learner_act(struct orch_q_learner *learner, const float *states, int64_t count,
                        const double *epsilons, uint64_t *random, int32_t *out_actions,
                        GError **error);

/** One update. Writes the temporal-difference errors y - Q(s, a) before it. Fails with
 * ORCH_ERROR_TRIAL when the loss is not finite
 * (`*out_diverged` is then true). */
bool orch_q_learner_train(struct orch_q_learner *learner, const struct orch_q_batch *batch,
                          float *out_errors, struct orch_q_report *out, bool *out_diverged,
                          GError **error);
/** The gradients of that update, instead of it, for a parameter server: orch_q_net_count values. */
bool orch_q_learner_gradients(struct orch_q_learner *learner, const struct orch_q_batch *batch,
                              float *out_errors, float *out_gradients, struct orch_q_report *out,
                              bool *out_diverged, GError **error);
/** Copies or blends the online network into the target network, now. */
bool orch_q_learner_follow(struct orch_q_learner *learner, double alpha, GError **error);

#endif
