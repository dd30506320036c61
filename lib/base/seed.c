/* SPDX-License-Identifier: MIT */
#include "lib/base/seed.h"

#include <glib.h>
#include <string.h>

uint64_t orch_seed_derive(uint64_t seed, const char *stream)
{
    uint8_t bytes[8], digest[32];
    gsize length = sizeof digest;
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(seed >> (8 * i));
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, bytes, sizeof bytes);
    g_checksum_update(sum, (const guchar *)stream, (gssize)strlen(stream));
    g_checksum_get_digest(sum, digest, &length);
    g_checksum_free(sum);
    uint64_t derived = 0;
    for (int i = 7; i >= 0; i--)
        derived = derived << 8 | digest[i];
    return derived;
}
