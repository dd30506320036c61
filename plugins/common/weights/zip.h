/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zip archives in memory, as far as PyTorch's files need them: stored and deflated entries, ZIP64.
 * One volume, no encryption. Every offset is checked, and so is each entry's CRC-32. */
#ifndef ORCH_WEIGHTS_ZIP_H
#define ORCH_WEIGHTS_ZIP_H

#include "plugins/common/weights/weights.h"

struct orch_zip_entry {
    char *name;
    uint64_t packed_bytes, bytes;
    uint64_t header_at; /* of its local header */
    uint32_t crc;
    unsigned method; /* 0 stored, 8 deflated */
};

struct orch_zip {
    const uint8_t *bytes;
    size_t length;
    GPtrArray *entries;  /* struct orch_zip_entry * */
    GHashTable *by_name; /* name -> struct orch_zip_entry * */
};

/** Reads the directory; `bytes` must stay while the archive is used. NULL with ORCH_ERROR_IO. */
struct orch_zip *orch_zip_open(const uint8_t *bytes, size_t length, GError **error);
void orch_zip_free(struct orch_zip *zip);

/** NULL when there is none. */
const struct orch_zip_entry *orch_zip_find(const struct orch_zip *zip, const char *name);

/** The bytes of an entry: within the archive where it is stored, unpacked into a new block of
 * `weights` where it is deflated. */
const uint8_t *orch_zip_data(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                             struct orch_weights *weights, GError **error);

#endif
