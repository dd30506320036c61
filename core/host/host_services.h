/* SPDX-License-Identifier: MIT */
/* The host's services for a compiled plugin (struct orch_host), in the plugin's process: each call
 * becomes a line of the protocol that programs in other languages use. Thread-safe. */
#ifndef ORCH_HOST_HOST_SERVICES_H
#define ORCH_HOST_HOST_SERVICES_H

#include "lib/wire/manifest.h"

#include <glib.h>
#include <jansson.h>

struct services;

struct services_setup {
    const struct orch_manifest *manifest;
    int events_fd;    /* for event lines; -1: discard them (check, cost) */
    int control_fd;   /* for the host's messages, non-blocking; -1: none */
    int64_t start_ns; /* monotonic; zero of t_ms */
    uint64_t seed;
    const char *checkpoint_dir; /* created on first use; NULL: none */
    bool smoke;
    /* returned by `slot`; struct_bytes is not used. A rank other than 0 reports only words, with
     * its number in front */
    struct orch_slot slot;
};

struct services *orch_services_new(const struct services_setup *setup);
/** Sends pending events, stops the timer, and frees. */
void orch_services_free(struct services *services);

const struct orch_host *orch_services_host(struct services *services);
/** Prepares for the next check: clears inputs, digests, warnings and the last `fail`. */
void orch_services_reset(struct services *services, bool smoke);
/** The last text passed to fail; NULL: none. */
const char *orch_services_failure(const struct services *services);
/** The inputs passed to input(): an array of {name, sha256}. Borrowed. */
json_t *orch_services_inputs(struct services *services);
/** Names of the parameters that check reported as having no effect: an array of strings. Borrowed.
 */
json_t *orch_services_no_effect(struct services *services);
/** Warnings that check logged: an array of strings. Borrowed. */
json_t *orch_services_warnings(struct services *services);
/** Sends one event after all pending ones. */
void orch_services_send(struct services *services, const json_t *object);

#endif
