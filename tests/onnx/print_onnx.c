/* SPDX-License-Identifier: GPL-3.0-or-later */
/* print_onnx MODEL [CxHxW]: what features/onnx makes of a model, for torch.sh.
 * print_onnx --zoo NAME: the same counts of a network of the zoo. */
#include "features/onnx/onnx.h"
#include "lib/net/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_counts(const struct orch_net *net)
{
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    struct orch_net_cost sum = orch_net_cost_sum(net, costs);
    printf("params %" G_GINT64_FORMAT "\nmacs %" G_GINT64_FORMAT "\nother %" G_GINT64_FORMAT
           "\nactivations %" G_GINT64_FORMAT "\ndepth %d\nclasses %" G_GINT64_FORMAT "\n",
           sum.params, sum.macs, sum.other, sum.activations, orch_net_depth(net), net->classes);
}

static void print_nodes(const struct orch_net *net)
{
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *n = orch_net_node(net, (int)i);
        printf("node %u %s %s %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
               " params %" G_GINT64_FORMAT " macs %" G_GINT64_FORMAT "\n",
               i, orch_net_op_name(n->op), n->name, n->out.c, n->out.h, n->out.w,
               orch_net_node_params(net, n), n->macs);
    }
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    struct orch_onnx_notes notes = {0};
    struct orch_net_shape input = {0};
    struct orch_net *net;
    if (argc == 3 && strcmp(argv[1], "--zoo") == 0) {
        net = orch_net_make(&(struct orch_net_options){.name = argv[2]}, &error);
    } else if (argc == 2 || (argc == 3 && sscanf(argv[2], "%" SCNd64 "x%" SCNd64 "x%" SCNd64,
                                                 &input.c, &input.h, &input.w) == 3)) {
        net = orch_onnx_load(argv[1], input, &notes, &error);
    } else {
        fprintf(stderr, "usage: print_onnx MODEL [CxHxW] | print_onnx --zoo NAME\n");
        return 2;
    }
    if (!net) {
        fprintf(stderr, "print_onnx: %s\n", error->message);
        return 1;
    }
    print_counts(net);
    for (guint i = 0; notes.items && i < notes.items->len; i++) {
        const struct orch_onnx_note *note = notes.items->pdata[i];
        printf("note %s '%s' %d params %" G_GINT64_FORMAT " %s\n", note->op, note->node,
               note->count, note->params, note->is_known ? "known" : "guessed");
    }
    print_nodes(net);
    orch_onnx_notes_release(&notes);
    orch_net_free(net);
    return 0;
}
