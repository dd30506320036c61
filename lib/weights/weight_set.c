/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The list of tensors and the memory blocks that contain them. */
#include "lib/weights/weights_private.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 1024

static const size_t DTYPE_BYTES[] = {
    [ORCH_DTYPE_BOOL] = 1,    [ORCH_DTYPE_UINT8] = 1,    [ORCH_DTYPE_INT8] = 1,
    [ORCH_DTYPE_INT16] = 2,   [ORCH_DTYPE_INT32] = 4,    [ORCH_DTYPE_INT64] = 8,
    [ORCH_DTYPE_FLOAT16] = 2, [ORCH_DTYPE_BFLOAT16] = 2, [ORCH_DTYPE_FLOAT32] = 4,
    [ORCH_DTYPE_FLOAT64] = 8,
};

size_t orch_dtype_bytes(enum orch_dtype dtype)
{
    return DTYPE_BYTES[dtype];
}

uint64_t orch_little_endian(const uint8_t *bytes, size_t size)
{
    uint64_t number = 0;
    for (size_t i = 0; i < size; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

int64_t orch_shape_count(int rank, const int64_t *shape)
{
    int64_t count = 1;
    bool is_empty = false;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0)
            return -1;
        if (shape[i] == 0) {
            is_empty = true;
            continue;
        }
        if (count > ((int64_t)1 << 62) / shape[i])
            return -1;
        count *= shape[i];
    }
    return is_empty ? 0 : count;
}

bool orch_weight_has_shape(const struct orch_weight *weight, int rank, const int64_t *shape)
{
    return weight->rank == rank && memcmp(weight->shape, shape, (size_t)rank * sizeof *shape) == 0;
}

char *orch_weight_shape_format(int rank, const int64_t *shape)
{
    GString *text = g_string_new("[");
    for (int i = 0; i < rank; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? ", " : "", shape[i]);
    return g_string_free(g_string_append_c(text, ']'), FALSE);
}

/* ---- the list ------------------------------------------------------------------------------- */

static void weight_free(void *pointer)
{
    struct orch_weight *weight = pointer;
    g_free(weight->name);
    g_free(weight);
}

struct orch_weights *orch_weights_new(void)
{
    struct orch_weights *weights = g_new0(struct orch_weights, 1);
    weights->items = g_ptr_array_new_with_free_func(weight_free);
    weights->by_name = g_hash_table_new(g_str_hash, g_str_equal);
    weights->metadata = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    weights->blocks = g_ptr_array_new_with_free_func(g_free);
    return weights;
}

void orch_weights_free(struct orch_weights *weights)
{
    if (!weights)
        return;
    g_hash_table_unref(weights->by_name);
    g_hash_table_unref(weights->metadata);
    g_ptr_array_unref(weights->items);
    g_ptr_array_unref(weights->blocks);
    g_free(weights);
}

const struct orch_weight *orch_weights_find(const struct orch_weights *weights, const char *name)
{
    return g_hash_table_lookup(weights->by_name, name);
}

static bool name_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > NAME_BYTES_MAX || !g_utf8_validate(name, -1, NULL))
        return false;
    for (const char *p = name; *p; p++)
        if (g_ascii_iscntrl(*p))
            return false;
    return true;
}

static bool check_name(const struct orch_weights *weights, const char *name, GError **error)
{
    if (!name_is_valid(name)) {
        g_autofree char *shown = g_strescape(name, NULL);
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'%.100s' is not a valid tensor name",
                       shown);
        return false;
    }
    if (orch_weights_find(weights, name)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "tensor '%s' occurs twice", name);
        return false;
    }
    if (weights->items->len >= ORCH_WEIGHTS_COUNT_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "more than %d tensors",
                       ORCH_WEIGHTS_COUNT_MAX);
        return false;
    }
    return true;
}

/* Computes the size of an array in bytes; false with an error for an invalid shape. */
static bool measure(const char *name, enum orch_dtype dtype, int rank, const int64_t *shape,
                    size_t *out_bytes, GError **error)
{
    int64_t count = rank < 0 || rank > ORCH_WEIGHT_RANK_MAX ? -1 : orch_shape_count(rank, shape);
    if (count < 0 || (uint64_t)count > ORCH_WEIGHTS_BYTES_MAX / orch_dtype_bytes(dtype)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "tensor '%s' has an impossible shape: more than %d dimensions, a negative "
                       "size, or more than %zu bytes",
                       name, ORCH_WEIGHT_RANK_MAX, ORCH_WEIGHTS_BYTES_MAX);
        return false;
    }
    *out_bytes = (size_t)count * orch_dtype_bytes(dtype);
    return true;
}

bool orch_weights_adopt(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                        int rank, const int64_t *shape, const void *data, GError **error)
{
    size_t bytes = 0;
    if (!check_name(weights, name, error) || !measure(name, dtype, rank, shape, &bytes, error))
        return false;
    struct orch_weight *weight = g_new0(struct orch_weight, 1);
    weight->name = g_strdup(name);
    weight->dtype = dtype;
    weight->rank = rank;
    for (int i = 0; i < rank; i++)
        weight->shape[i] = shape[i];
    weight->bytes = bytes;
    weight->count = (int64_t)(bytes / orch_dtype_bytes(dtype));
    weight->data = data;
    g_ptr_array_add(weights->items, weight);
    g_hash_table_insert(weights->by_name, weight->name, weight);
    return true;
}

void *orch_weights_block(struct orch_weights *weights, size_t bytes, GError **error)
{
    void *block = bytes > ORCH_WEIGHTS_BYTES_MAX ? NULL : g_try_malloc(MAX(bytes, 1));
    if (block)
        g_ptr_array_add(weights->blocks, block);
    else
        orch_error_set(error, ORCH_ERROR_IO, NULL, "no memory for %zu bytes", bytes);
    return block;
}

bool orch_weights_add(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                      int rank, const int64_t *shape, const void *data, GError **error)
{
    size_t bytes = 0;
    if (!check_name(weights, name, error) || !measure(name, dtype, rank, shape, &bytes, error))
        return false;
    void *copy = orch_weights_block(weights, bytes, error);
    if (!copy)
        return false;
    if (bytes)
        memcpy(copy, data, bytes);
    return orch_weights_adopt(weights, name, dtype, rank, shape, copy, error);
}
