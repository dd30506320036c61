/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times single layers of random geometry, as in Justus et al. 2018, or the steps of a whole
 * network, for comparison with their sum. See docs/lecture7.md. */
#include "plugins/layerbench/layerbench.h"

#include "lib/base/reals.h"
#include "lib/net/net.h"

#include <string.h>

const char *const LAYERBENCH_PASSES[] = {"none", "sgd", "momentum", "adam", NULL};
const char *const LAYERBENCH_ACTIVATIONS[] = {"none", "relu", "tanh", "sigmoid", NULL};
#define KINDS ((const char *const[]){"both", "conv", "dense", NULL})
#define RANGE(member, from, to, ...)                                                               \
    ORCH_PARAM(struct params, member, ORCH_LIST | ORCH_INT, .def = "[" from ", " to "]",           \
               .min = "1", __VA_ARGS__)

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, layers, ORCH_INT, .def = "100", .min = "1", .max = "1000000",
               .unit = "layers", .help = "layers to draw from the seed and to time"),
    ORCH_PARAM(struct params, kinds, ORCH_ENUM, .def = "both", .choices = KINDS,
               .help = "convolutions, dense layers, or both in turn"),
    RANGE(batch, "1", "64", .unit = "images", .help = "from, to (all ranges on a log scale)"),
    RANGE(in_hw, "1", "64", .unit = "pixels", .help = "side of a convolution's input"),
    RANGE(kernel, "1", "7", .unit = "pixels", .help = "side of its kernel"),
    RANGE(channels, "1", "256", .help = "its channels, in and out"),
    RANGE(stride, "1", "4", .unit = "pixels", .help = "its stride"),
    RANGE(units, "1", "4096", .help = "a dense layer's inputs and outputs"),
    ORCH_PARAM(struct params, passes, ORCH_LIST | ORCH_ENUM, .def = "[none, sgd]",
               .choices = LAYERBENCH_PASSES,
               .help = "none: forward only; else forward, backward and an update by that rule; a "
                       "layer has one of them, drawn"),
    ORCH_PARAM(struct params, activations, ORCH_LIST | ORCH_ENUM, .def = "[none, relu, tanh]",
               .choices = LAYERBENCH_ACTIVATIONS, .help = "of the layer, drawn"),
    ORCH_PARAM(struct params, max_gflop, ORCH_REAL, .def = "2", .min = "0.001", .unit = "GFLOP",
               .help = "a layer with more operations forward is drawn anew"),
    ORCH_PARAM(struct params, max_mvalues, ORCH_REAL, .def = "64", .min = "0.01",
               .help = "likewise one with more millions of values in and out and of weights"),
    ORCH_PARAM(struct params, warmup, ORCH_INT, .def = "2", .min = "1", .max = "1000",
               .help = "iterations (of net: steps) that are left out"),
    ORCH_PARAM(struct params, repeats, ORCH_INT, .def = "5", .min = "1", .max = "1000",
               .help = "measurements, of which the median counts"),
    ORCH_PARAM(struct params, net, ORCH_STRING, .def = "",
               .help = "instead of layers: time the steps of this network"),
    ORCH_PARAM(struct params, input, ORCH_STRING, .def = "",
               .help = "of net: size of one image, CxHxW; empty: the network's own"),
    ORCH_PARAM(struct params, classes, ORCH_INT, .def = "10", .min = "2", .help = "of net"),
    ORCH_PARAM(struct params, net_batch, ORCH_INT, .def = "16", .min = "1", .max = "65536",
               .unit = "images", .help = "of net: images of a step"),
    ORCH_PARAM(struct params, by_layer, ORCH_BOOL, .def = "false",
               .help = "of net: time its convolutions and dense layers one by one as well"),
    ORCH_PARAM(struct params, optimizer, ORCH_ENUM, .def = "sgd", .choices = LAYERBENCH_PASSES,
               .help = "of net: none (forward only), sgd, momentum, adam"),
    ORCH_PARAM(struct params, device, ORCH_STRING, .def = "auto",
               .help = "auto (a GPU when the trial has one), cpu, cuda, cuda:N"),
    ORCH_PARAM(struct params, threads, ORCH_INT, .def = "0", .min = "0", .max = "1024",
               .help = "0: those of the trial's slot"),
};

