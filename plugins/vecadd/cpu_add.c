/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store into a line that is not cached first reads the line (write-allocate): an addition then
 * moves four arrays instead of three. Streaming (non-temporal) stores avoid it, but send results
 * that fit into the caches to memory. Which is faster depends on the size, so both exist and the
 * trial takes the faster one. */
#include "plugins/vecadd/cpu_add.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline __attribute__((always_inline)) void loop(float *restrict out, const float *restrict a,
                                                       const float *restrict b, float scale,
                                                       bool is_triad, size_t count)
{
    if (is_triad)
        for (size_t i = 0; i < count; i++)
            out[i] = a[i] + scale * b[i];
    else
        for (size_t i = 0; i < count; i++)
            out[i] = a[i] + b[i];
}

void orch_vecadd_plain(float *restrict out, const float *restrict a, const float *restrict b,
                       float scale, size_t count)
{
    loop(out, a, b, scale, false, count);
}

#if defined(__x86_64__)
/* FLOATS, LOAD, STORE, ADD, MUL, SET: the vectors of one instruction set. Four vectors a turn,
 * because one load a turn does not keep enough lines on their way. */
#define STREAMING(NAME, TARGET, VECTOR, FLOATS, LOAD, STREAM, ADD, MUL, SET)                       \
    __attribute__((target(TARGET))) static inline void NAME(                                       \
        float *restrict out, const float *restrict a, const float *restrict b, float scale,        \
        bool is_triad, size_t count)                                                               \
    {                                                                                              \
        const VECTOR factor = SET(scale);                                                          \
        size_t i = 0;                                                                              \
        for (; i + 4 * (FLOATS) <= count; i += 4 * (FLOATS)) {                                     \
            VECTOR sums[4];                                                                        \
            for (int j = 0; j < 4; j++) {                                                          \
                VECTOR right = LOAD(b + i + j * (FLOATS));                                         \
                sums[j] = ADD(LOAD(a + i + j * (FLOATS)), is_triad ? MUL(factor, right) : right);  \
            }                                                                                      \
            for (int j = 0; j < 4; j++)                                                            \
                STREAM(out + i + j * (FLOATS), sums[j]);                                           \
        }                                                                                          \
        loop(out + i, a + i, b + i, scale, is_triad, count - i);                                   \
        _mm_sfence(); /* streaming stores are not ordered with what follows */                     \
    }
STREAMING(stream_sse2, "sse2", __m128, 4, _mm_load_ps, _mm_stream_ps, _mm_add_ps, _mm_mul_ps,
          _mm_set1_ps);
STREAMING(stream_avx2, "avx2", __m256, 8, _mm256_load_ps, _mm256_stream_ps, _mm256_add_ps,
          _mm256_mul_ps, _mm256_set1_ps);
STREAMING(stream_avx512, "avx512f", __m512, 16, _mm512_load_ps, _mm512_stream_ps, _mm512_add_ps,
          _mm512_mul_ps, _mm512_set1_ps);

#define KERNELS(SET, TARGET)                                                                       \
    __attribute__((target(TARGET))) static void add_##SET(                                         \
        float *restrict out, const float *restrict a, const float *restrict b, float scale,        \
        size_t count)                                                                              \
    {                                                                                              \
        loop(out, a, b, scale, false, count);                                                      \
    }                                                                                              \
    __attribute__((target(TARGET))) static void triad_##SET(                                       \
        float *restrict out, const float *restrict a, const float *restrict b, float scale,        \
        size_t count)                                                                              \
    {                                                                                              \
        loop(out, a, b, scale, true, count);                                                       \
    }                                                                                              \
    __attribute__((target(TARGET))) static void add_stream_##SET(                                  \
        float *restrict out, const float *restrict a, const float *restrict b, float scale,        \
        size_t count)                                                                              \
    {                                                                                              \
        stream_##SET(out, a, b, scale, false, count);                                              \
    }                                                                                              \
    __attribute__((target(TARGET))) static void triad_stream_##SET(                                \
        float *restrict out, const float *restrict a, const float *restrict b, float scale,        \
        size_t count)                                                                              \
    {                                                                                              \
        stream_##SET(out, a, b, scale, true, count);                                               \
    }
KERNELS(sse2, "sse2");
KERNELS(avx2, "avx2");
KERNELS(avx512, "avx512f");

const struct vecadd_vector_kernels *orch_vecadd_vector_kernels(void)
{
    static const struct vecadd_vector_kernels
        avx512 = {"AVX-512",    add_avx512,          add_stream_avx512,
                  triad_avx512, triad_stream_avx512, true},
        avx2 = {"AVX2", add_avx2, add_stream_avx2, triad_avx2, triad_stream_avx2, true},
        sse2 = {"SSE2", add_sse2, add_stream_sse2, triad_sse2, triad_stream_sse2, true};
    return __builtin_cpu_supports("avx512f") ? &avx512
           : __builtin_cpu_supports("avx2")  ? &avx2
                                             : &sse2;
}
#else
/* The compiler's vectors of the architecture's base (Neon on ARM). */
static void triad_plain(float *restrict out, const float *restrict a, const float *restrict b,
                        float scale, size_t count)
{
    loop(out, a, b, scale, true, count);
}

const struct vecadd_vector_kernels *orch_vecadd_vector_kernels(void)
{
    static const struct vecadd_vector_kernels base = {"the compiler's vectors",
                                                      orch_vecadd_plain,
                                                      orch_vecadd_plain,
                                                      triad_plain,
                                                      triad_plain,
                                                      false};
    return &base;
}
#endif
