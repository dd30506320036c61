/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference: PKWARE's APPNOTE, sections 4.3.7 to 4.3.16 and 4.5.3. */
#include "lib/zip/zip_read.h"

#include "lib/base/error.h"

#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum {
    LOCAL_BYTES = 30,     /* fixed part of a local header */
    ENTRY_BYTES = 46,     /* fixed part of a directory entry */
    END_BYTES = 22,       /* fixed part of the end record */
    LOCATOR_BYTES = 20,   /* ZIP64 locator */
    END64_BYTES = 56,     /* ZIP64 end record */
    COMMENT_MAX = 0xffff, /* comment after the end record */
    DEFLATE_RATIO = 1032, /* maximum compression ratio of deflate */
    EXTRA_ZIP64 = 1,
    HOST_UNIX = 3, /* origin whose attributes contain a file mode */
    HOST_DARWIN = 19,
};

#define IN_ZIP64 0xffffffffu /* the value is in the ZIP64 record instead */

/* Offset of the directory and number of its entries. */
struct directory {
    uint64_t at, count;
};

static bool damaged(GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_IO, "the file may be truncated: copy or download it again",
                   "zip archive is damaged: %s", what);
    return false;
}

static bool unusable(GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_IO,
                   "unpack the archive with another program, and zip it again",
                   "zip archive cannot be read: %s", what);
    return false;
}

static uint64_t u16(const uint8_t *p)
{
    return (uint64_t)p[0] | (uint64_t)p[1] << 8;
}

