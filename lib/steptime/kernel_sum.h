/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums the kernels of a step, and what the host takes to launch them. */
#ifndef ORCH_STEPTIME_KERNEL_SUM_H
#define ORCH_STEPTIME_KERNEL_SUM_H

#include "lib/steptime/kernel_times.h"

struct orch_kernel_sum {
    const struct orch_kernel_gpu *gpu;
    bool training;                /* each kernel has a backward pass */
    bool is_compiled;             /* element-wise kernels are fused by a compiler */
    double forward_s, backward_s; /* of the device */
    double host_s;                /* of launching the forward pass */
    double silent_s;              /* of that: without a backward pass, as nothing learns by it */
    bool is_plain;                /* the next kernels are a plain operation each, not a layer */
    /* of the next kernels: what of their backward pass is left out */
    bool skips_data, skips_weights, skips_all;
};

/** `count` layers of products of weights, or of activations: the backward pass has two products of
 * the same size, for the gradients of both factors. */
void orch_kernel_sum_products(struct orch_kernel_sum *sum, double count,
                              const struct orch_kernel_product *product);
/** The same where the kernels of the forward pass, of the gradient of the data and of that of the
 * weights take `factors` times as long. */
void orch_kernel_sum_scaled_products(struct orch_kernel_sum *sum, double count,
                                     const struct orch_kernel_product *product,
                                     const double factors[3]);
/** Adds the host's time for `count` layers or plain operations whose kernels the caller adds. */
void orch_kernel_sum_launches(struct orch_kernel_sum *sum, double count);
/** `count` kernels that read and write so many values each. `backward`: time of the backward pass
 * over that of the forward pass. */
void orch_kernel_sum_vectors(struct orch_kernel_sum *sum, double count, enum orch_kernel_kind kind,
                             double values, double backward);
/** Time of the step: the device's, or the host's launches where these take longer. `more_s`: what
 * else the device does (an update). `out_host_share`: the time grows by so many per cent if the
 * host's grows by one. */
double orch_kernel_sum_step_s(const struct orch_kernel_sum *sum, double more_s,
                              double *out_host_share);

#endif
