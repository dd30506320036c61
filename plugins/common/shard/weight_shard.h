/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One part of the weights of a parameter server, with the state of its optimizer. All tensors of a
 * model, one after the other, are a vector; a shard is a range of it. A push has the gradients of
 * the trained parameters and, for the running statistics of batch norms, the learner's own values,
 * which replace the server's. The optimizers follow PyTorch's rules (torch.optim.SGD, Adagrad,
 * RMSprop, Adam). */
#ifndef ORCH_PLUGINS_WEIGHT_SHARD_H
#define ORCH_PLUGINS_WEIGHT_SHARD_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Consecutive elements of the vector: a tensor. */
struct orch_weight_range {
    int64_t begin, count;
    bool is_trained; /* a parameter; else running statistics */
};

enum orch_weight_optimizer {
    ORCH_WEIGHT_SGD,     /* momentum, nesterov */
    ORCH_WEIGHT_ADAGRAD, /* the sum of all squared gradients; epsilon 1e-10 */
    ORCH_WEIGHT_RMSPROP, /* their moving mean: alpha 0.99, epsilon 1e-8 */
    ORCH_WEIGHT_ADAM,    /* betas 0.9 and 0.999, epsilon 1e-8 */
};
/** Their names, in this order, ended by NULL. */
extern const char *const ORCH_WEIGHT_OPTIMIZERS[];

/** The optimizer and its settings. */
struct orch_weight_rule {
    double momentum, weight_decay;
    bool nesterov;
    enum orch_weight_optimizer optimizer;
};

struct orch_weight_shard {
    int64_t begin, count; /* elements of the vector */
    int64_t version;      /* updates so far */
    float *values;        /* count */
    float *velocity;      /* count: SGD's velocity, Adam's mean of the gradients */
    float *squares;       /* count: sum or mean of the squared gradients; NULL for SGD */
    float *sum;           /* count: pushes that were added since the last update */
    int64_t added;        /* their number */
    const GArray *ranges; /* struct orch_weight_range, ascending and without gaps; borrowed */
    struct orch_weight_rule rule;
};

/** The elements of shard `index` of `shards`: [out_begin, out_begin + out_count). Every element
 * belongs to one shard, and counts differ by at most one. */
void orch_weight_shard_bounds(int64_t elements, int index, int shards, int64_t *out_begin,
                              int64_t *out_count);
/** Makes shard `index` of `shards` of the vector `values`, which is copied. `ranges` must outlive
 * the shard. Release with orch_weight_shard_clear. */
void orch_weight_shard_init(struct orch_weight_shard *shard, const GArray *ranges,
                            const float *values, int index, int shards,
                            const struct orch_weight_rule *rule);
/** Adds a push, `count` values. */
void orch_weight_shard_add(struct orch_weight_shard *shard, const float *push);
/** One update at the learning rate `rate` with the mean of the pushes since the last one, of which
 * there must be one or more. */
void orch_weight_shard_update(struct orch_weight_shard *shard, double rate);
void orch_weight_shard_clear(struct orch_weight_shard *shard);

#endif
