/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MNIST's format: a big-endian header with magic number and sizes, then bytes; plain or gz (zlib
 * reads both). */
#include "plugins/common/data/private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { MAGIC_LABELS = 0x801, MAGIC_IMAGES = 0x803 };

/* zlib's message without "<fd:N>: ", the name that it has for a file opened by its descriptor. */
static const char *reason(gzFile file, int *out_code)
{
    const char *text = gzerror(file, out_code);
    const char *end = g_str_has_prefix(text, "<fd:") ? strstr(text, ">: ") : NULL;
    return end ? end + strlen(">: ") : text;
}

/* Reads exactly `length` bytes at `*offset`; errors name the file and the position. */
static bool read_exactly(gzFile file, const char *path, void *out, size_t length, int64_t *offset,
                         GError **error)
{
    uint8_t *at = out;
    while (length) {
        unsigned part = (unsigned)MIN(length, (size_t)1 << 30);
        int n = gzread(file, at, part);
        if (n <= 0) {
            int code;
            const char *text = reason(file, &code);
            if (code != Z_OK && code != Z_BUF_ERROR && code != Z_STREAM_END)
                orch_error_set(error, ORCH_ERROR_IO, "the file is damaged: download it again",
                               "'%s', byte %" G_GINT64_FORMAT ": %s", path, *offset, text);
            else
                orch_error_set(error, ORCH_ERROR_IO, "the file is truncated: download it again",
                               "'%s' ends at byte %" G_GINT64_FORMAT ", %" G_GSIZE_FORMAT
                               " bytes too early",
                               path, *offset, length);
            return false;
        }
        at += n;
        length -= (size_t)n;
        *offset += n;
    }
    return true;
}

/* Checks that nothing follows; reading to the end also makes zlib verify the checksum. */
static bool read_end(gzFile file, const char *path, int64_t offset, GError **error)
{
    uint8_t byte;
    int code, n = gzread(file, &byte, 1);
    const char *text = reason(file, &code);
    if (n == 0 && (code == Z_OK || code == Z_STREAM_END))
        return true;
    if (n > 0)
        orch_error_set(error, ORCH_ERROR_IO, "the file has another size than its header says",
                       "'%s', byte %" G_GINT64_FORMAT ": more bytes than the header announces",
                       path, offset);
    else
        orch_error_set(error, ORCH_ERROR_IO, "the file is damaged: download it again",
                       "'%s', byte %" G_GINT64_FORMAT ": %s", path, offset,
                       code == Z_BUF_ERROR ? "the compressed file is truncated" : text);
    return false;
}

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool read_head(gzFile file, const char *path, uint32_t magic, uint32_t *sizes, int count,
                      int64_t *offset, GError **error)
{
    uint8_t head[16];
    if (!read_exactly(file, path, head, 4 + 4 * (size_t)count, offset, error))
        return false;
    if (big_endian(head) != magic) {
        orch_error_set(error, ORCH_ERROR_IO, "images and labels may be swapped",
                       "'%s', byte 0: magic number 0x%08x, expected 0x%08x", path, big_endian(head),
                       magic);
        return false;
    }
    for (int i = 0; i < count; i++)
        sizes[i] = big_endian(head + 4 + 4 * i);
    return true;
}

static gzFile open_gz(const char *path, GError **error)
{
    int fd = orch_file_open(path, error);
    if (fd < 0)
        return NULL;
    gzFile file = gzdopen(fd, "rb"); /* closes the descriptor with itself */
    if (file) {
        gzbuffer(file, 1 << 18);
        return file;
    }
    orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read '%s': out of memory", path);
    close(fd);
    return NULL;
}

static struct orch_image_set *read_images(const struct orch_image_set_facts *facts,
                                          const char *path, GError **error)
{
    gzFile file = open_gz(path, error);
    uint32_t sizes[3];
    int64_t offset = 0;
    struct orch_image_set *d = NULL;
    if (!file)
        return NULL;
    if (read_head(file, path, MAGIC_IMAGES, sizes, 3, &offset, error)) {
        if (sizes[0] == 0 || sizes[0] > 10000000 || sizes[1] == 0 || sizes[1] > 4096 ||
            sizes[2] == 0 || sizes[2] > 4096)
            orch_error_set(error, ORCH_ERROR_IO, NULL,
                           "'%s', byte 4: %u images of %u x %u are out of range", path, sizes[0],
                           sizes[1], sizes[2]);
        else
            d = orch_image_set_alloc(facts->name, sizes[0], 1, (int)sizes[1], (int)sizes[2],
                                     facts->classes, error);
    }
    if (d && (!read_exactly(file, path, d->images, (size_t)(d->count * d->height * d->width),
                            &offset, error) ||
              !read_end(file, path, offset, error))) {
        orch_image_set_free(d);
        d = NULL;
    }
    gzclose(file);
    return d;
}

static bool read_labels(struct orch_image_set *d, const char *path, GError **error)
{
    gzFile file = open_gz(path, error);
    uint32_t count;
    int64_t offset = 0;
    if (!file)
        return false;
    bool ok = read_head(file, path, MAGIC_LABELS, &count, 1, &offset, error);
    if (ok && count != d->count) {
        orch_error_set(error, ORCH_ERROR_IO, "images and labels must come from the same split",
                       "'%s', byte 4: %u labels for %" G_GINT64_FORMAT " images", path, count,
                       d->count);
        ok = false;
    }
    g_autofree uint8_t *labels = g_malloc((gsize)d->count);
    ok = ok && read_exactly(file, path, labels, (size_t)d->count, &offset, error) &&
         read_end(file, path, offset, error);
    for (int64_t i = 0; ok && i < d->count; i++) {
        d->labels[i] = labels[i];
        if (labels[i] >= d->classes) {
            orch_error_set(error, ORCH_ERROR_IO, NULL,
                           "'%s', byte %" G_GINT64_FORMAT " (image %" G_GINT64_FORMAT
                           "): label %u, expected 0 to %d",
                           path, 8 + i, i, labels[i], d->classes - 1);
            ok = false;
        }
    }
    gzclose(file);
    return ok;
}

struct orch_image_set *orch_idx_read(const struct orch_image_set_facts *facts,
                                     const GPtrArray *files, GError **error)
{
    struct orch_image_set *d = read_images(facts, files->pdata[0], error);
    if (d && !read_labels(d, files->pdata[1], error)) {
        orch_image_set_free(d);
        return NULL;
    }
    return d;
}
