/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Weights of networks as named arrays, read from what the field stores them in: PyTorch's .pth
 * (zip and legacy) and safetensors, and written as safetensors. Plain C: nothing in a file is
 * executed and LibTorch is not needed.
 *
 * The kind of a file is told by its content, never by its name. All multi-byte values are
 * little-endian, in files and in memory.
 */
#ifndef ORCH_WEIGHTS_WEIGHTS_H
#define ORCH_WEIGHTS_WEIGHTS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Types of elements. */
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
/** Bytes of one element. */
size_t orch_dtype_bytes(enum orch_dtype dtype);
/** "float32", "int64", ... */
const char *orch_dtype_name(enum orch_dtype dtype);

#define ORCH_WEIGHT_RANK_MAX 8
/** Most tensors of one file. */
#define ORCH_WEIGHTS_COUNT_MAX 100000
/** Largest file, and most bytes that a compressed file may unfold to. */
#define ORCH_WEIGHTS_BYTES_MAX ((size_t)16 << 30)

/** One tensor. Borrowed from its list. */
struct orch_weight {
    char *name; /* "layer1.0.conv1.weight" */
    enum orch_dtype dtype;
    int rank;                            /* 0: a scalar */
    int64_t shape[ORCH_WEIGHT_RANK_MAX]; /* row-major, the last index fastest */
    int64_t count;                       /* elements */
    size_t bytes;                        /* of data */
    const void *data; /* contiguous, aligned for its type; may be shared between tensors */
};

struct orch_weights {
    GPtrArray *items;     /* struct orch_weight *, in the order of the file */
    GHashTable *by_name;  /* name -> struct orch_weight * */
    GHashTable *metadata; /* char * -> char *: safetensors' own, written back on save */
    GPtrArray *blocks;    /* memory that the tensors lie in */
};

struct orch_weights *orch_weights_new(void);
void orch_weights_free(struct orch_weights *weights);

/** Reads a file. ORCH_ERROR_IO: cannot be read, or is damaged (what, and where). ORCH_ERROR_RECIPE:
 * it is none of the known formats, or holds something that weights do not need (named). */
struct orch_weights *orch_weights_load(const char *path, GError **error);
/** The same from memory; `bytes` (g_malloc) becomes the list's in any case. */
struct orch_weights *orch_weights_load_bytes(void *bytes, size_t length, GError **error);
/** Writes safetensors as a whole (beside it, then renamed); with `durable`, fsync before. */
bool orch_weights_save(const struct orch_weights *weights, const char *path, bool durable,
                       GError **error);

/** Adds a copy of a contiguous array. False with ORCH_ERROR_RECIPE: a name that is there already,
 * empty or no UTF-8, a bad shape, or too many tensors. */
bool orch_weights_add(struct orch_weights *weights, const char *name, enum orch_dtype dtype,
                      int rank, const int64_t *shape, const void *data, GError **error);
/** NULL when there is none. */
const struct orch_weight *orch_weights_find(const struct orch_weights *weights, const char *name);
/** Writes the elements as float32, whatever their type; `out` has room for `count`. */
void orch_weight_to_float(const struct orch_weight *weight, float *out);
/** "[64, 3, 7, 7]"; the caller frees. */
char *orch_weight_shape_format(int rank, const int64_t *shape);

#endif