static uint64_t u32(const uint8_t *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static uint64_t u64(const uint8_t *p)
{
    return u32(p) | u32(p + 4) << 32;
}

static bool has_mark(const uint8_t *p, const char *mark)
{
    return memcmp(p, mark, 4) == 0;
}

/* True if `count` bytes from `at` are inside the archive. */
static bool is_inside(const struct orch_zip *zip, uint64_t at, uint64_t count)
{
    return at <= zip->length && count <= zip->length - at;
}

/* Offset of the end record, which ends, with its comment, at the end of the file; -1 if there is
 * none. */
static int64_t find_end(const struct orch_zip *zip)
{
    for (size_t comment = 0; comment <= COMMENT_MAX && END_BYTES + comment <= zip->length;
         comment++) {
        size_t at = zip->length - END_BYTES - comment;
        if (has_mark(zip->bytes + at, "PK\5\6") && u16(zip->bytes + at + 20) == comment)
            return (int64_t)at;
    }
    return -1;
}

static bool find_directory(const struct orch_zip *zip, struct directory *out, GError **error)
{
    int64_t end = find_end(zip);
    if (end < 0)
        return damaged(error, "the end record is missing");
    const uint8_t *p = zip->bytes + end;
    *out = (struct directory){u32(p + 16), u16(p + 10)};
    if (end < LOCATOR_BYTES || !has_mark(p - LOCATOR_BYTES, "PK\6\7"))
        return true;
    uint64_t at = u64(p - LOCATOR_BYTES + 8);
    if (!is_inside(zip, at, END64_BYTES) || !has_mark(zip->bytes + at, "PK\6\6"))
        return damaged(error, "the ZIP64 end record is missing");
    *out = (struct directory){u64(zip->bytes + at + 48), u64(zip->bytes + at + 32)};
    return true;
}

/* Reads the ZIP64 field: unpacked size, packed size and offset, each only if the entry's own field
 * is all ones. */
static bool read_zip64(struct orch_zip_entry *entry, const uint8_t *extra, size_t length)
{
    uint64_t *const fields[] = {&entry->bytes, &entry->packed_bytes, &entry->header_at};
    while (length >= 4) {
        size_t size = u16(extra + 2);
        if (size > length - 4)
            return false;
        const uint8_t *p = extra + 4;
        for (unsigned i = 0; u16(extra) == EXTRA_ZIP64 && i < G_N_ELEMENTS(fields); i++) {
            if (*fields[i] != IN_ZIP64)
                continue;
            if ((size_t)(p - extra) - 4 + 8 > size)
                return false;
            *fields[i] = u64(p);
            p += 8;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return true;
}

static bool check_entry(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                        unsigned flags, GError **error)
{
    if (flags & 1)
        return unusable(error, "an entry is encrypted");
    if (entry->method != 0 && entry->method != Z_DEFLATED)
        return unusable(error, "an entry is compressed by a method other than deflate");
    if (entry->packed_bytes > zip->length || entry->bytes > zip->limits.entry_bytes ||
        (entry->method == 0 && entry->bytes != entry->packed_bytes) ||
        entry->bytes / DEFLATE_RATIO > entry->packed_bytes)
        return damaged(error, "an entry has impossible sizes");
    if (g_hash_table_contains(zip->by_name, entry->name))
        return damaged(error, "a name occurs twice");
    return true;
}

/* Determined from the mode if there is one, because a link has a name like a file. */
static bool is_file(const uint8_t *p, const char *name)
{
    unsigned host = p[5], type = (unsigned)(u32(p + 38) >> 16) & S_IFMT;
    if ((host == HOST_UNIX || host == HOST_DARWIN) && type != 0)
        return type == S_IFREG;
    return !g_str_has_suffix(name, "/");
}

/* Reads one directory entry at `*at` and advances it. */
static bool read_entry(struct orch_zip *zip, uint64_t *at, GError **error)
{
    if (!is_inside(zip, *at, ENTRY_BYTES) || !has_mark(zip->bytes + *at, "PK\1\2"))
        return damaged(error, "the directory is truncated");
    const uint8_t *p = zip->bytes + *at;
    size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    if (!is_inside(zip, *at + ENTRY_BYTES, name + extra + comment) ||
        memchr(p + ENTRY_BYTES, 0, name))
        return damaged(error, "a name in the directory is not valid");
    struct orch_zip_entry *entry = g_new0(struct orch_zip_entry, 1);
    g_ptr_array_add(zip->entries, entry);
    entry->name = g_strndup((const char *)p + ENTRY_BYTES, name);
    entry->method = (unsigned)u16(p + 10);
    entry->crc = (uint32_t)u32(p + 16);
    entry->packed_bytes = u32(p + 20);
    entry->bytes = u32(p + 24);
    entry->header_at = u32(p + 42);
    entry->is_file = is_file(p, entry->name);
    if (!read_zip64(entry, p + ENTRY_BYTES + name, extra))
        return damaged(error, "a ZIP64 field is truncated");
    if (!check_entry(zip, entry, (unsigned)u16(p + 8), error))
        return false;
    g_hash_table_insert(zip->by_name, entry->name, entry);
    *at += ENTRY_BYTES + name + extra + comment;
    return true;
}

static bool read_directory(struct orch_zip *zip, GError **error)
{
    struct directory directory = {0, 0};
    if (!find_directory(zip, &directory, error))
        return false;
    if (directory.count > zip->limits.entries) {
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "zip archive has more than %" G_GUINT64_FORMAT " entries",
                       zip->limits.entries);
        return false;
    }
    uint64_t packed = 0, at = directory.at;
    for (uint64_t i = 0; i < directory.count; i++) {
        if (!read_entry(zip, &at, error))
            return false;
        const struct orch_zip_entry *entry = zip->entries->pdata[i];
        packed +=
            entry->packed_bytes; /* cannot overflow: at most the count times the file length */
    }
    return packed <= zip->length || damaged(error, "its entries overlap");
}

static void entry_free(void *pointer)
{
    struct orch_zip_entry *entry = pointer;
    g_free(entry->name);
    g_free(entry);
}

struct orch_zip *orch_zip_open(const uint8_t *bytes, size_t length, struct orch_zip_limits limits,
                               GError **error)
{
    struct orch_zip *zip = g_new0(struct orch_zip, 1);
    zip->bytes = bytes;
    zip->length = length;
    zip->limits = limits;
    zip->entries = g_ptr_array_new_with_free_func(entry_free);
    zip->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    if (read_directory(zip, error))
        return zip;
    orch_zip_free(zip);
    return NULL;
}

void orch_zip_free(struct orch_zip *zip)
{
    if (!zip)
        return;
    g_hash_table_unref(zip->by_name);
    g_ptr_array_unref(zip->entries);
    g_free(zip);
}

const struct orch_zip_entry *orch_zip_find(const struct orch_zip *zip, const char *name)
{
    return g_hash_table_lookup(zip->by_name, name);
}

/* Offset of an entry's data; 0 if its local header does not match. */
static uint64_t data_at(const struct orch_zip *zip, const struct orch_zip_entry *entry)
{
    if (!is_inside(zip, entry->header_at, LOCAL_BYTES))
        return 0;
    const uint8_t *p = zip->bytes + entry->header_at;
    size_t name = u16(p + 26), extra = u16(p + 28);
    uint64_t at = entry->header_at + LOCAL_BYTES + name + extra;
    bool fits = has_mark(p, "PK\3\4") && is_inside(zip, at, entry->packed_bytes) &&
                name == strlen(entry->name) && memcmp(p + LOCAL_BYTES, entry->name, name) == 0;
    return fits ? at : 0;
}

static const uint8_t *packed_data(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                                  GError **error)
{
    uint64_t at = data_at(zip, entry);
    if (at)
        return zip->bytes + at;
    damaged(error, "an entry is not at the offset that the directory gives");
    return NULL;
}

static bool check_crc(const struct orch_zip_entry *entry, uint32_t crc, GError **error)
{
    if (crc == entry->crc)
        return true;
    orch_error_set(error, ORCH_ERROR_IO, "download the file again",
                   "zip archive is damaged: CRC-32 of '%s' is %08x, expected %08x", entry->name,
                   crc, entry->crc);
    return false;
}

const uint8_t *orch_zip_stored(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                               GError **error)
{
    g_assert(entry->method == 0);
    const uint8_t *data = packed_data(zip, entry, error);
    return data && check_crc(entry, (uint32_t)crc32_z(0, data, entry->bytes), error) ? data : NULL;
}

/* ---- unpacking ---------------------------------------------------------------------------------
 */

struct unpacking {
    const struct orch_zip_entry *entry;
    orch_zip_sink sink;
    void *ctx;
    uint64_t done; /* bytes passed to the sink */
    uint32_t crc;
};

static bool wrong_size(GError **error)
{
    return damaged(error, "the unpacked size of an entry is wrong");
}

static bool give(struct unpacking *u, const uint8_t *bytes, size_t length, GError **error)
{
    if (length > u->entry->bytes - u->done)
        return wrong_size(error);
    u->crc = (uint32_t)crc32_z(u->crc, bytes, length);
    u->done += length;
    return length == 0 || u->sink(u->ctx, bytes, length, error);
}

/* Inflates raw deflate data in pieces, because zlib uses 32-bit sizes. */
static bool inflate_all(struct unpacking *u, z_stream *stream, const uint8_t *packed,
                        GError **error)
{
    uint8_t out[1 << 16];
    uint64_t left = u->entry->packed_bytes;
    int status = Z_OK;
    stream->next_in = (Bytef *)(uintptr_t)packed;
    while (status == Z_OK) {
        if (stream->avail_in == 0) {
            stream->avail_in = (uInt)MIN(left, (uint64_t)1 << 30);
            left -= stream->avail_in;
        }
        stream->next_out = out;
        stream->avail_out = sizeof out;
        status = inflate(stream, Z_NO_FLUSH);
        if (!give(u, out, sizeof out - stream->avail_out, error))
            return false;
    }
    return (status == Z_STREAM_END && u->done == u->entry->bytes) || wrong_size(error);
}

bool orch_zip_unpack(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                     orch_zip_sink sink, void *ctx, GError **error)
{
    struct unpacking u = {.entry = entry, .sink = sink, .ctx = ctx};
    const uint8_t *packed = packed_data(zip, entry, error);
    z_stream stream = {0};
    bool ok;
    if (!packed)
        return false;
    if (entry->method == 0)
        ok = give(&u, packed, entry->bytes, error);
    else if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return unusable(error, "no memory to unpack the archive");
    else
        ok = inflate_all(&u, &stream, packed, error);
    if (entry->method != 0)
        inflateEnd(&stream);
    return ok && check_crc(entry, u.crc, error);
}
