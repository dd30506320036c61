/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unpacks an untrusted tar archive: files and folders only, never outside the given folder. */
#ifndef ORCH_FEATURES_DATASETS_TAR_UNPACK_H
#define ORCH_FEATURES_DATASETS_TAR_UNPACK_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct orch_tar_options {
    const char *only;  /* unpack only this file (ignoring a leading "./"); NULL: all */
    int64_t bytes_max; /* maximum unpacked size; 0: 64 GiB */
    bool (*progress)(void *ctx, int64_t done_bytes); /* unpacked bytes; false stops; may be NULL */
    void *ctx;
};

/** Unpacks `path` (.tar or .tar.gz; ustar, pax and GNU names) into `folder`, which must be new and
 * private to the caller. Fails with ORCH_ERROR_IO, naming the archive and the byte position, for
 * absolute names or names with '..', links, devices, a wrong checksum, a truncated or too large
 * archive, or if `only` is missing. Files unpacked until then remain for the caller to remove. */
bool orch_tar_unpack(const char *path, const char *folder, const struct orch_tar_options *options,
                     GError **error);

#endif
