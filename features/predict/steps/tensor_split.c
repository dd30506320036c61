/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/steps/tensor_split.h"

#include "features/predict/steps/frozen.h"
#include "lib/base/error.h"
#include "lib/net/cost.h"
#include "lib/net/net_copy.h"

struct split {
    const struct orch_net *net;
    bool *stays;    /* linear layers whose outputs every device needs whole */
    bool *is_split; /* nodes whose values are */
};

static bool is_linear(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_LINEAR || node->op == ORCH_NET_TOKEN_LINEAR;
}

/* Operations on parts of a value, each for itself. */
static bool goes_by_part(const struct orch_net_node *node)
{
    switch (orch_net_kind_of(node->op)) {
    case ORCH_NET_KIND_ACTIVATION:
        return node->op != ORCH_NET_SOFTMAX;
    case ORCH_NET_KIND_ATTENTION:
        return node->heads > 0;
    default:
        return node->op == ORCH_NET_DROPOUT || node->op == ORCH_NET_CONCAT ||
               node->op == ORCH_NET_FLATTEN || node->op == ORCH_NET_GENERIC ||
               node->op == ORCH_NET_MUL || node->op == ORCH_NET_ADD;
    }
}

/* Number of inputs that are split. */
static int split_inputs(const struct split *s, const struct orch_net_node *node)
{
    int count = 0;
    for (int i = 0; i < node->input_count; i++)
        count += s->is_split[node->inputs[i]];
    return count;
}

/* Lets the linear layers before a value stay whole. */
static void keep_whole(struct split *s, int id)
{
    const struct orch_net_node *node = orch_net_node(s->net, id);
    if (!s->is_split[id])
        return;
    s->is_split[id] = false;
    if (is_linear(node)) {
        s->stays[id] = true;
        return;
    }
    for (int i = 0; i < node->input_count; i++)
        keep_whole(s, node->inputs[i]);
}

/* One walk; true if no layer had to be kept whole. */
static bool mark(struct split *s)
{
    bool is_stable = true;
    for (guint i = 0; i < s->net->nodes->len; i++)
        s->is_split[i] = false;
    for (guint i = 1; i < s->net->nodes->len && is_stable; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, (int)i);
        int among = split_inputs(s, node);
        if (is_linear(node))
            s->is_split[i] = !among && !s->stays[i];
        else if (among == node->input_count && among && goes_by_part(node))
            s->is_split[i] = true;
        else if (among) {
            for (int k = 0; k < node->input_count; k++)
                keep_whole(s, node->inputs[k]);
            is_stable = false;
        }
    }
    return is_stable;
}

static bool divides(const struct orch_net *net, const struct orch_net_node *node, int64_t number,
                    const char *what, int64_t ways, GError **error)
{
    if (number % ways == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "use a number of devices that leaves no remainder",
                   "the %" G_GINT64_FORMAT " %s of layer '%s' of '%s' cannot be divided evenly "
                   "among this number of devices: %" G_GINT64_FORMAT,
                   number, what, node->name, net->name, ways);
    return false;
}

static bool is_attention(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_ATTENTION && node->heads > 0;
}

/* Heads first, whose number users know. */
static bool check(const struct split *s, int64_t ways, GError **error)
{
    int last = (int)s->net->nodes->len - 1, attentions = 0;
    for (int i = 1; i <= last; i++) {
        const struct orch_net_node *node = orch_net_node(s->net, i);
        attentions += is_attention(node);
        if (is_attention(node) && !divides(s->net, node, node->heads, "heads", ways, error))
            return false;
    }
    for (int i = 1; i < last; i++) { /* a vocabulary, which is last, is padded to a multiple */
        const struct orch_net_node *node = orch_net_node(s->net, i);
        if (is_linear(node) && s->is_split[i] &&
            !divides(s->net, node, node->out_channels, "outputs", ways, error))
            return false;
    }
    if (!attentions)
        orch_error_set(error, ORCH_ERROR_USAGE, "use 'dp', 'fsdp' or 'pp'",
                       "tensor parallelism is only for transformers, and '%s' is not one",
                       s->net->name);
    return attentions;
}

static int64_t part(int64_t whole, int64_t ways)
{
    return (whole + ways - 1) / ways;
}

/* Divides axis `axis` of the matrices of the copied node, and vectors where `has_vectors`. */
static void divide_tensors(struct orch_net_copy *copy, int id, int axis, bool has_vectors,
                           int64_t ways)
{
    const struct orch_net_node *node = orch_net_node(copy->builder.net, id);
    for (int i = 0; i < node->tensor_count; i++) {
        struct orch_net_tensor *t = copy->builder.net->tensors->pdata[node->first_tensor + i];
        int at = t->rank > 1 ? axis : 0;
        if (t->rank == 1 && !has_vectors)
            continue;
        t->count = t->count / t->shape[at] * part(t->shape[at], ways);
        t->shape[at] = part(t->shape[at], ways);
    }
}

/* Makes the copy of a node its part. Returns values that are summed over the devices. */
static double divide(const struct split *s, struct orch_net_copy *copy, int id, int64_t ways)
{
    const struct orch_net_node *from = orch_net_node(s->net, id);
    int to = copy->to[id];
    struct orch_net_node *node = copy->builder.net->nodes->pdata[to];
    double values = (double)from->out.c * (double)from->out.h * (double)from->out.w;
    bool is_row = is_linear(from) && split_inputs(s, from);
    if (s->is_split[id]) {
        node->out.c = part(node->out.c, ways);
        node->out_channels = part(node->out_channels, ways);
        node->macs = part(node->macs, ways);
        if (from->op == ORCH_NET_ATTENTION) {
            node->heads = (int)(from->heads / ways);
            node->in_channels = part(node->in_channels, ways);
        }
        divide_tensors(copy, to, 0, true, ways);
    } else if (is_row) {
        node->in_channels = part(node->in_channels, ways);
        node->macs = part(node->macs, ways);
        divide_tensors(copy, to, 1, false, ways);
    } else if (from->op == ORCH_NET_EMBEDDING && from->rows == ORCH_NET_ROWS_TOKENS)
        divide_tensors(copy, to, 0, false, ways);
    else
        return 0;
    /* what a token's experts make is added before it is summed over the devices */
    return s->is_split[id] ? 0 : values / MAX(1, from->chosen);
}

struct orch_net *orch_net_split_tensors(const struct orch_net *net, int64_t ways,
                                        double *out_summed_values, GError **error)
{
    struct split s = {.net = net,
                      .stays = g_new0(bool, net->nodes->len),
                      .is_split = g_new0(bool, net->nodes->len)};
    struct orch_net *out = NULL;
    *out_summed_values = 0;
    for (guint i = 0; i < net->nodes->len; i++) /* so few that every device computes them all */
        s.stays[i] = g_str_has_suffix(orch_net_node(net, (int)i)->name, "." ORCH_NET_ADAPTER_DOWN);
    while (!mark(&s))
        ;
    if (check(&s, ways, error)) {
        struct orch_net_copy copy;
        orch_net_copy_init(&copy, net);
        for (guint i = 1; i < net->nodes->len; i++) {
            orch_net_copy_node(&copy, (int)i);
            *out_summed_values += divide(&s, &copy, (int)i, ways);
        }
        out = orch_net_copy_finish(&copy);
    }
    g_free(s.stays);
    g_free(s.is_split);
    return out;
}
