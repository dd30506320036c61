/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that compute: products (Gemm, MatMul), norms, reductions, resizing; those with windows
 * are in onnx_window.c. Shapes are N x C x positions. Multiply-adds are for the whole batch, which
 * is divided out later. */
#include "features/onnx/onnx_element.h"
#include "features/onnx/onnx_ops.h"

#include <math.h>

/* ---- products ------------------------------------------------------------------------------ */

static bool sizes_differ(const struct onnx_call *c, const struct onnx_value *a,
                         const struct onnx_value *b)
{
    g_autofree char *one = orch_onnx_value_format(a), *two = orch_onnx_value_format(b);
    return orch_onnx_shape_error(c, a->guess ? a : b, "cannot multiply %s with %s", one, two);
}

/* A linear layer if there is one vector per image, otherwise a linear layer along the tokens. */
static void set_linear(struct onnx_call *c, int64_t rows, int64_t in, int64_t out)
{
    c->layer.op = rows == c->g->batch ? ORCH_NET_LINEAR : ORCH_NET_TOKEN_LINEAR;
    c->layer.in_channels = in;
    c->layer.out_channels = out;
}

static bool set_macs(struct onnx_call *c, int64_t depth)
{
    c->layer.macs = depth;
    for (int i = 0; i < c->out[0]->rank; i++)
        if (!orch_onnx_multiply(c, &c->layer.macs, c->out[0]->dims[i]))
            return false;
    return true;
}

static void add_bias(struct onnx_call *c, const struct onnx_value *bias, int64_t size)
{
    c->layer.has_bias = bias != NULL;
    if (bias)
        orch_onnx_weight(c, bias, ORCH_NET_BIAS, 1, &size);
}

/* A product of two values is one of each sample when it is one of a stack, or when it sums over the
 * batch; otherwise rows of one sample meet columns of another. */
static void join_values(struct onnx_call *c, int64_t rows, int64_t depth, int64_t columns)
{
    const int64_t batch = c->g->batch;
    const struct onnx_value *out = c->out[0];
    int64_t stack = orch_onnx_value_count(out) / MAX(1, rows * columns);
    bool sums = depth % batch == 0 && rows % batch && columns % batch;
    orch_onnx_mixes(c, stack % batch && !sums);
}

bool orch_onnx_run_gemm(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    const struct onnx_value *a = c->in[0], *b = c->in[1];
    if (a->rank != 2 || b->rank != 2)
        return orch_onnx_unfit(c, a, "rows and columns");
    int ta = orch_onnx_attribute_int(c->step, "transA", 0) != 0;
    int tb = orch_onnx_attribute_int(c->step, "transB", 0) != 0;
    int64_t rows = a->dims[ta], depth = a->dims[!ta], columns = b->dims[!tb];
    if (b->dims[tb] != depth)
        return sizes_differ(c, a, b);
    struct onnx_value *out = c->out[0];
    out->type = a->type;
    out->rank = 2;
    out->dims[0] = rows;
    out->dims[1] = columns;
    out->channel = 1;
    int64_t shape[2] = {columns, depth};
    set_linear(c, rows, depth, columns);
    if (!orch_onnx_value_is_constant(a) && !orch_onnx_value_is_constant(b)) {
        c->layer.op = ORCH_NET_ATTENTION;
        join_values(c, rows, depth, columns);
    }
    orch_onnx_weight(c, b, ORCH_NET_WEIGHT, 2, shape);
    add_bias(c, onnx_in(c, 2), columns);
    return set_macs(c, depth);
}

/* Shape of a product of stacks of matrices, as in NumPy; vectors count as a matrix with one row
 * (left) or one column (right). */
