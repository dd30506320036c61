/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Additions on the processor. Arrays begin at multiples of 64 bytes and do not overlap. */
#ifndef ORCH_PLUGINS_VECADD_CPU_ADD_H
#define ORCH_PLUGINS_VECADD_CPU_ADD_H

#include <stdbool.h>
#include <stddef.h>

/** out[i] = a[i] + scale * b[i], 0 <= i < count. */
typedef void vecadd_kernel(float *out, const float *a, const float *b, float scale, size_t count);

/** The plain loop, ignoring `scale`: what a student writes. */
void orch_vecadd_plain(float *out, const float *a, const float *b, float scale, size_t count);

/** The widest vector instructions of this processor. */
struct vecadd_vector_kernels {
    const char *instructions;                  /* "AVX-512", "AVX2", ... */
    vecadd_kernel *add_cached, *add_streaming; /* ignore scale */
    vecadd_kernel *triad_cached, *triad_streaming;
    bool has_streaming; /* stores that bypass the caches; else both are the same */
};
const struct vecadd_vector_kernels *orch_vecadd_vector_kernels(void);

#endif
