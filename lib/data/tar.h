/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unpacks a stranger's tar archive: files and folders only, never outside the folder given. */
#ifndef ORCH_DATA_TAR_H
#define ORCH_DATA_TAR_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_tar_options {
    const char *only;  /* just the file of this name (a leading "./" does not count); NULL: all */
    int64_t bytes_max; /* unpacked; 0: 64 GiB */
    bool (*progress)(void *ctx, int64_t done_bytes); /* of the unpacked; false stops; NULL: none */
    void *ctx;
};

/** Unpacks `path` (.tar or .tar.gz; ustar, pax and GNU names) into `folder`, which must be new and
 * the caller's alone. Refused with ORCH_ERROR_IO, naming the archive and the byte in it: a name
 * that is absolute or climbs with '..', links, devices, a wrong checksum, an archive that is cut
 * off or too large, and `only` when it is not there. What was unpacked before stays for the caller
 * to remove. */
bool orch_tar_unpack(const char *path, const char *folder, const struct orch_tar_options *options,
                     GError **error);

#endif
