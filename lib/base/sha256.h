/* SPDX-License-Identifier: MIT */
/*
 * Incremental SHA-256 with hardware acceleration.
 *
 * Uses libcrypto if it is already loaded into the process (libgit2 loads it for ssh), because it
 * uses the processor's SHA instructions; otherwise GLib, which takes four times as long. Both give
 * the same digests.
 */
#ifndef ORCH_BASE_SHA256_H
#define ORCH_BASE_SHA256_H

#include "lib/base/file.h"

/** A digest in progress: begin, add any number of times, then either end or drop, once. */
struct orch_hash {
    GChecksum *sum;     /* NULL: libcrypto is used, with `state` */
    uint64_t state[32]; /* space for SHA256_CTX, which is 112 bytes */
};
void orch_hash_begin(struct orch_hash *hash);
void orch_hash_add(struct orch_hash *hash, const void *bytes, size_t length);
void orch_hash_end(struct orch_hash *hash, uint8_t out[32]);
/** Ends with 64 lower-case hex digits. */
void orch_hash_end_text(struct orch_hash *hash, char out[ORCH_SHA256_CHARS]);
void orch_hash_free(struct orch_hash *hash);

/** Loads libcrypto if it is installed (about one millisecond, once); useful before many
 * megabytes. */
void orch_hash_preload(void);

#endif
