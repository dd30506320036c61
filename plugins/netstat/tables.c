/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables that a trial writes. `layers` lists every operation. `table` lists layers as papers
 * do, without ReLU, dropout and the like; for VGG19 it is table 1 of homework 3. */
#include "plugins/netstat/netstat.h"

#include "lib/base/text.h"

#include <string.h>

static bool write_file(const struct orch_host *host, const char *name, const GString *csv)
{
    g_autofree char *path = g_strconcat(name, ".csv", NULL);
    GError *error = NULL;
    bool ok = g_file_set_contents(path, csv->str, (gssize)csv->len, &error);
    if (ok)
        host->artifact(host, name, path);
    else
        host->fail(host, error->message);
    g_clear_error(&error);
    return ok;
}

static void add_count(GString *csv, int64_t count)
{
    g_string_append_printf(csv, ",%" G_GINT64_FORMAT, count);
}

/* Appends a count and its calculation. */
static void add_worked(GString *csv, int64_t count, const char *working)
{
    add_count(csv, count);
    g_string_append_c(csv, ',');
    orch_csv_append(csv, working);
}

static void add_output(GString *csv, const struct orch_net_node *node)
{
    g_string_append_printf(csv, ",%dx%dx%d", (int)node->out.c, (int)node->out.h, (int)node->out.w);
}

/* ---- every operation ---------------------------------------------------------------------------
 */

static bool write_layers(const struct orch_net *net, const struct orch_net_cost *costs,
                         const struct orch_host *host)
{
    g_autoptr(GString) csv =
        g_string_new("layer,type,output,activations,weights,params,multiply_adds\n");
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        orch_csv_append(csv, node->name);
        g_string_append_printf(csv, ",%s", orch_net_op_name(node->op));
        add_output(csv, node);
        add_count(csv, costs[i].activations);
        add_count(csv, costs[i].weights);
        add_count(csv, costs[i].params);
        add_count(csv, costs[i].macs);
        g_string_append_c(csv, '\n');
    }
    return write_file(host, "layers", csv);
}

/* ---- as in papers ------------------------------------------------------------------------------
 */

/* A pool that does not change the size (VGG's adaptive pool at 224) is not listed. */
static bool is_listed(const struct orch_net_node *node, const struct orch_net_cost *cost)
{
    bool is_layer = orch_net_kind_of(node->op) <= ORCH_NET_KIND_POOL;
    bool works = orch_net_operations(cost, 1) > 0;
    return node->op == ORCH_NET_INPUT || cost->params || cost->macs || (is_layer && works);
}

static char *window_of(const struct orch_net_node *node)
{
    return node->kernel_h == node->kernel_w
               ? g_strdup_printf("%d", node->kernel_h)
               : g_strdup_printf("%dx%d", node->kernel_h, node->kernel_w);
}

/* "CONV3-64", "POOL2", "FC-4096", as VGG's authors write them. */
static char *title_of(const struct orch_net_node *node)
{
    g_autofree char *window = window_of(node);
    switch (node->op) {
    case ORCH_NET_INPUT:
        return g_strdup("Input");
    case ORCH_NET_CONV2D:
        return g_strdup_printf("CONV%s-%d", window, (int)node->out.c);
    case ORCH_NET_MAXPOOL2D:
        return g_strdup_printf("POOL%s", window);
    case ORCH_NET_AVGPOOL2D:
        return g_strdup_printf("AVGPOOL%s", window);
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return g_strdup("AVGPOOL");
    case ORCH_NET_LINEAR:
        return g_strdup_printf("FC-%d", (int)node->out.c);
    default:
        return g_strdup_printf("%s-%d", orch_net_op_name(node->op), (int)node->out.c);
    }
}

/* True if stride and padding of the window are the same for height and width. */
static bool is_square(const struct orch_net_node *node)
{
    return node->kernel_h > 0 && node->kernel_h == node->kernel_w &&
           node->stride_h == node->stride_w && node->pad_h == node->pad_w && node->dilation <= 1;
}

/* Appends window, stride, padding, input, output and the calculation of the size: "11x11 of 3
 * channels", 4, 0, "3x227x227", 55, "(227 - 11 + 2*0)/4 + 1 = 55". */
