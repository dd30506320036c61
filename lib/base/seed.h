/* SPDX-License-Identifier: MIT */
#ifndef ORCH_BASE_SEED_H
#define ORCH_BASE_SEED_H

#include <stdint.h>

/** Seed of a named stream of a trial's random numbers, which a plugin gets from its host's
 * derive_seed: the first 8 bytes (little endian) of SHA-256 over the trial's seed (8 bytes, little
 * endian) and the name. */
uint64_t orch_seed_derive(uint64_t seed, const char *stream);

#endif
