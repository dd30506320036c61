/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference: PKWARE's APPNOTE, sections 4.3.7 to 4.3.16 and 4.5.3. */
#include "plugins/common/weights/zip.h"

#include "lib/base/error.h"
#include "plugins/common/weights/weights_private.h"

#include <string.h>
#include <zlib.h>

enum {
    LOCAL_BYTES = 30,     /* fixed part of a local header */
    ENTRY_BYTES = 46,     /* of an entry of the directory */
    END_BYTES = 22,       /* of the end record */
    LOCATOR_BYTES = 20,   /* of ZIP64's locator */
    END64_BYTES = 56,     /* of ZIP64's end record */
    COMMENT_MAX = 0xffff, /* behind the end record */
    DEFLATE_RATIO = 1032, /* the most that deflate can shrink by */
    EXTRA_ZIP64 = 1,
};

#define IN_ZIP64 0xffffffffu /* a field of 32 bits that stands in ZIP64's record instead */

/* Offset of the directory and number of its entries. */
struct directory {
    uint64_t at, count;
};

static bool damaged(GError **error, const char *what)
{
    orch_error_set(error, ORCH_ERROR_IO, "the file may be cut short: get it again",
                   "zip archive is damaged: %s", what);
    return false;
}

static uint64_t u16(const uint8_t *p)
{
    return orch_little_endian(p, 2);
}

static uint64_t u32(const uint8_t *p)
{
    return orch_little_endian(p, 4);
}

static uint64_t u64(const uint8_t *p)
{
    return orch_little_endian(p, 8);
}

static bool has_mark(const uint8_t *p, const char *mark)
{
    return memcmp(p, mark, 4) == 0;
}

/* True when `count` bytes from `at` are in the archive. */
static bool is_inside(const struct orch_zip *zip, uint64_t at, uint64_t count)
{
    return at <= zip->length && count <= zip->length - at;
}

/* Offset of the end record: it ends, with its comment, where the file ends. -1: none. */
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
        return damaged(error, "its end record is missing");
    const uint8_t *p = zip->bytes + end;
    *out = (struct directory){u32(p + 16), u16(p + 10)};
    if (end < LOCATOR_BYTES || !has_mark(p - LOCATOR_BYTES, "PK\6\7"))
        return true;
    uint64_t at = u64(p - LOCATOR_BYTES + 8);
    if (!is_inside(zip, at, END64_BYTES) || !has_mark(zip->bytes + at, "PK\6\6"))
        return damaged(error, "its ZIP64 end record is missing");
    *out = (struct directory){u64(zip->bytes + at + 48), u64(zip->bytes + at + 32)};
    return true;
}

/* Takes what stands in the ZIP64 field: unpacked size, packed size, offset, each only where the
 * entry itself has all ones. */
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
        return damaged(error, "an entry is encrypted");
    if (entry->method != 0 && entry->method != Z_DEFLATED)
        return damaged(error, "an entry is neither stored nor deflated");
    if (entry->packed_bytes > zip->length || entry->bytes > ORCH_WEIGHTS_BYTES_MAX ||
        (entry->method == 0 && entry->bytes != entry->packed_bytes) ||
        entry->bytes / DEFLATE_RATIO > entry->packed_bytes)
        return damaged(error, "an entry has sizes that cannot be");
    if (g_hash_table_contains(zip->by_name, entry->name))
        return damaged(error, "a name is there twice");
    return true;
}

