/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Extracts one file from an untrusted ZIP archive. The numbers of entries and unpacked bytes are
 * bounded; names are displayed but never used as paths. */
#ifndef ORCH_FEATURES_PACK_UNZIP_H
#define ORCH_FEATURES_PACK_UNZIP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** True if the file starts like a ZIP archive. */
bool orch_zip_is(const char *path);

/** Writes the only file of the archive whose name ends with `suffix` to `to`. `*out_name` receives
 * its name and `*out_others` the names of other files (char *, at most 100), all safe to display;
 * caller frees. Fails with ORCH_ERROR_NOT_FOUND if there is no such file, or ORCH_ERROR_IO if there
 * are several, if it is larger than `bytes_max` or unpacks to much more than the archive, or if the
 * archive is damaged or encrypted; then nothing is left at `to`. */
bool orch_zip_take(const char *path, const char *suffix, int64_t bytes_max, const char *to,
                   char **out_name, GPtrArray **out_others, GError **error);

#endif
