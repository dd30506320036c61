/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of W&B and SwanLab with the checksums that a fuzzer cannot guess. */
#ifndef ORCH_TESTS_LOGGERS_WANDB_FRAMES_H
#define ORCH_TESTS_LOGGERS_WANDB_FRAMES_H

#include "lib/base/protobuf.h"

#include <glib.h>

/** The seven `first` bytes, then records (type, length in 2 bytes, bytes) as LevelDB's log, none
 * across the end of a block. */
static inline GByteArray *wandb_frames(const char *first, const uint8_t *bytes, size_t length)
{
    enum { BLOCK = 32768, HEAD = 7 };
    uint32_t table[256];
    GByteArray *out = g_byte_array_new();
    orch_protobuf_crc_table(table, PROTOBUF_CRC32);
    g_byte_array_append(out, (const uint8_t *)first, HEAD);
    while (length >= 3) {
        uint8_t type = (uint8_t)(1 + bytes[0] % 4);
        size_t left = BLOCK - out->len % BLOCK, part = orch_protobuf_little(bytes + 1, 2);
        if (left < HEAD) {
            static const uint8_t padding[HEAD];
            g_byte_array_append(out, padding, (guint)left);
            continue;
        }
        part = MIN(MIN(part, length - 3), left - HEAD);
        uint32_t crc =
            orch_protobuf_crc(table, orch_protobuf_crc(table, 0, &type, 1), bytes + 3, part);
        const uint8_t head[] = {(uint8_t)crc,
                                (uint8_t)(crc >> 8),
                                (uint8_t)(crc >> 16),
                                (uint8_t)(crc >> 24),
                                (uint8_t)part,
                                (uint8_t)(part >> 8),
                                type};
        g_byte_array_append(out, head, sizeof head);
        g_byte_array_append(out, bytes + 3, (guint)part);
        bytes += 3 + part;
        length -= 3 + part;
    }
    return out;
}

#endif
