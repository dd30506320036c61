/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reproducible random numbers on every machine: SplitMix64 (Steele, Lea and Flood 2014). A stream
 * can be started from a few numbers that identify it. */
#ifndef ORCH_PLUGINS_COMMON_RANDOM_H
#define ORCH_PLUGINS_COMMON_RANDOM_H

#include <stdint.h>

static inline uint64_t orch_random_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/** Initial state of the stream identified by three numbers. */
static inline uint64_t orch_random_stream(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t state = a;
    state = orch_random_next(&state) ^ b;
    state = orch_random_next(&state) ^ c;
    return orch_random_next(&state);
}

/** Uniform on [0, bound) for bound > 0, with a bias of at most bound / 2^32. */
static inline uint32_t orch_random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((orch_random_next(state) >> 32) * bound) >> 32);
}

/** Uniform on [0, 1). */
static inline double orch_random_unit(uint64_t *state)
{
    return (double)(orch_random_next(state) >> 11) * 0x1p-53;
}

/** Shuffles indices (Fisher and Yates). */
static inline void orch_random_shuffle(int64_t *items, int64_t count, uint64_t seed)
{
    for (int64_t i = count - 1; i > 0; i--) {
        uint64_t j = orch_random_next(&seed) % (uint64_t)(i + 1);
        int64_t swap = items[i];
        items[i] = items[j];
        items[j] = swap;
    }
}

#endif
