/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a node of a network as operators of a model. orch_onnx_writer_* add operators and values;
 * orch_onnx_write_* write one operation of lib/net each, and are rows of the table in
 * onnx_export_ops.c. They return false for a node that cannot be written.
 */
#ifndef ORCH_LIB_ONNX_EXPORT_WRITER_H
#define ORCH_LIB_ONNX_EXPORT_WRITER_H

#include "lib/onnx/onnx_export_ops.h"

/* A node being written. */
struct onnx_writer {
    struct onnx_writing *w;
    struct onnx_model *m;
    const struct orch_net_node *node;
    const char *op;       /* of ONNX, for a function that writes several; else NULL */
    const char *in, *out; /* its first input, and its value */
};

/** Adds an operator with one output. The operator is named after its output. */
Onnx__NodeProto *orch_onnx_writer_add(const struct onnx_writer *a, const char *op, const char *out,
                                      const char *const *inputs, int count);
/** The same, with one and with two inputs. */
Onnx__NodeProto *orch_onnx_writer_add_one(const struct onnx_writer *a, const char *op,
                                          const char *out, const char *in);
Onnx__NodeProto *orch_onnx_writer_add_two(const struct onnx_writer *a, const char *op,
                                          const char *out, const char *left, const char *right);

/** The name of a value inside the node: NODE.PART. */
const char *orch_onnx_writer_inner(const struct onnx_writer *a, const char *part);
/** Adds whole numbers, or a number, as the constant NODE.PART and returns its name. */
const char *orch_onnx_writer_ints(const struct onnx_writer *a, const char *part,
                                  const int64_t *values, int count);
const char *orch_onnx_writer_number(const struct onnx_writer *a, const char *part, double value);
/** Adds tensor `index` of the node as an initializer and returns its name. */
const char *orch_onnx_writer_tensor(const struct onnx_writer *a, int index);
/** The name of the node's input `input`. */
const char *orch_onnx_writer_value(const struct onnx_writer *a, int input);

/* export_images.c */
bool orch_onnx_write_conv(const struct onnx_writer *a);
bool orch_onnx_write_linear(const struct onnx_writer *a);
bool orch_onnx_write_batchnorm(const struct onnx_writer *a);
bool orch_onnx_write_pool(const struct onnx_writer *a);
bool orch_onnx_write_adaptive_pool(const struct onnx_writer *a);
bool orch_onnx_write_lrn(const struct onnx_writer *a);
bool orch_onnx_write_pad_shortcut(const struct onnx_writer *a);

/* export_elements.c */
/** Operator a->op of one input. */
bool orch_onnx_write_unary(const struct onnx_writer *a);
/** Operator a->op of two inputs. */
bool orch_onnx_write_binary(const struct onnx_writer *a);
bool orch_onnx_write_relu6(const struct onnx_writer *a);
bool orch_onnx_write_silu(const struct onnx_writer *a);
bool orch_onnx_write_gelu(const struct onnx_writer *a);
bool orch_onnx_write_softmax(const struct onnx_writer *a);
bool orch_onnx_write_concat(const struct onnx_writer *a);
bool orch_onnx_write_flatten(const struct onnx_writer *a);
/** For dropout, stochastic depth and folded norms, which do nothing in evaluation: the value is the
 * input's. */
bool orch_onnx_write_nothing(const struct onnx_writer *a);

/* export_sequences.c */
bool orch_onnx_write_embedding(const struct onnx_writer *a);
bool orch_onnx_write_layernorm(const struct onnx_writer *a);
bool orch_onnx_write_token_linear(const struct onnx_writer *a);
bool orch_onnx_write_attention(const struct onnx_writer *a);
bool orch_onnx_write_first_token(const struct onnx_writer *a);

#endif
