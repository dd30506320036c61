/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Convolutions, norms of images, and pools. */
#include "lib/onnx/export_writer.h"

/* The bias of a convolution or linear layer, which may come from a folded norm; NULL: none. */
static const char *bias(const struct onnx_writer *a)
{
    const float *shift = a->w->shifts[a->node->id];
    if (!shift)
        return a->node->has_bias ? orch_onnx_writer_tensor(a, 1) : NULL;
    const char *name = orch_onnx_writer_inner(a, "bias");
    int64_t outputs = orch_net_tensor(a->w->e->net, a->node->first_tensor)->shape[0];
    orch_onnx_model_initializer(a->m, name, shift, 1, &outputs);
    return name;
}

bool orch_onnx_write_conv(const struct onnx_writer *a)
{
    const struct orch_net_node *n = a->node;
    const char *inputs[3] = {a->in, orch_onnx_writer_tensor(a, 0), bias(a)};
    Onnx__NodeProto *conv = orch_onnx_writer_add(a, "Conv", a->out, inputs, inputs[2] ? 3 : 2);
    orch_onnx_model_ints(a->m, conv, "kernel_shape", (int64_t[]){n->kernel_h, n->kernel_w}, 2);
    orch_onnx_model_ints(a->m, conv, "strides", (int64_t[]){n->stride_h, n->stride_w}, 2);
    orch_onnx_model_ints(a->m, conv, "pads", (int64_t[]){n->pad_h, n->pad_w, n->pad_h, n->pad_w},
                         4);
    orch_onnx_model_ints(a->m, conv, "dilations", (int64_t[]){n->dilation, n->dilation}, 2);
    orch_onnx_model_int(a->m, conv, "group", n->groups);
    return true;
}

bool orch_onnx_write_linear(const struct onnx_writer *a)
{
    const char *inputs[3] = {a->in, orch_onnx_writer_tensor(a, 0), bias(a)};
    Onnx__NodeProto *gemm = orch_onnx_writer_add(a, "Gemm", a->out, inputs, inputs[2] ? 3 : 2);
    orch_onnx_model_int(a->m, gemm, "transB", 1);
    return true;
}

/* ONNX's momentum is the share of the old mean, PyTorch's that of the new one. */
bool orch_onnx_write_batchnorm(const struct onnx_writer *a)
{
    const char *inputs[5] = {a->in, orch_onnx_writer_tensor(a, 0), orch_onnx_writer_tensor(a, 1),
                             orch_onnx_writer_tensor(a, 2), orch_onnx_writer_tensor(a, 3)};
    Onnx__NodeProto *norm = orch_onnx_writer_add(a, "BatchNormalization", a->out, inputs, 5);
    orch_onnx_model_float(a->m, norm, "epsilon", a->node->eps);
    orch_onnx_model_float(a->m, norm, "momentum", 1 - a->node->momentum);
    return true;
}

/* ---- windows ------------------------------------------------------------------------------- */

/* The padding behind an axis with which `places` windows fit exactly. A ceil_mode of ONNX would
 * count windows that PyTorch leaves out. */
static int64_t pad_behind(int64_t size, int64_t places, int kernel, int stride, int pad)
{
    return MAX(pad, (places - 1) * stride + kernel - size - pad);
}

bool orch_onnx_write_pool(const struct onnx_writer *a)
{
    const struct orch_net_node *n = a->node;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, n->inputs[0])->out;
    int64_t pads[4] = {n->pad_h, n->pad_w,
                       pad_behind(x->h, n->out.h, n->kernel_h, n->stride_h, n->pad_h),
                       pad_behind(x->w, n->out.w, n->kernel_w, n->stride_w, n->pad_w)};
    Onnx__NodeProto *pool = orch_onnx_writer_add_one(a, a->op, a->out, a->in);
    orch_onnx_model_ints(a->m, pool, "kernel_shape", (int64_t[]){n->kernel_h, n->kernel_w}, 2);
    orch_onnx_model_ints(a->m, pool, "strides", (int64_t[]){n->stride_h, n->stride_w}, 2);
    orch_onnx_model_ints(a->m, pool, "pads", pads, 4);
    if (n->op == ORCH_NET_AVGPOOL2D)
        orch_onnx_model_int(a->m, pool, "count_include_pad", 1);
    return true;
}

