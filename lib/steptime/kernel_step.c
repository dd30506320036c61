/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/kernel_step.h"

#include "lib/base/error.h"
#include "lib/steptime/kernel_sum.h"
#include "lib/steptime/traffic.h"

#include <math.h>

/* 90 % of the logarithms of the error (bench/transformer_steps.py, whose rule gives 0.25): wider,
 * because six chips are few. On tensor cores 90 % of the steps that the fit did not see were within
 * 0.31 (bench/distil_tensor.py); wider for their few chips, too. */
#define ERROR_90 0.29
#define TENSOR_ERROR_90 0.35
#define UNMEASURED_ERROR_90 0.5 /* of a new kind of GPU, lib/steptime/transfer.c */
/* A guess: what was measured without tensor cores wrote attention out. */
#define FUSED_ERROR_90 0.4
/* Guesses: of products in 4 bits and of experts single kernels were measured. */
#define FP4_ERROR_90 0.5
/* Ten trainings of MPT in fp8 on H100 lay within 0.22 (bench/results/2026-11-29-kernels.md). */
#define FP8_ERROR_90 0.2
#define EXPERTS_ERROR_90 0.4
#define PACKED_ERROR_90 0.3 /* a guess: no step with weights in 8 or 4 bits was measured */

/* attention in one kernel computes its scores again: 5 products for 2 */
#define FUSED_BACKWARD 2.5
#define GELU_KERNELS 8     /* of GELU's tanh form, written out */
#define GELU_VALUES 17.0   /* that these read and write, for each value */
#define DROPOUT_VALUES 2.3 /* the mask has a byte for each value */
#define LOSS_VALUES 6.0    /* of cross entropy and its gradient, for each score */

const char *orch_kernel_model_source(void)
{
    return "70,000 public measurements of single kernels in fp32 on 7 GPUs; tensor cores from "
           "trainings of MPT (on A100) and BERT (on 9 GPUs)";
}

double orch_kernel_model_error(const struct orch_kernel_model *model)
{
    const struct orch_kernel_gpu *gpu = &model->gpu;
    double error =
        !gpu->was_measured && gpu->is_tensor
            ? hypot(UNMEASURED_ERROR_90, TENSOR_ERROR_90) /* another vendor's constants */
        : !gpu->was_measured ? UNMEASURED_ERROR_90
        : gpu->is_tensor     ? TENSOR_ERROR_90
                             : ERROR_90;
    if (model->has_experts)
        error = hypot(error, EXPERTS_ERROR_90);
    if (model->has_packed)
        error = hypot(error, PACKED_ERROR_90);
    if (model->switches.format != ORCH_FORMAT_16)
        error =
            hypot(error, model->switches.format == ORCH_FORMAT_FP8 ? FP8_ERROR_90 : FP4_ERROR_90);
    return model->switches.is_written_out || gpu->is_tensor ? error : hypot(error, FUSED_ERROR_90);
}

bool orch_kernel_model_is_guess(const struct orch_kernel_model *model)
{
    return model->has_experts || model->has_packed || model->switches.format == ORCH_FORMAT_FP4 ||
           (!model->switches.is_written_out && !model->gpu.is_tensor);
}

/* ---- operations --------------------------------------------------------------------------------
 */

/* One operation of a batch. */
struct op {
    const struct orch_net *net;
    const struct orch_kernel_model *model;
    const bool *is_score; /* by node (find_scores) */
    const struct orch_net_node *node;
    const struct orch_net_cost *cost;
    double batch;
    double values; /* that it writes, of the whole batch */
};

/* What a product in the model's format takes beside one in 16 bits, in servers' kernels. */
static double narrow_ratio(const struct op *op, double m, double n, double k)
{
    const struct orch_tensor_product p = {MAX(1, m), n, k, true};
    double ratio = orch_tensor_product_s(op->model->spec, op->model->switches.format, &p) /
                   orch_tensor_product_s(op->model->spec, ORCH_FORMAT_16, &p);
    return isnan(ratio) ? 1 : ratio;
}

/* The last layer and the choice of experts stay in 16 bits. */
static bool is_narrow(const struct op *op)
{
    return op->model->switches.format != ORCH_FORMAT_16 && op->model->spec && !op->node->routes &&
           orch_net_output(op->net, 0)->id != op->node->id;
}

static void narrow_factors(const struct op *op, const struct orch_kernel_product *p, double *out)
{
    out[0] = narrow_ratio(op, p->m, p->n, p->k);
    out[1] = narrow_ratio(op, p->m, p->k, p->n);
    out[2] = narrow_ratio(op, p->k, p->n, p->m);
}

