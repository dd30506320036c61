/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/frozen.h"

#include "features/predict/steps/name_groups.h"
#include "lib/base/error.h"
#include "lib/net/net_copy.h"

#include <string.h>

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* The block of each node, from 0; -1 for nodes without parameters. Returns how many there are. */
static int number_blocks(const struct orch_net *net, int *blocks)
{
    int count = 0;
    g_autofree char *last = NULL;
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        blocks[i] = -1;
        if (!node->tensor_count)
            continue;
        g_autofree char *own = net->group_count > 2 ? g_strdup_printf("%d", node->group)
                                                    : orch_net_block_name(node->name, NULL);
        if (g_strcmp0(own, last) != 0)
            count++;
        g_free(last);
        last = g_steal_pointer(&own);
        blocks[i] = count - 1;
    }
    return count;
}

static void freeze_before(struct orch_net *net, const int *blocks, int first,
                          struct orch_net_trained_part *out)
{
    *out = (struct orch_net_trained_part){.of_all = orch_net_params(net)};
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        bool is_frozen = blocks[i] < first;
        for (int k = 0; k < node->tensor_count; k++)
            ((struct orch_net_tensor *)net->tensors->pdata[node->first_tensor + k])->is_frozen |=
                is_frozen;
        out->params += is_frozen ? 0 : orch_net_node_params(net, node);
    }
}

void orch_net_train_blocks(struct orch_net *net, int64_t blocks, struct orch_net_trained_part *out)
{
    g_autofree int *numbers = g_new(int, net->nodes->len);
    int all = number_blocks(net, numbers);
    int first = all - (int)CLAMP(blocks, 1, MAX(1, all));
    freeze_before(net, numbers, first, out);
    out->trained = all - first;
    out->all = all;
}

void orch_net_train_share(struct orch_net *net, double share, struct orch_net_trained_part *out)
{
    g_autofree int *numbers = g_new(int, net->nodes->len);
    int all = number_blocks(net, numbers);
    g_autofree double *params = g_new0(double, all + 1);
    double sum = 0, most = share * (double)orch_net_params(net);
    for (guint i = 0; i < net->nodes->len; i++)
        if (numbers[i] >= 0)
            params[numbers[i]] += (double)orch_net_node_params(net, orch_net_node(net, (int)i));
    int blocks = 0;
    for (int i = all - 1; i >= 0 && (!blocks || sum + params[i] <= most); i--) {
        sum += params[i];
        blocks++;
    }
    orch_net_train_blocks(net, MAX(1, blocks), out);
}

/* ---- adapters ----------------------------------------------------------------------------------
 */

static bool is_linear(const struct orch_net *net, const struct orch_net_node *node)
{
    bool has_matrix = false;
    for (int i = 0; i < node->tensor_count; i++)
        has_matrix |= orch_net_tensor(net, node->first_tensor + i)->rank == 2;
    return (node->op == ORCH_NET_LINEAR || node->op == ORCH_NET_TOKEN_LINEAR) && has_matrix &&
           node->input_count && !node->is_auxiliary && !node->experts && !node->routes;
}

/* The last linear layer, also where its weights are another layer's: it has no adapter. */
static int head_of(const struct orch_net *net)
{
    for (guint i = net->nodes->len; i-- > 1;) {
        enum orch_net_op op = orch_net_node(net, (int)i)->op;
        if (op == ORCH_NET_LINEAR || op == ORCH_NET_TOKEN_LINEAR)
            return (int)i;
    }
    return -1;
}

static int add_half(struct orch_net_builder *b, const struct orch_net_node *base, int in,
                    int64_t from, int64_t to, int64_t width, const char *suffix)
{
    int64_t places = base->out.h * base->out.w, shape[] = {to, from};
    const struct orch_net_node like = {.op = base->op,
                                       .out = {to, base->out.h, base->out.w},
                                       .in_channels = from,
                                       .out_channels = to,
                                       .parts = base->parts,
                                       .macs = width * places};
    char *name = g_strdup_printf("%s.%s", base->name, suffix);
    g_autofree char *weight = g_strdup_printf("%s.weight", name);
    int id = orch_net_layer(b, &like, &in, 1, name);
    orch_net_layer_tensor(b, weight, ORCH_NET_WEIGHT, 2, shape);
    return id;
}

/* Adds the adapter of a layer that was just copied; the sum takes its place. */
static void add_adapter(struct orch_net_copy *copy, const struct orch_net_node *base, int64_t rank)
{
    struct orch_net_builder *b = &copy->builder;
    int in = copy->to[base->inputs[0]];
    int64_t parts = MAX(1, base->parts);
    int down = add_half(b, base, in, base->in_channels, rank * parts,
                        base->in_channels * rank * parts, ORCH_NET_ADAPTER_DOWN);
    int up = add_half(b, base, down, rank, base->out.c, rank * base->out.c, "lora_B");
    up = orch_net_elementwise(b, &up, 1, "scale");
    copy->to[base->id] = orch_net_add(b, copy->to[base->id], up);
}

static bool check_rank(const struct orch_net *net, int64_t rank, struct orch_net_trained_part *out,
                       GError **error)
{
    int head = head_of(net);
    int64_t least = 0;
    *out = (struct orch_net_trained_part){0};
    for (guint i = 1; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (!is_linear(net, node))
            continue;
        out->all++;
        if ((int)i == head)
            continue;
        out->trained++;
        least = MIN(least ? least : node->in_channels, MIN(node->in_channels, node->out.c));
    }
    if (!out->trained)
        orch_error_set(error, ORCH_ERROR_USAGE, "to freeze the first layers, use --trainable",
                       "network '%s' has no linear layer for adapters except its last", net->name);
    else if (rank > least)
        orch_error_set(error, ORCH_ERROR_USAGE, "use a smaller rank; 8 and 16 are usual",
                       "a rank of %" G_GINT64_FORMAT " is more than the width %" G_GINT64_FORMAT
                       " of the narrowest linear layer of '%s'",
                       rank, least, net->name);
    return out->trained && rank <= least;
}

bool orch_net_add_adapters(struct orch_net **net, int64_t rank, struct orch_net_trained_part *out,
                           GError **error)
{
    struct orch_net *from = *net;
    struct orch_net_copy copy;
    if (!check_rank(from, rank, out, error))
        return false;
    int head = head_of(from);
    for (guint i = 0; i < from->tensors->len; i++)
        ((struct orch_net_tensor *)from->tensors->pdata[i])->is_frozen = true;
    orch_net_copy_init(&copy, from);
    for (guint i = 1; i < from->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(from, (int)i);
        orch_net_copy_node(&copy, (int)i);
        if (is_linear(from, node) && (int)i != head)
            add_adapter(&copy, node, rank);
    }
    int64_t before = orch_net_params(from);
    *net = orch_net_copy_finish(&copy);
    orch_net_free(from);
    out->of_all = orch_net_params(*net);
    out->params = out->of_all - before;
    return true;
}

void orch_net_pack_weights(struct orch_net *net, int bits)
{
    int head = head_of(net);
    for (guint i = 0; i < net->tensors->len; i++) {
        struct orch_net_tensor *t = net->tensors->pdata[i];
        enum orch_net_op op = orch_net_node(net, t->node)->op;
        bool is_linear_layer = op == ORCH_NET_LINEAR || op == ORCH_NET_TOKEN_LINEAR;
        if (t->is_frozen && t->rank == 2 && is_linear_layer && t->node != head)
            t->stored_bits = bits;
    }
}