/* The matrix that averages `size` values into `places`, as PyTorch's adaptive pool does: place i
 * has the mean of values floor(i size / places) to ceil((i + 1) size / places) - 1. `is_right`: it
 * is multiplied from the right. */
static const char *averages(const struct onnx_writer *a, const char *part, int64_t size,
                            int64_t places, bool is_right)
{
    g_autofree float *matrix = g_new0(float, size *places);
    for (int64_t i = 0; i < places; i++) {
        int64_t begin = i * size / places, end = ((i + 1) * size + places - 1) / places;
        for (int64_t j = begin; j < end; j++)
            matrix[is_right ? j * places + i : i * size + j] = 1 / (float)(end - begin);
    }
    const char *name = orch_onnx_writer_inner(a, part);
    const int64_t dims[2] = {is_right ? size : places, is_right ? places : size};
    orch_onnx_model_constant_floats(a->m, name, matrix, 2, dims);
    return name;
}

bool orch_onnx_write_adaptive_pool(const struct onnx_writer *a)
{
    const struct orch_net_shape *out = &a->node->out;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, a->node->inputs[0])->out;
    if (out->h == 1 && out->w == 1) {
        orch_onnx_writer_add_one(a, "GlobalAveragePool", a->out, a->in);
    } else if (x->h % out->h == 0 && x->w % out->w == 0) {
        const int64_t window[2] = {x->h / out->h, x->w / out->w};
        Onnx__NodeProto *pool = orch_onnx_writer_add_one(a, "AveragePool", a->out, a->in);
        orch_onnx_model_ints(a->m, pool, "kernel_shape", window, 2);
        orch_onnx_model_ints(a->m, pool, "strides", window, 2);
    } else {
        const char *rows = orch_onnx_writer_inner(a, "rows");
        orch_onnx_writer_add_two(a, "MatMul", rows, averages(a, "over_rows", x->h, out->h, false),
                                 a->in);
        orch_onnx_writer_add_two(a, "MatMul", a->out, rows,
                                 averages(a, "over_columns", x->w, out->w, true));
    }
    return true;
}

/* ONNX centres an even window differently. */
bool orch_onnx_write_lrn(const struct onnx_writer *a)
{
    if (a->node->kernel_h % 2 == 0)
        return false;
    Onnx__NodeProto *norm = orch_onnx_writer_add_one(a, "LRN", a->out, a->in);
    orch_onnx_model_float(a->m, norm, "alpha", 1e-4);
    orch_onnx_model_float(a->m, norm, "beta", 0.75);
    orch_onnx_model_float(a->m, norm, "bias", 1);
    orch_onnx_model_int(a->m, norm, "size", a->node->kernel_h);
    return true;
}

/* Every stride-th pixel, with channels of zeros before and behind. */
bool orch_onnx_write_pad_shortcut(const struct onnx_writer *a)
{
    const struct orch_net_node *n = a->node;
    const struct orch_net_shape *x = &orch_net_node(a->w->e->net, n->inputs[0])->out;
    int64_t extra = n->out.c - x->c, before = extra / 2;
    const int64_t pads[8] = {0, before, 0, 0, 0, extra - before, 0, 0};
    const char *pixels = orch_onnx_writer_inner(a, "pixels");
    const char *slice[5] = {
        a->in, orch_onnx_writer_ints(a, "starts", (int64_t[]){0, 0}, 2),
        orch_onnx_writer_ints(a, "ends", (int64_t[]){x->h, x->w}, 2),
        orch_onnx_writer_ints(a, "axes", (int64_t[]){2, 3}, 2),
        orch_onnx_writer_ints(a, "steps", (int64_t[]){n->stride_h, n->stride_w}, 2)};
    orch_onnx_writer_add(a, "Slice", pixels, slice, 5);
    const char *pad[2] = {pixels, orch_onnx_writer_ints(a, "pads", pads, 8)};
    orch_onnx_writer_add(a, "Pad", a->out, pad, 2);
    return true;
}