/* Of a mixture each expert has a product of its own, in training with as many rows as the others:
 * trainers have one kernel for all, which is as fast as plain products. (Servers' kernels, as
 * lib/steptime/tensor_kernels.h has them, reach two thirds of that.) */
static struct orch_kernel_product product_of(const struct op *op)
{
    const struct orch_net_node *n = op->node;
    double rows = op->batch * (double)(n->out.h * n->out.w);
    double ways = n->experts ? n->chosen : MAX(1, n->parts);
    if (n->experts)
        return (struct orch_kernel_product){.b = n->experts,
                                            .m = MAX(1, rows * n->chosen / n->experts),
                                            .n = (double)n->out.c / ways,
                                            .k = (double)n->in_channels / ways};
    return (struct orch_kernel_product){
        .b = 1, .m = rows, .n = (double)n->out.c / ways, .k = (double)n->in_channels};
}

/* Weights that are held in 8 or 4 bits are written out in the activations' precision for each pass
 * over them. */
static void add_unpacking(struct orch_kernel_sum *s, const struct op *op)
{
    const struct orch_net_tensor *t =
        op->node->tensor_count ? orch_net_tensor(op->net, op->node->first_tensor) : NULL;
    int each = s->gpu->element_bytes;
    if (!t || !t->stored_bits)
        return;
    double values = (double)t->count * (1 + orch_net_stored_bytes(t, each) / each);
    double once =
        orch_kernel_vector_s(s->gpu, ORCH_KERNEL_ELEMENTWISE, values) + orch_kernel_least_s(false);
    s->forward_s += once;
    s->backward_s += s->training && !s->skips_data ? once : 0;
    orch_kernel_sum_launches(s, 1);
}

static void add_linear(struct orch_kernel_sum *s, const struct op *op)
{
    struct orch_kernel_product p = product_of(op);
    double factors[3] = {1, 1, 1};
    add_unpacking(s, op);
    if (is_narrow(op))
        narrow_factors(op, &p, factors);
    orch_kernel_sum_scaled_products(s, MAX(1, op->node->parts), &p, factors);
}

static void add_conv(struct orch_kernel_sum *s, const struct op *op)
{
    const struct orch_net_node *n = op->node;
    double moved = (double)(op->cost->read - op->cost->params) * op->batch + op->values +
                   (double)op->cost->params;
    if (n->groups > 1) { /* their arithmetic is little beside their traffic */
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, moved, 2);
        return;
    }
    double places = (double)(n->out.h * n->out.w), channels = (double)n->out_channels;
    struct orch_kernel_product p = {.b = 1,
                                    .m = op->batch * places,
                                    .n = channels,
                                    .k = MAX(1, (double)n->macs / (places * channels)),
                                    .bytes = op->model->gpu.element_bytes * moved};
    orch_kernel_sum_products(s, 1, &p);
}

/* Copies of the heads: of queries, keys and values that one product computes, only the sums of
 * values are copied. */
static double copies_of(const struct op *op)
{
    const struct orch_net_node *first = NULL;
    for (int i = 0; i < op->node->input_count; i++) {
        const struct orch_net_node *in = orch_net_node(op->net, op->node->inputs[i]);
        while (in->op == ORCH_NET_FLATTEN || /* a part of what one product computes, or its copy */
               (in->op == ORCH_NET_GENERIC && !in->computes && in->input_count == 1))
            in = orch_net_node(op->net, in->inputs[0]);
        if (in->op != ORCH_NET_TOKEN_LINEAR || in->parts > 1 || (first && in != first))
            return 4;
        first = in;
    }
    return first ? 1 : 4;
}

/* Queries with keys, softmax, scores with values; and copies of the heads. */
static void add_written_out_attention(struct orch_kernel_sum *s, const struct op *op)
{
    const struct orch_net_node *n = op->node;
    double heads = MAX(1, n->heads), seq = (double)n->out.h, depth = (double)n->out.c / heads;
    double scores = op->batch * heads * seq * seq;
    struct orch_kernel_product keys = {.b = op->batch * heads, .m = seq, .n = seq, .k = depth},
                               values = {.b = op->batch * heads, .m = seq, .n = depth, .k = seq};
    orch_kernel_sum_products(s, 1, &keys);
    orch_kernel_sum_vectors(s, 2, ORCH_KERNEL_ELEMENTWISE, 2 * scores, 1); /* scale and mask */
    orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_SOFTMAX, 2 * scores, 1.5);
    if (s->training)
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, DROPOUT_VALUES * scores, 0);
    orch_kernel_sum_products(s, 1, &values);
    orch_kernel_sum_vectors(s, copies_of(op), ORCH_KERNEL_ELEMENTWISE, 2 * op->values, 1);
}

