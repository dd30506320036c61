/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a stranger's tar archive, entry by entry: .tar or .tar.gz; ustar, pax and GNU names. What
 * an entry is and what it is called is told as it stands there: the caller judges. */
#ifndef ORCH_TAR_READ_H
#define ORCH_TAR_READ_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum orch_tar_kind { ORCH_TAR_FILE, ORCH_TAR_FOLDER, ORCH_TAR_OTHER /* a link or a device */ };

struct orch_tar_entry {
    const char *name; /* as the archive has it; any bytes */
    enum orch_tar_kind kind;
    char type; /* its letter */
    int64_t size;
};

struct orch_tar;
/** Opens it. `bytes_max`: of all that it unpacks to, heads included; 0: 64 GiB. All failures are
 * ORCH_ERROR_IO, naming the archive and the byte in what it unpacks to. */
struct orch_tar *orch_tar_open(const char *path, int64_t bytes_max, GError **error);
void orch_tar_close(struct orch_tar *tar);

/** The next entry, borrowed until the next call; what was not read of the last one is passed over.
 * `*out` NULL: the end, and what was compressed has its checksum. False: damaged, cut off, or
 * beyond a limit. */
bool orch_tar_next(struct orch_tar *tar, const struct orch_tar_entry **out, GError **error);
/** Reads `length` bytes of the entry, which must have that many left. */
bool orch_tar_read(struct orch_tar *tar, void *out, size_t length, GError **error);
/** Sets ORCH_ERROR_IO "archive 'PATH', byte N: what". Returns false. */
bool orch_tar_refuse(const struct orch_tar *tar, GError **error, const char *what);

/** A name without "./" and final "/"; NULL: it does not stay in its folder (absolute, ".."), is not
 * UTF-8, or is longer than 4,095 bytes. The caller frees. */
char *orch_tar_safe_name(const char *name);

#endif
