/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference: PKWARE's APPNOTE, sections 4.3.7 to 4.3.16. Does not support ZIP64, because the
 * archives are small. */
#include "features/pack/zip_write.h"

#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

enum {
    VERSION = 20,        /* 2.0: deflate */
    MADE_ON_UNIX = 3,    /* the attributes contain a file mode */
    FLAG_UTF8 = 1 << 11, /* names are UTF-8 */
    FILES_MAX = 0xffff,
    NAME_MAX_BYTES = 4096,
};
#define ARCHIVE_BYTES_MAX 0xffffffffu
#define MODE (S_IFREG | 0644)

static bool name_is_safe(const char *name)
{
    g_auto(GStrv) parts = g_strsplit(name, "/", -1);
    return *name && *name != '/' && !strchr(name, '\\') && strlen(name) <= NAME_MAX_BYTES &&
           !g_strv_contains((const char *const *)parts, "..");
}

static void append(GByteArray *out, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, number >>= 8)
        g_byte_array_append(out, &(uint8_t){(uint8_t)number}, 1);
}

/* Bits from low to high: seconds / 2, minutes, hours, day, month, years since 1980. */
static uint32_t dos_time(time_t now)
{
    struct tm tm;
    localtime_r(&now, &tm);
    unsigned year = (unsigned)CLAMP(tm.tm_year - 80, 0, 127);
    return year << 25 | (unsigned)(tm.tm_mon + 1) << 21 | (unsigned)tm.tm_mday << 16 |
           (unsigned)tm.tm_hour << 11 | (unsigned)tm.tm_min << 5 | (unsigned)tm.tm_sec / 2;
}

struct packed {
    const struct orch_zip_file *file;
    uint64_t bytes, at;
    uint32_t crc;
    bool is_deflated;
};

/* Appends the fields that local header and directory have in common, from the required version
 * on. */
static void append_facts(GByteArray *out, const struct packed *p, uint32_t time)
{
    append(out, VERSION, 2);
    append(out, FLAG_UTF8, 2);
    append(out, p->is_deflated ? Z_DEFLATED : 0, 2);
    append(out, time, 4);
    append(out, p->crc, 4);
    append(out, p->bytes, 4);
    append(out, p->file->length, 4);
    append(out, strlen(p->file->name), 2);
    append(out, 0, 2); /* extra field */
}

static void append_text(GByteArray *out, const char *text)
{
    g_byte_array_append(out, (const uint8_t *)text, (guint)strlen(text));
}

/* Appends a file's data, deflated if that is smaller. */
static void append_data(GByteArray *out, struct packed *p)
{
    z_stream stream = {0};
    const guint at = out->len;
    bool ok = p->file->length && deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                              -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (ok) {
        g_byte_array_set_size(out, at + (guint)p->file->length);
        stream.next_in = (Bytef *)(uintptr_t)p->file->bytes;
        stream.avail_in = (uInt)p->file->length;
        stream.next_out = out->data + at;
        stream.avail_out = (uInt)p->file->length - 1;
        p->is_deflated = deflate(&stream, Z_FINISH) == Z_STREAM_END;
        p->bytes = stream.total_out;
        deflateEnd(&stream);
    }
    g_byte_array_set_size(out, p->is_deflated ? at + (guint)p->bytes : at);
    if (p->is_deflated)
        return;
    p->bytes = p->file->length;
    g_byte_array_append(out, p->file->bytes, (guint)p->file->length);
}

static void append_file(GByteArray *out, struct packed *p, uint32_t time)
{
    p->at = out->len;
    p->crc = (uint32_t)crc32_z(0, p->file->bytes, p->file->length);
    g_autoptr(GByteArray) data = g_byte_array_new();
    append_data(data, p);
    append(out, 0x04034b50, 4);
    append_facts(out, p, time);
    append_text(out, p->file->name);
    g_byte_array_append(out, data->data, data->len);
}

static void append_directory(GByteArray *out, const struct packed *files, size_t count,
                             uint32_t time)
{
    const guint at = out->len;
    for (size_t i = 0; i < count; i++) {
        append(out, 0x02014b50, 4);
        append(out, VERSION, 1);
        append(out, MADE_ON_UNIX, 1);
        append_facts(out, &files[i], time);
        append(out, 0, 6); /* comment, disk, internal attributes */
        append(out, (uint64_t)MODE << 16, 4);
        append(out, files[i].at, 4);
        append_text(out, files[i].file->name);
    }
    const guint end = out->len;
    append(out, 0x06054b50, 4);
    append(out, 0, 4); /* disks */
    append(out, count, 2);
    append(out, count, 2);
    append(out, end - at, 4);
    append(out, at, 4);
    append(out, 0, 2); /* comment */
}

static bool check(const char *path, const struct orch_zip_file *files, size_t count, GError **error)
{
    uint64_t most = 1 << 16; /* upper bound with headers, as packing never enlarges */
    for (size_t i = 0; i < count; i++) {
        if (!name_is_safe(files[i].name)) {
            orch_error_set(error, ORCH_ERROR_USAGE, NULL,
                           "'%s' is not a valid file name in a ZIP archive", files[i].name);
            return false;
        }
        most += files[i].length + 2 * strlen(files[i].name) + 128;
    }
    if (most < ARCHIVE_BYTES_MAX && count <= FILES_MAX)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, "split the files into several archives",
                   "cannot write '%s': over 4 GiB, or more than %d files", path, FILES_MAX);
    return false;
}

bool orch_zip_write(const char *path, const struct orch_zip_file *files, size_t count,
                    GError **error)
{
    if (!check(path, files, count, error))
        return false;
    g_autofree struct packed *packed = g_new0(struct packed, count);
    g_autoptr(GByteArray) out = g_byte_array_new();
    const uint32_t time_now = dos_time(time(NULL));
    for (size_t i = 0; i < count; i++) {
        packed[i].file = &files[i];
        append_file(out, &packed[i], time_now);
    }
    append_directory(out, packed, count, time_now);
    return orch_file_write(path, out->data, out->len, true, error);
}
