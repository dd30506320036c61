/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes one file out of a ZIP archive that somebody else made. The number of entries and the bytes
 * that are unpacked are bounded; names are shown and never used as paths. */
#ifndef ORCH_DATA_UNZIP_H
#define ORCH_DATA_UNZIP_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Is it a ZIP archive by its first bytes? */
bool orch_zip_is(const char *path);

/** Writes the only file of the archive whose name ends with `suffix` to `to`. `*out_name` gets its
 * name, `*out_others` the names of the other files (char *, at most 100), both fit to be shown; the
 * caller frees. False with ORCH_ERROR_NOT_FOUND when there is no such file, with ORCH_ERROR_IO when
 * there are several, when it has more than `bytes_max` bytes or far more than the archive, when the
 * archive is damaged, or when libarchive (opened at run time) is missing. */
bool orch_zip_take(const char *path, const char *suffix, int64_t bytes_max, const char *to,
                   char **out_name, GPtrArray **out_others, GError **error);

#endif
