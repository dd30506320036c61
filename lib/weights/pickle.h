/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads the pickles that torch.save writes. A pickle is a program for a stack machine that can call
 * any Python function. This implementation supports the operations for plain data and a closed list
 * of names (dictionaries, tensors, parameters, sizes, storages); anything else is an error that
 * names it. Nothing is executed: "calling" a name on the list creates a value of one of the kinds
 * below.
 */
#ifndef ORCH_WEIGHTS_PICKLE_H
#define ORCH_WEIGHTS_PICKLE_H

#include "lib/weights/weights.h"

enum orch_pickle_kind {
    ORCH_PICKLE_NONE,
    ORCH_PICKLE_BOOL,
    ORCH_PICKLE_INT,
    ORCH_PICKLE_LONG, /* an integer beyond 64 bits, as little-endian bytes */
    ORCH_PICKLE_REAL,
    ORCH_PICKLE_TEXT,
    ORCH_PICKLE_TUPLE,
    ORCH_PICKLE_LIST,
    ORCH_PICKLE_DICT,   /* key, value, key, value, ... in writing order */
    ORCH_PICKLE_GLOBAL, /* a name on the list */
    ORCH_PICKLE_STORAGE,
    ORCH_PICKLE_TENSOR, /* storage, offset, sizes, strides */
    ORCH_PICKLE_MARK,   /* only on the stack */
};

struct orch_pickle_value {
    enum orch_pickle_kind kind;
    int64_t number;   /* bool, int; index of a global; offset of a tensor (elements) */
    double real;      /* real */
    const char *text; /* text, long: `length` bytes inside the pickle, without a NUL */
    size_t length;
    GPtrArray *items; /* tuple, list, dict: struct orch_pickle_value *, borrowed;
                         storage: the persistent id without its first word;
                         tensor: storage, sizes, strides */
};

struct orch_pickle {
    struct orch_pickle_value *root;
    GPtrArray *values; /* all values, which it owns */
};

/** Maximum number of values in a pickle. */
#define ORCH_PICKLE_VALUES_MAX 4000000u

/** Reads one pickle at the start of `bytes`, which must outlive the result; `*out_used` is its
 * length. Fails with NULL and ORCH_ERROR_IO (damaged) or ORCH_ERROR_RECIPE (an operation or a name
 * that is not supported). */
struct orch_pickle *orch_pickle_read(const uint8_t *bytes, size_t length, size_t *out_used,
                                     GError **error);
void orch_pickle_free(struct orch_pickle *pickle);

/** An item of a container, or NULL if there is no such item or the value is not a container. */
const struct orch_pickle_value *orch_pickle_item(const struct orch_pickle_value *value,
                                                 unsigned index);
/** The last value of a text key in a dictionary, or NULL. */
const struct orch_pickle_value *orch_pickle_get(const struct orch_pickle_value *dict,
                                                const char *key);
/** The element type that a global denotes ("torch.FloatStorage"); false for other values. */
bool orch_pickle_dtype(const struct orch_pickle_value *value, enum orch_dtype *out);

#endif