static void add_geometry(GString *csv, const struct orch_net *net, const struct orch_net_node *node)
{
    const struct orch_net_shape in =
        node->input_count ? orch_net_node(net, node->inputs[0])->out : node->out;
    if (!is_square(node)) {
        g_string_append_printf(csv, ",,,,%dx%dx%d,%d,", (int)in.c, (int)in.h, (int)in.w,
                               (int)node->out.h);
        return;
    }
    g_string_append_printf(csv, ",%dx%d,%d,%d,%dx%dx%d,%d,", node->kernel_h, node->kernel_w,
                           node->stride_h, node->pad_h, (int)in.c, (int)in.h, (int)in.w,
                           (int)node->out.h);
    const int64_t room = in.h - node->kernel_h + 2 * (int64_t)node->pad_h;
    const bool is_whole = room % node->stride_h == 0;
    const bool is_up =
        node->out.h > room / node->stride_h + 1; /* the last window exceeds the edge */
    g_string_append_printf(csv, "%s(%" G_GINT64_FORMAT " - %d + 2*%d)/%d%s + 1 = %" G_GINT64_FORMAT,
                           is_whole ? ""
                           : is_up  ? "ceil("
                                    : "floor(",
                           in.h, node->kernel_h, node->pad_h, node->stride_h, is_whole ? "" : ")",
                           node->out.h);
}

/* The calculation of the parameters with biases: "(11*11*3)*96 + 96 = 34,944". Caller frees. */
static char *params_work(const struct orch_net *net, const struct orch_net_node *node,
                         const struct orch_net_cost *cost)
{
    int64_t biases = cost->params - cost->weights;
    g_autofree char *weights = orch_net_params_work(net, node);
    g_autofree char *sum = orch_net_count_format(cost->params);
    char *equals = strstr(weights, " = ");
    if (!biases || !equals)
        return biases ? g_steal_pointer(&sum) : g_steal_pointer(&weights);
    *equals = '\0';
    return g_strdup_printf("%s + %" G_GINT64_FORMAT " = %s", weights, biases, sum);
}

static void add_total(GString *csv, int64_t count)
{
    g_autofree char *number = orch_net_count_format(count);
    g_autofree char *working = g_strconcat("sum = ", number, NULL);
    add_worked(csv, count, working);
}

static bool write_table(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_host *host)
{
    struct orch_net_cost sum = {0};
    g_autoptr(GString) csv = g_string_new(
        "layer,name,window,stride,padding,input,size,size_working,output,activations,"
        "activations_working,weights,weights_working,params,params_working,multiply_adds,"
        "multiply_adds_working\n");
    for (guint i = 0; i < net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(net, (int)i);
        if (!is_listed(node, &costs[i]))
            continue;
        g_autofree char *title = title_of(node);
        g_autofree char *activations = orch_net_activations_work(node);
        g_autofree char *weights = orch_net_params_work(net, node);
        g_autofree char *params = params_work(net, node, &costs[i]);
        g_autofree char *macs = orch_net_macs_work(net, node);
        g_string_append_printf(csv, "%s,", title);
        orch_csv_append(csv, node->name);
        add_geometry(csv, net, node);
        add_output(csv, node);
        add_worked(csv, costs[i].activations, activations);
        add_worked(csv, costs[i].weights, weights);
        add_worked(csv, costs[i].params, params);
        add_worked(csv, costs[i].macs, macs);
        g_string_append_c(csv, '\n');
        sum.activations += costs[i].activations;
        sum.weights += costs[i].weights;
        sum.params += costs[i].params;
        sum.macs += costs[i].macs;
    }
    g_string_append(csv, "total,,,,,,,,");
    add_total(csv, sum.activations);
    add_total(csv, sum.weights);
    add_total(csv, sum.params);
    add_total(csv, sum.macs);
    g_string_append_c(csv, '\n');
    return write_file(host, "table", csv);
}

bool orch_netstat_tables(const struct orch_net *net, const struct orch_net_cost *costs,
                         const struct orch_host *host)
{
    return write_layers(net, costs, host) && write_table(net, costs, host);
}
