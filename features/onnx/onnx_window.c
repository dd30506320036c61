/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators with windows: convolutions and pools. Shapes are N x C x positions. Multiply-adds are
 * for the whole batch, which is divided out later. */
#include "features/onnx/onnx_ops.h"

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
        ok = ints[i] >= low && ints[i] <= ONNX_WINDOW_MAX;
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
        !read_list(c, "pads", 2 * w->axes, -ONNX_WINDOW_MAX, pads))
        return false;
    for (int i = 0; i < w->axes; i++) {
        w->before[i] = pads[i];
        w->behind[i] = pads[i + w->axes];
        if (w->kernel[i] < 1 || w->kernel[i] > ONNX_WINDOW_MAX ||
            (kernel && w->kernel[i] != kernel[i]))
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
        return orch_onnx_unfit(c, x, "an image");
    if (groups < 1 || groups > ONNX_WINDOW_MAX || w->dims[1] > ONNX_ELEMENTS_MAX / groups)
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
        return orch_onnx_unfit(c, x, "an image");
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
        return orch_onnx_unfit(c, x, "an image");
    orch_onnx_like(c, 0, x);
    c->out[0]->channel = 1;
    struct window window = {.axes = x->rank - 2};
    for (int i = 0; i < window.axes; i++) {
        c->out[0]->dims[i + 2] = 1;
        window.kernel[i] = MIN(x->dims[i + 2], ONNX_WINDOW_MAX);
        window.stride[i] = window.dilation[i] = 1;
    }
    if (c->op->variant)
        set_window(&c->layer, &window);
    return true;
}
