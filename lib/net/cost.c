/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/cost.h"

#include "lib/net/idle_memory.h"
#include "lib/net/needed_values.h"

#include <stdio.h>
#include <string.h>

static int64_t size_of(const struct orch_net_shape *s)
{
    return s->c * s->h * s->w;
}

static const struct orch_net_node *input_of(const struct orch_net *net,
                                            const struct orch_net_node *node, int i)
{
    return orch_net_node(net, node->inputs[i]);
}

/* ---- operations ---------------------------------------------------------------------------- */

/* Number of values that one output of an adaptive pool reads. */
static int64_t adaptive_window(const struct orch_net *net, const struct orch_net_node *node)
{
    const struct orch_net_shape *in = &input_of(net, node, 0)->out;
    if (in->h == node->out.h && in->w == node->out.w)
        return 0; /* the pool is the identity */
    return ((in->h + node->out.h - 1) / node->out.h) * ((in->w + node->out.w - 1) / node->out.w);
}

static int64_t other_operations(const struct orch_net *net, const struct orch_net_node *node)
{
    int64_t out = size_of(&node->out);
    switch (node->op) {
    case ORCH_NET_CONV2D:
    case ORCH_NET_CONV_TRANSPOSE2D:
    case ORCH_NET_LINEAR:
    case ORCH_NET_TOKEN_LINEAR:
        return node->has_bias ? out : 0;
    case ORCH_NET_MAXPOOL2D:
    case ORCH_NET_AVGPOOL2D:
        return out * node->kernel_h * node->kernel_w;
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return out * adaptive_window(net, node);
    case ORCH_NET_LRN:
        return 5 * out;
    case ORCH_NET_BATCHNORM2D:
    case ORCH_NET_LAYERNORM:
        return 4 * out;
    case ORCH_NET_RELU:
    case ORCH_NET_RELU6:
    case ORCH_NET_TANH:
    case ORCH_NET_SIGMOID:
    case ORCH_NET_SILU:
    case ORCH_NET_GELU:
    case ORCH_NET_SOFTMAX:
    case ORCH_NET_MUL:
        return out;
    case ORCH_NET_ADD: /* with one input: adding a constant */
        return out * MAX(1, node->input_count - 1);
    case ORCH_NET_ATTENTION: /* the softmax over each head's scores */
        return node->heads * node->out.h * node->out.h;
    default:
        return 0;
    }
}

/* True for views and inputs, which write no values. */
static bool moves_nothing(enum orch_net_op op)
{
    return op == ORCH_NET_FLATTEN || op == ORCH_NET_INPUT;
}

static bool works_in_place(const struct orch_net *net, const struct orch_net_node *node)
{
    if (moves_nothing(node->op) && node->op != ORCH_NET_INPUT)
        return true;
    if (node->op != ORCH_NET_RELU && node->op != ORCH_NET_RELU6)
        return false;
    enum orch_net_op before = input_of(net, node, 0)->op;
    return before == ORCH_NET_CONV2D || before == ORCH_NET_CONV_TRANSPOSE2D ||
           before == ORCH_NET_BATCHNORM2D || before == ORCH_NET_LINEAR || before == ORCH_NET_ADD;
}

static struct orch_net_cost cost_of(const struct orch_net *net, const struct orch_net_node *node)
{
    struct orch_net_cost cost = {.params = orch_net_node_params(net, node)};
    for (int i = 0; i < node->tensor_count; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(net, node->first_tensor + i);
        cost.weights += t->role == ORCH_NET_WEIGHT ? t->count : 0;
    }
    if (node->is_auxiliary)
        return cost;
    cost.activations = size_of(&node->out);
    cost.macs = node->macs;
    cost.other = other_operations(net, node);
    cost.is_in_place = works_in_place(net, node);
    if (moves_nothing(node->op))
        return cost;
    cost.read = node->op == ORCH_NET_EMBEDDING ? cost.activations : cost.params;
    for (int i = 0; i < node->input_count; i++)
        cost.read += size_of(&input_of(net, node, i)->out);
    cost.written = cost.activations;
    return cost;
}

