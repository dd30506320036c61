/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a training, by what autograd keeps of each operator. */
#include "lib/net/needed_values.h"

/* Which nodes' values are kept for the gradients. Caller frees. */
static bool *kept_values(const struct orch_net *net, const struct orch_net_cost *costs)
{
    bool *kept = g_new0(bool, net->nodes->len);
    for (int i = 0; i < orch_net_output_count(net); i++) /* the caller has them */
        kept[orch_net_output(net, i)->id] = true;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        kept[i] |= orch_net_needs_output(node, &costs[i]);
        for (int k = 0; k < node->input_count && orch_net_needs_inputs(node, &costs[i]); k++)
            kept[node->inputs[k]] = true;
    }
    for (guint i = net->nodes->len; i-- > 1;) { /* the same memory, or a part of it */
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        bool is_view = node->op == ORCH_NET_FLATTEN || costs[i].is_in_place;
        for (int k = 0; k < node->input_count && is_view; k++)
            kept[node->inputs[k]] |= kept[i];
    }
    return kept;
}

double orch_net_score_count(const struct orch_net *net)
{
    double values = 0;
    for (int i = 0; i < orch_net_output_count(net); i++) {
        const struct orch_net_shape *out = &orch_net_output(net, i)->out;
        values += (double)(out->c * out->h * out->w);
    }
    return values;
}

static bool is_product(enum orch_net_op op)
{
    return op == ORCH_NET_LINEAR || op == ORCH_NET_TOKEN_LINEAR || op == ORCH_NET_CONV2D;
}

/* Under autocast norms take and give fp32: what one reads is kept in 32 bits, and of what it gives
 * each product that reads it keeps a copy of its own in 16. */
static void add_autocast(const struct orch_net *net, const struct orch_net_cost *costs,
                         double *bytes)
{
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (node->op == ORCH_NET_LAYERNORM && costs[i].learns)
            bytes[node->inputs[0]] += 2 * (double)costs[node->inputs[0]].activations;
        const struct orch_net_node *in =
            node->input_count ? orch_net_node(net, node->inputs[0]) : NULL;
        if (in && in->op == ORCH_NET_LAYERNORM && is_product(node->op) && node->parts > 1 &&
            orch_net_needs_inputs(node, &costs[i]))
            bytes[in->id] += 2 * (double)(node->parts - 1) * (double)costs[in->id].activations;
    }
}

double *orch_net_kept_bytes(const struct orch_net *net, const struct orch_net_cost *costs,
                            int element_bytes, bool autocasts)
{
    g_autofree bool *needed = kept_values(net, costs);
    double *bytes = g_new0(double, net->nodes->len);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        double values = (double)costs[i].activations;
        bytes[i] = costs[i].is_in_place || !needed[i] ? 0 : values * element_bytes;
        if (node->op == ORCH_NET_DROPOUT && node->p > 0 && costs[i].learns)
            bytes[i] += values; /* its mask */
        if (node->op == ORCH_NET_MAXPOOL2D && costs[i].learns)
            bytes[i] += 8 * values; /* the place of the greatest of each window, in 64 bits */
    }
    if (autocasts)
        add_autocast(net, costs, bytes);
    return bytes;
}

/* Bytes of a score of the loss: cross entropy keeps the logarithms of the shares, and makes the
 * gradients of these and of the scores, in fp32; as much as the scores once more stays reserved, by
 * milabench's trainings of BERT (bench/memory_peaks.py). */
double orch_net_loss_bytes(int element_bytes)
{
    return 3 * 4 + element_bytes;
}

double orch_net_stored_bytes(const struct orch_net_tensor *tensor, int element_bytes)
{
    static const double four = 0.5 + 1.0 / 64 + 4.0 / (64 * 256);
    return tensor->stored_bits == 4 ? four : tensor->stored_bits == 8 ? 1 : element_bytes;
}

static double frozen_bytes(const struct orch_net *net, int element_bytes)
{
    double bytes = 0;
    for (guint i = 0; i < net->tensors->len; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(net, (int)i);
        bool is_param = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
        bytes += is_param && t->is_frozen
                     ? (double)t->count * orch_net_stored_bytes(t, element_bytes)
                     : 0;
    }
    return bytes;
}

double orch_net_most_held(double held, double gradients, double activations)
{
    return held + MAX(gradients, activations);
}

struct orch_net_memory orch_net_memory(const struct orch_net *net,
                                       const struct orch_net_cost *costs, int64_t batch,
                                       int element_bytes, int states_per_weight, bool training)
{
    double kept = 0, widest = 0, trained = (double)orch_net_cost_sum(net, costs).trained;
    g_autofree double *bytes = orch_net_kept_bytes(net, costs, element_bytes, false);
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        double here = (double)costs[i].activations, flow = here;
        for (int j = 0; j < node->input_count; j++)
            flow += (double)costs[node->inputs[j]].activations;
        kept += bytes[i];
        if (!training || !costs[i].learns)
            widest = MAX(widest, flow * element_bytes);
    }
    struct orch_net_memory m = {.weights = 4 * trained + frozen_bytes(net, element_bytes)};
    m.gradients = training ? 4 * trained : 0;
    m.optimizer = training ? 4 * trained * states_per_weight : 0;
    /* what is below all trained layers needs its values once, when nothing is kept yet */
    m.activations = (training ? MAX(kept, widest) : widest) * (double)batch;
    if (training)
        m.activations +=
            orch_net_loss_bytes(element_bytes) * orch_net_score_count(net) * (double)batch;
    m.total = orch_net_most_held(m.weights + m.optimizer, m.gradients, m.activations);
    return m;
}

double orch_net_node_score_bytes(const struct orch_net_node *node, int element_bytes)
{
    double tokens = (double)node->out.h;
    if (node->op != ORCH_NET_ATTENTION)
        return 0;
    /* the softmax is in fp32 whatever the precision is; its shares, dropout's mask of a byte, and
     * what dropout leaves, which the product with the values keeps */
    return node->heads * tokens * tokens * (4 + 1 + element_bytes);
}

double orch_net_score_bytes(const struct orch_net *net, int element_bytes)
{
    double bytes = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        bytes += orch_net_node_score_bytes(orch_net_node(net, (int)i), element_bytes);
    return bytes;
}
