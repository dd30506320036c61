/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/networks/network_counts.h"

#include "lib/net/open_net.h"

#include <string.h>

/* ---- layers -----------------------------------------------------------------------------------
 */

/* Formats an operation: "conv2d 3x3/2". */
static char *type_text(const struct orch_net_node *node)
{
    GString *text = g_string_new(orch_net_op_name(node->op));
    if (node->kernel_w)
        g_string_append_printf(text, " %dx%d", node->kernel_h, node->kernel_w);
    if (node->kernel_w && (node->stride_h > 1 || node->stride_w > 1))
        g_string_append_printf(text, "/%d", node->stride_h);
    if (node->groups > 1)
        g_string_append_printf(text, " in %d groups", node->groups);
    if (node->is_auxiliary)
        g_string_append(text, " (auxiliary)");
    return g_string_free(text, FALSE);
}

/* "(4-1)*2+3-2*1+1 = 8": the last summand is the padding of the output, where it has any. */
static char *transposed_side_work(const struct orch_net_node *node, int in, int kernel)
{
    int extra = (int)node->out.h - ((in - 1) * node->stride_h + kernel - 2 * node->pad_h);
    g_autofree char *more = extra ? g_strdup_printf("%+d", extra) : g_strdup("");
    return g_strdup_printf("(%d-1)*%d+%d-2*%d%s = %d", in, node->stride_h, kernel, node->pad_h,
                           more, (int)node->out.h);
}

/* Formats how a window's output height is computed: "(227-11+2*0)/4+1 = 55". */
static char *side_work(const struct orch_net *net, const struct orch_net_node *node)
{
    if (!node->kernel_h || !node->stride_h || !node->input_count)
        return g_strdup_printf("%d", (int)node->out.h);
    const struct orch_net_node *in = orch_net_node(net, node->inputs[0]);
    int kernel = MAX(node->dilation, 1) * (node->kernel_h - 1) + 1;
    if (node->op == ORCH_NET_CONV_TRANSPOSE2D)
        return transposed_side_work(node, (int)in->out.h, kernel);
    int room = (int)in->out.h - kernel + 2 * node->pad_h;
    return g_strdup_printf("(%d-%d+2*%d)/%d%s+1 = %d", (int)in->out.h, kernel, node->pad_h,
                           node->stride_h,
                           room % node->stride_h == 0 ? ""
                           : node->ceil_mode          ? ", rounded up,"
                                                      : ", rounded down,",
                           (int)node->out.h);
}

static bool is_shown(const struct orch_count_options *o, const struct orch_net_node *node,
                     const struct orch_net_cost *cost)
{
    enum orch_net_kind kind = orch_net_kind_of(node->op);
    bool works = orch_net_operations(cost, 1) > 0; /* not for a pool to its own size */
    return !o->brief || node->op == ORCH_NET_INPUT || (kind <= ORCH_NET_KIND_POOL && works) ||
           kind == ORCH_NET_KIND_ATTENTION;
}

static void free_layer(gpointer pointer)
{
    struct orch_layer_counts *layer = pointer;
    char *texts[] = {layer->type, layer->side_work, layer->activations_work, layer->params_work,
                     layer->macs_work};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++)
        g_free(texts[i]);
    g_free(layer);
}

static struct orch_layer_counts *count_layer(const struct orch_net *net,
                                             const struct orch_net_node *node,
                                             const struct orch_net_cost *cost,
                                             const struct orch_count_options *o)
{
    struct orch_layer_counts *layer = g_new0(struct orch_layer_counts, 1);
    int64_t moved = cost->read - cost->params; /* weights are read once per batch */
    int64_t read = MAX(moved, 0) * o->batch + MIN(cost->params, cost->read);
    int64_t operations = orch_net_operations(cost, o->per_mac);
    *layer = (struct orch_layer_counts){
        .name = node->name,
        .type = type_text(node),
        .c = node->out.c,
        .h = node->out.h,
        .w = node->out.w,
        .params = cost->params,
        .weights = cost->weights,
        .activations = cost->activations * o->batch,
        .activation_bytes = cost->activations * o->batch * o->element_bytes,
        .macs = cost->macs * o->batch,
        .operations = operations * o->batch,
        .read_bytes = read * o->element_bytes,
        .written_bytes = cost->written * o->batch * o->element_bytes,
        .image_operations = operations,
        .field_h = cost->field_h,
        .field_w = cost->field_w,
        .side_work = side_work(net, node),
        .activations_work = orch_net_activations_work(node),
        .params_work = orch_net_params_work(net, node),
        .macs_work = orch_net_macs_work(net, node)};
    return layer;
}

