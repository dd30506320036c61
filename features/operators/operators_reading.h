/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of operators on its way to a network: operators_read.c takes its lines apart,
 * operators_add.c makes a layer of each operator. */
#ifndef ORCH_FEATURES_OPERATORS_OPERATORS_READING_H
#define ORCH_FEATURES_OPERATORS_OPERATORS_READING_H

#include "features/operators/operator_kinds.h"
#include "lib/net/build.h"

#include <jansson.h>

#define OPERATORS_RANK_MAX 8
#define OPERATORS_OPERANDS_MAX 1024
#define OPERATORS_ELEMENTS_MAX ((int64_t)1 << 48)

/** Sizes of a value, of one sample. */
struct operators_sizes {
    int rank;
    int64_t dims[OPERATORS_RANK_MAX];
    int64_t count;    /* elements */
    bool is_of_batch; /* a size grows with the batch */
};

struct operators_parameter {
    char *name;
    struct operators_sizes sizes;
    bool is_trained;
    bool is_used; /* by a layer, which has it as a tensor */
};

/** Where the values of an operator are: node -1 if it has none of its own. */
struct operators_value {
    int node;
    bool is_image; /* batch, channels, rows, columns; else the channels are the last axis */
    int rank;
    int64_t count;
};

struct operators_operand {
    const struct operators_value *value; /* NULL: a parameter, or a constant */
    struct operators_parameter *parameter;
    struct operators_sizes sizes;
};

struct operators_reading {
    const char *file;
    int line;
    struct orch_net_builder builder; /* net NULL: no input yet */
    GHashTable *parameters;          /* char * to struct operators_parameter * */
    GArray *values;                  /* struct operators_value, by id */
    GHashTable *unknown;             /* char *: operator that was taken by its bytes, to a count */
    int64_t sequence, made_with;     /* tokens, and those of the file; 0: none */
    int64_t batch;                   /* of the file */
    bool is_batch_fixed;
    int64_t constant_macs; /* multiply-adds of operators that no batch goes through */
};

/** One operator. */
struct operators_call {
    struct operators_reading *r;
    const char *name;
    const struct operator_kind *kind; /* NULL: not known */
    struct operators_operand in[OPERATORS_OPERANDS_MAX];
    int in_count;
    struct operators_sizes out;
    const json_t *arguments; /* an object, or NULL */
};

/** Adds the operator's layer, if it has one, and the value of its id. False with an error. */
bool orch_operators_add(struct operators_call *c, GError **error);
/** Sets an error that names file and line; returns false. */
G_GNUC_PRINTF(3, 4)
bool orch_operators_fail(const struct operators_reading *r, GError **error, const char *format,
                         ...);

#endif
