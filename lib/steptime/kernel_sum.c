/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/kernel_sum.h"

#include <math.h>

#define LAUNCH_S 10e-6        /* the host's time for an operator */
#define LAUNCHES_TRAINING 3.0 /* with the backward pass and the sums of gradients */
#define COMPILED 0.45         /* traffic of element-wise kernels that a compiler fused */
/* of 16 bits: what norms and softmax move in fp32, and copies between both */
#define MIXED 1.40
#define LAG 4.0 /* of the norm of device and host, as in lib/steptime/transfer.h */

void orch_kernel_sum_launches(struct orch_kernel_sum *s, double count)
{
    s->operators += count;
    s->silent += s->skips_all ? count : 0;
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

double orch_kernel_sum_step_s(const struct orch_kernel_sum *s, double more_s)
{
    double device = s->forward_s + s->backward_s + more_s;
    double backward = s->training ? (LAUNCHES_TRAINING - 1) * (s->operators - s->silent) : 0;
    double host = LAUNCH_S * (s->operators + backward);
    return pow(pow(device, LAG) + pow(host, LAG), 1 / LAG);
}
