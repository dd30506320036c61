/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/features_kernels.h"

#include "lib/steptime/kernel_step.h"

#include <math.h>
#include <string.h>

#define VECTOR_ALONE_S 20e-6 /* least time of an element-wise kernel that is timed by itself */

static double field(const struct orch_row_facts *f, enum orch_field which, double otherwise)
{
    double value = f->field[which];
    return isnan(value) ? otherwise : value;
}

/* ---- single layers -----------------------------------------------------------------------------
 */

/* Values that a convolution moves: an image is read once, not once for each place of the kernel. */
static double conv_values(const struct orch_row_facts *f, const struct orch_row_work *w)
{
    double batch = field(f, ORCH_FIELD_BATCH, 1), side = field(f, ORCH_FIELD_IN_HW, (double)NAN);
    return batch * side * side * field(f, ORCH_FIELD_CIN, (double)NAN) + w->elements +
           w->gemm_k * w->gemm_n;
}

static double layer_s(const struct orch_kernel_gpu *gpu, const struct orch_row_facts *f,
                      const struct orch_row_work *w)
{
    double moved = gpu->element_bytes * conv_values(f, w);
    struct orch_kernel_product p = {.b = w->gemm_b,
                                    .m = w->gemm_m,
                                    .n = w->gemm_n,
                                    .k = w->gemm_k,
                                    .bytes = isfinite(moved) ? moved : 0,
                                    .is_winograd = w->gemm_b == 1 &&
                                                   field(f, ORCH_FIELD_KERNEL, 0) == 3 &&
                                                   field(f, ORCH_FIELD_STRIDE, 1) == 1};
    double s = orch_kernel_product_s(gpu, &p) + orch_kernel_least_s(true);
    if (!f->training)
        return s;
    struct orch_kernel_product data = {p.b, p.m, p.k, p.n, p.bytes, p.is_winograd};
    struct orch_kernel_product weights = {p.b, p.k, p.n, p.m, p.bytes, false};
    double update = isfinite(w->update_mbytes) ? w->update_mbytes * 1e6 : 0;
    return s + orch_kernel_product_s(gpu, &data) + orch_kernel_product_s(gpu, &weights) +
           update / gpu->bandwidth + 2 * orch_kernel_least_s(false);
}

static enum orch_kernel_kind kind_of(const char *op)
{
    return strcmp(op, "softmax") == 0 ? ORCH_KERNEL_SOFTMAX
           : strcmp(op, "ln") == 0    ? ORCH_KERNEL_NORM
                                      : ORCH_KERNEL_ELEMENTWISE;
}

/* ---- transformers ------------------------------------------------------------------------------
 */

/* Sizes of a transformer as the zoo's families take them. */
struct sizes {
    const char *net;
    int64_t layers, hidden, heads, ff, vocab, seq;
};

/* The network by one layer of each kind. T5's larger networks have heads that together are wider
 * than the layer. Caller frees. */
static char *one_layer_name(const struct sizes *z)
{
    static const char *const families[][2] = {
        {"gpt", "gpt"}, {"opt", "opt"}, {"t5", "t5"}, {"switch", "t5"}};
    const char *family = z->vocab ? "bert-mlm" : "bert";
    for (size_t i = 0; i < G_N_ELEMENTS(families); i++)
        if (g_str_has_prefix(z->net, families[i][0]))
            family = families[i][1];
    GString *name = g_string_new(family);
    g_string_append_printf(name, ":1,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT,
                           z->hidden, z->heads, z->ff);
    if (strcmp(family, "t5") == 0)
        g_string_append_printf(name, ",%d", z->heads * 64 == z->hidden ? 64 : 128);
    return g_string_free(name, FALSE);
}

/* Whole numbers, so that rows with equal sizes have equal times; 0: none. */
static int64_t whole(const struct orch_row_facts *f, enum orch_field which, double otherwise)
{
    double value = field(f, which, otherwise);
    return value >= 1 && value <= 1 << 20 ? (int64_t)value : 0;
}

static double transformer_s(const struct orch_kernel_gpu *gpu, const struct orch_row_facts *f)
{
    struct sizes z = {.net = f->net,
                      .layers = whole(f, ORCH_FIELD_LAYERS, 0),
                      .hidden = whole(f, ORCH_FIELD_HIDDEN, 0),
                      .seq = whole(f, ORCH_FIELD_SEQ, 0),
                      .vocab = whole(f, ORCH_FIELD_VOCAB, 0)};
    z.ff = whole(f, ORCH_FIELD_FF, 4.0 * (double)z.hidden);
    z.heads = whole(f, ORCH_FIELD_HEADS, MAX(1, (double)z.hidden / 64));
    struct orch_roofline_work work = {.batch = whole(f, ORCH_FIELD_BATCH, 0),
                                      .element_bytes = gpu->element_bytes,
                                      .training = f->training};
    if (!z.layers || !z.hidden || !z.seq || !z.heads || !work.batch)
        return (double)NAN;
    g_autofree char *name = one_layer_name(&z);
    const struct orch_net_options options = {
        .name = name, .channels = 1, .height = z.seq, .width = 1, .classes = MAX(1, z.vocab)};
    struct orch_net *net = orch_net_make(&options, NULL);
    if (!net)
        return (double)NAN;
    struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_kernel_model model = {
        .gpu = *gpu, .switches = {.is_written_out = true, .is_compiled = f->is_compiled}};
    double s = orch_kernel_repeated_s(net, costs, &model, &work, (double)z.layers);
    g_free(costs);
    orch_net_free(net);
    return s;
}

double orch_row_kernels_ms(const struct orch_row_facts *f, const struct orch_row_work *w)
{
    struct orch_kernel_gpu gpu;
    enum orch_precision precision = f->precision == ORCH_FP32 ? ORCH_FP32_IEEE : f->precision;
    if (!f->gpu || f->has_format || !orch_kernel_gpu_for(f->gpu, precision, 0, &gpu))
        return (double)NAN;
    if (w->gemm_b * w->gemm_m * w->gemm_n * w->gemm_k > 0)
        return 1e3 * layer_s(&gpu, f, w);
    if (field(f, ORCH_FIELD_COLS, 0) > 0 && w->elements > 0)
        return w->mbytes * 1e6 / gpu.element_bytes > 0
                   ? 1e3 * (VECTOR_ALONE_S +
                            orch_kernel_vector_s(&gpu, kind_of(f->op),
                                                 w->mbytes * 1e6 / gpu.element_bytes))
                   : (double)NAN;
    return 1e3 * transformer_s(&gpu, f);
}
