/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CIFAR's binary version: records of one label byte (CIFAR-100: coarse, then fine) and 3,072 bytes
 * of red, green and blue planes. */
#include "plugins/common/data/private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

enum { PIXELS = 3 * 32 * 32, FILE_BYTES_MAX = 1 << 28 };

static bool take_file(struct orch_dataset *d, const char *path, int label_bytes, int64_t *row,
                      GError **error)
{
    g_autofree char *bytes = NULL;
    size_t length;
    const size_t record = (size_t)label_bytes + PIXELS;
    if (!orch_file_read(path, FILE_BYTES_MAX, &bytes, &length, error))
        return false;
    if (length == 0 || length % record) {
        orch_error_set(error, ORCH_ERROR_IO, "the file is cut off, or is not the binary version",
                       "'%s' ends at byte %" G_GSIZE_FORMAT ", within record %" G_GSIZE_FORMAT
                       " of %" G_GSIZE_FORMAT " bytes",
                       path, length, length / record, record);
        return false;
    }
    for (size_t at = 0; at < length; at += record, (*row)++) {
        int label = (uint8_t)bytes[at + (size_t)label_bytes - 1];
        if (*row >= d->count || label >= d->classes) {
            orch_error_set(error, ORCH_ERROR_IO, NULL,
                           *row >= d->count ? "'%s', byte %" G_GSIZE_FORMAT ": more images than %d"
                                            : "'%s', byte %" G_GSIZE_FORMAT
                                              ": label %d is out of range",
                           path, at, *row >= d->count ? (int)d->count : label);
            return false;
        }
        d->labels[*row] = label;
        memcpy(d->images + *row * PIXELS, bytes + at + label_bytes, PIXELS);
    }
    return true;
}

static int64_t count_records(const GPtrArray *files, int label_bytes)
{
    int64_t total = 0;
    for (guint i = 0; i < files->len; i++) {
        g_autoptr(GMappedFile) file = g_mapped_file_new(files->pdata[i], FALSE, NULL);
        total += file ? (int64_t)g_mapped_file_get_length(file) / (label_bytes + PIXELS) : 0;
    }
    return MAX(total, 1);
}

struct orch_dataset *orch_cifar_read(const struct orch_dataset_facts *facts, const GPtrArray *files,
                                     GError **error)
{
    int label_bytes = facts->classes == 100 ? 2 : 1;
    struct orch_dataset *d = orch_dataset_alloc(facts->name, count_records(files, label_bytes), 3,
                                                32, 32, facts->classes, error);
    int64_t row = 0;
    for (guint i = 0; d && i < files->len; i++) {
        if (!take_file(d, files->pdata[i], label_bytes, &row, error)) {
            orch_dataset_free(d);
            return NULL;
        }
    }
    return d;
}