static const struct orch_metric METRICS[] = {
    {.name = "conv_time", .unit = "ms", .step_unit = "layer", .help = "median of each convolution"},
    {.name = "dense_time", .unit = "ms", .step_unit = "layer", .help = "of each dense layer"},
    {.name = "conv_layers", .help = "convolutions timed"},
    {.name = "dense_layers", .help = "dense layers timed"},
    {.name = "layer_time", .unit = "ms", .help = "the median layer's time"},
    {.name = "layer_spread",
     .unit = "ms",
     .help = "largest less least of a layer's repeats; the median layer's: beside layer_time it "
             "says whether something else used the machine"},
    {.name = "batch_time", .unit = "ms", .better = ORCH_BETTER_MIN, .help = "of net: median step"},
    {.name = "batch_time_min", .unit = "ms", .better = ORCH_BETTER_MIN, .help = "quickest step"},
    {.name = "batch_time_max", .unit = "ms", .better = ORCH_BETTER_MIN, .help = "slowest step"},
    {.name = "layer_sum",
     .unit = "ms",
     .help = "by_layer: sum over the layers, each waited for (synchronised)"},
    {.name = "layer_sum_queued",
     .unit = "ms",
     .help = "by_layer: the same without waiting after each: launches overlap with the GPU's work"},
    {.name = "layers_timed", .help = "by_layer: convolutions and dense layers timed"},
    {.name = "layers_left_out", .help = "by_layer: those that are grouped or not square"},
};

static const struct orch_artifact ARTIFACTS[] = {
    {.name = "conv", .help = "CSV: a row for each convolution, geometry and time in ms"},
    {.name = "dense", .help = "CSV: a row for each dense layer"},
    {.name = "layers", .help = "by_layer: CSV, a row for each layer of the network"},
};

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    struct orch_net *net = *p->net ? orch_layerbench_make_net(p, host) : NULL;
    bool ok = *p->net ? net != NULL : orch_layerbench_check_ranges(p, host);
    orch_net_free(net);
    return ok ? ORCH_OK : ORCH_FAILED;
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    out->network = *p->net ? p->net : NULL;
    out->precision = "fp32";
    out->workers = 1;
    out->batch = *p->net ? p->net_batch : 0;
    out->input = *p->input ? p->input : NULL;
    out->classes = *p->net ? p->classes : 0;
    out->training = strcmp(p->optimizer, "none") != 0;
    return ORCH_OK;
}

static int threads_of(const struct params *p, const struct orch_host *host)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (orch_host_has(host, slot))
        host->slot(host, &slot);
    return p->threads > 0 ? (int)p->threads : (int)slot.threads;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    const struct params *p = params;
    g_autoptr(GError) error = NULL;
    host->phase(host, "loading LibTorch");
    const struct orch_torch *torch = orch_torch_load(&error);
    if (!torch) {
        host->fail(host, error->message);
        return ORCH_SKIPPED;
    }
    const char *device = strcmp(p->device, "auto") != 0 ? p->device
                         : torch->cuda_count() > 0      ? "cuda"
                                                        : "cpu";
    if (g_str_has_prefix(device, "cuda") && torch->cuda_count() == 0) {
        host->fail(host, "no CUDA device");
        return ORCH_SKIPPED;
    }
    torch->threads_set(threads_of(p, host));
    torch->seed(host->derive_seed(host, "values"));
    return *p->net ? orch_layerbench_net(torch, p, device, host)
                   : orch_layerbench_layers(torch, p, device, host);
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "layerbench",
    .version = "1.1.0",
    .summary = "times single layers of random geometry, or a network's steps",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
