/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads an untrusted tar archive, entry by entry: .tar or .tar.gz; ustar, pax and GNU names. Types
 * and names are reported unchecked; the caller decides what to accept. */
#ifndef ORCH_TAR_READ_H
#define ORCH_TAR_READ_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_tar_kind { ORCH_TAR_FILE, ORCH_TAR_FOLDER, ORCH_TAR_OTHER /* a link or a device */ };

struct orch_tar_entry {
    const char *name; /* as in the archive; arbitrary bytes */
    enum orch_tar_kind kind;
    char type; /* type flag */
    int64_t size;
};

struct orch_tar;
/** Opens an archive. `bytes_max` limits the total unpacked size including headers; 0: 64 GiB. All
 * functions fail with ORCH_ERROR_IO, naming the archive and the position in the unpacked stream. */
struct orch_tar *orch_tar_open(const char *path, int64_t bytes_max, GError **error);
void orch_tar_close(struct orch_tar *tar);

/** Moves to the next entry, skipping unread data of the last one. The entry is borrowed until the
 * next call. `*out` is NULL at the end, after verifying the compression's checksum. Returns false
 * if the archive is damaged, truncated, or exceeds a limit. */
bool orch_tar_next(struct orch_tar *tar, const struct orch_tar_entry **out, GError **error);
/** Reads exactly `length` bytes of the entry's data. */
bool orch_tar_read(struct orch_tar *tar, void *out, size_t length, GError **error);
/** Sets ORCH_ERROR_IO "archive 'PATH', byte N: what". Returns false. */
bool orch_tar_refuse(const struct orch_tar *tar, GError **error, const char *what);

/** Returns the name without "./" and a final "/", or NULL if it is unsafe (absolute, with ".."),
 * not UTF-8, or longer than 4,095 bytes. Caller frees. */
char *orch_tar_safe_name(const char *name);

#endif