static bool matmul_shape(struct onnx_call *c, int64_t *out_depth, int64_t *out_columns)
{
    const struct onnx_value *a = c->in[0], *b = c->in[1];
    if (!a->rank || !b->rank)
        return orch_onnx_unfit(c, a, "vectors or matrices");
    int64_t depth = a->dims[a->rank - 1], rows = a->rank > 1 ? a->dims[a->rank - 2] : 1;
    int64_t columns = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    if (b->dims[b->rank > 1 ? b->rank - 2 : 0] != depth)
        return sizes_differ(c, a, b);
    struct onnx_value left = *a, right = *b;
    left.rank = MAX(a->rank - 2, 0);
    right.rank = MAX(b->rank - 2, 0);
    if (!orch_onnx_broadcast(c, &left, &right))
        return false;
    struct onnx_value *out = c->out[0];
    out->type = a->type;
    if (a->rank > 1)
        out->dims[out->rank++] = rows;
    if (b->rank > 1)
        out->dims[out->rank++] = columns;
    out->channel = out->rank - 1;
    *out_depth = depth;
    *out_columns = columns;
    return true;
}

bool orch_onnx_run_matmul(struct onnx_call *c)
{
    int64_t depth = 0, columns = 0;
    if (!orch_onnx_need(c, 2) || !matmul_shape(c, &depth, &columns))
        return false;
    const struct onnx_value *a = c->in[0], *b = c->in[1], *out = c->out[0];
    if (!orch_onnx_value_is_constant(a) && !orch_onnx_value_is_constant(b)) {
        c->layer.op = ORCH_NET_ATTENTION;
        c->layer.in_channels = depth;
        c->layer.out_channels = columns;
        join_values(c, a->rank > 1 ? a->dims[a->rank - 2] : 1, depth, columns);
        return set_macs(c, depth);
    }
    bool is_left = orch_onnx_value_is_constant(a); /* the weights are the left operand */
    int64_t rows = a->rank > 1 ? a->dims[a->rank - 2] : 1, width = is_left ? rows : columns;
    int64_t count = 1, shape[2] = {width, depth};
    for (int i = 0; i < out->rank && i < out->rank - (b->rank > 1); i++)
        if (__builtin_mul_overflow(count, out->dims[i], &count))
            count = ONNX_ELEMENTS_MAX;
    set_linear(c, is_left ? columns : count, depth, width);
    orch_onnx_weight(c, is_left ? a : b, ORCH_NET_WEIGHT, 2, shape);
    add_bias(c, onnx_in(c, 2), width);
    return set_macs(c, depth);
}

/* ---- norms --------------------------------------------------------------------------------- */

bool orch_onnx_run_norm(struct onnx_call *c)
{
    static const enum orch_net_role roles[] = {ORCH_NET_WEIGHT, ORCH_NET_BIAS,
                                               ORCH_NET_RUNNING_MEAN, ORCH_NET_RUNNING_VAR};
    if (!orch_onnx_need(c, 3))
        return false;
    const struct onnx_value *x = c->in[0];
    if (x->rank < 2)
        return orch_onnx_unfit(c, x, "an image");
    bool is_batch = c->op->variant == 1, is_group = c->op->variant == 2;
    for (int i = 1; i < MIN(c->in_count, is_batch ? 5 : 3); i++) {
        if (!c->in[i])
            continue;
        if (!is_group && orch_onnx_value_count(c->in[i]) != x->dims[1])
            return orch_onnx_shape_error(c, x,
                                         "has %" G_GINT64_FORMAT
                                         " input channels, but its weights are for %" //
                                         G_GINT64_FORMAT,
                                         x->dims[1], orch_onnx_value_count(c->in[i]));
        int64_t size = orch_onnx_value_count(c->in[i]);
        orch_onnx_weight(c, c->in[i], roles[i - 1], 1, &size);
    }
    for (int i = 0; i < c->out_count; i++)
        orch_onnx_like(c, i, x);
    c->out[0]->channel = 1;
    c->layer.in_channels = c->layer.out_channels = x->dims[1];
    c->layer.has_bias = true;
    c->layer.eps = orch_onnx_attribute_float(c->step, "epsilon", 1e-5);
    if (is_batch) /* ONNX's momentum is the share of the old mean, PyTorch's that of the new one */
        c->layer.momentum = 1 - orch_onnx_attribute_float(c->step, "momentum", 0.9);
    return true;
}

