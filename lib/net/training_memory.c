/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory of a training, by what autograd keeps of each operator. */
#include "lib/net/needed_values.h"

/* Which nodes' values are kept for the gradients of a network of which a part is frozen. Caller
 * frees. */
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

/* Bytes a sample of the loss: cross entropy keeps the logarithms of the shares and makes the
 * scores' gradient, in fp32; of scores in 16 bits it makes an fp32 copy first. */
static double loss_bytes(const struct orch_net *net, int element_bytes)
{
    double values = 0;
    for (int i = 0; i < orch_net_output_count(net); i++) {
        const struct orch_net_shape *out = &orch_net_output(net, i)->out;
        values += (double)(out->c * out->h * out->w);
    }
    return values * (2 * 4 + (element_bytes < 4 ? 4 + element_bytes : 0));
}

struct orch_net_memory orch_net_memory(const struct orch_net *net,
                                       const struct orch_net_cost *costs, int64_t batch,
                                       int element_bytes, int states_per_weight, bool training)
{
    double kept = 0, widest = 0, places = 0,
           trained = (double)orch_net_cost_sum(net, costs).trained;
    double frozen = (double)orch_net_params(net) - trained;
    g_autofree bool *needed = frozen > 0 ? kept_values(net, costs) : NULL;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        double here = (double)costs[i].activations, flow = here;
        for (int j = 0; j < node->input_count; j++)
            flow += (double)costs[node->inputs[j]].activations;
        kept += costs[i].is_in_place || (needed && !needed[i]) ? 0 : here;
        if (node->op == ORCH_NET_MAXPOOL2D && costs[i].learns)
            places += here;
        if (!training || !costs[i].learns)
            widest = MAX(widest, flow);
    }
    double element = (double)element_bytes * (double)batch;
    struct orch_net_memory m = {.weights = 4 * trained + element_bytes * frozen};
    m.gradients = training ? 4 * trained : 0;
    m.optimizer = training ? 4 * trained * states_per_weight : 0;
    /* what is below all trained layers needs its values once, when nothing is kept yet */
    m.activations = (training ? MAX(kept, widest) : widest) * element;
    if (training) /* of the greatest of each window its place is kept, in 64 bits */
        m.activations += (8 * places + loss_bytes(net, element_bytes)) * (double)batch;
    m.total = m.weights + m.gradients + m.optimizer + m.activations;
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
