/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that compute: windows (convolutions, pools), products (Gemm, MatMul), norms,
 * reductions. Shapes are N x C x positions. Multiply-adds are for the whole batch, which is divided
 * out later. */
#include "features/onnx/onnx_element.h"
#include "features/onnx/onnx_ops.h"

#include <math.h>
#include <string.h>

#define WINDOW_MAX ((int64_t)1 << 20) /* maximum kernel, stride, dilation or pad */

static bool is_shape_error(const struct onnx_call *c, const struct onnx_value *x,
                           const char *wanted)
{
    g_autofree char *shape = orch_onnx_value_format(x);
    return orch_onnx_shape_error(c, x, "needs %s, but its input is %s", wanted, shape);
}

/* ---- windows ------------------------------------------------------------------------------- */

struct window {
    int axes; /* number of axes without N and C */
    int64_t kernel[ONNX_RANK_MAX], stride[ONNX_RANK_MAX], dilation[ONNX_RANK_MAX];
    int64_t before[ONNX_RANK_MAX], behind[ONNX_RANK_MAX]; /* pads */
    bool ceil_mode;
};

static bool read_list(const struct onnx_call *c, const char *attribute, int count, int64_t low,
                      int64_t *out)
{
    int has = 0;
    g_autofree int64_t *ints = orch_onnx_ints(c, attribute, -1, &has);
    if (!ints)
        return true;
    bool ok = has == count;
    for (int i = 0; ok && i < count; i++) {
        ok = ints[i] >= low && ints[i] <= WINDOW_MAX;
        out[i] = ints[i];
    }
    return ok || orch_onnx_fail(c, "export the model again", "has %s that do not fit its input",
                                attribute);
}

/* `kernel`: the spatial axes of a weight; NULL for pools. */
static bool read_window(const struct onnx_call *c, const struct onnx_value *x,
                        const int64_t *kernel, struct window *w)
{
    *w = (struct window){.axes = x->rank - 2};
    int64_t pads[2 * ONNX_RANK_MAX] = {0};
    for (int i = 0; i < w->axes; i++) {
        w->stride[i] = w->dilation[i] = 1;
        w->kernel[i] = kernel ? kernel[i] : 0;
    }
    w->ceil_mode = orch_onnx_attribute_int(c->step, "ceil_mode", 0) != 0;
    if (!read_list(c, "kernel_shape", w->axes, 1, w->kernel) ||
        !read_list(c, "strides", w->axes, 1, w->stride) ||
        !read_list(c, "dilations", w->axes, 1, w->dilation) ||
        !read_list(c, "pads", 2 * w->axes, -WINDOW_MAX, pads))
        return false;
    for (int i = 0; i < w->axes; i++) {
        w->before[i] = pads[i];
        w->behind[i] = pads[i + w->axes];
        if (w->kernel[i] < 1 || w->kernel[i] > WINDOW_MAX || (kernel && w->kernel[i] != kernel[i]))
            return orch_onnx_fail(c, "export the model again",
                                  "has a kernel_shape that does not fit its weights");
    }
    return true;
}

static int64_t reach(const struct window *w, int i)
{
    return (w->kernel[i] - 1) * w->dilation[i] + 1;
}

/* Computes the pads that auto_pad implies. */
static void pad_window(const struct onnx_call *c, const struct onnx_value *x, struct window *w)
{
    bool upper = orch_onnx_attribute_is(c->step, "auto_pad", "SAME_UPPER");
    bool lower = orch_onnx_attribute_is(c->step, "auto_pad", "SAME_LOWER");
    bool valid = orch_onnx_attribute_is(c->step, "auto_pad", "VALID");
    for (int i = 0; (upper || lower || valid) && i < w->axes; i++) {
        int64_t size = x->dims[i + 2], places = (size + w->stride[i] - 1) / w->stride[i];
        int64_t pad = valid ? 0 : MAX(0, (places - 1) * w->stride[i] + reach(w, i) - size);
        w->before[i] = lower ? (pad + 1) / 2 : pad / 2;
        w->behind[i] = pad - w->before[i];
    }
}