/* One of attention's products in a graph that was read from a file, in which these are operations
 * of their own: C columns and W rows for each of H heads. In one kernel the scores stay on the
 * chip. */
static void add_product(struct orch_kernel_sum *s, const struct op *op)
{
    const struct orch_net_node *n = op->node;
    double out = (double)n->out.c * (double)n->out.h * (double)n->out.w, moved = 0;
    for (int i = 0; i < n->input_count; i++) {
        const struct orch_net_shape *in = &orch_net_node(op->net, n->inputs[i])->out;
        moved += op->is_score[n->inputs[i]] ? 0 : (double)in->c * (double)in->h * (double)in->w;
    }
    moved += op->is_score[n->id] ? 0 : out;
    struct orch_kernel_product p = {.b = op->batch * (double)n->out.h,
                                    .m = (double)n->out.w,
                                    .n = (double)n->out.c,
                                    .k = MAX(1, (double)n->macs / out),
                                    .bytes = op->model->gpu.element_bytes * op->batch * moved};
    orch_kernel_sum_products(s, 1, &p);
}

/* One kernel: the scores stay on the chip. Causal attention computes half of them. */
static void add_fused_attention(struct orch_kernel_sum *s, const struct op *op)
{
    const struct orch_net_node *n = op->node;
    double heads = MAX(1, n->heads), seq = (double)n->out.h;
    struct orch_kernel_product p = {.b = op->batch * heads,
                                    .m = seq,
                                    .n = seq,
                                    .k = (double)n->macs / heads / seq / seq,
                                    .bytes = op->model->gpu.element_bytes * op->batch * seq *
                                             (double)(n->in_channels + n->out.c)};
    double softmax = s->gpu->scores_per_s > 0 ? p.b * seq * seq / s->gpu->scores_per_s : 0;
    double once = (orch_kernel_product_s(s->gpu, &p) + softmax) * (n->is_causal ? 0.5 : 1) +
                  orch_kernel_least_s(false);
    s->forward_s += once;
    s->backward_s += s->training && !s->skips_all ? FUSED_BACKWARD * once : 0;
    orch_kernel_sum_launches(s, 1);
}

/* True for views and operations without a kernel of their own. */
static bool is_free(enum orch_net_op op)
{
    return op == ORCH_NET_INPUT || op == ORCH_NET_FLATTEN || op == ORCH_NET_STOCHASTIC_DEPTH ||
           op == ORCH_NET_FIRST_TOKEN;
}

static void add_vector(struct orch_kernel_sum *s, const struct op *op)
{
    double moved = ((double)(op->cost->read + op->cost->written) -
                    (op->node->op == ORCH_NET_EMBEDDING ? 0 : (double)op->cost->params)) *
                   op->batch;
    switch (op->node->op) {
    case ORCH_NET_GELU:
        if (op->model->switches.is_written_out && op->node->is_tanh_form)
            orch_kernel_sum_vectors(s, GELU_KERNELS, ORCH_KERNEL_ELEMENTWISE,
                                    op->values * GELU_VALUES / GELU_KERNELS, 1.5);
        else
            orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, moved, 1.5);
        break;
    case ORCH_NET_LAYERNORM:
    case ORCH_NET_BATCHNORM2D:
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_NORM, moved, 2);
        break;
    case ORCH_NET_SOFTMAX:
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_SOFTMAX, moved, 1.5);
        break;
    case ORCH_NET_DROPOUT:
        if (s->training)
            orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, DROPOUT_VALUES * op->values, 0);
        break;
    case ORCH_NET_ADD:
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, moved, 0.2);
        break;
    default:
        orch_kernel_sum_vectors(s, 1, ORCH_KERNEL_ELEMENTWISE, moved, 1.5);
    }
}

/* An operation that only moves values: a slice is a view; what turns the heads is copied where
 * attention is written out. */
static bool is_view(const struct op *op)
{
    const struct orch_net_node *n = op->node;
    if (n->op != ORCH_NET_GENERIC || n->computes || n->input_count != 1 || n->tensor_count)
        return false;
    const struct orch_net_shape *in = &orch_net_node(op->net, n->inputs[0])->out;
    return !op->model->switches.is_written_out || op->cost->written < in->c * in->h * in->w;
}

