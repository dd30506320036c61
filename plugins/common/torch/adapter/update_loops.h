/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Update rules of one tensor on the CPU, each in one pass over plain arrays.
 *
 * LibTorch needs four or five operations per tensor for the same, of which each reads and writes
 * all values. The loops round exactly where those operations round (a * b + c once where LibTorch's
 * kernels use a fused multiply-add, i.e. where the processor has one), so SGD gives the same bits.
 * So does Adam, except with a LibTorch whose square root is MKL's, which is not correctly
 * rounded. LibTorch's own fused kernels round elsewhere. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_UPDATE_LOOPS_H
#define ORCH_PLUGINS_COMMON_TORCH_UPDATE_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct orch_sgd_step {
    float rate;         /* learning rate, >= 0 */
    float weight_decay; /* L2, added to the gradient; 0: none */
    float momentum;     /* 0: none; dampening is 0 */
    bool nesterov;
    bool has_momentum_yet; /* false: the first step, in which the buffer becomes the gradient */
};

/** Updates `count` values in place. `buffer` (momentum) may be NULL when momentum is 0. Different
 * ranges of a tensor may be updated by different threads. */
void orch_sgd_update(float *values, const float *gradient, float *buffer, int64_t count,
                     const struct orch_sgd_step *step);

struct orch_adam_step {
    float factor;       /* multiplies the values first: 1 - rate * decay in AdamW, 1 in Adam */
    float weight_decay; /* L2, added to the gradient; 0: none, as in AdamW */
    float beta1, beta2;
    float complement1, complement2; /* 1 - beta, subtracted in double */
    float root;                     /* square root of 1 - beta2^steps */
    float epsilon;
    float rate; /* learning rate / (1 - beta1^steps) */
};

/** Updates `count` values and their moments in place; see orch_sgd_update. */
void orch_adam_update(float *values, const float *gradient, float *mean, float *square,
                      int64_t count, const struct orch_adam_step *step);

#ifdef __cplusplus
}
#endif

#endif