/* One entry of the directory at `*at`, which moves behind it. */
static bool read_entry(struct orch_zip *zip, uint64_t *at, GError **error)
{
    if (!is_inside(zip, *at, ENTRY_BYTES) || !has_mark(zip->bytes + *at, "PK\1\2"))
        return damaged(error, "its directory is cut short");
    const uint8_t *p = zip->bytes + *at;
    size_t name = u16(p + 28), extra = u16(p + 30), comment = u16(p + 32);
    if (!is_inside(zip, *at + ENTRY_BYTES, name + extra + comment) ||
        memchr(p + ENTRY_BYTES, 0, name))
        return damaged(error, "a name in its directory cannot be");
    struct orch_zip_entry *entry = g_new0(struct orch_zip_entry, 1);
    g_ptr_array_add(zip->entries, entry);
    entry->name = g_strndup((const char *)p + ENTRY_BYTES, name);
    entry->method = (unsigned)u16(p + 10);
    entry->crc = (uint32_t)u32(p + 16);
    entry->packed_bytes = u32(p + 20);
    entry->bytes = u32(p + 24);
    entry->header_at = u32(p + 42);
    if (!read_zip64(entry, p + ENTRY_BYTES + name, extra))
        return damaged(error, "a ZIP64 field is cut short");
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
    if (directory.count > ORCH_WEIGHTS_COUNT_MAX)
        return damaged(error, "it has too many entries");
    uint64_t packed = 0, at = directory.at;
    for (uint64_t i = 0; i < directory.count; i++) {
        if (!read_entry(zip, &at, error))
            return false;
        const struct orch_zip_entry *entry = zip->entries->pdata[i];
        packed += entry->packed_bytes; /* no overflow: a count times the length of the file */
    }
    return packed <= zip->length || damaged(error, "its entries overlap");
}

static void entry_free(void *pointer)
{
    struct orch_zip_entry *entry = pointer;
    g_free(entry->name);
    g_free(entry);
}

struct orch_zip *orch_zip_open(const uint8_t *bytes, size_t length, GError **error)
{
    struct orch_zip *zip = g_new0(struct orch_zip, 1);
    zip->bytes = bytes;
    zip->length = length;
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

/* Raw deflate, to exactly the size that the directory names. Runs in pieces: zlib counts in 32
 * bits. */
static bool unpack(const uint8_t *packed, size_t packed_bytes, uint8_t *out, size_t bytes)
{
    z_stream stream = {0};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    const size_t piece = (size_t)1 << 30;
    size_t in_left = packed_bytes, out_left = bytes;
    uint8_t beyond; /* where a stream that is longer than it says would go on */
    stream.next_in = (Bytef *)(uintptr_t)packed;
    stream.next_out = out;
    int status = Z_OK;
    while (status == Z_OK && stream.total_out <= bytes) {
        if (stream.avail_in == 0) {
            stream.avail_in = (uInt)MIN(in_left, piece);
            in_left -= stream.avail_in;
        }
        if (stream.avail_out == 0 && out_left == 0) {
            stream.next_out = &beyond;
            stream.avail_out = 1;
        } else if (stream.avail_out == 0) {
            stream.avail_out = (uInt)MIN(out_left, piece);
            out_left -= stream.avail_out;
        }
        status = inflate(&stream, Z_NO_FLUSH);
    }
    bool ok = status == Z_STREAM_END && stream.total_out == bytes;
    inflateEnd(&stream);
    return ok;
}

/* Offset of an entry's bytes, 0 when its local header does not belong to it. */
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

const uint8_t *orch_zip_data(const struct orch_zip *zip, const struct orch_zip_entry *entry,
                             struct orch_weights *weights, GError **error)
{
    uint64_t at = data_at(zip, entry);
    if (!at) {
        damaged(error, "an entry does not lie where its directory says");
        return NULL;
    }
    const uint8_t *data = zip->bytes + at;
    if (entry->method == Z_DEFLATED) {
        uint8_t *block = orch_weights_block(weights, entry->bytes, error);
        if (!block)
            return NULL;
        if (!unpack(data, entry->packed_bytes, block, entry->bytes)) {
            damaged(error, "an entry cannot be unpacked to its size");
            return NULL;
        }
        data = block;
    }
    uint32_t crc = (uint32_t)crc32_z(0, data, entry->bytes);
    if (crc == entry->crc)
        return data;
    orch_error_set(error, ORCH_ERROR_IO, "get the file again",
                   "zip archive is damaged: CRC-32 of '%s' is %08x, expected %08x", entry->name,
                   crc, entry->crc);
    return NULL;
}