/* ---- receptive field ----------------------------------------------------------------------- */

struct view {
    int64_t field[2], jump[2]; /* rows, columns: receptive field, and distance between outputs */
};

/* Exact for realistic networks; clamped because sizes from a file may overflow an integer. */
static int64_t bounded(double places)
{
    return places < 1e15 ? (int64_t)places : (int64_t)1e15;
}

static bool covers_all(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_LINEAR || node->op == ORCH_NET_FLATTEN ||
           node->op == ORCH_NET_ATTENTION;
}

static void look(const struct orch_net *net, const struct orch_net_node *node,
                 const struct view *views, struct view *out)
{
    const int64_t whole[2] = {net->input.h, net->input.w};
    const int kernels[2] = {node->kernel_h, node->kernel_w};
    const int strides[2] = {node->stride_h, node->stride_w};
    const int64_t outs[2] = {node->out.h, node->out.w};
    bool window = node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_MAXPOOL2D ||
                  node->op == ORCH_NET_AVGPOOL2D;
    for (int d = 0; d < 2; d++) {
        int64_t field = 1, jump = 1;
        for (int i = 0; i < node->input_count; i++) {
            field = MAX(field, views[node->inputs[i]].field[d]);
            jump = MAX(jump, views[node->inputs[i]].jump[d]);
        }
        if (window)
            field = bounded((double)field +
                            (double)(kernels[d] - 1) * MAX(1, node->dilation) * (double)jump);
        if (node->op == ORCH_NET_CONV_TRANSPOSE2D) { /* an output reads inputs stride apart */
            const int reach = (kernels[d] - 1) * MAX(1, node->dilation),
                      stride = MAX(1, strides[d]);
            out->field[d] = bounded((double)field + (double)(reach / stride) * (double)jump);
            out->jump[d] = MAX(1, jump / stride);
            continue;
        }
        if (node->op == ORCH_NET_ADAPTIVE_AVGPOOL2D) {
            const struct orch_net_shape *in = &input_of(net, node, 0)->out;
            int64_t size = d ? in->w : in->h, step = (size + outs[d] - 1) / outs[d];
            field = bounded((double)field + (double)(step - 1) * (double)jump);
            jump = bounded((double)jump * (double)step);
        }
        if (covers_all(node))
            field = whole[d];
        out->field[d] = field;
        out->jump[d] = bounded((double)jump * (strides[d] ? strides[d] : 1));
    }
}

/* ---- gradients ----------------------------------------------------------------------------- */

static int64_t trained_of(const struct orch_net *net, const struct orch_net_node *node)
{
    int64_t trained = 0;
    for (int i = 0; i < node->tensor_count; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(net, node->first_tensor + i);
        bool is_param = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
        trained += is_param && !t->is_frozen ? t->count : 0;
    }
    return trained;
}

/* Where gradients flow: everywhere, unless something is frozen. */
static void find_gradients(const struct orch_net *net, struct orch_net_cost *costs)
{
    bool is_whole = !orch_net_has_frozen(net);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        struct orch_net_cost *c = &costs[i];
        c->trained = trained_of(net, node);
        c->flows_on = is_whole;
        for (int k = 0; k < node->input_count; k++)
            c->flows_on |= costs[node->inputs[k]].learns;
        c->learns = c->flows_on || c->trained > 0;
        c->learns_weights =
            c->macs && node->op != ORCH_NET_ATTENTION && (c->params ? c->trained > 0 : is_whole);
    }
}

/* Norms of images, and a layer times a factor, whose outputs only additions read: no gradient needs
 * these, and an addition may write its sum there. */
