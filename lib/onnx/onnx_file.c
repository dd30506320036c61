/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protobuf-c copies every field that it decodes, including weights, and does not report where a
 * file is invalid. So the bytes are first walked with the same descriptors. Fields unknown to
 * onnx.proto and data above 64 KiB are skipped (in a mapped file they are never read), and the rest
 * is copied to a small buffer that is then decoded. The walk also bounds the memory that decoding
 * allocates.
 */
#include "lib/onnx/onnx_file.h"

#include "lib/base/error.h"
#include "lib/base/protobuf.h"
#include "lib/base/text.h"

#include <string.h>

#define PAYLOAD_MAX ((size_t)64 << 10) /* kept per field of a tensor */
#define KEPT_MAX ((size_t)128 << 20)   /* size of a graph without weights */
#define TEXT_MAX ((size_t)100)
#define FIELDS_MAX 8000000
#define OWN_FIELDS 1000 /* field numbers from here on are defined by this program */

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

struct walk {
    const uint8_t *begin, *end; /* of the whole file */
    const char *name;
    int64_t fields;
    GError **error;
};

struct field {
    unsigned number, wire;
    const uint8_t *begin, *data, *end; /* tag, content, what follows */
};

static bool broken(const struct walk *w, const uint8_t *at, const char *what)
{
    orch_error_set(w->error, ORCH_ERROR_RECIPE, "export the model again",
                   "'%s' is not an ONNX model (byte %" G_GINT64_FORMAT "): %s", w->name,
                   (int64_t)(at - w->begin), what);
    return false;
}

static bool cut_short(const struct walk *w, const struct field *f, uint64_t bytes)
{
    g_autofree char *wanted = orch_bytes_format((int64_t)MIN(bytes, (uint64_t)G_MAXINT64));
    g_autofree char *has = orch_bytes_format(w->end - f->data);
    orch_error_set(w->error, ORCH_ERROR_RECIPE, "export the model again",
                   "'%s' is truncated: a field at byte %" G_GINT64_FORMAT
                   " has %s, but the file ends after %s",
                   w->name, (int64_t)(f->begin - w->begin), wanted, has);
    return false;
}

static bool read_field(const struct walk *w, const uint8_t *at, const uint8_t *end,
                       struct field *out)
{
    struct orch_protobuf message = {at, end};
    struct orch_protobuf_field field;
    bool ok = orch_protobuf_field(&message, &field);
    uint64_t size = field.type == LENGTH    ? field.value
                    : field.type == FIXED64 ? 8
                    : field.type == FIXED32 ? 4
                                            : 0;
    *out = (struct field){field.number, field.type, .begin = at, .end = message.at};
    out->data = ok && field.type == LENGTH ? field.inner.at : message.at;
    if (ok || size <= (uint64_t)(end - message.at))
        return ok || broken(w, at, "a field cannot be read");
    return end == w->end ? cut_short(w, out, size)
                         : broken(w, at, "a field is larger than its protobuf message");
}

static void put_varint(GByteArray *out, uint64_t value)
{
    do {
        uint8_t byte = (uint8_t)(value & 0x7f) | (value > 0x7f ? 0x80 : 0);
        g_byte_array_append(out, &byte, 1);
    } while (value >>= 7);
}

static void put_left(const struct walk *w, GByteArray *out, const struct field *f)
{
    put_varint(out, (uint64_t)OWN_FIELDS << 3 | VARINT);
    put_varint(out, f->number);
    put_varint(out, (uint64_t)(OWN_FIELDS + 1) << 3 | VARINT);
    put_varint(out, (uint64_t)(f->end - f->data));
    put_varint(out, (uint64_t)(OWN_FIELDS + 2) << 3 | VARINT);
    put_varint(out, (uint64_t)(f->data - w->begin));
}

/* Wire type of a field's type; packed fields may also be LENGTH. */
static unsigned wire_of(const ProtobufCFieldDescriptor *d)
{
    switch (d->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return LENGTH;
    case PROTOBUF_C_TYPE_FLOAT:
        return FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
        return FIXED64;
    default:
        return VARINT;
    }
}

static bool walk_message(struct walk *w, const ProtobufCMessageDescriptor *message,
                         const uint8_t *at, const uint8_t *end, GByteArray *out);

