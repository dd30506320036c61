/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/net/net_copy.h"

void orch_net_copy_init(struct orch_net_copy *copy, const struct orch_net *from)
{
    orch_net_builder_init(&copy->builder, from->name, from->family, from->input, from->classes);
    copy->from = from;
    copy->to = g_new0(int, from->nodes->len);
}

void orch_net_copy_tensors(struct orch_net_copy *copy, int id)
{
    const struct orch_net_node *node = orch_net_node(copy->from, id);
    for (int i = 0; i < node->tensor_count; i++) {
        const struct orch_net_tensor *t = orch_net_tensor(copy->from, node->first_tensor + i);
        orch_net_layer_tensor(&copy->builder, t->name, t->role, t->rank, t->shape);
        const GPtrArray *tensors = copy->builder.net->tensors;
        struct orch_net_tensor *made = tensors->pdata[tensors->len - 1];
        made->init = t->init;
        made->init_scale = t->init_scale;
        made->is_frozen = t->is_frozen;
        made->stored_bits = t->stored_bits;
    }
}

int orch_net_copy_node(struct orch_net_copy *copy, int id)
{
    const struct orch_net_node *node = orch_net_node(copy->from, id);
    int inputs[ORCH_NET_INPUTS_MAX];
    for (int i = 0; i < node->input_count; i++)
        inputs[i] = copy->to[node->inputs[i]];
    copy->builder.group = node->group;
    copy->builder.is_auxiliary = node->is_auxiliary;
    copy->to[id] =
        orch_net_layer(&copy->builder, node, inputs, node->input_count, g_strdup(node->name));
    orch_net_copy_tensors(copy, id);
    return copy->to[id];
}

struct orch_net *orch_net_copy_finish(struct orch_net_copy *copy)
{
    for (int i = 0; i < orch_net_output_count(copy->from); i++)
        orch_net_declare_output(&copy->builder, copy->to[orch_net_output(copy->from, i)->id]);
    g_free(copy->to);
    return orch_net_builder_finish(&copy->builder, NULL);
}
