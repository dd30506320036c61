/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * safetensors: eight bytes of length, a JSON header of that length, the tensors' data. The reader
 * enforces the specification: tensors cover the data without gaps or overlaps, each with exactly
 * the bytes of its shape. The writer puts wide elements first, so that every tensor is aligned and
 * can be used in place. Reference: https://huggingface.co/docs/safetensors, "Format".
 */
#include "lib/weights/weights_private.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"

#include <string.h>

enum { LENGTH_BYTES = 8, ALIGNMENT = 8 };
#define HEADER_MAX ((size_t)64 << 20)
#define METADATA_KEY "__metadata__"

static const char *const DTYPES[] = {
    [ORCH_DTYPE_BOOL] = "BOOL",   [ORCH_DTYPE_UINT8] = "U8",      [ORCH_DTYPE_INT8] = "I8",
    [ORCH_DTYPE_INT16] = "I16",   [ORCH_DTYPE_INT32] = "I32",     [ORCH_DTYPE_INT64] = "I64",
    [ORCH_DTYPE_FLOAT16] = "F16", [ORCH_DTYPE_BFLOAT16] = "BF16", [ORCH_DTYPE_FLOAT32] = "F32",
    [ORCH_DTYPE_FLOAT64] = "F64",
};

/* One tensor as described in the header. */
struct span {
    const char *name; /* borrowed from the parsed header */
    enum orch_dtype dtype;
    int rank;
    int64_t shape[ORCH_WEIGHT_RANK_MAX];
    uint64_t begin, end;
};

static bool damaged(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool damaged(GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    orch_error_set(error, ORCH_ERROR_IO, "the file may be truncated: copy or download it again",
                   "safetensors file is damaged: %s", what);
    return false;
}

/* ---- reading -------------------------------------------------------------------------------- */

bool orch_safetensors_is(const uint8_t *bytes, size_t length)
{
    return length > LENGTH_BYTES && orch_little_endian(bytes, LENGTH_BYTES) <= HEADER_MAX &&
           bytes[LENGTH_BYTES] == '{';
}

static bool read_dtype(struct span *span, const char *word, GError **error)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(DTYPES); i++) {
        if (strcmp(DTYPES[i], word) == 0) {
            span->dtype = (enum orch_dtype)i;
            return true;
        }
    }
    g_autofree char *shown = g_strescape(word, NULL);
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "tensor '%s' has elements of type '%.20s', which orch does not read", span->name,
                   shown);
    return false;
}

static bool read_shape(struct span *span, const json_t *shape)
{
    if (!json_is_array(shape) || json_array_size(shape) > ORCH_WEIGHT_RANK_MAX)
        return false;
    span->rank = (int)json_array_size(shape);
    for (int i = 0; i < span->rank; i++) {
        const json_t *size = json_array_get(shape, (size_t)i);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return false;
        span->shape[i] = json_integer_value(size);
    }
    return true;
}

static bool read_offsets(struct span *span, const json_t *offsets)
{
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end) ||
        json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin))
        return false;
    span->begin = (uint64_t)json_integer_value(begin);
    span->end = (uint64_t)json_integer_value(end);
    return true;
}

static bool read_span(const char *name, const json_t *entry, struct span *out, GError **error)
{
    *out = (struct span){.name = name};
    const char *dtype = orch_json_text(entry, "dtype", NULL);
    if (!dtype)
        return damaged(error, "tensor '%s' has no type", name);
    if (!read_dtype(out, dtype, error))
        return false;
    if (!read_shape(out, json_object_get(entry, "shape")))
        return damaged(error, "tensor '%s' has an impossible shape", name);
    if (!read_offsets(out, json_object_get(entry, "data_offsets")))
        return damaged(error, "tensor '%s' has impossible offsets", name);
    int64_t count = orch_shape_count(out->rank, out->shape);
    uint64_t size = orch_dtype_bytes(out->dtype);
    if (count < 0 || (uint64_t)count > ORCH_WEIGHTS_BYTES_MAX / size ||
        (uint64_t)count * size != out->end - out->begin)
        return damaged(error,
                       "tensor '%s' has %" G_GUINT64_FORMAT
                       " bytes, but its shape needs another number",
                       name, out->end - out->begin);
    return true;
}

static bool read_metadata(struct orch_weights *weights, json_t *metadata, GError **error)
{
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        if (!json_is_string(value))
            return damaged(error, "the metadata '%s' is not a string", key);
        g_hash_table_insert(weights->metadata, g_strdup(key), g_strdup(json_string_value(value)));
    }
    return json_is_object(metadata) || damaged(error, "the metadata is not an object");
}

static bool read_spans(struct orch_weights *weights, json_t *header, GArray *spans, GError **error)
{
    const char *name;
    json_t *entry;
    json_object_foreach(header, name, entry)
    {
        struct span span;
        if (strcmp(name, METADATA_KEY) == 0) {
            if (!read_metadata(weights, entry, error))
                return false;
            continue;
        }
        if (!read_span(name, entry, &span, error))
            return false;
        g_array_append_val(spans, span);
    }
    return true;
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->end != b->end ? (a->end < b->end ? -1 : 1) : strcmp(a->name, b->name);
}

/* Checks that the sorted spans cover the data: each begins where the previous one ends. */
static bool check_cover(const GArray *spans, uint64_t data_bytes, GError **error)
{
    uint64_t end = 0;
    for (unsigned i = 0; i < spans->len; i++) {
        const struct span *span = &g_array_index(spans, struct span, i);
        if (span->begin != end)
            return damaged(error, "tensor '%s' %s", span->name,
                           span->begin < end ? "overlaps another" : "follows a gap");
        end = span->end;
    }
    if (end != data_bytes)
        return damaged(
            error, "the tensors take %" G_GUINT64_FORMAT " bytes, the file has %" G_GUINT64_FORMAT,
            end, data_bytes);
    return true;
}

