/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes a ZIP archive of files that are in memory. */
#ifndef ORCH_DATA_ZIP_H
#define ORCH_DATA_ZIP_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

struct orch_zip_file {
    const char *name; /* in the archive: relative, without '..' */
    const void *bytes;
    size_t length;
};

/** Writes `path` with libarchive, which is opened at run time: an archive there is replaced only
 * when the new one is whole and on disk. ORCH_ERROR_USAGE for a name that climbs out,
 * ORCH_ERROR_IO when libarchive is missing or the file cannot be written. */
bool orch_zip_write(const char *path, const struct orch_zip_file *files, size_t count,
                    GError **error);

#endif
