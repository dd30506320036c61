/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows a training step tensor by tensor: the forward pass reserves what it keeps, the backward
 * pass frees that and makes gradients. The next step finds all of its blocks among these, so one
 * step tells. */
#include "lib/net/idle_memory.h"

#include "lib/net/allocator.h"
#include "lib/net/needed_values.h"

/* A tensor's memory, with the number of those that hold it. */
struct holder {
    int block, holders;
    double size;
};

struct pass {
    const struct orch_net *net;
    struct orch_net_cost *costs;
    struct orch_allocator *allocator;
    struct holder *memory; /* of values: by node, the first that writes there */
    int *owner;            /* by node: whose memory it has */
    int *readers;          /* by node: nodes that read its value */
    GArray *gradients;     /* struct holder */
    int *gradient;         /* by node: index in gradients, -1: none yet */
};

static void take(struct pass *p, struct holder *h, double size)
{
    *h = (struct holder){.block = -1, .holders = 1, .size = size};
    if (size > 0)
        h->block = orch_allocator_take(p->allocator, size);
}

static void drop(struct pass *p, struct holder *h)
{
    if (--h->holders > 0)
        return;
    if (h->block >= 0)
        orch_allocator_give(p->allocator, h->block);
}

static double size_of(const struct pass *p, int node)
{
    return (double)p->costs[node].activations;
}

/* ---- forward -----------------------------------------------------------------------------------
 */

static void count_readers(struct pass *p)
{
    for (guint i = 0; i < p->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(p->net, (int)i);
        for (int k = 0; k < node->input_count; k++)
            p->readers[node->inputs[k]]++;
    }
}

/* True for what only sums read: one of them is written there. */
static bool is_for_sum(const struct pass *p, int node)
{
    return p->costs[node].is_in_place && orch_net_may_be_sum(orch_net_node(p->net, node));
}

/* The input whose memory a node has: of a view or ReLU in place its only one, of a sum the norm
 * that nobody else reads; -1: it has memory of its own. */
static int place_of(const struct pass *p, const struct orch_net_node *node)
{
    for (int k = 0; k < node->input_count && node->op == ORCH_NET_ADD; k++)
        if (is_for_sum(p, node->inputs[k]))
            return node->inputs[k];
    bool is_in_place = p->costs[node->id].is_in_place && !is_for_sum(p, node->id);
    return is_in_place && node->input_count ? node->inputs[0] : -1;
}

static void go_forward(struct pass *p)
{
    g_autofree int *unread = g_memdup2(p->readers, p->net->nodes->len * sizeof(int));
    for (guint i = 0; i < p->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(p->net, (int)i);
        int place = place_of(p, node);
        if (place >= 0) {
            p->owner[i] = p->owner[place];
            p->memory[p->owner[i]].holders++;
        } else {
            p->owner[i] = (int)i;
            take(p, &p->memory[i], size_of(p, (int)i));
        }
        p->memory[p->owner[i]].holders += orch_net_needs_output(node, &p->costs[i]);
        for (int k = 0; k < node->input_count; k++) {
            int in = node->inputs[k];
            p->memory[p->owner[in]].holders += orch_net_needs_inputs(node, &p->costs[i]);
            if (--unread[in] == 0)
                drop(p, &p->memory[p->owner[in]]);
        }
    }
}

/* ---- backward ----------------------------------------------------------------------------------
 */

static void add_gradient(struct pass *p, int node, int gradient)
{
    struct holder *own = &g_array_index(p->gradients, struct holder, gradient);
    if (p->gradient[node] < 0) {
        p->gradient[node] = gradient;
        own->holders++;
        return;
    }
    struct holder *first = &g_array_index(p->gradients, struct holder, p->gradient[node]);
    if (first->holders == 1)
        return; /* added in place */
    struct holder sum;
    take(p, &sum, own->size);
    drop(p, first);
    g_array_append_val(p->gradients, sum);
    p->gradient[node] = (int)p->gradients->len - 1;
}

/* True if the gradient of an input is that of the output, or a view of it. */
static bool hands_on(const struct orch_net_node *node)
{
    return node->op == ORCH_NET_ADD || node->op == ORCH_NET_CONCAT || node->op == ORCH_NET_FLATTEN;
}

static void go_back(struct pass *p, const struct orch_net_node *node)
{
    int gradient = p->gradient[node->id];
    for (int k = 0; k < node->input_count && gradient >= 0; k++) {
        int in = node->inputs[k];
        if (!p->costs[in].learns || orch_net_node(p->net, in)->op == ORCH_NET_INPUT)
            continue;
        if (hands_on(node)) {
            add_gradient(p, in, gradient);
            continue;
        }
        struct holder own;
        take(p, &own, size_of(p, in));
        g_array_append_val(p->gradients, own);
        int made = (int)p->gradients->len - 1;
        add_gradient(p, in, made);
        drop(p, &g_array_index(p->gradients, struct holder, made));
    }
    if (gradient >= 0)
        drop(p, &g_array_index(p->gradients, struct holder, gradient));
    if (orch_net_needs_output(node, &p->costs[node->id]))
        drop(p, &p->memory[p->owner[node->id]]);
    for (int k = 0; k < node->input_count && orch_net_needs_inputs(node, &p->costs[node->id]); k++)
        drop(p, &p->memory[p->owner[node->inputs[k]]]);
}

static void go_backward(struct pass *p)
{
    g_array_set_size(p->gradients, 0);
    for (guint i = 0; i < p->net->nodes->len; i++)
        p->gradient[i] = -1;
    for (guint i = p->net->nodes->len; i-- > 0;) {
        const struct orch_net_node *node = orch_net_node(p->net, (int)i);
        if (!p->readers[i] && !node->is_auxiliary) { /* an output: its gradient is the loss's */
            struct holder own;
            take(p, &own, 0);
            g_array_append_val(p->gradients, own);
            p->gradient[i] = (int)p->gradients->len - 1;
            drop(p, &p->memory[p->owner[i]]);
        }
        double reserved = orch_allocator_reserved(p->allocator);
        go_back(p, node);
        p->costs[i].idle = (int64_t)(orch_allocator_reserved(p->allocator) - reserved);
    }
}

void orch_net_note_idle(const struct orch_net *net, struct orch_net_cost *costs)
{
    guint count = net->nodes->len;
    g_autofree struct holder *memory = g_new0(struct holder, count);
    g_autofree int *owner = g_new0(int, count), *readers = g_new0(int, count),
                   *gradient = g_new0(int, count);
    struct pass p = {.net = net,
                     .costs = costs,
                     .allocator = orch_allocator_new(),
                     .memory = memory,
                     .owner = owner,
                     .readers = readers,
                     .gradient = gradient,
                     .gradients = g_array_new(FALSE, FALSE, sizeof(struct holder))};
    count_readers(&p);
    go_forward(&p);
    go_backward(&p);
    orch_allocator_free(p.allocator);
    g_array_unref(p.gradients);
}
