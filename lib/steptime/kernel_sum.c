/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/kernel_sum.h"

#include <math.h>

/* The host's time for a layer, with what PyTorch does around it, and for a plain operation. The
 * first is from BERT and T5 of batch 1 on the hosts of milabench's H100 and L40S. */
#define LAYER_S 70e-6
#define LAUNCH_S 10e-6
#define LAUNCHES_TRAINING 3.0 /* with the backward pass and the sums of gradients */
#define COMPILED 0.45 /* traffic of element-wise kernels that a compiler fused; their launches */
/* of 16 bits: what norms and softmax move in fp32, and copies between both */
#define MIXED 1.40
#define LAG 4.0 /* of the norm of device and host, as in lib/steptime/transfer.h */

void orch_kernel_sum_launches(struct orch_kernel_sum *s, double count)
{
    double host_s = count * (s->is_plain ? LAUNCH_S : LAYER_S) * (s->is_compiled ? COMPILED : 1);
    s->host_s += host_s;
    s->silent_s += s->skips_all ? host_s : 0;
}

void orch_kernel_sum_scaled_products(struct orch_kernel_sum *s, double count,
                                     const struct orch_kernel_product *p, const double factors[3])
{
    struct orch_kernel_product data = {p->b, p->m, p->k, p->n, p->bytes, p->is_winograd};
    struct orch_kernel_product weights = {p->b, p->k, p->n, p->m, p->bytes, false};
    double least = orch_kernel_least_s(false);
    s->forward_s += count * (factors[0] * orch_kernel_product_s(s->gpu, p) + least);
    if (s->training && !s->skips_data)
        s->backward_s += count * (factors[1] * orch_kernel_product_s(s->gpu, &data) + least);
    if (s->training && !s->skips_weights)
        s->backward_s += count * (factors[2] * orch_kernel_product_s(s->gpu, &weights) + least);
    orch_kernel_sum_launches(s, count);
}

void orch_kernel_sum_products(struct orch_kernel_sum *s, double count,
                              const struct orch_kernel_product *p)
{
    static const double plain[3] = {1, 1, 1};
    orch_kernel_sum_scaled_products(s, count, p, plain);
}

void orch_kernel_sum_vectors(struct orch_kernel_sum *s, double count, enum orch_kernel_kind kind,
                             double values, double backward)
{
    double mixed = s->gpu->element_bytes == 2 ? MIXED : 1;
    double each =
        (orch_kernel_vector_s(s->gpu, kind, mixed * values) + orch_kernel_least_s(false)) *
        (s->is_compiled ? COMPILED : 1);
    s->forward_s += count * each;
    s->backward_s += s->training && !s->skips_all ? count * each * backward : 0;
    orch_kernel_sum_launches(s, count);
}

double orch_kernel_sum_step_s(const struct orch_kernel_sum *s, double more_s,
                              double *out_host_share)
{
    double device = s->forward_s + s->backward_s + more_s;
    double backward = s->training ? (LAUNCHES_TRAINING - 1) * (s->host_s - s->silent_s) : 0;
    double device_lag = pow(device, LAG), host_lag = pow(s->host_s + backward, LAG);
    *out_host_share = host_lag > 0 ? host_lag / (device_lag + host_lag) : 0;
    return pow(device_lag + host_lag, 1 / LAG);
}
