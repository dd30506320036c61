/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reproducible random numbers on every machine: SplitMix64 (Steele, Lea, Flood 2014). The state is
 * a stream; one stream per piece of work makes results independent of the number of threads. */
#ifndef ORCH_BASE_RANDOM_H
#define ORCH_BASE_RANDOM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t orch_random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Uniform on [0, 1). */
static inline double orch_random_unit(uint64_t *state)
{
    return (double)(orch_random_next(state) >> 11) * 0x1p-53;
}

/** A normal number of mean 0 and variance 1 (Box and Muller). */
static inline double orch_random_normal(uint64_t *state)
{
    double u = 1 - orch_random_unit(state), v = orch_random_unit(state);
    return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979323846 * v);
}

/** Uniform on 0 .. below-1 for below >= 1, with a bias of below / 2^64. */
static inline size_t orch_random_below(uint64_t *state, size_t below)
{
    return (size_t)(((unsigned __int128)orch_random_next(state) * below) >> 64);
}

/** Initial state of stream `index` for a seed. */
static inline uint64_t orch_random_stream(uint64_t seed, uint64_t index)
{
    uint64_t state = seed ^ (index * 0xd1342543de82ef95u);
    return orch_random_next(&state);
}

#endif
