/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Roofline model (Williams et al. 2009), layer by layer: a layer takes its operations at the
 * device's peak or its traffic at the device's bandwidth, whichever is longer. This is a lower
 * bound; the share that a device reaches is its utilisation. Counts come from lib/net/cost.h, with
 * two operations per multiply-add. */
#ifndef ORCH_STEPTIME_ROOFLINE_H
#define ORCH_STEPTIME_ROOFLINE_H

#include "lib/net/cost.h"

#define ORCH_ROOFLINE_CACHES 2

struct orch_roofline_device {
    double peak_flops;    /* operations per second at the chosen precision */
    double bandwidth;     /* bytes per second */
    double memory_bytes;  /* 0: unknown */
    double compute_share; /* achieved share of the peak, in (0, 1] */
    double memory_share;  /* achieved share of the bandwidth, in (0, 1] */
    double launch_s;      /* added per operation and pass (dispatch, filling the GPU); 0: none */
    bool is_host;         /* a processor: convolutions of few channels leave vectors unfilled */
    /* of a processor whose caches were measured: bytes per second for working sets of at most so
     * many bytes, ascending; 0 bytes end it. Larger ones have `bandwidth` */
    struct {
        double bytes, bandwidth;
    } caches[ORCH_ROOFLINE_CACHES];
};

struct orch_roofline_work {
    int64_t batch;         /* images on this device */
    int element_bytes;     /* of activations: 4 or 2 */
    bool training;         /* includes backward pass and update */
    int states_per_weight; /* of the optimizer: 0, 1 or 2 */
    bool checkpoints;      /* activations are computed again (lib/steptime/checkpointing.h) */
    bool keeps_scores;     /* of attention, which is written out (orch_net_score_bytes) */
    bool has_buckets;      /* replicas: gradients are copied into buckets that are exchanged */
    bool autocasts;        /* 16 bits are PyTorch's mixed precision (orch_net_kept_bytes) */
    bool has_fused_loss;   /* the loss makes the scores' gradient alone, in their precision */
    bool reserves_idle;    /* memory is what PyTorch's allocator reserves (lib/net/idle_memory.h) */
};

enum orch_roofline_bound {
    ORCH_BOUND_NONE,
    ORCH_BOUND_COMPUTE,
    ORCH_BOUND_MEMORY,
    ORCH_BOUND_LAUNCH
};

struct orch_roofline_layer {
    double forward_s, backward_s;
    double intensity;               /* operations per byte, forward */
    enum orch_roofline_bound bound; /* of the forward pass */
};

struct orch_roofline_step {
    double forward_s, backward_s, update_s, total_s;
    double memory_bound_share; /* of the forward time */
    double flops;              /* operations of the whole step */
    double bytes;              /* memory traffic of the whole step */
    double host_share;         /* of transformers: how much the host's launches decide it, 0 to 1 */
};

/** Predicts one step; each operation makes its own pass over memory, as in frameworks without
 * fusion. `layers` (net->nodes->len entries) may be NULL. Fails with ORCH_ERROR_USAGE for a batch
 * below 1, shares outside (0, 1], or a device without peak or bandwidth. */
bool orch_roofline_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_roofline_device *device,
                        const struct orch_roofline_work *work, struct orch_roofline_layer *layers,
                        struct orch_roofline_step *out, GError **error);

/** Multiplies all times of a step and of its layers (`count` of them; NULL: none). */
void orch_roofline_scale(struct orch_roofline_layer *layers, guint count, double factor,
                         struct orch_roofline_step *step);
/** Memory of a step, in bytes. */
struct orch_memory_parts {
    double held;      /* weights, states, and copies of gradients that are exchanged */
    double gradients; /* they come while the backward pass frees activations, and are freed after */
    double each;      /* activations of a sample */
};
struct orch_memory_parts orch_roofline_memory_parts(const struct orch_net *net,
                                                    const struct orch_net_cost *costs,
                                                    const struct orch_roofline_work *work);
/** What is held, and the larger one of gradients and activations. */
double orch_roofline_memory(const struct orch_net *net, const struct orch_net_cost *costs,
                            const struct orch_roofline_work *work);
/** Largest batch whose memory (orch_roofline_memory plus `reserved_bytes` for the framework) fits;
 * 0 if not even one image fits. */
int64_t orch_roofline_largest_batch(const struct orch_net *net, const struct orch_net_cost *costs,
                                    double memory_bytes, double reserved_bytes,
                                    const struct orch_roofline_work *work);

const char *orch_roofline_bound_name(enum orch_roofline_bound bound);

#endif