static bool is_product(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_ATTENTION && !node->heads;
}

/* True for what a program writes as plain operations, each with a kernel, and not as a layer. */
static bool is_plain(const struct op *op)
{
    const struct orch_net_node *n = op->node;
    return n->op == ORCH_NET_ADD || n->op == ORCH_NET_MUL || n->op == ORCH_NET_TANH ||
           n->op == ORCH_NET_GENERIC || is_product(n) ||
           (op->model->switches.is_written_out &&
            (n->op == ORCH_NET_ATTENTION || (n->op == ORCH_NET_GELU && n->is_tanh_form)));
}

static void add_operation(struct orch_kernel_sum *s, const struct op *op)
{
    switch (op->node->op) {
    case ORCH_NET_LINEAR:
    case ORCH_NET_TOKEN_LINEAR:
        add_linear(s, op);
        break;
    case ORCH_NET_CONV2D:
    case ORCH_NET_CONV_TRANSPOSE2D:
        add_conv(s, op);
        break;
    case ORCH_NET_ATTENTION:
        if (is_product(op->node))
            add_product(s, op);
        else if (op->model->switches.is_written_out)
            add_written_out_attention(s, op);
        else
            add_fused_attention(s, op);
        break;
    default:
        if (!is_free(op->node->op) && !op->is_score[op->node->id] && !is_view(op))
            add_vector(s, op);
    }
}

/* ---- scores of a graph that was read from a file -----------------------------------------------
 */

#define SCORE_STEPS 6

static bool is_same_shape(const struct orch_net_node *a, const struct orch_net_node *b)
{
    return a->out.c == b->out.c && a->out.h == b->out.h && a->out.w == b->out.w;
}

/* Marks what leads from queries and keys to a softmax of their products, by at most `steps`
 * element-wise operations (scale, mask, bias). True if it does. */
static bool mark_before(const struct orch_net *net, const struct orch_net_node *node, int steps,
                        bool *is_score)
{
    bool leads = is_product(node), goes_on = steps && !node->macs;
    for (int i = 0; i < node->input_count && goes_on; i++) {
        const struct orch_net_node *in = orch_net_node(net, node->inputs[i]);
        leads |= is_same_shape(in, node) && mark_before(net, in, steps - 1, is_score);
    }
    is_score[node->id] |= leads;
    return leads;
}

/* The nodes whose values are scores of attention, from the products of queries and keys to the
 * shares that weigh the values. Kernels that keep scores on the chip have none of them. Caller
 * frees. */
static bool *find_scores(const struct orch_net *net, bool is_written_out)
{
    bool *is_score = g_new0(bool, net->nodes->len);
    for (guint i = 0; i < net->nodes->len && !is_written_out; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->op == ORCH_NET_SOFTMAX)
            mark_before(net, node, SCORE_STEPS, is_score);
        for (int k = 0; k < node->input_count && !node->macs; k++)
            is_score[i] |= is_score[node->inputs[k]] &&
                           is_same_shape(node, orch_net_node(net, node->inputs[k]));
    }
    return is_score;
}

/* ---- a step ------------------------------------------------------------------------------------
 */

/* A network on its way to a sum. */
struct walk {
    const struct orch_net *net;
    const struct orch_net_cost *costs;
    const struct orch_kernel_model *model;
    const struct orch_roofline_work *work;
    bool *is_score; /* by node */
    struct orch_kernel_sum sum;
};

static bool start(struct walk *w, GError **error)
{
    if (w->work->batch < 1) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use at least 1 sample",
                       "the batch size is %" G_GINT64_FORMAT, w->work->batch);
        return false;
    }
    w->is_score = find_scores(w->net, w->model->switches.is_written_out);
    w->sum = (struct orch_kernel_sum){.gpu = &w->model->gpu,
                                      .training = w->work->training,
                                      .is_compiled = w->model->switches.is_compiled};
    return true;
}

static void add_node(struct walk *w, guint i)
{
    const struct orch_net_node *node = orch_net_node(w->net, (int)i);
    struct op op = {.net = w->net,
                    .model = w->model,
                    .is_score = w->is_score,
                    .node = node,
                    .cost = &w->costs[i],
                    .batch = (double)w->work->batch,
                    .values = (double)(w->costs[i].written * w->work->batch)};
    if (node->is_auxiliary)
        return;
    /* both factors of attention's products are values */
    w->sum.skips_data = !w->costs[i].flows_on;
    w->sum.skips_weights = node->op == ORCH_NET_ATTENTION
                               ? !w->costs[i].flows_on
                               : w->costs[i].macs && !w->costs[i].learns_weights;
    w->sum.skips_all = !w->costs[i].learns;
    w->sum.is_plain = is_plain(&op);
    add_operation(&w->sum, &op);
}

