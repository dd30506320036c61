/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Network weights as named arrays. Reads PyTorch's .pth (zip and legacy) and safetensors; writes
 * safetensors. Plain C: nothing in a file is executed, and LibTorch is not needed.
 *
 * The format of a file is detected from its content, never from its name. All multi-byte values are
 * little-endian, in files and in memory.
 */
#ifndef ORCH_WEIGHTS_WEIGHTS_H
#define ORCH_WEIGHTS_WEIGHTS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Element types. */
enum orch_dtype {
    ORCH_DTYPE_BOOL,
    ORCH_DTYPE_UINT8,
    ORCH_DTYPE_INT8,
    ORCH_DTYPE_INT16,
    ORCH_DTYPE_INT32,
    ORCH_DTYPE_INT64,
    ORCH_DTYPE_FLOAT16,
    ORCH_DTYPE_BFLOAT16,
    ORCH_DTYPE_FLOAT32,
    ORCH_DTYPE_FLOAT64,
};
/** Size of one element in bytes. */
size_t orch_dtype_bytes(enum orch_dtype dtype);

#define ORCH_WEIGHT_RANK_MAX 8
/** Maximum number of tensors in a file. */
#define ORCH_WEIGHTS_COUNT_MAX 100000
/** Maximum size of a file, and of the unpacked contents of a compressed file. */
#define ORCH_WEIGHTS_BYTES_MAX ((size_t)16 << 30)

/** One tensor. Borrowed from its list. */
struct orch_weight {
    char *name; /* "layer1.0.conv1.weight" */
    enum orch_dtype dtype;
    int rank;                            /* 0: a scalar */
    int64_t shape[ORCH_WEIGHT_RANK_MAX]; /* row-major: the last index varies fastest */
    int64_t count;                       /* number of elements */
    size_t bytes;                        /* size of data */
    const void *data; /* contiguous, aligned for its type; may be shared between tensors */
};

struct orch_weights {
    GPtrArray *items;     /* struct orch_weight *, in file order */
    GHashTable *by_name;  /* name -> struct orch_weight * */
    GHashTable *metadata; /* char * -> char *: metadata of safetensors, preserved on save */
    GPtrArray *blocks;    /* memory that contains the tensors */
};

struct orch_weights *orch_weights_new(void);
void orch_weights_free(struct orch_weights *weights);

/** Reads a file. Fails with ORCH_ERROR_IO if it cannot be read or is damaged (with the position),
 * ORCH_ERROR_RECIPE if its format is unknown or it contains unsupported values (named). */
struct orch_weights *orch_weights_load(const char *path, GError **error);
/** The same from memory; takes ownership of `bytes` (g_malloc) in any case. */
struct orch_weights *orch_weights_load_bytes(void *bytes, size_t length, GError **error);
/** Atomically writes a safetensors file; with `durable` syncs it first. */
bool orch_weights_save(const struct orch_weights *weights, const char *path, bool durable,
                       GError **error);

/** Adds a copy of a contiguous array. Fails with ORCH_ERROR_RECIPE for a name that exists, is empty
 * or not UTF-8, an invalid shape, or too many tensors. */
bool orch_weights_add(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                      int rank, const int64_t *shape, const void *data, GError **error);
/** Finds a tensor by name; NULL if there is none. */
const struct orch_weight *orch_weights_find(const struct orch_weights *weights, const char *name);
/** Converts the elements to float32; `out` has space for `count`. */
void orch_weight_to_float(const struct orch_weight *weight, float *out);
/** True if the tensor has exactly this shape. */
bool orch_weight_has_shape(const struct orch_weight *weight, int rank, const int64_t *shape);
/** Formats a shape: "[64, 3, 7, 7]". Caller frees. */
char *orch_weight_shape_format(int rank, const int64_t *shape);

#endif
