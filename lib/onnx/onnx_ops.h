/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an operator is told, and what it answers. */
#ifndef ORCH_ONNX_ONNX_OPS_H
#define ORCH_ONNX_ONNX_OPS_H

#include "lib/onnx/onnx_graph.h"

#define ONNX_TENSORS_MAX 6

/** A weight of a layer. */
struct onnx_layer_tensor {
    const struct onnx_value *value;
    enum orch_net_role role;
    int rank; /* 0: as the file has it */
    int64_t shape[4];
};

enum onnx_count {
    ONNX_COUNTED, /* by lib/net */
    ONNX_MOVES,   /* no operations: it only moves or picks */
    ONNX_ZERO,    /* operations that nothing here can count: they become a note */
};

/** One step being worked off. */
struct onnx_call {
    struct onnx_graph *g;
    const struct onnx_step *step;
    const struct onnx_op *op;
    struct onnx_value **in; /* NULL: left out */
    int in_count;
    struct onnx_value **out; /* NULL: nobody wants it */
    int out_count;
    GError **error;
    /* answers */
    struct orch_net_node layer; /* attributes, all multiply-adds of the batch */
    struct onnx_layer_tensor tensors[ONNX_TENSORS_MAX];
    int tensor_count;
    enum onnx_count count;
    int64_t window;  /* of a pool: operations for each output */
    bool is_view;    /* the output is its first input under another shape: no node */
    bool is_guessed; /* its shape is not known from its inputs */
};

/** Works out type, shape, channel axis and numbers of c->out, and c->layer. */
typedef bool (*onnx_run)(struct onnx_call *c);

/** A row of the table of operators. */
struct onnx_op {
    const char *name;
    onnx_run run;
    enum orch_net_op layer;
    enum onnx_count count;
    int variant; /* of run */
};

/* ---- for operators ---- */

/** An error that names file, node and operator; false. */
bool onnx_fail(const struct onnx_call *c, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/** The same for a shape that does not fit; the hint names what was guessed above it. */
bool onnx_misfit(const struct onnx_call *c, const struct onnx_value *v, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/** Input i; fails when it is left out. */
bool onnx_need(const struct onnx_call *c, int count);
static inline struct onnx_value *onnx_in(const struct onnx_call *c, int i)
{
    return i < c->in_count ? c->in[i] : NULL;
}
/** Shape, type and channel axis of output i: those of `like` (numbers are not). */
void onnx_like(struct onnx_call *c, int i, const struct onnx_value *like);
/** Sets the numbers of output i: zeroes to be filled in; NULL when they are too many. */
double *onnx_numbers(struct onnx_call *c, int i);
/** Adds a weight of the layer; nothing when it is no initializer or was counted already. */
void onnx_weight(struct onnx_call *c, const struct onnx_value *v, enum orch_net_role role, int rank,
                 const int64_t *shape);
/** Whole numbers of an attribute, or of input i; NULL when neither is there or known. The caller
 * frees. `i` < 0: the attribute only. */
int64_t *onnx_ints(const struct onnx_call *c, const char *attribute, int i, int *out_count);
/** A number that may be negative (from the end) as an axis of `rank`; false when it is none. */
bool onnx_axis(int64_t axis, int rank, int *out);
/** Product with an error on overflow: multiply-adds. */
bool onnx_multiply(const struct onnx_call *c, int64_t *product, int64_t factor);
/** `a` and `b` broadcast against each other, into output 0's shape. */
bool onnx_broadcast(struct onnx_call *c, const struct onnx_value *a, const struct onnx_value *b);
/** A whole number of a constant, cut to what fits. */
int64_t onnx_whole(double number);
/** The shape is not known: the file's, or the first input's. */
bool onnx_run_guess(struct onnx_call *c);

/* onnx_layer.c */
bool onnx_run_conv(struct onnx_call *c);
bool onnx_run_pool(struct onnx_call *c);
bool onnx_run_pool_all(struct onnx_call *c);
bool onnx_run_gemm(struct onnx_call *c);
bool onnx_run_matmul(struct onnx_call *c);
bool onnx_run_norm(struct onnx_call *c);
bool onnx_run_layernorm(struct onnx_call *c);
bool onnx_run_lrn(struct onnx_call *c);
bool onnx_run_reduce(struct onnx_call *c);
bool onnx_run_resize(struct onnx_call *c);

/* onnx_shape.c */
bool onnx_run_shape(struct onnx_call *c);
bool onnx_run_size(struct onnx_call *c);
bool onnx_run_constant(struct onnx_call *c);
bool onnx_run_constant_of_shape(struct onnx_call *c);
bool onnx_run_range(struct onnx_call *c);
bool onnx_run_reshape(struct onnx_call *c);
bool onnx_run_flatten(struct onnx_call *c);
bool onnx_run_squeeze(struct onnx_call *c);
bool onnx_run_unsqueeze(struct onnx_call *c);
bool onnx_run_transpose(struct onnx_call *c);
bool onnx_run_concat(struct onnx_call *c);
bool onnx_run_slice(struct onnx_call *c);
bool onnx_run_split(struct onnx_call *c);
bool onnx_run_gather(struct onnx_call *c);
bool onnx_run_expand(struct onnx_call *c);
bool onnx_run_tile(struct onnx_call *c);
bool onnx_run_pad(struct onnx_call *c);
bool onnx_run_depth_space(struct onnx_call *c);

/* onnx_element.c */
bool onnx_run_unary(struct onnx_call *c);
bool onnx_run_binary(struct onnx_call *c);
bool onnx_run_where(struct onnx_call *c);

#endif