static void find_unread_values(const struct orch_net *net, struct orch_net_cost *costs)
{
    g_autofree int *readers = g_new0(int, net->nodes->len), *sums = g_new0(int, net->nodes->len);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        for (int k = 0; k < node->input_count; k++) {
            readers[node->inputs[k]]++;
            sums[node->inputs[k]] += node->op == ORCH_NET_ADD;
        }
    }
    for (guint i = 0; i < net->nodes->len; i++)
        costs[i].is_in_place |= orch_net_may_be_sum(orch_net_node(net, (int)i)) && readers[i] > 0 &&
                                readers[i] == sums[i];
}

struct orch_net_cost *orch_net_costs(const struct orch_net *net)
{
    struct orch_net_cost *costs = g_new0(struct orch_net_cost, net->nodes->len);
    g_autofree struct view *views = g_new0(struct view, net->nodes->len);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        costs[i] = cost_of(net, node);
        look(net, node, views, &views[i]);
        costs[i].field_h = views[i].field[0];
        costs[i].field_w = views[i].field[1];
    }
    find_unread_values(net, costs);
    find_gradients(net, costs);
    orch_net_note_idle(net, costs);
    return costs;
}

struct orch_net_cost orch_net_cost_sum(const struct orch_net *net,
                                       const struct orch_net_cost *costs)
{
    struct orch_net_cost sum = {0};
    for (guint i = 0; i < net->nodes->len; i++) {
        sum.params += costs[i].params;
        sum.trained += costs[i].trained;
        sum.weights += costs[i].weights;
        sum.activations +=
            orch_net_node(net, (int)i)->op == ORCH_NET_INPUT ? 0 : costs[i].activations;
        sum.macs += costs[i].macs;
        sum.other += costs[i].other;
        sum.read += costs[i].read;
        sum.written += costs[i].written;
        sum.idle += costs[i].idle;
        sum.field_h = costs[i].field_h;
        sum.field_w = costs[i].field_w;
    }
    return sum;
}

int64_t orch_net_operations(const struct orch_net_cost *cost, int per_mac)
{
    return cost->macs * per_mac + cost->other;
}

/* ---- kinds --------------------------------------------------------------------------------- */

enum orch_net_kind orch_net_kind_of(enum orch_net_op op)
{
    switch (op) {
    case ORCH_NET_CONV2D:
    case ORCH_NET_CONV_TRANSPOSE2D:
        return ORCH_NET_KIND_CONV;
    case ORCH_NET_LINEAR:
    case ORCH_NET_TOKEN_LINEAR:
        return ORCH_NET_KIND_LINEAR;
    case ORCH_NET_MAXPOOL2D:
    case ORCH_NET_AVGPOOL2D:
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return ORCH_NET_KIND_POOL;
    case ORCH_NET_BATCHNORM2D:
    case ORCH_NET_LAYERNORM:
    case ORCH_NET_LRN:
        return ORCH_NET_KIND_NORM;
    case ORCH_NET_RELU:
    case ORCH_NET_RELU6:
    case ORCH_NET_TANH:
    case ORCH_NET_SIGMOID:
    case ORCH_NET_SILU:
    case ORCH_NET_GELU:
    case ORCH_NET_SOFTMAX:
        return ORCH_NET_KIND_ACTIVATION;
    case ORCH_NET_ATTENTION:
        return ORCH_NET_KIND_ATTENTION;
    default:
        return ORCH_NET_KIND_OTHER;
    }
}

const char *orch_net_kind_name(enum orch_net_kind kind)
{
    static const char *const names[] = {"convolution", "linear",    "pooling", "normalisation",
                                        "activation",  "attention", "other"};
    G_STATIC_ASSERT(G_N_ELEMENTS(names) == ORCH_NET_KIND_COUNT);
    return names[kind];
}

/* ---- calculations as text ------------------------------------------------------------------ */

char *orch_net_count_format(int64_t count)
{
    char digits[32];
    int length = g_snprintf(digits, sizeof digits, "%" G_GINT64_FORMAT, ABS(count));
    GString *text = g_string_new(count < 0 ? "-" : NULL);
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            g_string_append_c(text, ',');
        g_string_append_c(text, digits[i]);
    }
    return g_string_free(text, FALSE);
}

