/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of tensors and the choice of a reader. A file is read into one block, and a tensor that
 * lies there contiguous and aligned is a pointer into it: loading costs one pass over the file, and
 * tensors that share a storage go on sharing it. Not mapped: a file that is cut while it is mapped
 * would end the process.
 */
#include "plugins/common/weights/weights_private.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES_MAX 1024

static const struct {
    const char *name;
    size_t bytes;
} DTYPES[] = {
    [ORCH_DTYPE_BOOL] = {"bool", 1},       [ORCH_DTYPE_UINT8] = {"uint8", 1},
    [ORCH_DTYPE_INT8] = {"int8", 1},       [ORCH_DTYPE_INT16] = {"int16", 2},
    [ORCH_DTYPE_INT32] = {"int32", 4},     [ORCH_DTYPE_INT64] = {"int64", 8},
    [ORCH_DTYPE_FLOAT16] = {"float16", 2}, [ORCH_DTYPE_BFLOAT16] = {"bfloat16", 2},
    [ORCH_DTYPE_FLOAT32] = {"float32", 4}, [ORCH_DTYPE_FLOAT64] = {"float64", 8},
};

size_t orch_dtype_bytes(enum orch_dtype dtype)
{
    return DTYPES[dtype].bytes;
}

const char *orch_dtype_name(enum orch_dtype dtype)
{
    return DTYPES[dtype].name;
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
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'%.100s' is no name of a tensor", shown);
        return false;
    }
    if (orch_weights_find(weights, name)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "tensor '%s' is there twice", name);
        return false;
    }
    if (weights->items->len >= ORCH_WEIGHTS_COUNT_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "more than %d tensors",
                       ORCH_WEIGHTS_COUNT_MAX);
        return false;
    }
    return true;
}

/* Bytes of an array, or false with an error when its shape is bad. */
static bool measure(const char *name, enum orch_dtype dtype, int rank, const int64_t *shape,
                    size_t *out_bytes, GError **error)
{
    int64_t count = rank < 0 || rank > ORCH_WEIGHT_RANK_MAX ? -1 : orch_shape_count(rank, shape);
    if (count < 0 || (uint64_t)count > ORCH_WEIGHTS_BYTES_MAX / orch_dtype_bytes(dtype)) {
        orch_error_set(
            error, ORCH_ERROR_RECIPE, NULL,
            "tensor '%s' has a shape that cannot be: more than %d dimensions, a negative "
            "one, or more than %zu bytes",
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

/* ---- loading -------------------------------------------------------------------------------- */

/* True when each name has something behind `prefix`. */
static bool all_begin_with(const struct orch_weights *weights, const char *prefix)
{
    size_t length = strlen(prefix);
    for (unsigned i = 0; i < weights->items->len; i++) {
        const struct orch_weight *weight = weights->items->pdata[i];
        if (strncmp(weight->name, prefix, length) != 0 || !weight->name[length])
            return false;
    }
    return weights->items->len > 0;
}

static void strip_prefix(struct orch_weights *weights, const char *prefix)
{
    size_t length = strlen(prefix);
    g_hash_table_remove_all(weights->by_name);
    for (unsigned i = 0; i < weights->items->len; i++) {
        struct orch_weight *weight = weights->items->pdata[i];
        memmove(weight->name, weight->name + length, strlen(weight->name + length) + 1);
        g_hash_table_insert(weights->by_name, weight->name, weight);
    }
}

/* Names as a module inside DataParallel, or a compiled one, has them lose what stands before;
 * repeatedly, so that what was read and saved reads back under the same names. */
static void strip_prefixes(struct orch_weights *weights)
{
    static const char *const prefixes[] = {"module.", "_orig_mod."};
    bool is_stripped;
    do {
        is_stripped = false;
        for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++) {
            if (!all_begin_with(weights, prefixes[i]))
                continue;
            strip_prefix(weights, prefixes[i]);
            is_stripped = true;
        }
    } while (is_stripped);
}

static bool read_any(struct orch_weights *weights, const uint8_t *bytes, size_t length,
                     GError **error)
{
    static const struct {
        bool (*is)(const uint8_t *, size_t);
        bool (*read)(struct orch_weights *, const uint8_t *, size_t, GError **);
    } formats[] = {{orch_safetensors_is, orch_safetensors_read}, {orch_pth_is, orch_pth_read}};
    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++)
        if (formats[i].is(bytes, length))
            return formats[i].read(weights, bytes, length, error);
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "weights are files of torch.save(model.state_dict(), ...) or safetensors",
                   "neither a PyTorch file nor safetensors (%zu bytes)", length);
    return false;
}