/* ---- the network ------------------------------------------------------------------------------
 */

static void count_kinds(const int64_t *sums, struct orch_network_counts *out)
{
    int64_t total = 0;
    for (int kind = 0; kind < ORCH_NET_KIND_COUNT; kind++)
        total += sums[kind];
    for (int kind = 0; kind < ORCH_NET_KIND_COUNT; kind++) {
        const struct orch_kind_operations row = {orch_net_kind_name((enum orch_net_kind)kind),
                                                 sums[kind],
                                                 (double)sums[kind] / (double)MAX(1, total)};
        if (sums[kind])
            g_array_append_val(out->kinds, row);
    }
}

static void count_nodes(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_count_options *o, struct orch_network_counts *out)
{
    int64_t sums[ORCH_NET_KIND_COUNT] = {0};
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        enum orch_net_kind kind = orch_net_kind_of(node->op);
        sums[kind] += orch_net_operations(&costs[i], o->per_mac);
        out->has_norms = out->has_norms || kind == ORCH_NET_KIND_NORM;
        out->conv_macs += kind == ORCH_NET_KIND_CONV ? costs[i].macs : 0;
        if (!is_shown(o, node, &costs[i]))
            continue;
        struct orch_layer_counts *layer = count_layer(net, node, &costs[i], o);
        out->shown_activations += costs[i].activations;
        out->shown_operations += layer->image_operations;
        g_ptr_array_add(out->layers, layer);
    }
    count_kinds(sums, out);
}

struct orch_network_counts *orch_network_counts_new(const struct orch_net *net,
                                                    const struct orch_count_options *options)
{
    struct orch_network_counts *out = g_new0(struct orch_network_counts, 1);
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    const struct orch_net_cost sum = orch_net_cost_sum(net, costs);
    guint last = net->nodes->len - 1;
    *out = (struct orch_network_counts){
        .layers = g_ptr_array_new_with_free_func(free_layer),
        .kinds = g_array_new(FALSE, FALSE, sizeof(struct orch_kind_operations)),
        .params = sum.params,
        .weights = sum.weights,
        .activations = sum.activations,
        .macs = sum.macs,
        .operations = orch_net_operations(&sum, options->per_mac),
        .output_values = costs[last].activations,
        .output = orch_net_node(net, (int)last)->out,
        .memory = orch_net_memory(net, costs, options->batch, options->element_bytes,
                                  options->optimizer_states, !options->forward_only)};
    count_nodes(net, costs, options, out);
    return out;
}

void orch_network_counts_free(struct orch_network_counts *counts)
{
    if (!counts)
        return;
    g_ptr_array_unref(counts->layers);
    g_array_unref(counts->kinds);
    g_free(counts);
}

/* ---- the zoo ----------------------------------------------------------------------------------
 */

GArray *orch_known_networks(void)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct orch_known_network));
    for (const struct orch_net_family *f = orch_net_families(); f->pattern; f++) {
        g_autofree char *name = g_strndup(f->pattern, strcspn(f->pattern, ":"));
        struct orch_net *net = orch_network_of_record(name, NULL, 0);
        const struct orch_known_network row = {.name = f->pattern,
                                               .about = f->about,
                                               .c = f->input.c,
                                               .h = f->input.h,
                                               .w = f->input.w,
                                               .classes = f->classes,
                                               .trains = f->is_classifier,
                                               .has_counts = net != NULL,
                                               .depth = net ? orch_net_depth(net) : 0,
                                               .params = net ? orch_net_params(net) : 0,
                                               .macs = net ? orch_net_macs(net) : 0};
        g_array_append_val(rows, row);
        orch_net_free(net);
    }
    return rows;
}
