/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/steptime/checkpointing.h"

#include "lib/net/needed_values.h"

static bool is_inner(const struct orch_net *net, int group)
{
    return group > 0 && group < net->group_count - 1;
}

/* Bytes of a sample that a group, from `first` to before `end`, needs until its backward pass, and
 * those that its backward pass reserves besides. */
static double inside_bytes(const struct orch_net *net, const struct orch_net_cost *costs,
                           const struct orch_roofline_work *work, const double *kept, guint first,
                           guint end)
{
    double bytes = 0;
    for (guint i = first; i < end; i++) {
        bytes += kept[i];
        if (work->keeps_scores)
            bytes += orch_net_node_score_bytes(orch_net_node(net, (int)i), work->element_bytes);
        if (work->reserves_idle)
            bytes += (double)costs[i].idle * work->element_bytes;
    }
    return bytes;
}

static guint end_of_group(const struct orch_net *net, guint first)
{
    guint end = first;
    int group = orch_net_node(net, (int)first)->group;
    while (end < net->nodes->len && orch_net_node(net, (int)end)->group == group)
        end++;
    return end;
}

double orch_checkpointing_saved(const struct orch_net *net, const struct orch_net_cost *costs,
                                const struct orch_roofline_work *work)
{
    double all = 0, largest = 0;
    g_autofree double *kept = orch_net_kept_bytes(net, costs, work->element_bytes,
                                                  work->autocasts && work->element_bytes == 2);
    for (guint first = 0, end; first < net->nodes->len; first = end) {
        end = end_of_group(net, first);
        if (!is_inner(net, orch_net_node(net, (int)first)->group))
            continue;
        /* what the next group begins with stays */
        double last = (double)costs[end - 1].activations * work->element_bytes;
        double inside = inside_bytes(net, costs, work, kept, first, end) - MAX(last, kept[end - 1]);
        if (!costs[end - 1].learns) /* below all that is trained nothing is kept */
            continue;
        all += inside;
        largest = MAX(largest, inside);
    }
    return (all - largest) * (double)work->batch;
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
    for (guint first = 0, end; first < net->nodes->len; first = end) {
        end = end_of_group(net, first);
        if (!is_inner(net, orch_net_node(net, (int)first)->group))
            continue;
        if (!costs[end - 1].learns)
            continue;
        guint last = last_computed(net, costs, first, end);
        for (guint i = first; i <= last; i++) {
            step->backward_s += layers[i].forward_s;
            step->total_s += layers[i].forward_s;
            layers[i].backward_s += layers[i].forward_s;
        }
    }
}
