/* SPDX-License-Identifier: MIT */
/*
 * TensorBoard's event files: TFRecord frames (length, masked CRC32C of it, bytes, masked CRC32C of
 * them) that hold an Event of Protocol Buffers. This reader uses its time, step and summary, and
 * the summary values that hold one number (simple_value, or a tensor of one float, double or
 * integer) or an image (image, or a tensor of texts: width, height, the first image).
 *
 *     Event        1 wall_time (double)  2 step (varint)  5 summary  7 session_log
 *     Summary      1 value (repeated)
 *     Value        1 tag  2 simple_value (float)  4 image  8 tensor  9 metadata
 *     Image        4 encoded_image_string
 *     SessionLog   1 status (1: START)
 *     TensorProto  1 dtype  2 shape  4 tensor_content  5 float_val  6 double_val  7 int_val
 *                  8 string_val  10 int64_val
 *
 * A START of a session discards, as TensorBoard does, the points from its step on that were read so
 * far: a run that was resumed writes them again ('purge_step').
 *
 * The hyperparameters (add_hparams) are in the metadata of a value, as the content of the plugin
 * "hparams":
 *
 *     Metadata           1 plugin_data
 *     PluginData         1 plugin_name  2 content
 *     HParamsPluginData  3 session_start_info  4 session_end_info
 *     SessionStartInfo   1 hparams (map of names to google.protobuf.Value)
 *     SessionEndInfo     1 status (1 success, 2 failure, 3 running)
 *     Value              2 number (double)  3 text  4 boolean
 *
 * Reading stops at a wrong checksum; the frames before it are kept.
 */
#include "lib/loggers/loggers.h"

#include "lib/base/protobuf.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum {
    FRAME_BYTES_MAX = 64 << 20,
    HEAD_BYTES = 12,
    TAIL_BYTES = 4,
    TEXT_BYTES_MAX = 1 << 20,
    DT_FLOAT = 1,
    DT_DOUBLE = 2
};

struct reader {
    const struct orch_log_sink *sink;
    uint32_t table[256];
    GByteArray *part; /* the frame that is not complete yet */
    size_t needed;    /* bytes of it to look at it again */
};

/* ---- values ---------------------------------------------------------------------------- */

/* The value of a tensor with exactly one number; false for other tensors. */
static bool tensor_value(struct orch_protobuf tensor, double *out)
{
    struct orch_protobuf_field field;
    uint64_t dtype = 0, inner;
    int count = 0;
    struct orch_protobuf content = {0};
    while (orch_protobuf_field(&tensor, &field)) {
        size_t bytes = (size_t)(field.inner.end - field.inner.at);
        if (field.number == 1 && field.type == 0) {
            dtype = field.value;
        } else if (field.number == 4 && field.type == 2) {
            content = field.inner;
        } else if (field.number == 5 && (field.type == 5 || (field.type == 2 && bytes == 4))) {
            *out = orch_protobuf_float(field.type == 5 ? field.value
                                                       : orch_protobuf_little(field.inner.at, 4));
            count++;
        } else if (field.number == 6 && (field.type == 1 || (field.type == 2 && bytes == 8))) {
            *out = orch_protobuf_double(field.type == 1 ? field.value
                                                        : orch_protobuf_little(field.inner.at, 8));
            count++;
        } else if ((field.number == 7 || field.number == 10) && field.type != 1 &&
                   field.type != 5) {
            bool ok = field.type == 0;
            inner = field.value;
            if (!ok)
                ok =
                    orch_protobuf_varint(&field.inner, &inner) && field.inner.at == field.inner.end;
            *out = (double)(int64_t)inner;
            count += ok ? 1 : 2;
        } else if (field.number >= 5 && field.number != 16) {
            count += 2; /* not one number: several numbers, or a text */
        }
    }
    size_t bytes = (size_t)(content.end - content.at);
    if (count == 0 && dtype == DT_FLOAT && bytes == 4)
        *out = orch_protobuf_float(orch_protobuf_little(content.at, 4));
    else if (count == 0 && dtype == DT_DOUBLE && bytes == 8)
        *out = orch_protobuf_double(orch_protobuf_little(content.at, 8));
    else
        return count == 1;
    return true;
}

/* ---- hyperparameters ------------------------------------------------------------------ */

/* Returns the first field of that number that holds bytes; an empty message when there is none. */
static struct orch_protobuf bytes_of(struct orch_protobuf message, uint32_t number)
{
    static const uint8_t nothing[1];
    struct orch_protobuf_field field;
    while (orch_protobuf_field(&message, &field))
        if (field.number == number && field.type == 2)
            return field.inner;
    return (struct orch_protobuf){nothing, nothing};
}

