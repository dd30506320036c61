/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts of a network as results of a trial, which are recorded and versioned like others:
 * parameters, activations, operations, memory, receptive field; time at a peak rate; reduction
 * compared with another network. The same counts as `orch net show`. */
#include "plugins/netstat/netstat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct params {
    const char *net, *input, *against;
    int64_t classes, batch, per_mac, states;
    double peak_tflops;
    struct orch_list kernels, strides; /* int64_t */
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, net, ORCH_STRING, .label = "network", .def = "vgg19",
               .help = "a network of 'orch net ls'"),
    ORCH_PARAM(struct params, input, ORCH_STRING, .label = "input", .def = "",
               .help = "size of one image, CxHxW; empty: the network's own"),
    ORCH_PARAM(struct params, classes, ORCH_INT, .label = "classes", .def = "0", .min = "0",
               .help = "outputs of the classifier; 0: the network's own"),
    ORCH_PARAM(struct params, batch, ORCH_INT, .label = "batch", .def = "1", .min = "1",
               .max = "1000000", .unit = "images", .help = "images of a batch, for memory"),
    ORCH_PARAM(struct params, per_mac, ORCH_INT, .label = "multiply-add counted as", .def = "2",
               .min = "1", .max = "2",
               .help = "operations of a multiply-add: 1 (Lu et al. 2017) or 2 (PALEO)"),
    ORCH_PARAM(struct params, states, ORCH_INT, .label = "optimizer states", .def = "1", .min = "0",
               .max = "2",
               .help =
                   "values that the optimizer stores for each weight: 0 SGD, 1 momentum, 2 Adam"),
    ORCH_PARAM(struct params, peak_tflops, ORCH_REAL, .label = "peak rate", .def = "0", .min = "0",
               .unit = "TFLOP/s", .help = "peak rate of a device, for time_at_peak; 0: none"),
    ORCH_PARAM(struct params, against, ORCH_STRING, .label = "compared network", .def = "",
               .help = "another network with the same input, to compare multiply-adds with"),
    ORCH_PARAM(struct params, kernels, ORCH_INT | ORCH_LIST, .label = "kernels", .def = "[]",
               .min = "1", .max = "1000",
               .help = "instead of a network: the receptive field of a stack of these windows"),
    ORCH_PARAM(struct params, strides, ORCH_INT | ORCH_LIST, .label = "strides", .def = "[]",
               .min = "1", .max = "1000", .help = "strides of the windows; empty: 1 each"),
};

static const struct orch_metric METRICS[] = {
    {.name = "params", .label = "parameters", .help = "trained parameters, biases included"},
    {.name = "weights", .label = "weights", .help = "parameters without biases"},
    {.name = "activations",
     .label = "activations",
     .help = "output values of all layers for one image"},
    {.name = "multiply_adds",
     .label = "multiply-adds",
     .help = "multiply-adds of one forward pass of one image"},
    {.name = "operations",
     .label = "operations",
     .help = "all operations; a multiply-add counts as per_mac"},
    {.name = "conv_multiply_adds",
     .label = "convolution multiply-adds",
     .help = "multiply-adds of the convolutions"},
    {.name = "conv_share",
     .label = "convolution share",
     .min = "0",
     .max = "100",
     .unit = "%",
     .help = "share of the multiply-adds that convolutions have"},
    {.name = "training_memory",
     .label = "training memory",
     .min = "0",
     .unit = "bytes",
     .help = "memory of training a batch, in fp32"},
    {.name = "output_channels", .label = "output channels", .unit = "channels"},
    {.name = "output_height", .label = "output height", .unit = "pixels"},
    {.name = "output_width", .label = "output width", .unit = "pixels"},
    {.name = "field",
     .label = "receptive field",
     .unit = "pixels",
     .help = "receptive field: pixels of the input that one output depends on"},
    {.name = "time_at_peak",
     .label = "time at peak",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "time of one image's operations at the device's peak rate"},
    {.name = "images_per_s_at_peak",
     .label = "throughput at peak",
     .min = "0",
     .unit = "images/s",
     .better = ORCH_BETTER_MAX},
    {.name = "published_operations",
     .label = "published operations",
     .help = "operations as papers publish them: a multiply-add counts as one"},
    {.name = "published_time_at_peak",
     .label = "time at peak with published operations",
     .min = "0",
     .unit = "ms",
     .help = "time of the published operations at the device's peak rate"},
    {.name = "published_images_per_s_at_peak",
     .label = "throughput at peak with published operations",
     .min = "0",
     .unit = "images/s"},
    {.name = "times_less",
     .label = "ratio of multiply-adds",
     .help = "multiply-adds of the other network over this one's"},
    {.name = "layer_params",
     .label = "parameters by layer",
     .step_unit = "layer",
     .help = "parameters of each layer, biases included"},
    {.name = "layer_activations", .label = "activations by layer", .step_unit = "layer"},
    {.name = "layer_multiply_adds", .label = "multiply-adds by layer", .step_unit = "layer"},
};