static bool walk_nested(struct walk *w, const ProtobufCFieldDescriptor *d, const struct field *f,
                        GByteArray *out)
{
    GByteArray *inner = g_byte_array_new();
    bool ok = walk_message(w, d->descriptor, f->data, f->end, inner);
    if (ok) {
        put_varint(out, (uint64_t)f->number << 3 | LENGTH);
        put_varint(out, inner->len);
        g_byte_array_append(out, inner->data, inner->len);
    }
    g_byte_array_unref(inner);
    return ok;
}

static bool walk_field(struct walk *w, const ProtobufCMessageDescriptor *message,
                       const struct field *f, GByteArray *out)
{
    const ProtobufCFieldDescriptor *d =
        f->number < OWN_FIELDS ? protobuf_c_message_descriptor_get_field(message, f->number) : NULL;
    if (!d)
        return true;
    bool packed = f->wire == LENGTH && d->label == PROTOBUF_C_LABEL_REPEATED;
    if (f->wire != wire_of(d) && !packed)
        return broken(w, f->begin, "a field has another type than ONNX defines");
    if (d->type == PROTOBUF_C_TYPE_MESSAGE)
        return walk_nested(w, d, f, out);
    if (f->wire == LENGTH && (size_t)(f->end - f->data) > PAYLOAD_MAX) {
        if (message == &onnx__tensor_proto__descriptor)
            put_left(w, out, f);
        return true;
    }
    if (out->len + (size_t)(f->end - f->begin) > KEPT_MAX)
        return broken(w, f->begin, "the graph has more than 128 MiB without its weights");
    g_byte_array_append(out, f->begin, (guint)(f->end - f->begin));
    return true;
}

static bool walk_message(struct walk *w, const ProtobufCMessageDescriptor *message,
                         const uint8_t *at, const uint8_t *end, GByteArray *out)
{
    struct field f;
    for (; at < end; at = f.end) {
        if (!read_field(w, at, end, &f))
            return false;
        if (++w->fields > FIELDS_MAX)
            return broken(w, at, "the graph has more than the 8,000,000 fields that orch reads");
        if (!walk_field(w, message, &f, out))
            return false;
    }
    return true;
}

Onnx__ModelProto *orch_onnx_file_decode(const void *bytes, size_t length, const char *name,
                                        GError **error)
{
    struct walk w = {.begin = bytes, .name = name, .error = error};
    w.end = w.begin + length;
    GByteArray *kept = g_byte_array_new();
    Onnx__ModelProto *model = NULL;
    if (walk_message(&w, &onnx__model_proto__descriptor, w.begin, w.end, kept)) {
        model = onnx__model_proto__unpack(NULL, kept->len, kept->data);
        if (!model)
            broken(&w, w.begin, "the protobuf messages cannot be decoded");
    }
    g_byte_array_unref(kept);
    if (model && !model->graph) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model with torch.onnx.export",
                       "'%s' is not an ONNX model: it has no graph", name);
        onnx__model_proto__free_unpacked(model, NULL);
        return NULL;
    }
    return model;
}

