/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Selects a reader and loads weights. A file is read into one block, and tensors that are
 * contiguous and aligned there point into it, so loading takes one pass over the file and shared
 * storages stay shared. The file is not mapped, because truncating a mapped file would crash the
 * process.
 */
#include "lib/weights/weights_private.h"

#include "lib/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- loading -------------------------------------------------------------------------------- */

/* True if every name begins with `prefix` and continues after it. */
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

/* Removes the prefixes that DataParallel and compiled modules add to names; repeatedly, so that
 * files that were read and saved have the same names again. */
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
                   "use files of torch.save(model.state_dict(), ...) or safetensors",
                   "the file is neither a PyTorch file nor a safetensors file (%zu bytes)", length);
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

/* Reads `length` bytes of an open file; false with errno (0: unexpected end). */
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
        orch_error_set(error, ORCH_ERROR_IO, NULL,
                       "cannot read weights '%s': the file shrank while orch read it", path);
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

/* IEEE 754 half precision; subnormal halves are normal in single precision. */
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