static const struct orch_artifact ARTIFACTS[] = {
    {.name = "layers", .help = "CSV: the counts of every operation"},
    {.name = "table",
     .help = "CSV: layers as papers list them, with the calculation of each number"},
};

static struct orch_net *make(const struct params *p, const char *name, const struct orch_host *host)
{
    struct orch_net_options options = {.name = name, .classes = p->classes};
    if (*p->input && !orch_net_input_parse(p->input, &options)) {
        g_autofree char *why = g_strdup_printf("input '%s' is not CxHxW, e.g. 3x224x224", p->input);
        host->fail(host, why);
        return NULL;
    }
    GError *error = NULL;
    struct orch_net *net = orch_net_make(&options, &error);
    if (!net)
        host->fail(host, error->message);
    g_clear_error(&error);
    return net;
}

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    if (p->strides.count && p->strides.count != p->kernels.count) {
        host->fail(host, "give as many 'strides' as 'kernels', or none");
        return ORCH_FAILED;
    }
    struct orch_net *net = make(p, p->net, host);
    struct orch_net *other = net && *p->against ? make(p, p->against, host) : NULL;
    bool ok = net && (other || !*p->against);
    orch_net_free(net);
    orch_net_free(other);
    return ok ? ORCH_OK : ORCH_FAILED;
}

