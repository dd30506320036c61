/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface of operators. */
#ifndef ORCH_FEATURES_ONNX_ONNX_OPS_H
#define ORCH_FEATURES_ONNX_ONNX_OPS_H

#include "features/onnx/onnx_graph.h"

#define ONNX_TENSORS_MAX 6

/** A weight of a layer. */
struct onnx_layer_tensor {
    const struct onnx_value *value;
    enum orch_net_role role;
    int rank; /* 0: use the file's shape */
    int64_t shape[4];
    bool is_spread; /* the file has the elements of `shape` several times */
};

enum onnx_count {
    ONNX_COUNTED, /* operations are counted by lib/net */
    ONNX_MOVES,   /* no operations: elements are only moved or selected */
    ONNX_ZERO,    /* operations that cannot be counted, which become a note */
};

/** A step being processed. */
struct onnx_call {
    struct onnx_graph *g;
    const struct onnx_step *step;
    const struct onnx_op *op;
    struct onnx_value **in; /* NULL: omitted */
    int in_count;
    struct onnx_value **out; /* NULL: not used by any step */
    int out_count;
    GError **error;
    /* results */
    struct orch_net_node layer; /* attributes, all multiply-adds of the batch */
    struct onnx_layer_tensor tensors[ONNX_TENSORS_MAX];
    int tensor_count;
    enum onnx_count count;
    int64_t window;  /* of a pool: operations per output */
    bool is_view;    /* the output is the first input with another shape, so there is no node */
    bool is_guessed; /* the output shape does not follow from the inputs */
};

/** Computes type, shape, channel axis and numbers of c->out, and sets c->layer. */
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

/** Sets an error that names file, node and operator; returns false. */
bool orch_onnx_fail(const struct onnx_call *c, const char *hint, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/** The same for inconsistent shapes; the hint names a preceding guess. */
bool orch_onnx_shape_error(const struct onnx_call *c, const struct onnx_value *v,
                           const char *format, ...) G_GNUC_PRINTF(3, 4);
/** Sets the error of an output with more axes than ONNX_RANK_MAX. */
bool orch_onnx_too_many_axes(const struct onnx_call *c);
/** Sets the error of an axis that the input `v` does not have. */
bool orch_onnx_bad_axis(const struct onnx_call *c, int64_t axis, const struct onnx_value *v);
/** Sets the error of an input that is not what the operator needs ("an image"). */
bool orch_onnx_unfit(const struct onnx_call *c, const struct onnx_value *v, const char *wanted);
/** Checks that inputs 0 to count - 1 are present; sets an error otherwise. */
bool orch_onnx_need(const struct onnx_call *c, int count);
static inline struct onnx_value *onnx_in(const struct onnx_call *c, int i)
{
    return i < c->in_count ? c->in[i] : NULL;
}
/** Sets shape, type and channel axis, but not numbers, of output i to those of `like`. */
void orch_onnx_like(struct onnx_call *c, int i, const struct onnx_value *like);
/** Allocates zeroed numbers for output i and returns them; NULL if there are too many. */
double *orch_onnx_numbers(struct onnx_call *c, int i);
/** Adds a weight to the layer, unless it is not an initializer or already counted. */
void orch_onnx_weight(struct onnx_call *c, const struct onnx_value *v, enum orch_net_role role,
                      int rank, const int64_t *shape);
/** Integers of an attribute or else of input i (`i` < 0: attribute only); NULL if absent or
 * unknown. Caller frees. */
int64_t *orch_onnx_ints(const struct onnx_call *c, const char *attribute, int i, int *out_count);
/** Reads the shape in input i into dims (onnx_shape.c); false if it is unknown or has too many
 * axes. */
bool orch_onnx_shape_from(struct onnx_call *c, int i, int64_t *dims, int *out_rank);
/** Converts an axis, negative from the end, to 0 .. rank-1; false if out of range. */
bool orch_onnx_axis(int64_t axis, int rank, int *out);
/** Returns a product of sizes, a quarter of the largest integer on overflow. */
static inline int64_t orch_onnx_times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? G_MAXINT64 / 4 : product;
}
/** Returns the product of the sizes of `count` axes. */
int64_t orch_onnx_product(const int64_t *dims, int count);
/** Multiplies multiply-adds by a factor; sets an error on overflow. */
bool orch_onnx_multiply(const struct onnx_call *c, int64_t *product, int64_t factor);
/** Notes that an operator may join values of several samples, and whether it does. */
void orch_onnx_mixes(const struct onnx_call *c, bool does);
/** Broadcasts `a` and `b` against each other into the shape of output 0. */
bool orch_onnx_broadcast(struct onnx_call *c, const struct onnx_value *a,
                         const struct onnx_value *b);
/** Converts a constant's number to an integer, clamped to its range. */
int64_t orch_onnx_integer(double number);
/** Sets an unknown output shape to the one declared in the file, or the first input's. */
bool orch_onnx_run_unknown(struct onnx_call *c);

/* onnx_layer.c */
bool orch_onnx_run_conv(struct onnx_call *c);
bool orch_onnx_run_pool(struct onnx_call *c);
bool orch_onnx_run_pool_all(struct onnx_call *c);
bool orch_onnx_run_gemm(struct onnx_call *c);
bool orch_onnx_run_matmul(struct onnx_call *c);
bool orch_onnx_run_einsum(struct onnx_call *c); /* onnx_einsum.c */
bool orch_onnx_run_norm(struct onnx_call *c);
bool orch_onnx_run_layernorm(struct onnx_call *c);
bool orch_onnx_run_lrn(struct onnx_call *c);
bool orch_onnx_run_reduce(struct onnx_call *c);
bool orch_onnx_run_resize(struct onnx_call *c);

/* onnx_shape.c */
bool orch_onnx_run_shape(struct onnx_call *c);
bool orch_onnx_run_size(struct onnx_call *c);
bool orch_onnx_run_constant(struct onnx_call *c);
bool orch_onnx_run_constant_of_shape(struct onnx_call *c);
bool orch_onnx_run_range(struct onnx_call *c);
bool orch_onnx_run_reshape(struct onnx_call *c);
bool orch_onnx_run_flatten(struct onnx_call *c);
bool orch_onnx_run_squeeze(struct onnx_call *c);
bool orch_onnx_run_unsqueeze(struct onnx_call *c);
bool orch_onnx_run_transpose(struct onnx_call *c);
bool orch_onnx_run_concat(struct onnx_call *c);
bool orch_onnx_run_slice(struct onnx_call *c);
bool orch_onnx_run_split(struct onnx_call *c);
bool orch_onnx_run_gather(struct onnx_call *c);
bool orch_onnx_run_expand(struct onnx_call *c);
bool orch_onnx_run_tile(struct onnx_call *c);
bool orch_onnx_run_pad(struct onnx_call *c);
bool orch_onnx_run_depth_space(struct onnx_call *c);

bool orch_onnx_run_recurrent(struct onnx_call *c); /* onnx_recurrent.c */

/* onnx_scores.c */
/** Adds `v`, a constant that is added to `other`, to the layer if it is a table of biases spread
 * over the scores of attention, with the shape of the table. Returns true for that and for a mask,
 * which has no parameters; false for any other constant. */
bool orch_onnx_add_to_scores(struct onnx_call *c, const struct onnx_value *v,
                             const struct onnx_value *other);

/* onnx_element.c */
bool orch_onnx_run_same_shape(struct onnx_call *c);
bool orch_onnx_run_binary(struct onnx_call *c);
bool orch_onnx_run_where(struct onnx_call *c);

#endif
