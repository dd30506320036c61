/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 bit by bit, as fast as the processor can.
 *
 * Where libcrypto is in the process already (libgit2 brings it along for ssh) its code with the
 * processor's own instructions is used, else GLib's, which takes four times as long. Both give the
 * same digests.
 */
#ifndef ORCH_BASE_SHA256_H
#define ORCH_BASE_SHA256_H

#include "lib/base/file.h"

/** A digest under way. Begun, added to, and then either ended or dropped, once. */
struct orch_hash {
    GChecksum *sum;     /* NULL: libcrypto's, in `state` */
    uint64_t state[32]; /* of SHA256_CTX, which is 112 bytes */
};
void orch_hash_begin(struct orch_hash *hash);
void orch_hash_add(struct orch_hash *hash, const void *bytes, size_t length);
void orch_hash_end(struct orch_hash *hash, uint8_t out[32]);
/** As 64 lower-case hex digits. */
void orch_hash_end_text(struct orch_hash *hash, char out[ORCH_SHA256_CHARS]);
void orch_hash_drop(struct orch_hash *hash);

/** Loads libcrypto (about a millisecond, once) if there is one: worth it before many megabytes. */
void orch_hash_hurry(void);

#endif