static char *with_result(GString *product, int64_t result)
{
    g_autofree char *number = orch_net_count_format(result);
    g_string_append_printf(product, " = %s", number);
    return g_string_free(product, FALSE);
}

/* Number of weights; 0 if they are another layer's, or if there is only a bias. */
static int64_t weight_count(const struct orch_net *net, const struct orch_net_node *node)
{
    const struct orch_net_tensor *first =
        node->tensor_count ? orch_net_tensor(net, node->first_tensor) : NULL;
    return first && first->role == ORCH_NET_WEIGHT ? first->count : 0;
}

/* "(3*3*64)*128", "4096*1000"; NULL without weights */
static GString *weights_product(const struct orch_net *net, const struct orch_net_node *node)
{
    if (!weight_count(net, node))
        return NULL;
    const int64_t *shape = orch_net_tensor(net, node->first_tensor)->shape;
    GString *text = g_string_new(NULL);
    if (node->op == ORCH_NET_CONV2D || node->op == ORCH_NET_CONV_TRANSPOSE2D)
        g_string_append_printf(text,
                               "(%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT
                               ")*%" G_GINT64_FORMAT,
                               shape[2], shape[3], shape[1], shape[0]);
    else if (orch_net_tensor(net, node->first_tensor)->rank == 2)
        g_string_append_printf(text, "%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT, shape[1], shape[0]);
    else
        g_string_append_printf(text, "%" G_GINT64_FORMAT, shape[0]);
    return text;
}

char *orch_net_params_work(const struct orch_net *net, const struct orch_net_node *node)
{
    GString *text = weights_product(net, node);
    return text ? with_result(text, weight_count(net, node)) : g_strdup("0");
}

char *orch_net_activations_work(const struct orch_net_node *node)
{
    const struct orch_net_shape *o = &node->out;
    GString *text = g_string_new(NULL);
    if (o->h == 1 && o->w == 1) {
        g_string_free(text, TRUE);
        return orch_net_count_format(o->c);
    }
    g_string_append_printf(text, "%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT,
                           o->h, o->w, o->c);
    return with_result(text, size_of(o));
}

char *orch_net_macs_work(const struct orch_net *net, const struct orch_net_node *node)
{
    if (!node->macs)
        return g_strdup("0");
    GString *text = weights_product(net, node);
    bool is_transposed =
        node->op == ORCH_NET_CONV_TRANSPOSE2D; /* multiply-adds are per input position */
    const struct orch_net_shape *places = is_transposed ? &input_of(net, node, 0)->out : &node->out;
    if (node->experts) { /* of those that a token has */
        g_string_printf(text, "%d*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT, node->chosen,
                        node->in_channels / node->chosen, node->out_channels / node->chosen);
    } else if (node->op == ORCH_NET_ATTENTION && node->heads) {
        text = g_string_new(NULL);
        g_string_append_printf(text,
                               "2*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT,
                               node->out.h, node->out.h, node->out.c);
    } else if (!text) { /* tied weights, or one of attention's products */
        text = g_string_new(NULL);
        g_string_append_printf(text, "%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT, node->in_channels,
                               node->out_channels);
    }
    if (!(node->op == ORCH_NET_ATTENTION && node->heads) && node->op != ORCH_NET_LINEAR &&
        (places->h > 1 || places->w > 1))
        g_string_append_printf(text, "*%" G_GINT64_FORMAT "*%" G_GINT64_FORMAT, places->h,
                               places->w);
    return with_result(text, node->macs);
}

int64_t orch_net_stack_field(const int *kernels, const int *strides, int count)
{
    int64_t field = 1, jump = 1;
    for (int i = 0; i < count; i++) {
        field += (int64_t)(kernels[i] - 1) * jump;
        jump *= strides[i];
    }
    return field;
}