/* Number of positions of a window along an axis, rounded as in PyTorch. */
static int64_t places_of(const struct window *w, int i, int64_t size)
{
    int64_t room = size + w->before[i] + w->behind[i] - reach(w, i);
    if (room < 0)
        return 0;
    int64_t count = room / w->stride[i] + 1;
    bool hangs = w->ceil_mode && room % w->stride[i] && count * w->stride[i] < size + w->before[i];
    return hangs ? count + 1 : count;
}

static bool slide(struct onnx_call *c, const struct onnx_value *x, struct window *w)
{
    pad_window(c, x, w);
    for (int i = 0; i < w->axes; i++) {
        int64_t *size = &c->out[0]->dims[i + 2];
        *size = places_of(w, i, x->dims[i + 2]);
        if (*size < 1) {
            g_autofree char *shape = orch_onnx_value_format(x);
            return orch_onnx_shape_error(c, x,
                                         "has a window of %" G_GINT64_FORMAT
                                         " elements, which is too large for its input %s: the "
                                         "input of the model is too small",
                                         reach(w, i), shape);
        }
    }
    return true;
}

/* lib/net has two axes: a single axis becomes the first, further ones are folded into the
 * second. */
static void set_window(struct orch_net_node *layer, const struct window *w)
{
    int64_t width = 1;
    layer->kernel_w = layer->stride_w = 1;
    for (int i = 1; i < w->axes; i++) {
        width = MIN(width * w->kernel[i], G_MAXINT);
        layer->stride_w = (int)w->stride[i];
        layer->pad_w = (int)w->before[i];
    }
    layer->kernel_w = (int)width;
    layer->kernel_h = (int)w->kernel[0];
    layer->stride_h = (int)w->stride[0];
    layer->pad_h = (int)w->before[0];
    layer->dilation = (int)w->dilation[0];
    layer->ceil_mode = w->ceil_mode;
}

/* ---- convolutions -------------------------------------------------------------------------- */

static bool channels_fit(const struct onnx_call *c, const struct onnx_value *x,
                         const struct onnx_value *w, int64_t groups, bool is_transposed)
{
    int64_t wanted = is_transposed ? w->dims[0] : w->dims[1] * groups;
    if (x->dims[1] != wanted)
        return orch_onnx_shape_error(c, x,
                                     "has %" G_GINT64_FORMAT
                                     " input channels, but its weights are for %" //
                                     G_GINT64_FORMAT,
                                     x->dims[1], wanted);
    if (w->dims[0] % groups == 0)
        return true;
    return orch_onnx_fail(c, "export the model again",
                          "has %" G_GINT64_FORMAT " groups for %" G_GINT64_FORMAT " channels",
                          groups, w->dims[0]);
}

/* Transposed convolution: sizes grow, and every input is multiplied with the whole kernel. */
static bool widen(struct onnx_call *c, const struct onnx_value *x, const struct window *w)
{
    int64_t extra[ONNX_RANK_MAX] = {0}, asked[ONNX_RANK_MAX] = {0};
    if (!read_list(c, "output_padding", w->axes, 0, extra) ||
        !read_list(c, "output_shape", w->axes, 1, asked))
        return false;
    bool same = orch_onnx_attribute_is(c->step, "auto_pad", "SAME_UPPER") ||
                orch_onnx_attribute_is(c->step, "auto_pad", "SAME_LOWER");
    for (int i = 0; i < w->axes; i++) {
        int64_t size = x->dims[i + 2], out = (size - 1) * w->stride[i] + extra[i] + reach(w, i) -
                                             w->before[i] - w->behind[i];
        c->out[0]->dims[i + 2] = asked[i] ? asked[i] : MAX(0, same ? size * w->stride[i] : out);
    }
    return true;
}

static void conv_weights(struct onnx_call *c, const struct window *window)
{
    const struct onnx_value *w = c->in[1], *bias = onnx_in(c, 2);
    int64_t shape[4] = {w->dims[0], w->dims[1], window->kernel[0], 1};
    for (int i = 1; i < window->axes; i++)
        shape[3] *= window->kernel[i];
    orch_onnx_weight(c, w, ORCH_NET_WEIGHT, 4, shape);
    orch_onnx_weight(c, bias, ORCH_NET_BIAS, 1, &c->layer.out_channels);
    c->layer.has_bias = bias != NULL;
}

