/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiled with -ffp-contract=off, so that only what multiply_add fuses is fused. The processor's
 * fused multiply-add is chosen while running, as in LibTorch. */
#include "plugins/common/torch/adapter/update_loops.h"

#define INLINE inline __attribute__((always_inline))

/* a * b + c */
static INLINE float multiply_add(float a, float b, float c, bool fused)
{
    return fused ? __builtin_fmaf(a, b, c) : a * b + c;
}

static INLINE void sgd(float *restrict values, const float *restrict gradient,
                       float *restrict buffer, int64_t count, const struct orch_sgd_step *step,
                       bool fused)
{
    const float decay = step->weight_decay, momentum = step->momentum, rate = -step->rate;
    const bool decays = decay != 0, moves = momentum != 0, nesterov = step->nesterov;
    const bool continues = step->has_momentum_yet;
    for (int64_t i = 0; i < count; i++) {
        float g = decays ? multiply_add(values[i], decay, gradient[i], fused) : gradient[i];
        if (moves) {
            float b = continues ? buffer[i] * momentum + g : g;
            buffer[i] = b;
            g = nesterov ? multiply_add(b, momentum, g, fused) : b;
        }
        values[i] = multiply_add(g, rate, values[i], fused);
    }
}

static INLINE void adam(float *restrict values, const float *restrict gradient,
                        float *restrict mean, float *restrict square, int64_t count,
                        const struct orch_adam_step *step, bool fused)
{
    const struct orch_adam_step s = *step;
    const bool decays = s.weight_decay != 0;
    for (int64_t i = 0; i < count; i++) {
        float g =
            decays ? multiply_add(values[i], s.weight_decay, gradient[i], fused) : gradient[i];
        float m = multiply_add(g, s.complement1, mean[i] * s.beta1, fused);
        float v = multiply_add(s.complement2 * g, g, square[i] * s.beta2, fused);
        float divisor = __builtin_sqrtf(v) / s.root + s.epsilon;
        mean[i] = m;
        square[i] = v;
        values[i] = values[i] * s.factor + -s.rate * m / divisor;
    }
}

#ifdef __x86_64__
/* LibTorch's kernels need AVX2 and FMA for fused multiply-adds. */
static bool has_fused(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

__attribute__((target("avx2,fma"))) static void sgd_fused(float *values, const float *gradient,
                                                          float *buffer, int64_t count,
                                                          const struct orch_sgd_step *step)
{
    sgd(values, gradient, buffer, count, step, true);
}

__attribute__((target("avx2,fma"))) static void adam_fused(float *values, const float *gradient,
                                                           float *mean, float *square,
                                                           int64_t count,
                                                           const struct orch_adam_step *step)
{
    adam(values, gradient, mean, square, count, step, true);
}
#else
#ifdef __FP_FAST_FMAF
#define HAS_FUSED true
#else
#define HAS_FUSED false
#endif
static bool has_fused(void)
{
    return HAS_FUSED;
}

static void sgd_fused(float *values, const float *gradient, float *buffer, int64_t count,
                      const struct orch_sgd_step *step)
{
    sgd(values, gradient, buffer, count, step, HAS_FUSED);
}

static void adam_fused(float *values, const float *gradient, float *mean, float *square,
                       int64_t count, const struct orch_adam_step *step)
{
    adam(values, gradient, mean, square, count, step, HAS_FUSED);
}
#endif

void orch_sgd_update(float *values, const float *gradient, float *buffer, int64_t count,
                     const struct orch_sgd_step *step)
{
    if (has_fused())
        sgd_fused(values, gradient, buffer, count, step);
    else
        sgd(values, gradient, buffer, count, step, false);
}

void orch_adam_update(float *values, const float *gradient, float *mean, float *square,
                      int64_t count, const struct orch_adam_step *step)
{
    if (has_fused())
        adam_fused(values, gradient, mean, square, count, step);
    else
        adam(values, gradient, mean, square, count, step, false);
}