char *orch_onnx_text_clean(const char *text)
{
    char *clean = g_utf8_make_valid(text ? text : "", (gssize)strnlen(text ? text : "", TEXT_MAX));
    for (char *at = clean; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '?';
    return clean;
}

/* ---- tensors ------------------------------------------------------------------------------- */

/* ONNX's TensorProto.DataType: element size, and the field that holds elements if not raw_data. */
static const struct {
    int bytes, field;
} TYPES[] = {
    [1] = {4, 4},  [2] = {1, 5},    [3] = {1, 5},  [4] = {2, 5},   [5] = {2, 5},   [6] = {4, 5},
    [7] = {8, 7},  [9] = {1, 5},    [10] = {2, 5}, [11] = {8, 10}, [12] = {4, 11}, [13] = {8, 11},
    [14] = {8, 4}, [15] = {16, 10}, [16] = {2, 5}, [17] = {1, 5},  [18] = {1, 5},  [19] = {1, 5},
    [20] = {1, 5}, [21] = {1, 5},   [22] = {1, 5}};

int orch_onnx_type_bytes(int data_type)
{
    return data_type > 0 && data_type < (int)G_N_ELEMENTS(TYPES) ? TYPES[data_type].bytes : 0;
}

static bool count_elements(const Onnx__TensorProto *t, int64_t *out)
{
    int64_t count = 1;
    bool is_empty = false;
    for (size_t i = 0; i < t->n_dims; i++) {
        is_empty = is_empty || t->dims[i] == 0;
        if (t->dims[i] < 0 || __builtin_mul_overflow(count, MAX(t->dims[i], 1), &count) ||
            count > (int64_t)1 << 40)
            return false;
    }
    *out = is_empty ? 0 : count;
    return true;
}

/* Number of elements of `field` that were decoded. */
static size_t decoded_elements(const Onnx__TensorProto *t, int field)
{
    switch (field) {
    case 4:
        return t->n_float_data;
    case 5:
        return t->n_int32_data;
    case 7:
        return t->n_int64_data;
    case 10:
        return t->n_double_data;
    case 11:
        return t->n_uint64_data;
    default:
        return 0;
    }
}

/* Checks the data in the file: its size is known exactly or, for varints, as an upper bound. */
static bool is_held(const Onnx__TensorProto *t, int64_t count)
{
    bool nibbles = t->data_type == 21 || t->data_type == 22;
    bool complex = t->data_type == 14 || t->data_type == 15;
    int bytes = orch_onnx_type_bytes(t->data_type), field = TYPES[t->data_type].field;
    uint64_t raw = (uint64_t)(nibbles ? (count + 1) / 2 : count * bytes);
    if (t->has_raw_data)
        return t->raw_data.len == raw;
    if (t->has_left_bytes && t->left_field == 9)
        return t->left_bytes == raw;
    uint64_t elements = (uint64_t)(complex ? 2 * count : nibbles ? (count + 1) / 2 : count);
    if (!t->has_left_bytes)
        return decoded_elements(t, field) == elements;
    if (t->left_field != field)
        return false;
    if (field == 4 || field == 10)
        return t->left_bytes == elements * (field == 4 ? 4 : 8);
    return t->left_bytes >= elements && t->left_bytes <= 10 * elements;
}

bool orch_onnx_tensor_check(const Onnx__TensorProto *t, const char *name, int64_t *out_count,
                            GError **error)
{
    g_autofree char *tensor = orch_onnx_text_clean(t->name);
    int64_t count;
    if (!count_elements(t, &count)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                       "'%s': tensor '%s' has an impossible size", name, tensor);
        return false;
    }
    *out_count = count;
    if (t->data_type == 8) /* strings are neither weights nor sizes */
        return true;
    if (!orch_onnx_type_bytes(t->data_type)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                       "'%s': tensor '%s' has the unknown data type %d", name, tensor,
                       t->data_type);
        return false;
    }
    if (t->data_location == 1 || is_held(t, count))
        return true;
    g_autofree char *size = orch_bytes_format(count * orch_onnx_type_bytes(t->data_type));
    orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                   "'%s': tensor '%s' is declared with %" G_GINT64_FORMAT
                   " elements (%s), which the file does not hold",
                   name, tensor, count, size);
    return false;
}

const char *orch_onnx_external(const Onnx__TensorProto *t, const char *key)
{
    for (size_t i = 0; i < t->n_external_data; i++)
        if (t->external_data[i]->key && strcmp(t->external_data[i]->key, key) == 0)
            return t->external_data[i]->value;
    return NULL;
}

static void add_location(GPtrArray *files, const Onnx__TensorProto *t)
{
    const char *location = t && t->data_location == 1 ? orch_onnx_external(t, "location") : NULL;
    if (location && !g_ptr_array_find_with_equal_func(files, location, g_str_equal, NULL))
        g_ptr_array_add(files, (char *)(uintptr_t)location);
}

GPtrArray *orch_onnx_data_files(const Onnx__ModelProto *model)
{
    const Onnx__GraphProto *graph = model->graph;
    GPtrArray *files = g_ptr_array_new();
    for (size_t i = 0; i < graph->n_initializer; i++)
        add_location(files, graph->initializer[i]);
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t j = 0; j < graph->node[i]->n_attribute; j++)
            add_location(files, graph->node[i]->attribute[j]->t);
    return files;
}

bool orch_onnx_is_initializer(const Onnx__GraphProto *graph, const char *name)
{
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (g_strcmp0(graph->initializer[i]->name, name) == 0)
            return true;
    return false;
}
