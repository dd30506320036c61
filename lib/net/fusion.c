/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/layer_spec.h"

/* The only node that reads node `id`; NULL if there are none or several, or if it is an output. */
static const struct orch_net_node *only_reader(const struct orch_net *net, int id)
{
    const struct orch_net_node *found = NULL;
    for (int k = 0; k < orch_net_output_count(net); k++)
        if (orch_net_output(net, k)->id == id)
            return NULL;
    for (guint k = (guint)id + 1; k < net->nodes->len; k++) {
        const struct orch_net_node *node = orch_net_node(net, (int)k);
        for (int j = 0; j < node->input_count; j++) {
            if (node->inputs[j] != id)
                continue;
            if (found)
                return NULL;
            found = node;
        }
    }
    return found;
}

/* Adds the shortcut and the ReLU after it to the fusion of norm `id`. Returns its last node. */
static int with_shortcut(const struct orch_net *net, struct orch_net_fusion *all, int id,
                         const struct orch_net_node *add, struct orch_net_fusion *fusion)
{
    const struct orch_net_node *last = only_reader(net, add->id);
    if (!last || last->op != ORCH_NET_RELU || all[add->id].end != add->id)
        return id;
    fusion->shortcut = add->inputs[add->inputs[0] == id];
    fusion->relu = true;
    all[add->id].end = last->id;
    return last->id;
}

struct orch_net_fusion *orch_net_fusions(const struct orch_net *net)
{
    int count = (int)net->nodes->len;
    struct orch_net_fusion *all = g_new(struct orch_net_fusion, net->nodes->len);
    for (int i = 0; i < count; i++)
        all[i] = (struct orch_net_fusion){-1, -1, false, i};
    for (int i = 0; i < count; i++) {
        if (orch_net_node(net, i)->op != ORCH_NET_BATCHNORM2D)
            continue;
        struct orch_net_fusion fusion = {i, -1, false, 0};
        int end = i;
        const struct orch_net_node *next = only_reader(net, i);
        if (next && next->op == ORCH_NET_ADD && next->input_count == 2 && all[next->id].norm < 0) {
            end = with_shortcut(net, all, i, next, &fusion);
        } else if (next && next->op == ORCH_NET_RELU) {
            fusion.relu = true;
            end = next->id;
        }
        all[i].end = end;
        fusion.end = all[end].end;
        all[end] = fusion;
    }
    return all;
}
