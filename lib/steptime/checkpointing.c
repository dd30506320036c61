/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/checkpointing.h"

#include "lib/net/needed_values.h"

static bool is_inner(const struct orch_net *net, int group)
{
    return group > 0 && group < net->group_count - 1;
}

/* Bytes of a node that are kept until its backward pass: `scores` are those of a layer of attention
 * that is written out. */
static double kept_bytes(const struct orch_net_node *node, const struct orch_net_cost *cost,
                         const struct orch_roofline_work *work)
{
    double scores = work->keeps_scores ? orch_net_node_score_bytes(node, work->element_bytes) : 0;
    double own = cost->is_in_place ? 0 : (double)cost->activations * work->element_bytes;
    return (own + scores) * (double)work->batch;
}

double orch_checkpointing_saved(const struct orch_net *net, const struct orch_net_cost *costs,
                                const struct orch_roofline_work *work)
{
    double all = 0, ends = 0, largest = 0;
    guint count = net->nodes->len;
    for (guint i = 0; i < count;) {
        int group = orch_net_node(net, (int)i)->group;
        double inside = 0, last = 0;
        for (; i < count && orch_net_node(net, (int)i)->group == group; i++) {
            inside += kept_bytes(orch_net_node(net, (int)i), &costs[i], work);
            last = (double)costs[i].activations * work->element_bytes * (double)work->batch;
        }
        if (!is_inner(net, group))
            continue;
        all += inside;
        ends += MIN(last, inside);
        largest = MAX(largest, inside - MIN(last, inside));
    }
    return all - ends - largest;
}

/* The last node of a group, from `first` to before `end`, that is computed again: behind it nothing
 * is needed for gradients, and PyTorch stops there. A dropout's mask is needed. */
static guint last_computed(const struct orch_net *net, const struct orch_net_cost *costs,
                           guint first, guint end)
{
    guint last = first;
    for (guint i = first; i < end; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        bool has_mask = node->op == ORCH_NET_DROPOUT && node->p > 0;
        if (has_mask || orch_net_needs_output(node, &costs[i]))
            last = i;
        for (int k = 0; k < node->input_count && orch_net_needs_inputs(node, &costs[i]); k++)
            if (node->inputs[k] >= (int)first)
                last = MAX(last, (guint)node->inputs[k]);
    }
    return last;
}

void orch_checkpointing_add(const struct orch_net *net, const struct orch_net_cost *costs,
                            struct orch_roofline_layer *layers, struct orch_roofline_step *step)
{
    guint count = net->nodes->len;
    for (guint first = 0, end; first < count; first = end) {
        int group = orch_net_node(net, (int)first)->group;
        for (end = first; end < count && orch_net_node(net, (int)end)->group == group;)
            end++;
        if (!is_inner(net, group))
            continue;
        guint last = last_computed(net, costs, first, end);
        for (guint i = first; i <= last; i++) {
            step->backward_s += layers[i].forward_s;
            step->total_s += layers[i].forward_s;
            layers[i].backward_s += layers[i].forward_s;
        }
    }
}