/* The value of a hyperparameter: its field number says its type. NULL: none. */
static json_t *hparam_value(const struct orch_protobuf_field *field)
{
    if (field->number == 2 && field->type == 1) {
        double number = orch_protobuf_double(field->value);
        bool is_whole = fabs(number) < 1e15 && number == floor(number); /* integers are doubles */
        return is_whole ? json_integer((json_int_t)number) : json_real(number);
    }
    if (field->number == 4 && field->type == 0)
        return json_boolean(field->value != 0);
    if (field->number != 3 || field->type != 2)
        return NULL;
    g_autofree char *text = orch_protobuf_text(field->inner, TEXT_BYTES_MAX);
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return json_string(valid);
}

/* Passes one entry of the map of hyperparameters: 1 key, 2 value. */
static void take_hparam(const struct orch_log_sink *sink, struct orch_protobuf entry)
{
    enum { NAME_MAX_BYTES = 1000 };
    g_autofree char *name = orch_protobuf_text(bytes_of(entry, 1), NAME_MAX_BYTES);
    struct orch_protobuf value = bytes_of(entry, 2);
    struct orch_protobuf_field field;
    while (*name && sink->setting && orch_protobuf_field(&value, &field)) {
        json_t *json = hparam_value(&field);
        if (json)
            sink->setting(sink->ctx, name, json);
        json_decref(json);
    }
}

static void take_end(const struct orch_log_sink *sink, struct orch_protobuf end)
{
    static const char *const ends[] = {[1] = "success", [2] = "failure", [3] = "running"};
    struct orch_protobuf_field field;
    while (sink->ended && orch_protobuf_field(&end, &field))
        if (field.number == 1 && field.type == 0 && field.value >= 1 &&
            field.value < G_N_ELEMENTS(ends))
            sink->ended(sink->ctx, ends[field.value]);
}

static void take_metadata(const struct orch_log_sink *sink, struct orch_protobuf metadata)
{
    static const char plugin[] = "hparams";
    struct orch_protobuf data = bytes_of(metadata, 1), name = bytes_of(data, 1);
    struct orch_protobuf_field field;
    if ((size_t)(name.end - name.at) != strlen(plugin) ||
        memcmp(name.at, plugin, strlen(plugin)) != 0)
        return;
    struct orch_protobuf content = bytes_of(data, 2), start = bytes_of(content, 3);
    while (orch_protobuf_field(&start, &field))
        if (field.number == 1 && field.type == 2)
            take_hparam(sink, field.inner);
    take_end(sink, bytes_of(content, 4));
}

/* ---- events ---------------------------------------------------------------------------- */

static bool is_start(struct orch_protobuf session_log)
{
    struct orch_protobuf_field field;
    bool is = false;
    while (orch_protobuf_field(&session_log, &field))
        is = is || (field.number == 1 && field.type == 0 && field.value == 1);
    return is;
}

/* The first image of a tensor of texts: its third. Empty: there is none. */
static struct orch_protobuf tensor_image(struct orch_protobuf tensor)
{
    enum { STRING_VAL = 8, FIRST_IMAGE = 3 };
    struct orch_protobuf_field field;
    int count = 0;
    while (orch_protobuf_field(&tensor, &field))
        if (field.number == STRING_VAL && field.type == 2 && ++count == FIRST_IMAGE)
            return field.inner;
    return (struct orch_protobuf){0};
}

/* True for the bytes of an image that a viewer can show. */
static bool is_image(struct orch_protobuf bytes)
{
    static const char *const heads[] = {"\x89PNG", "\xff\xd8\xff", "GIF8"};
    size_t length = (size_t)(bytes.end - bytes.at);
    for (size_t i = 0; i < G_N_ELEMENTS(heads); i++)
        if (length > strlen(heads[i]) && memcmp(bytes.at, heads[i], strlen(heads[i])) == 0)
            return true;
    return false;
}

static void take_value(const struct orch_log_sink *sink, struct orch_protobuf value, int64_t step,
                       double time_s)
{
    enum { TAG_BYTES_MAX = 1000 };
    struct orch_protobuf_field field;
    struct orch_protobuf image = {0};
    g_autofree char *tag = NULL;
    double number = 0;
    bool has_number = false;
    while (orch_protobuf_field(&value, &field)) {
        if (field.number == 1 && field.type == 2 && !tag) {
            tag = orch_protobuf_text(field.inner, TAG_BYTES_MAX);
        } else if (field.number == 2 && field.type == 5) {
            number = orch_protobuf_float(field.value);
            has_number = true;
        } else if (field.number == 4 && field.type == 2) {
            image = bytes_of(field.inner, 4);
        } else if (field.number == 8 && field.type == 2) {
            has_number = tensor_value(field.inner, &number) || has_number;
            image = has_number ? image : tensor_image(field.inner);
        } else if (field.number == 9 && field.type == 2) {
            take_metadata(sink, field.inner);
        }
    }
    if (tag && *tag && has_number)
        sink->point(sink->ctx, tag, step, time_s, number);
    else if (tag && *tag && sink->image && is_image(image))
        sink->image(sink->ctx, tag, step, image.at, (size_t)(image.end - image.at));
}