struct orch_weights *orch_weights_load_bytes(void *bytes, size_t length, GError **error)
{
    struct orch_weights *weights = orch_weights_new();
    g_ptr_array_add(weights->blocks, bytes);
    if (read_any(weights, bytes, length, error)) {
        strip_prefixes(weights);
        return weights;
    }
    orch_weights_free(weights);
    return NULL;
}

/* `length` bytes of an open file; false with errno (0: it ended early). */
static bool read_whole(int fd, uint8_t *bytes, size_t length)
{
    for (size_t at = 0; at < length;) {
        ssize_t n = read(fd, bytes + at, MIN(length - at, (size_t)1 << 30));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            errno = n ? errno : 0;
            return false;
        }
        at += (size_t)n;
    }
    return true;
}

static bool set_errno(GError **error, const char *path, int saved_errno)
{
    if (saved_errno)
        orch_error_set_errno(error, ORCH_ERROR_IO, saved_errno, "cannot read weights '%s'", path);
    else
        orch_error_set(error, ORCH_ERROR_IO, NULL, "cannot read weights '%s': it shrank meanwhile",
                       path);
    return false;
}

static bool read_open(int fd, const char *path, void **out, size_t *out_length, GError **error)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return set_errno(error, path, errno);
    if (!S_ISREG(info.st_mode) || (uint64_t)info.st_size > ORCH_WEIGHTS_BYTES_MAX) {
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "cannot read weights '%s': not a regular file of at most %zu bytes", path,
                       ORCH_WEIGHTS_BYTES_MAX);
        return false;
    }
    size_t length = (size_t)info.st_size;
    g_autofree uint8_t *bytes = g_try_malloc(length + 1);
    if (!bytes)
        return set_errno(error, path, ENOMEM);
    if (!read_whole(fd, bytes, length))
        return set_errno(error, path, errno);
    *out = g_steal_pointer(&bytes);
    *out_length = length;
    return true;
}

struct orch_weights *orch_weights_load(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        set_errno(error, path, errno);
        return NULL;
    }
    void *bytes = NULL;
    size_t length = 0;
    bool ok = read_open(fd, path, &bytes, &length, error);
    close(fd);
    if (!ok)
        return NULL;
    struct orch_weights *weights = orch_weights_load_bytes(bytes, length, error);
    if (!weights)
        g_prefix_error(error, "cannot read weights '%s': ", path);
    return weights;
}

/* ---- elements ------------------------------------------------------------------------------- */

/* IEEE 754 half precision; its subnormals are normal numbers in single. */
static float half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
             fraction = half & 1023;
    uint32_t bits;
    if (exponent == 31) {
        bits = sign | 0x7f800000 | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        float magnitude = (float)fraction * 0x1p-24f;
        return sign ? -magnitude : magnitude;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float bfloat_to_float(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void orch_weight_to_float(const struct orch_weight *weight, float *out)
{
    union {
        const void *any;
        const uint8_t *u8;
        const int8_t *i8;
        const int16_t *i16;
        const uint16_t *u16;
        const int32_t *i32;
        const int64_t *i64;
        const float *f32;
        const double *f64;
    } in = {weight->data};
#define CONVERT(expression)                                                                        \
    for (int64_t i = 0; i < weight->count; i++)                                                    \
        out[i] = (float)(expression);                                                              \
    return
    switch (weight->dtype) {
    case ORCH_DTYPE_BOOL:
        CONVERT(in.u8[i] != 0);
    case ORCH_DTYPE_UINT8:
        CONVERT(in.u8[i]);
    case ORCH_DTYPE_INT8:
        CONVERT(in.i8[i]);
    case ORCH_DTYPE_INT16:
        CONVERT(in.i16[i]);
    case ORCH_DTYPE_INT32:
        CONVERT(in.i32[i]);
    case ORCH_DTYPE_INT64:
        CONVERT(in.i64[i]);
    case ORCH_DTYPE_FLOAT16:
        CONVERT(half_to_float(in.u16[i]));
    case ORCH_DTYPE_BFLOAT16:
        CONVERT(bfloat_to_float(in.u16[i]));
    case ORCH_DTYPE_FLOAT32:
        CONVERT(in.f32[i]);
    case ORCH_DTYPE_FLOAT64:
        CONVERT(in.f64[i]);
    }
#undef CONVERT
}
