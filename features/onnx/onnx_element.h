/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arithmetic of operators on constants: the variants of orch_onnx_run_same_shape,
 * orch_onnx_run_binary and orch_onnx_run_reduce. */
#ifndef ORCH_FEATURES_ONNX_ONNX_ELEMENT_H
#define ORCH_FEATURES_ONNX_ONNX_ELEMENT_H

enum onnx_unary {
    ONNX_UNARY_OTHER, /* values are not computed */
    ONNX_UNARY_SAME,
    ONNX_UNARY_CAST,
    ONNX_UNARY_SQRT,
    ONNX_UNARY_EXP,
    ONNX_UNARY_LOG,
    ONNX_UNARY_NEG,
    ONNX_UNARY_ABS,
    ONNX_UNARY_FLOOR,
    ONNX_UNARY_CEIL,
    ONNX_UNARY_ROUND,
    ONNX_UNARY_RECIPROCAL,
    ONNX_UNARY_NOT,
};

enum onnx_binary {
    ONNX_BINARY_OTHER,
    ONNX_BINARY_ADD,
    ONNX_BINARY_SUB,
    ONNX_BINARY_MUL,
    ONNX_BINARY_DIV,
    ONNX_BINARY_POW,
    ONNX_BINARY_MOD,
    ONNX_BINARY_MIN,
    ONNX_BINARY_MAX,
    ONNX_BINARY_EQUAL, /* this and the following return true or false */
    ONNX_BINARY_LESS,
    ONNX_BINARY_LESS_EQUAL,
    ONNX_BINARY_GREATER,
    ONNX_BINARY_GREATER_EQUAL,
    ONNX_BINARY_AND,
    ONNX_BINARY_OR,
};

enum onnx_reduce {
    ONNX_REDUCE_OTHER,
    ONNX_REDUCE_MEAN,
    ONNX_REDUCE_SUM,
    ONNX_REDUCE_PROD,
    ONNX_REDUCE_MAX,
    ONNX_REDUCE_MIN,
    ONNX_REDUCE_ARG, /* index of the largest or smallest; has 'axis', not 'axes' */
};

#endif
