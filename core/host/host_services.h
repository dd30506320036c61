/* SPDX-License-Identifier: MIT */
/* The host's services as a compiled plugin sees them (struct orch_host), on the plugin's side of
 * the pipe: each call becomes a line of the same protocol that programs in other languages speak.
 * May be called from any thread of the plugin. */
#ifndef ORCH_HOST_HOST_SERVICES_H
#define ORCH_HOST_HOST_SERVICES_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

struct services;

struct services_setup {
    const struct orch_manifest *manifest;
    int events_fd;    /* lines go here; -1: nowhere (check, cost) */
    int control_fd;   /* the host's lines come from here, read without waiting; -1: none */
    int64_t start_ns; /* monotonic: zero of t_ms */
    uint64_t seed;
    const char *checkpoint_dir; /* made when first asked for; NULL: none */
    bool smoke;
};

struct services *services_new(const struct services_setup *setup);
/** Sends what is pending, ends the timer. */
void services_free(struct services *services);

const struct orch_host *services_host(struct services *services);
/** For the next check: forgets inputs, digests and the last `fail`. */
void services_reset(struct services *services, bool smoke);
/** The last text given to fail; NULL: none. */
const char *services_failure(const struct services *services);
/** What input() was told: array of {name, sha256}. Borrowed. */
json_t *services_inputs(struct services *services);
/** Sends one event after all that is pending. */
void services_send(struct services *services, const json_t *object);

/** Seed of a named stream: the first 8 bytes (little endian) of SHA-256 over the trial's seed (8
 * bytes, little endian) and the name. */
uint64_t services_derive_seed(uint64_t seed, const char *stream);

#endif
