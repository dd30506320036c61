/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features_kernels.h"

#include "lib/steptime/kernel_sum.h"

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
                                    .bytes = isfinite(moved) ? moved : 0};
    double s = orch_kernel_product_s(gpu, &p) + orch_kernel_least_s(true);
    if (!f->training)
        return s;
    struct orch_kernel_product data = {p.b, p.m, p.k, p.n, p.bytes};
    struct orch_kernel_product weights = {p.b, p.k, p.n, p.m, p.bytes};
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

static void add_product(struct orch_kernel_sum *s, double count, double b, double m, double k,
                        double n)
{
    struct orch_kernel_product p = {.b = b, .m = m, .n = n, .k = k};
    orch_kernel_sum_products(s, count, &p);
}

/* Sizes of a transformer's step: `scores` are the values of all attention matrices of a layer. */
struct sizes {
    double layers, hidden, heads, ff, vocab, seq, batch, tokens, scores;
    double inner; /* of the heads together: hidden but in T5's larger networks */
};

/* Operators between the products as the usual implementations write them out: scaling and masking
 * of the scores, copies of the heads, GELU's tanh form as eight kernels. */
static void add_attention(struct orch_kernel_sum *s, const struct sizes *z, bool is_gpt,
                          bool is_opt)
{
    double n = z->layers, values = z->tokens * z->hidden;
    add_product(s, is_gpt ? n : 3 * n, 1, z->tokens, z->hidden, is_gpt ? 3 * z->inner : z->inner);
    add_product(s, n, z->batch * z->heads, z->seq, z->inner / z->heads, z->seq);
    orch_kernel_sum_vectors(s, n, ORCH_KERNEL_ELEMENTWISE, is_opt ? 2 * values : 2 * z->scores, 1);
    orch_kernel_sum_vectors(s, n, ORCH_KERNEL_ELEMENTWISE, (is_opt ? 3 : 2) * z->scores, 1);
    if (is_opt)
        orch_kernel_sum_vectors(s, n, ORCH_KERNEL_ELEMENTWISE, 2 * z->scores, 1);
    orch_kernel_sum_vectors(s, n, ORCH_KERNEL_SOFTMAX, 2 * z->scores, 1.5);
    add_product(s, n, z->batch * z->heads, z->seq, z->seq, z->inner / z->heads);
    orch_kernel_sum_vectors(s, is_gpt ? n : 4 * n, ORCH_KERNEL_ELEMENTWISE, 2 * values, 1);
    add_product(s, n, 1, z->tokens, z->inner, z->hidden);
}

static void add_feed_forward(struct orch_kernel_sum *s, const struct sizes *z, bool is_gpt)
{
    double n = z->layers, values = z->tokens * z->hidden, inner = z->tokens * z->ff;
    add_product(s, n, 1, z->tokens, z->hidden, z->ff);
    if (is_gpt)
        orch_kernel_sum_vectors(s, 8 * n, ORCH_KERNEL_ELEMENTWISE, 17 * inner / 8, 1.5);
    else
        orch_kernel_sum_vectors(s, n, ORCH_KERNEL_ELEMENTWISE, 2 * inner, 1.5);
    add_product(s, n, 1, z->tokens, z->ff, z->hidden);
    orch_kernel_sum_vectors(s, 2 * n, ORCH_KERNEL_ELEMENTWISE, 3 * values, 0.2);
    orch_kernel_sum_vectors(s, 2 * n, ORCH_KERNEL_NORM, 2 * values, 2);
}

/* The loss and its gradient, sums of gradients, dropout: in seconds. */
static double training_s(const struct orch_kernel_gpu *gpu, const struct sizes *z)
{
    double params =
        z->layers * (4 * z->hidden * z->hidden + 2 * z->hidden * z->ff) + z->vocab * z->hidden;
    double values = 6 * z->tokens * z->vocab + 3 * params +
                    2.3 * z->layers * (z->scores + 2 * z->tokens * z->hidden);
    return orch_kernel_vector_s(gpu, ORCH_KERNEL_ELEMENTWISE, values);
}

static double transformer_s(const struct orch_kernel_gpu *gpu, const struct orch_row_facts *f)
{
    struct sizes z = {.layers = field(f, ORCH_FIELD_LAYERS, 0),
                      .hidden = field(f, ORCH_FIELD_HIDDEN, 0),
                      .seq = field(f, ORCH_FIELD_SEQ, 0),
                      .batch = field(f, ORCH_FIELD_BATCH, 0),
                      .vocab = field(f, ORCH_FIELD_VOCAB, 0)};
    z.ff = field(f, ORCH_FIELD_FF, 4 * z.hidden);
    z.heads = field(f, ORCH_FIELD_HEADS, MAX(1, z.hidden / 64));
    z.tokens = z.batch * z.seq;
    z.scores = z.batch * z.heads * z.seq * z.seq;
    if (!(z.layers * z.hidden * z.tokens * z.heads > 0))
        return (double)NAN;
    bool is_gpt = g_str_has_prefix(f->net, "gpt"), is_opt = g_str_has_prefix(f->net, "opt");
    bool is_t5 = g_str_has_prefix(f->net, "t5") || g_str_has_prefix(f->net, "switch");
    z.inner = is_t5 && z.heads * 64 != z.hidden ? z.heads * 128 : z.hidden;
    struct orch_kernel_sum s = {.gpu = gpu, .training = f->training, .is_compiled = f->is_compiled};
    for (int part = 0; part < (is_t5 ? 3 : 1); part++) /* encoder, decoder, and what joins them */
        add_attention(&s, &z, is_gpt, is_opt);
    for (int part = 0; part < (is_t5 ? 2 : 1); part++)
        add_feed_forward(&s, &z, is_gpt);
    if (z.vocab > 0)
        add_product(&s, 1, 1, z.tokens, z.hidden, z.vocab);
    return orch_kernel_sum_step_s(&s, f->training ? training_s(gpu, &z) : 0);
}

double orch_row_kernels_ms(const struct orch_row_facts *f, const struct orch_row_work *w)
{
    struct orch_kernel_gpu gpu;
    enum orch_precision precision = f->precision == ORCH_FP32 ? ORCH_FP32_IEEE : f->precision;
    if (!f->gpu || !orch_kernel_gpu_for(f->gpu, precision, 0, &gpu))
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