/* Of a training step, after the backward pass of the layers: the loss, and the sums of gradients,
 * which are fp32. */
static double gradients_s(const struct walk *w, double params)
{
    const struct orch_kernel_gpu *gpu = &w->model->gpu;
    struct orch_kernel_gpu fp32 = *gpu;
    fp32.element_bytes = 4;
    double scores = orch_net_score_count(w->net) * (double)w->work->batch;
    return !w->work->training
               ? 0
               : orch_kernel_vector_s(gpu, ORCH_KERNEL_ELEMENTWISE, LOSS_VALUES * scores) +
                     orch_kernel_vector_s(&fp32, ORCH_KERNEL_ELEMENTWISE, 3 * params);
}

static double update_s(const struct walk *w)
{
    struct orch_kernel_gpu fp32 = w->model->gpu;
    fp32.element_bytes = 4;
    return !w->work->training
               ? 0
               : orch_kernel_vector_s(&fp32, ORCH_KERNEL_ELEMENTWISE,
                                      orch_traffic_update(w->net, w->costs, w->work).bytes / 4);
}

static void add_traffic(const struct walk *w, guint i, struct orch_roofline_step *out)
{
    const struct orch_net_node *node = orch_net_node(w->net, (int)i);
    struct orch_traffic forward = orch_traffic_forward(node, &w->costs[i], w->work);
    struct orch_traffic backward = orch_traffic_backward(node, &w->costs[i], w->work);
    if (node->is_auxiliary)
        return;
    out->flops += forward.flops + (w->work->training ? backward.flops : 0);
    out->bytes += forward.bytes + (w->work->training ? backward.bytes : 0);
}

bool orch_kernel_step(const struct orch_net *net, const struct orch_net_cost *costs,
                      const struct orch_kernel_model *model, const struct orch_roofline_work *work,
                      struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                      GError **error)
{
    struct walk w = {.net = net, .costs = costs, .model = model, .work = work};
    *out = (struct orch_roofline_step){0};
    if (!start(&w, error))
        return false;
    for (guint i = 0; i < net->nodes->len; i++) {
        struct orch_kernel_sum before = w.sum;
        add_node(&w, i);
        add_traffic(&w, i, out);
        if (layers)
            layers[i] =
                (struct orch_roofline_layer){.forward_s = w.sum.forward_s - before.forward_s,
                                             .backward_s = w.sum.backward_s - before.backward_s};
    }
    double after_s = gradients_s(&w, (double)orch_net_cost_sum(net, costs).trained);
    out->forward_s = w.sum.forward_s;
    out->backward_s = w.sum.backward_s + after_s;
    out->update_s = update_s(&w);
    out->total_s = out->forward_s + out->backward_s + out->update_s;
    double step_s = orch_kernel_sum_step_s(&w.sum, after_s + out->update_s, &out->host_share);
    if (out->total_s > 0)
        orch_roofline_scale(layers, net->nodes->len, step_s / out->total_s, out);
    g_free(w.is_score);
    return true;
}

double orch_kernel_repeated_s(const struct orch_net *net, const struct orch_net_cost *costs,
                              const struct orch_kernel_model *model,
                              const struct orch_roofline_work *work, double repeats)
{
    struct walk w = {.net = net, .costs = costs, .model = model, .work = work};
    double params = 0, host_share;
    if (!start(&w, NULL))
        return (double)NAN;
    for (guint i = 0; i < net->nodes->len; i++) {
        int group = orch_net_node(net, (int)i)->group;
        double times = group > 0 && group < net->group_count - 1 ? repeats : 1;
        struct orch_kernel_sum before = w.sum;
        add_node(&w, i);
        w.sum.forward_s = before.forward_s + times * (w.sum.forward_s - before.forward_s);
        w.sum.backward_s = before.backward_s + times * (w.sum.backward_s - before.backward_s);
        w.sum.host_s = before.host_s + times * (w.sum.host_s - before.host_s);
        params += times * (double)costs[i].trained;
    }
    g_free(w.is_score);
    return orch_kernel_sum_step_s(&w.sum, gradients_s(&w, params), &host_share);
}
