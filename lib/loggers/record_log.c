/* SPDX-License-Identifier: MIT */
#include "lib/loggers/record_log.h"

#include <string.h>

enum { BLOCK_BYTES = 32768, HEAD_BYTES = 7, RECORD_BYTES_MAX = 64 << 20 };

struct reader {
    const struct orch_log_sink *sink;
    const struct record_log_format *format;
    uint32_t table[256];
    GByteArray *part;  /* the bytes that are not complete yet */
    size_t block_at;   /* of the first of them in its block */
    bool has_begun;    /* the file's head was read */
    GByteArray *whole; /* the first parts of a record */
    bool is_open;      /* its last part was not read yet */
};

/* ---- LevelDB's log -------------------------------------------------------------------- */

static uint32_t crc_of(const struct reader *reader, uint8_t type, const uint8_t *bytes,
                       size_t length)
{
    uint32_t crc = orch_protobuf_crc(reader->table, 0, &type, 1);
    return orch_protobuf_crc(reader->table, crc, bytes, length);
}

/* Adds a part to its record, and takes the record when it is complete. Returns NULL, or what is
 * wrong with it. */
static const char *take_part(struct reader *reader, uint8_t type, const uint8_t *bytes,
                             size_t length)
{
    if (type <= 2)
        g_byte_array_set_size(reader->whole, 0);
    else if (!reader->is_open)
        return "a record has no beginning";
    if (reader->whole->len + length > RECORD_BYTES_MAX)
        return "a record is larger than 64 MiB";
    g_byte_array_append(reader->whole, bytes, (guint)length);
    reader->is_open = type == 2 || type == 3;
    const GByteArray *whole = reader->whole;
    if (!reader->is_open && whole->len)
        reader->format->take(reader->sink,
                             (struct orch_protobuf){whole->data, whole->data + whole->len});
    return NULL;
}

/* Takes what stands at `bytes` when it is complete: `*out_used` is then its length, else 0. Returns
 * NULL, or what is wrong with it. */
static const char *take_frame(struct reader *reader, const uint8_t *bytes, size_t length,
                              size_t *out_used)
{
    size_t left = BLOCK_BYTES - reader->block_at;
    *out_used = 0;
    if (left < HEAD_BYTES) {
        *out_used = left <= length ? left : 0;
        return NULL;
    }
    if (length < HEAD_BYTES)
        return NULL;
    if (!reader->has_begun) {
        reader->has_begun = true;
        *out_used = HEAD_BYTES;
        return memcmp(bytes, reader->format->begin, 4) == 0 ? NULL : reader->format->another;
    }
    size_t part = (size_t)orch_protobuf_little(bytes + 4, 2);
    uint8_t type = bytes[6];
    if (HEAD_BYTES + part > left || type < 1 || type > 4)
        return "a checksum is wrong";
    if (length < HEAD_BYTES + part)
        return NULL;
    if (crc_of(reader, type, bytes + HEAD_BYTES, part) != orch_protobuf_little(bytes, 4))
        return "a checksum is wrong";
    *out_used = HEAD_BYTES + part;
    return take_part(reader, type, bytes + HEAD_BYTES, part);
}

/* ---- the reader ----------------------------------------------------------------------- */

void *orch_record_log_open(const struct orch_log_sink *sink, const struct record_log_format *format)
{
    struct reader *reader = g_new0(struct reader, 1);
    reader->sink = sink;
    reader->format = format;
    reader->part = g_byte_array_new();
    reader->whole = g_byte_array_new();
    orch_protobuf_crc_table(reader->table, PROTOBUF_CRC32);
    return reader;
}

void orch_record_log_close(void *pointer)
{
    struct reader *reader = pointer;
    g_byte_array_unref(reader->part);
    g_byte_array_unref(reader->whole);
    g_free(reader);
}

const char *orch_record_log_feed(void *pointer, const uint8_t *bytes, size_t length)
{
    struct reader *reader = pointer;
    size_t at = 0, used = 1;
    const char *why = NULL;
    g_byte_array_append(reader->part, bytes, (guint)length);
    while (used && !why) {
        why = take_frame(reader, reader->part->data + at, reader->part->len - at, &used);
        reader->block_at = (reader->block_at + used) % BLOCK_BYTES;
        at += used;
    }
    if (at)
        g_byte_array_remove_range(reader->part, 0, (guint)at);
    return why;
}

const char *orch_record_log_finish(void *pointer)
{
    const struct reader *reader = pointer;
    if (!reader->has_begun)
        return reader->format->another;
    return reader->part->len || reader->is_open ? "the file is truncated" : NULL;
}

/* ---- what the formats share ----------------------------------------------------------- */

int64_t orch_record_log_number(const struct orch_protobuf_field *field, int64_t otherwise)
{
    struct orch_protobuf inside = field->inner;
    struct orch_protobuf_field inner;
    while (orch_protobuf_field(&inside, &inner))
        if (inner.number == 1 && inner.type == 0)
            return (int64_t)inner.value;
    return otherwise;
}
