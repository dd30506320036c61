/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which layer of lib/net an operator of PyTorch is. */
#ifndef ORCH_FEATURES_OPERATORS_OPERATOR_KINDS_H
#define ORCH_FEATURES_OPERATORS_OPERATOR_KINDS_H

#include "lib/net/net.h"

enum operator_shape {
    OPERATOR_INPUT,
    OPERATOR_OUTPUT,
    OPERATOR_CONV,
    OPERATOR_LINEAR,    /* rows by a matrix: the operands are bias, rows, matrix */
    OPERATOR_PRODUCT,   /* as many products as the first axis has */
    OPERATOR_BILINEAR,  /* rows by a matrix for each output by rows */
    OPERATOR_RECURRENT, /* a layer in one direction: inputs, then matrices, then biases */
    OPERATOR_ATTENTION, /* of queries, keys and values, in one */
    OPERATOR_POOL,
    OPERATOR_MEAN, /* over the places of an image it is a pool */
    OPERATOR_NORM,
    OPERATOR_LAYER,  /* a layer of lib/net without sizes of its own */
    OPERATOR_SUM,    /* of two values, or of a value and a parameter */
    OPERATOR_FACTOR, /* the same, multiplied */
    OPERATOR_COMPUTES,
    OPERATOR_MOVES, /* moves elements alone: a kernel that keeps scores on the chip needs none */
};

struct operator_kind {
    const char *name;
    enum operator_shape shape;
    enum orch_net_op op;
    int first; /* of linear and products: the operand with the rows; of convolutions the input */
};

/** The row of an operator, without the underscore of its form in place; NULL: not known. */
const struct operator_kind *orch_operator_kind(const char *name);

#endif