static int stack_field(const struct params *p, const struct orch_host *host)
{
    int count = (int)p->kernels.count;
    g_autofree int *kernels = g_new(int, count), *strides = g_new(int, count);
    GString *work = g_string_new("1");
    int64_t jump = 1;
    for (int i = 0; i < count; i++) {
        kernels[i] = (int)((const int64_t *)p->kernels.items)[i];
        strides[i] = p->strides.count ? (int)((const int64_t *)p->strides.items)[i] : 1;
        g_string_append_printf(work, " + (%d-1)*%" G_GINT64_FORMAT, kernels[i], jump);
        jump *= strides[i];
    }
    int64_t field = orch_net_stack_field(kernels, strides, count);
    g_string_append_printf(work, " = %" G_GINT64_FORMAT, field);
    host->result(host, "field", (double)field);
    host->note(host, work->str);
    g_string_free(work, TRUE);
    return ORCH_OK;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void report_layers(const struct orch_net *net, const struct orch_net_cost *costs,
                          const struct orch_host *host)
{
    for (guint i = 0; i < net->nodes->len; i++) {
        host->metric(host, "layer_params", i, (double)costs[i].params);
        host->metric(host, "layer_activations", i, (double)costs[i].activations);
        host->metric(host, "layer_multiply_adds", i, (double)costs[i].macs);
    }
}

static int64_t conv_macs(const struct orch_net *net, const struct orch_net_cost *costs)
{
    int64_t sum = 0;
    for (guint i = 0; i < net->nodes->len; i++)
        if (orch_net_kind_of(orch_net_node(net, (int)i)->op) == ORCH_NET_KIND_CONV)
            sum += costs[i].macs;
    return sum;
}

static void report_totals(const struct params *p, const struct orch_net *net,
                          const struct orch_net_cost *costs, const struct orch_host *host)
{
    struct orch_net_cost sum = orch_net_cost_sum(net, costs);
    struct orch_net_memory memory = orch_net_memory(net, costs, p->batch, 4, (int)p->states, true);
    const struct orch_net_node *last = orch_net_node(net, (int)net->nodes->len - 1);
    int64_t conv = conv_macs(net, costs);
    host->result(host, "params", (double)sum.params);
    host->result(host, "weights", (double)sum.weights);
    host->result(host, "activations", (double)sum.activations);
    host->result(host, "multiply_adds", (double)sum.macs);
    host->result(host, "operations", (double)orch_net_operations(&sum, (int)p->per_mac));
    host->result(host, "conv_multiply_adds", (double)conv);
    if (sum.macs)
        host->result(host, "conv_share", 100.0 * (double)conv / (double)sum.macs);
    host->result(host, "training_memory", memory.total);
    host->result(host, "output_channels", (double)last->out.c);
    host->result(host, "output_height", (double)last->out.h);
    host->result(host, "output_width", (double)last->out.w);
    host->result(host, "field", (double)sum.field_h);
    if (p->peak_tflops > 0) {
        double seconds =
            (double)orch_net_operations(&sum, (int)p->per_mac) / (p->peak_tflops * 1e12);
        host->result(host, "time_at_peak", seconds * 1e3);
        host->result(host, "images_per_s_at_peak", 1 / seconds);
    }
}

/* Reports a paper's count, if one is known and counts multiply-adds like the trial. */
static void report_published(const struct params *p, const struct orch_net *net,
                             const struct orch_net_cost *costs, const struct orch_host *host)
{
    const struct orch_net_published *published = orch_net_published_find(p->net);
    struct orch_net_cost sum = orch_net_cost_sum(net, costs);
    if (!published || p->per_mac != 1 || *p->input || p->classes)
        return;
    double seconds = published->operations / (p->peak_tflops * 1e12);
    host->result(host, "published_operations", published->operations);
    if (p->peak_tflops > 0) {
        host->result(host, "published_time_at_peak", seconds * 1e3);
        host->result(host, "published_images_per_s_at_peak", 1 / seconds);
    }
    g_autofree char *counted = orch_net_count_format(orch_net_operations(&sum, 1));
    g_autofree char *theirs = orch_net_count_format((int64_t)published->operations);
    g_autofree char *text = g_strdup_printf(
        "published_operations = %s (%s); counted here: %s%s%s", theirs, published->source, counted,
        *published->note ? ". The counts differ because " : "", published->note);
    host->note(host, text);
}

/* Reports "output_channels = 128 + 192 + 96 + 256 = 672" if the output is a concatenation. */
static void report_joined(const struct orch_net *net, const struct orch_host *host)
{
    const struct orch_net_node *last = orch_net_node(net, (int)net->nodes->len - 1);
    if (last->op != ORCH_NET_CONCAT)
        return;
    g_autoptr(GString) text = g_string_new("output_channels = ");
    for (int i = 0; i < last->input_count; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? " + " : "",
                               orch_net_node(net, last->inputs[i])->out.c);
    g_string_append_printf(
        text,
        " = %" G_GINT64_FORMAT ": the branches' channels side by side; all keep %" G_GINT64_FORMAT
        "x%" G_GINT64_FORMAT ", so the output is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
        "x%" G_GINT64_FORMAT,
        last->out.c, last->out.h, last->out.w, last->out.h, last->out.w, last->out.c);
    host->note(host, text->str);
}

static bool report_ratio(const struct params *p, const struct orch_net *net,
                         const struct orch_host *host)
{
    struct orch_net *other = *p->against ? make(p, p->against, host) : NULL;
    if (!*p->against)
        return true;
    if (!other)
        return false;
    double own = (double)orch_net_macs(net), theirs = (double)orch_net_macs(other);
    if (own > 0)
        host->result(host, "times_less", theirs / own);
    orch_net_free(other);
    if (strcmp(p->net, p->against) == 0) /* the same network: nothing to compare */
        return true;
    g_autofree char *more = orch_net_count_format((int64_t)theirs);
    g_autofree char *less = orch_net_count_format((int64_t)own);
    g_autofree char *text = g_strdup_printf(
        "times_less = %s / %s multiply-adds = %.2f: %.2f times less, a saving of %.1f %%", more,
        less, theirs / own, theirs / own, 100 * (1 - own / theirs));
    host->note(host, text);
    return true;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    (void)state;
    if (p->kernels.count)
        return stack_field(p, host);
    struct orch_net *net = make(p, p->net, host);
    if (!net)
        return ORCH_FAILED;
    g_autofree struct orch_net_cost *costs = orch_net_costs(net);
    report_layers(net, costs, host);
    report_totals(p, net, costs, host);
    report_published(p, net, costs, host);
    report_joined(net, host);
    bool ok = report_ratio(p, net, host) && orch_netstat_tables(net, costs, host);
    orch_net_free(net);
    return ok ? ORCH_OK : ORCH_FAILED;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "netstat",
    .version = "1.2.0",
    .summary = "counts of a network: parameters, activations, operations, memory",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
