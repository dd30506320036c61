/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Random numbers of data sets: streams that are started from three numbers, and orders. */
#ifndef ORCH_PLUGINS_COMMON_RANDOM_H
#define ORCH_PLUGINS_COMMON_RANDOM_H

#include "lib/base/random.h"

/** Initial state of the stream identified by three numbers. */
static inline uint64_t orch_random_stream_of(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t state = a;
    state = orch_random_next(&state) ^ b;
    state = orch_random_next(&state) ^ c;
    return orch_random_next(&state);
}

/** Uniform on [0, bound) for bound > 0, with a bias of at most bound / 2^32. */
static inline uint32_t orch_random_below_32(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(((orch_random_next(state) >> 32) * bound) >> 32);
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