bool orch_onnx_run_conv(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    const struct onnx_value *x = c->in[0], *w = c->in[1];
    bool is_transposed = c->op->variant;
    int64_t groups = orch_onnx_attribute_int(c->step, "group", 1);
    struct window window;
    if (x->rank < 3 || w->rank != x->rank)
        return is_shape_error(c, x, "an image");
    if (groups < 1 || groups > WINDOW_MAX || w->dims[1] > ONNX_ELEMENTS_MAX / groups)
        return orch_onnx_fail(c, "export the model again", "has %" G_GINT64_FORMAT " groups",
                              groups);
    if (!channels_fit(c, x, w, groups, is_transposed) || !read_window(c, x, w->dims + 2, &window))
        return false;
    struct onnx_value *out = c->out[0];
    orch_onnx_like(c, 0, x);
    out->channel = 1;
    out->dims[1] = is_transposed ? w->dims[1] * groups : w->dims[0];
    if (is_transposed ? !widen(c, x, &window) : !slide(c, x, &window))
        return false;
    set_window(&c->layer, &window);
    c->layer.groups = (int)groups;
    c->layer.in_channels = x->dims[1];
    c->layer.out_channels = out->dims[1];
    conv_weights(c, &window);
    const struct onnx_value *many = is_transposed ? x : out;
    c->layer.macs = w->dims[1];
    for (int i = 0; i < many->rank; i++)
        if (!orch_onnx_multiply(c, &c->layer.macs, many->dims[i]))
            return false;
    for (int i = 0; i < window.axes; i++)
        if (!orch_onnx_multiply(c, &c->layer.macs, window.kernel[i]))
            return false;
    return true;
}

/* ---- pools --------------------------------------------------------------------------------- */

bool orch_onnx_run_pool(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct window window;
    if (x->rank < 3)
        return is_shape_error(c, x, "an image");
    if (!read_window(c, x, NULL, &window))
        return false;
    orch_onnx_like(c, 0, x);
    c->out[0]->channel = 1;
    if (!slide(c, x, &window))
        return false;
    orch_onnx_like(c, 1, c->out[0]);
    set_window(&c->layer, &window);
    c->window = (int64_t)c->layer.kernel_h * c->layer.kernel_w;
    bool is_same = c->layer.kernel_h == 1 && c->layer.kernel_w == 1;
    if (is_same && c->layer.op == ORCH_NET_AVGPOOL2D) /* an adaptive pool that is the identity */
        c->layer.op = ORCH_NET_ADAPTIVE_AVGPOOL2D;
    return true;
}

bool orch_onnx_run_pool_all(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    if (x->rank < 3)
        return is_shape_error(c, x, "an image");
    orch_onnx_like(c, 0, x);
    c->out[0]->channel = 1;
    struct window window = {.axes = x->rank - 2};
    for (int i = 0; i < window.axes; i++) {
        c->out[0]->dims[i + 2] = 1;
        window.kernel[i] = MIN(x->dims[i + 2], WINDOW_MAX);
        window.stride[i] = window.dilation[i] = 1;
    }
    if (c->op->variant)
        set_window(&c->layer, &window);
    return true;
}

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

bool orch_onnx_run_gemm(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    const struct onnx_value *a = c->in[0], *b = c->in[1];
    if (a->rank != 2 || b->rank != 2)
        return is_shape_error(c, a, "rows and columns");
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
    if (!orch_onnx_value_is_constant(a) && !orch_onnx_value_is_constant(b))
        c->layer.op = ORCH_NET_ATTENTION;
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
        return is_shape_error(c, a, "vectors or matrices");
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
        return is_shape_error(c, x, "an image");
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
        return is_shape_error(c, x, "more axes");
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
    c->layer.kernel_h = (int)CLAMP(orch_onnx_attribute_int(c->step, "size", 1), 1, WINDOW_MAX);
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
            return is_shape_error(c, x, "more axes");
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
            return is_shape_error(c, x, "more axes");
        c->out[0]->dims[axis] =
            by_size ? sizes[i] : orch_onnx_integer(floor((double)x->dims[axis] * scales[i]));
    }
    bool is_interpolated = orch_onnx_attribute_is(c->step, "mode", "linear") ||
                           orch_onnx_attribute_is(c->step, "mode", "bilinear") ||
                           orch_onnx_attribute_is(c->step, "mode", "cubic");
    c->count = is_interpolated ? ONNX_ZERO : ONNX_MOVES;
    return true;
}
