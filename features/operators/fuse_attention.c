/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/operators/fuse_attention.h"

#include "lib/net/net_copy.h"

#define STEPS_MAX 7

struct search {
    const struct orch_net *net;
    int *readers; /* by node: how many nodes read it */
    int *leads;   /* by node: the second product that it becomes part of; 0: none */
    int *queries; /* by second product: the first one */
};

static bool is_product(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_ATTENTION && !node->heads && node->input_count >= 1;
}

static int64_t size_of(const struct orch_net_node *node)
{
    return node->out.c * node->out.h * node->out.w;
}

/* The product whose scores lead to `node` through softmax and element-wise operations that nothing
 * else reads; 0: none. Marks what lies between for the product `by`. */
static int scores_of(const struct search *s, int id, int by, int steps, bool has_softmax)
{
    const struct orch_net_node *node = orch_net_node(s->net, id);
    if (is_product(node) && has_softmax && s->readers[id] == 1)
        return id;
    if (!steps || node->macs || s->readers[id] != 1 || node->op == ORCH_NET_INPUT)
        return 0;
    has_softmax |= node->op == ORCH_NET_SOFTMAX;
    for (int i = 0; i < node->input_count; i++) {
        const struct orch_net_node *in = orch_net_node(s->net, node->inputs[i]);
        int found =
            size_of(in) == size_of(node) ? scores_of(s, in->id, by, steps - 1, has_softmax) : 0;
        if (found)
            s->leads[id] = by;
        if (found)
            return found;
    }
    return 0;
}

/* What a copy, a scale or a turned order of elements is made of, where nothing else reads it. */
static int origin_of(const struct search *s, int id, int by)
{
    const struct orch_net_node *node = orch_net_node(s->net, id);
    while (node->op == ORCH_NET_GENERIC && node->input_count == 1 && !node->tensor_count &&
           s->readers[node->id] == 1 &&
           size_of(orch_net_node(s->net, node->inputs[0])) == size_of(node)) {
        s->leads[node->id] = by;
        node = orch_net_node(s->net, node->inputs[0]);
    }
    return node->id;
}

static void find_all(struct search *s)
{
    for (guint i = 1; i < s->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, (int)i);
        if (!is_product(node))
            continue;
        int first = scores_of(s, node->inputs[0], (int)i, STEPS_MAX, false);
        if (!first)
            continue;
        s->queries[i] = first;
        s->leads[first] = (int)i;
    }
}

/* Adds one node for the two products and what lies between, with the tensors of all of them. */
static void add_fused(struct search *s, struct orch_net_copy *copy, int second)
{
    const struct orch_net_node *values = orch_net_node(s->net, second);
    const struct orch_net_node *scores = orch_net_node(s->net, s->queries[second]);
    int64_t heads = values->out.h, tokens = values->out.w, width = values->out.c * heads;
    const int origins[] = {scores->inputs[0],
                           scores->input_count > 1 ? scores->inputs[1] : scores->inputs[0],
                           values->inputs[values->input_count - 1]};
    struct orch_net_node like = {.op = ORCH_NET_ATTENTION,
                                 .out = {width, tokens, 1},
                                 .heads = (int)MIN(heads, 1 << 20),
                                 .in_channels = 2 * heads * scores->in_channels + width,
                                 .out_channels = width,
                                 .is_written_out = true,
                                 .macs = scores->macs + values->macs};
    int inputs[3], count = 0;
    for (int i = 0; i < 3; i++) {
        int id = copy->to[origin_of(s, origins[i], second)];
        bool is_new = true;
        for (int k = 0; k < count; k++)
            is_new = is_new && inputs[k] != id;
        if (is_new)
            inputs[count++] = id;
    }
    copy->to[second] = orch_net_layer(&copy->builder, &like, inputs, count, NULL);
    for (int i = 1; i <= second; i++)
        if (s->leads[i] == second || i == second)
            orch_net_copy_tensors(copy, i);
}

/* The copy by which the heads' sums are put in order is part of attention, too. */
static bool is_copy_of_sums(const struct search *s, const struct orch_net_node *node)
{
    return node->op == ORCH_NET_GENERIC && !node->computes && node->input_count == 1 &&
           !node->tensor_count && s->queries[node->inputs[0]] && s->readers[node->inputs[0]] == 1;
}

struct orch_net *orch_net_fuse_attention(struct orch_net *net)
{
    guint count = net->nodes->len;
    struct search s = {.net = net,
                       .readers = g_new0(int, count),
                       .leads = g_new0(int, count),
                       .queries = g_new0(int, count)};
    struct orch_net_copy copy;
    for (guint i = 0; i < count; i++)
        for (int k = 0; k < orch_net_node(net, (int)i)->input_count; k++)
            s.readers[orch_net_node(net, (int)i)->inputs[k]]++;
    for (int i = 0; i < orch_net_output_count(net); i++)
        s.readers[orch_net_output(net, i)->id]++;
    find_all(&s);
    for (guint i = 1; i < count; i++) { /* before the copies, so that these are left out */
        const struct orch_net_node *scores = s.queries[i] ? orch_net_node(net, s.queries[i]) : NULL;
        for (int k = 0; scores && k < scores->input_count; k++)
            origin_of(&s, scores->inputs[k], (int)i);
        if (scores)
            origin_of(
                &s, orch_net_node(net, (int)i)->inputs[orch_net_node(net, (int)i)->input_count - 1],
                (int)i);
    }
    orch_net_copy_init(&copy, net);
    for (guint i = 1; i < count; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (s.queries[i])
            add_fused(&s, &copy, (int)i);
        else if (is_copy_of_sums(&s, node))
            copy.to[i] = copy.to[node->inputs[0]];
        else if (!s.leads[i])
            orch_net_copy_node(&copy, (int)i);
    }
    struct orch_net *fused = orch_net_copy_finish(&copy);
    g_free(s.readers);
    g_free(s.leads);
    g_free(s.queries);
    orch_net_free(net);
    return fused;
}
