/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roofline (Williams et al. 2009), layer by layer: a layer takes as long as its operations at
 * the device's peak or its traffic at the device's bandwidth, whichever is longer. A bound from
 * below: what a device reaches of it is its utilisation. Sources of the counts: lib/net/cost.h, a
 * multiply-add as two operations. */
#ifndef ORCH_PREDICTORS_ROOFLINE_H
#define ORCH_PREDICTORS_ROOFLINE_H

#include "lib/net/cost.h"

struct orch_roofline_device {
    double peak_flops;    /* operations a second, at the precision asked for */
    double bandwidth;     /* bytes a second */
    double memory_bytes;  /* 0: unknown */
    double compute_share; /* of the peak that is reached, in (0, 1] */
    double memory_share;  /* of the bandwidth, in (0, 1] */
    double launch_s; /* added to each operation of each pass (dispatch, filling the GPU); 0: none */
};

struct orch_roofline_work {
    int64_t batch;         /* images on this device */
    int element_bytes;     /* of activations: 4 or 2 */
    bool training;         /* backward pass and update, too */
    int states_per_weight; /* of the optimizer: 0, 1, 2 */
};

enum orch_roofline_bound {
    ORCH_BOUND_NONE,
    ORCH_BOUND_COMPUTE,
    ORCH_BOUND_MEMORY,
    ORCH_BOUND_LAUNCH
};

struct orch_roofline_layer {
    double forward_s, backward_s;
    double intensity;               /* operations a byte, forward */
    enum orch_roofline_bound bound; /* of the forward pass */
};

struct orch_roofline_step {
    double forward_s, backward_s, update_s, total_s;
    double memory_bound_share; /* of the forward time */
    double flops;              /* operations of the whole step */
    double bytes;              /* moved by it */
};

/** Times of one step; each operation is a pass of its own over memory, as frameworks do that fuse
 * nothing. `layers` (net->nodes->len of them) may be NULL. ORCH_ERROR_USAGE for a batch
 * below 1, shares outside (0, 1], a device without peak or bandwidth. */
bool orch_roofline_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_roofline_device *device,
                        const struct orch_roofline_work *work, struct orch_roofline_layer *layers,
                        struct orch_roofline_step *out, GError **error);

/** Largest batch whose memory (orch_net_memory, and `reserved_bytes` beside it: the framework's
 * own) fits; 0 when not even one image does. */
int64_t orch_roofline_largest_batch(const struct orch_net *net, const struct orch_net_cost *costs,
                                    double memory_bytes, double reserved_bytes,
                                    const struct orch_roofline_work *work);

const char *orch_roofline_bound_name(enum orch_roofline_bound bound);

#endif