static void take_event(const struct orch_log_sink *sink, const uint8_t *bytes, size_t length)
{
    struct orch_protobuf event = {bytes, bytes + length}, again = event;
    struct orch_protobuf_field field, value;
    int64_t step = 0;
    double time_s = NAN;
    while (orch_protobuf_field(&event, &field)) {
        if (field.number == 1 && field.type == 1) {
            time_s = orch_protobuf_double(field.value);
        } else if (field.number == 2 && field.type == 0) {
            step = (int64_t)field.value;
        }
    }
    while (orch_protobuf_field(&again, &field)) {
        if (field.number == 7 && field.type == 2 && is_start(field.inner) && sink->purge)
            sink->purge(sink->ctx, step);
        if (field.number != 5 || field.type != 2)
            continue;
        while (orch_protobuf_field(&field.inner, &value))
            if (value.number == 1 && value.type == 2)
                take_value(sink, value.inner, step, time_s);
    }
}

/* ---- frames --------------------------------------------------------------------------- */

static const char CUT_OFF[] = "the file is truncated";

static uint32_t masked_crc(const struct reader *reader, const uint8_t *bytes, size_t length)
{
    uint32_t crc = orch_protobuf_crc(reader->table, 0, bytes, length);
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Takes the frame at `bytes` when it is complete: `*out_used` is then its length, else 0 and
 * `*out_needed` what it needs. Returns NULL, or what is wrong with it. */
static const char *take_frame(struct reader *reader, const uint8_t *bytes, size_t length,
                              size_t *out_used, size_t *out_needed)
{
    *out_used = 0;
    *out_needed = HEAD_BYTES;
    if (length < HEAD_BYTES)
        return NULL;
    if (masked_crc(reader, bytes, 8) != orch_protobuf_little(bytes + 8, 4))
        return "a checksum is wrong";
    uint64_t inner = orch_protobuf_little(bytes, 8);
    if (inner > FRAME_BYTES_MAX)
        return "a record is larger than 64 MiB";
    *out_needed = HEAD_BYTES + (size_t)inner + TAIL_BYTES;
    if (length < *out_needed)
        return NULL;
    const uint8_t *event = bytes + HEAD_BYTES;
    if (masked_crc(reader, event, (size_t)inner) != orch_protobuf_little(event + inner, 4))
        return "a checksum is wrong";
    take_event(reader->sink, event, (size_t)inner);
    *out_used = *out_needed;
    *out_needed = HEAD_BYTES;
    return NULL;
}

static bool knows(const char *path, const char *head, size_t length)
{
    (void)head;
    (void)length;
    const char *name = strrchr(path, '/');
    return strstr(name ? name : path, ".tfevents.") != NULL;
}

static void *open_reader(const struct orch_log_sink *sink, const char *path)
{
    (void)path;
    struct reader *reader = g_new0(struct reader, 1);
    reader->sink = sink;
    reader->part = g_byte_array_new();
    reader->needed = HEAD_BYTES;
    orch_protobuf_crc_table(reader->table, PROTOBUF_CRC32C);
    return reader;
}

static void close_reader(void *pointer)
{
    struct reader *reader = pointer;
    g_byte_array_unref(reader->part);
    g_free(reader);
}

/* A frame grows in the buffer until it is complete, and is looked at only then. */
static const char *feed(void *pointer, const uint8_t *bytes, size_t length)
{
    struct reader *reader = pointer;
    g_byte_array_append(reader->part, bytes, (guint)length);
    size_t at = 0, used = 1;
    const char *why = NULL;
    while (reader->part->len - at >= reader->needed && used && !why) {
        why = take_frame(reader, reader->part->data + at, reader->part->len - at, &used,
                         &reader->needed);
        at += used;
    }
    if (at)
        g_byte_array_remove_range(reader->part, 0, (guint)at);
    return why;
}

static const char *finish(void *pointer)
{
    const struct reader *reader = pointer;
    return reader->part->len ? CUT_OFF : NULL;
}

const struct orch_logger ORCH_LOGGER_TENSORBOARD = {
    .name = "tensorboard",
    .knows = knows,
    .open = open_reader,
    .feed = feed,
    .finish = finish,
    .close = close_reader,
    .has_folders = true,
};
