/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CIFAR's binary format: records of one label byte (CIFAR-100: coarse, then fine) and 3,072 bytes
 * in red, green and blue planes. */
#include "plugins/common/data/private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>
#include <sys/stat.h>

enum { PIXELS = 3 * 32 * 32, FILE_BYTES_MAX = 1 << 28 };

static bool take_file(struct orch_image_set *d, const char *path, size_t record, int64_t *row,
                      GError **error)
{
    g_autofree char *bytes = NULL;
    size_t length;
    if (!orch_file_read(path, FILE_BYTES_MAX, &bytes, &length, error))
        return false;
    if ((int64_t)(length / record) > d->count - *row) {
        orch_error_set(error, ORCH_ERROR_IO, NULL, "'%s' has changed while it was read", path);
        return false;
    }
    for (size_t at = 0; at + record <= length; at += record, (*row)++) {
        int label = (uint8_t)bytes[at + record - PIXELS - 1];
        if (label >= d->classes) {
            orch_error_set(error, ORCH_ERROR_IO, NULL,
                           "'%s', byte %" G_GSIZE_FORMAT " (record %" G_GSIZE_FORMAT
                           "): label %d, expected 0 to %d",
                           path, at, at / record, label, d->classes - 1);
            return false;
        }
        d->labels[*row] = label;
        memcpy(d->images + *row * PIXELS, bytes + at + record - PIXELS, PIXELS);
    }
    return true;
}

/* Number of records in a file by its size; 0 if the size is not a multiple of the record. */
static int64_t count_records(const char *path, size_t record, GError **error)
{
    struct stat info = {0};
    if (stat(path, &info) == 0 && info.st_size > 0 && (size_t)info.st_size % record == 0)
        return (int64_t)((size_t)info.st_size / record);
    orch_error_set(error, ORCH_ERROR_IO, "the file is truncated, or is not the binary version",
                   "'%s' ends at byte %" G_GINT64_FORMAT ", within record %" G_GINT64_FORMAT
                   " of %" G_GSIZE_FORMAT " bytes",
                   path, (int64_t)info.st_size, (int64_t)((size_t)info.st_size / record), record);
    return 0;
}

/* Number of records in all files. The files must have equal length, because a file truncated
 * between two records cannot be detected otherwise. */
static int64_t count_all(const GPtrArray *files, size_t record, GError **error)
{
    int64_t first = 0;
    for (guint i = 0; i < files->len; i++) {
        int64_t count = count_records(files->pdata[i], record, error);
        if (!count)
            return 0;
        first = first ? first : count;
        if (count != first) {
            orch_error_set(error, ORCH_ERROR_IO, "one file is truncated: download the set again",
                           "'%s' has %" G_GINT64_FORMAT " records, but '%s' has %" G_GINT64_FORMAT,
                           (char *)files->pdata[i], count, (char *)files->pdata[0], first);
            return 0;
        }
    }
    return first * files->len;
}

struct orch_image_set *orch_cifar_read(const struct orch_image_set_facts *facts,
                                       const GPtrArray *files, GError **error)
{
    const size_t record = (facts->classes == 100 ? 2 : 1) + PIXELS;
    int64_t row = 0, count = count_all(files, record, error);
    struct orch_image_set *d =
        count ? orch_image_set_alloc(facts->name, count, 3, 32, 32, facts->classes, error) : NULL;
    for (guint i = 0; d && i < files->len; i++) {
        if (!take_file(d, files->pdata[i], record, &row, error)) {
            orch_image_set_free(d);
            return NULL;
        }
    }
    return d;
}
