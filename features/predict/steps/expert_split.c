/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/expert_split.h"

#include "lib/base/error.h"
#include "lib/net/net_copy.h"

static bool check(const struct orch_net *net, int64_t ways, GError **error)
{
    int64_t experts = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        experts = MAX(experts, orch_net_node(net, (int)i)->experts);
    if (experts && experts % ways == 0)
        return true;
    if (experts)
        orch_error_set(
            error, ORCH_ERROR_USAGE, "use a number of devices that divides the number of experts",
            "the %" G_GINT64_FORMAT
            " experts of '%s' cannot be divided evenly among %" G_GINT64_FORMAT " devices",
            experts, net->name, ways);
    else
        orch_error_set(error, ORCH_ERROR_USAGE, "use 'dp', 'fsdp', 'tp' or 'pp'",
                       "'ep' is for mixtures of experts, and '%s' is not one", net->name);
    return false;
}

/* Makes a layer of experts the device's part. */
static void divide(struct orch_net_copy *copy, int id, int64_t ways)
{
    struct orch_net_node *node = copy->builder.net->nodes->pdata[copy->to[id]];
    node->experts /= (int)ways;
    for (int i = 0; i < node->tensor_count; i++) {
        struct orch_net_tensor *t = copy->builder.net->tensors->pdata[node->first_tensor + i];
        t->count /= ways;
        t->shape[0] /= ways;
    }
}

struct orch_net *orch_net_split_experts(const struct orch_net *net, int64_t ways,
                                        double *out_sent_values, GError **error)
{
    *out_sent_values = 0;
    if (!check(net, ways, error))
        return NULL;
    struct orch_net_copy copy;
    orch_net_copy_init(&copy, net);
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        orch_net_copy_node(&copy, (int)i);
        if (!node->experts)
            continue;
        divide(&copy, (int)i, ways);
        /* what goes back to the tokens is as wide as what came */
        bool goes_back = orch_net_node(net, node->inputs[0])->input_count > 1;
        *out_sent_values += goes_back ? 2.0 * (double)(node->out.c * node->out.h) : 0;
    }
    return orch_net_copy_finish(&copy);
}
