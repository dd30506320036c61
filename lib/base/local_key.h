/* SPDX-License-Identifier: MIT */
/* A random key that never leaves this machine: digests that are made with it reveal nothing to
 * readers elsewhere, who could otherwise try all short values. */
#ifndef ORCH_BASE_LOCAL_KEY_H
#define ORCH_BASE_LOCAL_KEY_H

/** Returns the HMAC-SHA-256 of a text with the user's key, as 64 hex digits. The key is made at
 * first use, in $XDG_STATE_HOME/orch/secret-key (~/.local/state/orch/secret-key), readable only by
 * the user. Where it cannot be kept there, the key lasts as long as this process. The caller
 * frees. */
char *orch_local_key_digest(const char *text);

#endif
