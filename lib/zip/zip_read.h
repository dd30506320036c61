/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads an untrusted zip archive in memory: stored and deflated entries, ZIP64; a single volume, no
 * encryption. Every offset, and each entry's size and CRC-32, is verified. Names are reported
 * unchecked and never used as paths. */
#ifndef ORCH_ZIP_READ_H
#define ORCH_ZIP_READ_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_zip_entry {
    char *name;
    uint64_t packed_bytes, bytes;
    uint64_t header_at; /* offset of its local header */
    uint32_t crc;
    unsigned method; /* 0 stored, 8 deflated */
    bool is_file;    /* not a folder, link or device */
};

/** Limits that are checked before anything is unpacked. */
struct orch_zip_limits {
    uint64_t entries, entry_bytes;
};

struct orch_zip {
    const uint8_t *bytes;
    size_t length;
    struct orch_zip_limits limits;
    GPtrArray *entries;  /* struct orch_zip_entry *, in directory order */
    GHashTable *by_name; /* name -> struct orch_zip_entry * */
};

/** Reads the directory; `bytes` must outlive the result. Fails with NULL and ORCH_ERROR_IO. */
struct orch_zip *orch_zip_open(const uint8_t *bytes, size_t length, struct orch_zip_limits limits,
                               GError **error);
void orch_zip_free(struct orch_zip *zip);

/** Finds an entry by name; NULL if there is none. */
const struct orch_zip_entry *orch_zip_find(const struct orch_zip *zip, const char *name);

/** Data of a stored entry, inside the archive. Fails with NULL and ORCH_ERROR_IO. */
const uint8_t *orch_zip_stored(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                               GError **error);

/** Receives the next bytes of an entry; returning false with an error stops. */
typedef bool (*orch_zip_sink)(void *ctx, const uint8_t *bytes, size_t length, GError **error);
/** Passes an entry's data to `sink`, at most entry->bytes. Size and CRC-32 are verified at the end
 * only, so the data must be discarded if this returns false. */
bool orch_zip_unpack(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                     orch_zip_sink sink, void *ctx, GError **error);

#endif