static bool adopt_span(struct orch_weights *weights, const struct span *span, const uint8_t *data,
                       GError **error)
{
    const uint8_t *at = data + span->begin;
    if ((uintptr_t)at % orch_dtype_bytes(span->dtype)) {
        uint8_t *copy = orch_weights_block(weights, span->end - span->begin, error);
        if (!copy)
            return false;
        at = memcpy(copy, at, span->end - span->begin);
    }
    return orch_weights_adopt(weights, span->name, span->dtype, span->rank, span->shape, at, error);
}

bool orch_safetensors_read(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                           GError **error)
{
    uint64_t header_bytes = orch_little_endian(bytes, LENGTH_BYTES);
    if (header_bytes > length - LENGTH_BYTES)
        return damaged(error, "the header extends beyond the end of the file");
    GError *why = NULL;
    g_autoptr(json_t) header =
        orch_json_parse((const char *)bytes + LENGTH_BYTES, header_bytes, HEADER_MAX, &why);
    if (!json_is_object(header)) {
        damaged(error, "the header is not a JSON object%s%s", why ? ": " : "",
                why ? why->message : "");
        g_clear_error(&why);
        return false;
    }
    g_autoptr(GArray) spans = g_array_new(FALSE, FALSE, sizeof(struct span));
    if (!read_spans(weights, header, spans, error))
        return false;
    if (spans->len)
        qsort(spans->data, spans->len, sizeof(struct span), compare_spans);
    const uint8_t *data = bytes + LENGTH_BYTES + header_bytes;
    if (!check_cover(spans, length - LENGTH_BYTES - header_bytes, error))
        return false;
    for (unsigned i = 0; i < spans->len; i++)
        if (!adopt_span(weights, &g_array_index(spans, struct span, i), data, error))
            return false;
    return true;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Wide elements first, otherwise in list order. */
static GPtrArray *writing_order(const struct orch_weights *weights)
{
    GPtrArray *order = g_ptr_array_new();
    for (size_t width = 8; width; width /= 2) {
        for (unsigned i = 0; i < weights->items->len; i++) {
            struct orch_weight *weight = weights->items->pdata[i];
            if (orch_dtype_bytes(weight->dtype) == width)
                g_ptr_array_add(order, weight);
        }
    }
    return order;
}

static json_t *encode_metadata(const struct orch_weights *weights)
{
    json_t *object = json_object();
    g_autoptr(GList) keys = g_hash_table_get_keys(weights->metadata);
    keys = g_list_sort(keys, (GCompareFunc)(void (*)(void))strcmp);
    for (const GList *key = keys; key; key = key->next)
        json_object_set_new(object, key->data,
                            json_string(g_hash_table_lookup(weights->metadata, key->data)));
    return object;
}

static json_t *encode_span(const struct orch_weight *weight, uint64_t begin)
{
    json_t *shape = json_array();
    for (int i = 0; i < weight->rank; i++)
        json_array_append_new(shape, json_integer(weight->shape[i]));
    return json_pack("{s:s, s:o, s:[I, I]}", "dtype", DTYPES[weight->dtype], "shape", shape,
                     "data_offsets", (json_int_t)begin, (json_int_t)(begin + weight->bytes));
}

/* The beginning of the file: length, header, and spaces for alignment. */
static GString *encode_header(const struct orch_weights *weights, const GPtrArray *order,
                              GError **error)
{
    g_autoptr(json_t) header = json_object();
    if (g_hash_table_size(weights->metadata))
        json_object_set_new(header, METADATA_KEY, encode_metadata(weights));
    uint64_t begin = 0;
    for (unsigned i = 0; i < order->len; i++) {
        const struct orch_weight *weight = order->pdata[i];
        json_object_set_new(header, weight->name, encode_span(weight, begin));
        begin += weight->bytes;
    }
    char *text = json_dumps(header, JSON_COMPACT);
    size_t length = text ? strlen(text) : HEADER_MAX;
    size_t padded = (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (padded >= HEADER_MAX) {
        free(text);
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "names and metadata take more than %zu bytes", HEADER_MAX);
        return NULL;
    }
    GString *bytes = g_string_sized_new(LENGTH_BYTES + padded);
    for (int i = 0; i < LENGTH_BYTES; i++)
        g_string_append_c(bytes, (char)(padded >> 8 * i & 0xff));
    g_string_append(bytes, text);
    while (bytes->len < LENGTH_BYTES + padded)
        g_string_append_c(bytes, ' ');
    free(text);
    return bytes;
}

bool orch_weights_save(const struct orch_weights *weights, const char *path, bool durable,
                       GError **error)
{
    g_autoptr(GPtrArray) order = writing_order(weights);
    GString *header = encode_header(weights, order, error);
    if (!header) {
        g_prefix_error(error, "cannot write weights '%s': ", path);
        return false;
    }
    g_autofree struct iovec *parts = g_new(struct iovec, order->len + 1);
    parts[0] = (struct iovec){header->str, header->len};
    for (guint i = 0; i < order->len; i++) {
        const struct orch_weight *weight = order->pdata[i];
        parts[i + 1] = (struct iovec){(void *)(uintptr_t)weight->data, weight->bytes};
    }
    bool ok = orch_file_write_parts(path, parts, order->len + 1, durable, error);
    g_string_free(header, TRUE);
    return ok;
}
