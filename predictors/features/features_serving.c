/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/features_serving.h"

#include <math.h>
#include <string.h>

static double field(const struct orch_row_facts *f, enum orch_field which, double otherwise)
{
    double value = f->field[which];
    return isnan(value) ? otherwise : value;
}

static bool is_product(const struct orch_row_facts *f, struct orch_serving_kernel *out)
{
    const struct orch_tensor_product p = {field(f, ORCH_FIELD_M, 0), field(f, ORCH_FIELD_N, 0),
                                          field(f, ORCH_FIELD_K, 0), false};
    double each = orch_number_format_bytes(f->format);
    if (!(p.m >= 1 && p.n >= 1 && p.k >= 1))
        return false;
    out->m = p.m;
    out->n = p.n;
    out->k = p.k;
    out->operations = 2 * p.m * p.n * p.k;
    out->bytes = each * (p.m * p.k + p.k * p.n) + 2 * p.m * p.n;
    out->seconds = f->gpu ? orch_tensor_product_s(f->gpu, f->format, &p) : (double)NAN;
    return true;
}

static bool is_attention(const struct orch_row_facts *f, struct orch_serving_kernel *out)
{
    double heads = field(f, ORCH_FIELD_HEADS, 0);
    const struct orch_tensor_attention a = {.batch = field(f, ORCH_FIELD_BATCH, 0),
                                            .seq = field(f, ORCH_FIELD_ISL, 0),
                                            .heads = heads,
                                            .key_heads = field(f, ORCH_FIELD_KEY_HEADS, heads),
                                            .head_dim = field(f, ORCH_FIELD_HEAD_DIM, 0),
                                            .window = field(f, ORCH_FIELD_WINDOW, 0),
                                            .has_fp8_cache = f->format != ORCH_FORMAT_16};
    if (!(a.batch >= 1 && a.seq >= 1 && a.heads >= 1 && a.head_dim >= 1))
        return false;
    double keys = a.window > 0 ? MIN(a.window, a.seq) : a.seq;
    out->operations = 4 * a.batch * a.heads * a.head_dim * keys * (a.seq - keys / 2);
    out->bytes = 4 * a.batch * a.seq * a.head_dim * (a.heads + a.key_heads);
    out->seconds = f->gpu ? orch_tensor_attention_s(f->gpu, &a) : (double)NAN;
    return true;
}

static bool is_experts(const struct orch_row_facts *f, struct orch_serving_kernel *out)
{
    const struct orch_tensor_experts e = {.tokens = field(f, ORCH_FIELD_TOKENS, 0),
                                          .hidden = field(f, ORCH_FIELD_HIDDEN, 0),
                                          .inner = field(f, ORCH_FIELD_FF, 0),
                                          .chosen = field(f, ORCH_FIELD_TOPK, 0),
                                          .experts = field(f, ORCH_FIELD_EXPERTS, 0),
                                          .tensor_parallel = field(f, ORCH_FIELD_MOE_TP, 1),
                                          .expert_parallel = field(f, ORCH_FIELD_MOE_EP, 1),
                                          .is_balanced = !*f->distribution ||
                                                         strcmp(f->distribution, "balanced") == 0};
    if (!(e.tokens >= 1 && e.hidden >= 1 && e.inner >= 1 && e.chosen >= 1 && e.experts >= 1))
        return false;
    double pairs = e.tokens * e.chosen / e.expert_parallel, here = e.experts / e.expert_parallel;
    double size = 3 * e.hidden * e.inner / e.tensor_parallel;
    out->operations = 2 * pairs * size;
    out->bytes = orch_number_format_bytes(f->format) * size * MIN(here, MAX(1, pairs)) +
                 4 * e.hidden * pairs;
    out->seconds = f->gpu ? orch_tensor_experts_s(f->gpu, f->format, &e) : (double)NAN;
    return true;
}

/* The table counts values, of one or two bytes. */
static bool is_collective(const struct orch_row_facts *f, struct orch_serving_kernel *out)
{
    double bytes = field(f, ORCH_FIELD_MESSAGE, 0) * orch_number_format_bytes(f->format);
    double gpus = field(f, ORCH_FIELD_GPUS, 0);
    enum orch_collective kind;
    if (!(bytes > 0) || !(gpus >= 2) || !orch_collective_find(f->op, &kind))
        return false;
    out->operations = 0;
    out->bytes = bytes * (gpus - 1) / gpus;
    out->seconds = f->gpu ? orch_collective_s(f->gpu, kind, bytes, gpus) : (double)NAN;
    return true;
}

bool orch_row_serving(const struct orch_row_facts *f, struct orch_serving_kernel *out)
{
    static bool (*const kinds[])(const struct orch_row_facts *, struct orch_serving_kernel *) = {
        is_product, is_attention, is_experts, is_collective};
    out->m = out->n = out->k = (double)NAN;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds) && f->has_format; i++)
        if (kinds[i](f, out))
            return true;
    return false;
}