bool orch_onnx_run_layernorm(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    int axis;
    int64_t wanted = orch_onnx_attribute_int(c->step, "axis", -1), size = 1;
    if (!orch_onnx_axis(wanted, x->rank, &axis))
        return orch_onnx_unfit(c, x, "more axes");
    for (int i = axis; i < x->rank; i++)
        size *= x->dims[i];
    for (int i = 1; i < 3; i++) {
        const struct onnx_value *w = onnx_in(c, i);
        if (w && orch_onnx_value_count(w) != 1 && size % orch_onnx_value_count(w))
            return orch_onnx_shape_error(c, x,
                                         "normalises %" G_GINT64_FORMAT
                                         " elements, but its weights are for %" //
                                         G_GINT64_FORMAT,
                                         size, orch_onnx_value_count(w));
        orch_onnx_weight(c, w, i == 1 ? ORCH_NET_WEIGHT : ORCH_NET_BIAS, 1, &size);
    }
    for (int i = 0; i < c->out_count; i++)
        orch_onnx_like(c, i, x);
    c->layer.in_channels = c->layer.out_channels = size;
    c->layer.has_bias = onnx_in(c, 2) != NULL;
    c->layer.eps = orch_onnx_attribute_float(c->step, "epsilon", 1e-5);
    return true;
}

bool orch_onnx_run_lrn(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    orch_onnx_like(c, 0, c->in[0]);
    c->layer.kernel_h = (int)CLAMP(orch_onnx_attribute_int(c->step, "size", 1), 1, ONNX_WINDOW_MAX);
    return true;
}

/* ---- reductions ---------------------------------------------------------------------------- */

static double reduce(int variant, const double *numbers, int64_t count)
{
    double sum = 0, product = 1, least = numbers[0], most = numbers[0];
    for (int64_t i = 0; i < count; i++) {
        sum += numbers[i];
        product *= numbers[i];
        least = fmin(least, numbers[i]);
        most = fmax(most, numbers[i]);
    }
    const double results[] = {[ONNX_REDUCE_MEAN] = sum / (double)count,
                              [ONNX_REDUCE_SUM] = sum,
                              [ONNX_REDUCE_PROD] = product,
                              [ONNX_REDUCE_MAX] = most,
                              [ONNX_REDUCE_MIN] = least};
    return results[variant];
}

/* Determines the reduced axes; false if they are unknown. */
static bool reduced_axes(struct onnx_call *c, bool *gone, bool *out_known)
{
    const struct onnx_value *x = c->in[0];
    int count = 0;
    bool is_arg = c->op->variant == ONNX_REDUCE_ARG;
    int64_t arg_axis = orch_onnx_attribute_int(c->step, "axis", 0);
    g_autofree int64_t *axes =
        is_arg ? g_memdup2(&arg_axis, sizeof arg_axis) : orch_onnx_ints(c, "axes", 1, &count);
    count = is_arg ? 1 : count;
    *out_known = axes || !onnx_in(c, 1);
    for (int i = 0; axes && i < count; i++) {
        int axis;
        if (!orch_onnx_axis(axes[i], x->rank, &axis))
            return orch_onnx_unfit(c, x, "more axes");
        gone[axis] = true;
    }
    bool all = !count && !orch_onnx_attribute_int(c->step, "noop_with_empty_axes", 0);
    for (int i = 0; all && i < x->rank; i++)
        gone[i] = true;
    return true;
}

