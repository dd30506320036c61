/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a ZIP archive of files in memory. */
#ifndef ORCH_FEATURES_PACK_ZIP_WRITE_H
#define ORCH_FEATURES_PACK_ZIP_WRITE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct orch_zip_file {
    const char *name; /* in the archive: relative, without '..' */
    const void *bytes;
    size_t length;
};

/** Writes `path`, at most 4 GiB. An existing archive is replaced only after the new one is complete
 * and on disk. Fails with ORCH_ERROR_USAGE for an unsafe name, ORCH_ERROR_IO if the files are too
 * large or the archive cannot be written. */
bool orch_zip_write(const char *path, const struct orch_zip_file *files, size_t count,
                    GError **error);

#endif