bool orch_onnx_run_reduce(struct onnx_call *c)
{
    bool gone[ONNX_RANK_MAX] = {false}, known;
    if (!orch_onnx_need(c, 1) || !reduced_axes(c, gone, &known))
        return false;
    if (!known)
        return orch_onnx_run_unknown(c);
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    bool keep = orch_onnx_attribute_int(c->step, "keepdims", 1) != 0;
    orch_onnx_like(c, 0, x);
    out->rank = 0;
    out->channel = -1;
    if (c->op->variant == ONNX_REDUCE_ARG)
        out->type = ONNX_INT64;
    bool is_pool = x->channel >= 0 && x->rank > 2 && !gone[0] && !gone[x->channel];
    for (int i = 0; i < x->rank; i++) {
        if (gone[i] && !keep)
            continue;
        if (i == x->channel && !gone[i])
            out->channel = out->rank;
        out->dims[out->rank++] = gone[i] ? 1 : x->dims[i];
    }
    if (out->channel < 0)
        out->channel = out->rank - 1;
    if (!is_pool)
        c->layer.op = ORCH_NET_GENERIC; /* counted as zero, with a note */
    bool folds = x->numbers && x->rank <= 1 && orch_onnx_value_count(out) == 1 &&
                 orch_onnx_value_count(x) > 0 && c->op->variant != ONNX_REDUCE_OTHER &&
                 c->op->variant != ONNX_REDUCE_ARG;
    double *numbers = folds ? orch_onnx_numbers(c, 0) : NULL;
    if (numbers)
        numbers[0] = reduce(c->op->variant, x->numbers, orch_onnx_value_count(x));
    return true;
}

/* ---- resizing ------------------------------------------------------------------------------ */

/* Reads a list of floats from an attribute or from input i. NULL if unknown; caller frees. */
static double *read_reals(const struct onnx_call *c, const char *attribute, int i, int *out_count)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(c->step, attribute);
    const struct onnx_value *v = onnx_in(c, i);
    *out_count = a && a->n_floats ? (int)a->n_floats : v ? (int)orch_onnx_value_count(v) : 0;
    if (!*out_count || !(a && a->n_floats ? a->floats != NULL : v->numbers != NULL))
        return NULL;
    double *reals = g_new0(double, (gsize)*out_count);
    for (int j = 0; j < *out_count; j++)
        reals[j] = a && a->n_floats ? (double)a->floats[j] : v->numbers[j];
    return reals;
}

/* Inputs: X and scales (Upsample, and Resize of version 10), or X, region, scales, sizes. */
bool orch_onnx_run_resize(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    bool is_old = !c->op->variant || c->in_count == 2;
    int scale_count = 0, size_count = 0, axis_count = 0;
    g_autofree double *scales = read_reals(c, "scales", is_old ? 1 : 2, &scale_count);
    g_autofree int64_t *sizes = orch_onnx_ints(c, NULL, is_old ? -1 : 3, &size_count);
    g_autofree int64_t *axes = orch_onnx_ints(c, "axes", -1, &axis_count);
    int wanted = axes ? axis_count : x->rank;
    bool by_size = sizes && size_count > 0;
    if (by_size ? size_count != wanted : !scales || scale_count != wanted)
        return orch_onnx_run_unknown(c);
    orch_onnx_like(c, 0, x);
    for (int i = 0; i < wanted; i++) {
        int axis;
        if (!orch_onnx_axis(axes ? axes[i] : i, x->rank, &axis))
            return orch_onnx_unfit(c, x, "more axes");
        c->out[0]->dims[axis] =
            by_size ? sizes[i] : orch_onnx_integer(floor((double)x->dims[axis] * scales[i]));
    }
    bool is_interpolated = orch_onnx_attribute_is(c->step, "mode", "linear") ||
                           orch_onnx_attribute_is(c->step, "mode", "bilinear") ||
                           orch_onnx_attribute_is(c->step, "mode", "cubic");
    c->count = is_interpolated ? ONNX_ZERO : ONNX_MOVES;
    return true;
}
