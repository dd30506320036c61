/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times single layers: listed, drawn (Justus et al. 2018), or those of a network, the latter beside
 * its whole step. See docs/plugins/layerbench.md. */
#include "plugins/layerbench/units.h"

#include <string.h>

const char *const LAYERBENCH_PASSES[] = {"none", "sgd", "momentum", "adam", NULL};
const char *const LAYERBENCH_ACTIVATIONS[] = {"none", "relu", "tanh", "sigmoid", NULL};
const char *const LAYERBENCH_PRECISIONS[] = {"fp32", "bf16", "tf32", "fp16", NULL};
#define KINDS                                                                                      \
    ((const char *const[]){"conv", "dense", "pool", "batchnorm", "elementwise", "attention", NULL})
#define TIMERS ((const char *const[]){"engine", "justus", NULL})
#define CLOCKS ((const char *const[]){"wall", "processor", NULL})
#define LAYOUTS ((const char *const[]){"plain", "channels_last", NULL})
#define RANGE(member, from, to, ...)                                                               \
    ORCH_PARAM(struct params, member, ORCH_LIST | ORCH_INT, .def = "[" from ", " to "]",           \
               .min = "1", __VA_ARGS__)

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, layers, ORCH_LIST | ORCH_STRING, .label = "layers", .def = "[]",
               .help = "layers to time, as [conv 64x32x32 -> 128 k3 s2 p1 b16, dense 512 -> 10]; "
                       "empty: they are drawn"),
    ORCH_PARAM(struct params, draws, ORCH_INT, .label = "draws", .def = "100", .min = "1",
               .max = "1000000", .unit = "layers", .help = "layers to draw from the seed"),
    ORCH_PARAM(struct params, timer, ORCH_ENUM, .label = "timer", .def = "engine",
               .choices = TIMERS,
               .help = "engine: forward and backward separately; justus: one time, for drawn conv "
                       "and dense layers"),
    ORCH_PARAM(struct params, kinds, ORCH_LIST | ORCH_ENUM, .label = "kinds",
               .def = "[conv, dense]", .choices = KINDS, .help = "kinds to draw, in turn"),
    RANGE(batch, "1", "64", .label = "batch", .unit = "images",
          .help = "range of the batch size: from, to (all ranges on a log scale)"),
    RANGE(in_hw, "1", "64", .label = "side of the input", .unit = "pixels",
          .help = "side of a convolution's input"),
    RANGE(kernel, "1", "7", .label = "side of the kernel", .unit = "pixels",
          .help = "side of a convolution's kernel"),
    RANGE(channels, "1", "256", .label = "channels",
          .help = "channels of a convolution's input and output"),
    RANGE(stride, "1", "4", .label = "stride", .unit = "pixels", .help = "stride of a convolution"),
    RANGE(units, "1", "4096", .label = "units", .help = "a dense layer's inputs and outputs"),
    ORCH_PARAM(struct params, passes, ORCH_LIST | ORCH_ENUM, .label = "passes",
               .def = "[none, sgd]", .choices = LAYERBENCH_PASSES,
               .help = "timer justus: none (forward only), or also backward and update"),
    ORCH_PARAM(struct params, activations, ORCH_LIST | ORCH_ENUM, .label = "activations",
               .def = "[none, relu, tanh]", .choices = LAYERBENCH_ACTIVATIONS,
               .help = "timer justus: activation of the layer, drawn"),
    ORCH_PARAM(struct params, max_gflop, ORCH_REAL, .label = "most operations", .def = "2",
               .min = "0.001", .unit = "GFLOP",
               .help = "largest number of operations of a drawn layer's forward pass, in 10^9"),
    ORCH_PARAM(
        struct params, max_mvalues, ORCH_REAL, .label = "most values", .def = "64", .min = "0.01",
        .help = "largest number of values of a drawn layer (input, output, weights), in 10^6"),
    ORCH_PARAM(struct params, warmup, ORCH_INT, .label = "warmup", .def = "2", .min = "1",
               .max = "1000", .help = "first iterations (with net: steps) that are left out"),
    ORCH_PARAM(struct params, repeats, ORCH_INT, .label = "repeats", .def = "5", .min = "1",
               .max = "1000", .help = "measurements of each layer; the median is reported"),
    ORCH_PARAM(struct params, net, ORCH_STRING, .label = "network", .def = "",
               .help = "instead of layers: time the steps of this network"),
    ORCH_PARAM(struct params, input, ORCH_STRING, .label = "input", .def = "",
               .help = "with net: size of one image, CxHxW; empty: the network's own"),
    ORCH_PARAM(struct params, classes, ORCH_INT, .label = "classes", .def = "10", .min = "2",
               .help = "with net: outputs of the classifier"),
    ORCH_PARAM(struct params, net_batch, ORCH_INT, .label = "net batch", .def = "16", .min = "1",
               .max = "65536", .unit = "images",
               .help = "images of a step, and of a listed layer without bN"),
    ORCH_PARAM(struct params, by_layer, ORCH_BOOL, .label = "by layer", .def = "false",
               .help = "with net: also time its layers and the other parts of a step"),
    ORCH_PARAM(struct params, optimizer, ORCH_ENUM, .label = "optimizer", .def = "sgd",
               .choices = LAYERBENCH_PASSES,
               .help = "none: forward only; else also backward and this update"),
    ORCH_PARAM(struct params, precision, ORCH_ENUM, .label = "precision", .def = "fp32",
               .choices = LAYERBENCH_PRECISIONS,
               .help = "as in the training engine; fp16 and tf32 need a GPU"),
    ORCH_PARAM(struct params, layout, ORCH_ENUM, .label = "layout", .def = "plain",
               .choices = LAYOUTS, .help = "memory layout of images"),
    ORCH_PARAM(struct params, peak, ORCH_BOOL, .label = "peak", .def = "true",
               .help = "measure this device's peak first, for utilisation"),
    ORCH_PARAM(struct params, clock, ORCH_ENUM, .label = "clock", .def = "wall", .choices = CLOCKS,
               .help = "wall: elapsed time; processor: CPU time of one thread"),
    ORCH_PARAM(struct params, device, ORCH_STRING, .label = "device", .def = "auto",
               .help = "auto (a GPU when the trial has one), cpu, cuda, cuda:N"),
    ORCH_PARAM(struct params, threads, ORCH_INT, .label = "threads", .def = "0", .min = "0",
               .max = "1024", .help = "processor threads; 0: as many as the trial's slot has"),
};

static const struct orch_metric METRICS[] = {
    {.name = "conv_time",
     .label = "convolution time",
     .min = "0",
     .unit = "ms",
     .step_unit = "layer",
     .help = "median time of each convolution"},
    {.name = "dense_time",
     .label = "dense time",
     .min = "0",
     .unit = "ms",
     .step_unit = "layer",
     .help = "median time of each dense layer"},
    {.name = "conv_layers", .label = "convolution layers", .help = "convolutions timed"},
    {.name = "dense_layers", .label = "dense layers", .help = "dense layers timed"},
    {.name = "layer_time",
     .label = "layer time",
     .min = "0",
     .unit = "ms",
     .help = "the median layer's time"},
    {.name = "layer_spread",
     .label = "layer spread",
     .min = "0",
     .unit = "ms",
     .help = "largest minus smallest time of a layer's repeats, for the median layer"},
    {.name = "batch_time",
     .label = "batch time",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "with net: median time of a step"},
    {.name = "batch_time_min",
     .label = "shortest batch time",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "quickest step"},
    {.name = "batch_time_max",
     .label = "longest batch time",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "slowest step"},
    {.name = "forward_time",
     .label = "forward time",
     .min = "0",
     .unit = "ms",
     .step_unit = "layer",
     .better = ORCH_BETTER_MIN,
     .help = "median forward pass of each row"},
    {.name = "backward_time",
     .label = "backward time",
     .min = "0",
     .unit = "ms",
     .step_unit = "layer",
     .better = ORCH_BETTER_MIN,
     .help = "median backward pass of each row"},
    {.name = "layer_sum",
     .label = "sum of layers",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "sum over the layers, with a wait after each pass"},
    {.name = "layer_sum_queued",
     .label = "sum of queued layers",
     .min = "0",
     .unit = "ms",
     .help = "sum over the layers, without a wait after each pass"},
    {.name = "forward_sum",
     .label = "forward sum",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "sum of the layers' forward passes"},
    {.name = "backward_sum",
     .label = "backward sum",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "sum of the layers' backward passes"},
    {.name = "input_time",
     .label = "input time",
     .min = "0",
     .unit = "ms",
     .help = "by_layer: bringing a batch to the device"},
    {.name = "loss_time",
     .label = "loss time",
     .min = "0",
     .unit = "ms",
     .help = "by_layer: loss and totals, both passes"},
    {.name = "update_time",
     .label = "update time",
     .min = "0",
     .unit = "ms",
     .help = "by_layer: the optimizer's update"},
    {.name = "parts_sum",
     .label = "sum of parts",
     .min = "0",
     .unit = "ms",
     .help = "by_layer: layer_sum and the three other parts, to compare with batch_time"},
    {.name = "layers_timed",
     .label = "layers timed",
     .help = "rows: layers, with by_layer also the other parts"},
    {.name = "layers_left_out", .label = "layers left out", .help = "layers of auxiliary heads"},
    {.name = "layers_gflop_s",
     .label = "rate of the layers",
     .min = "0",
     .unit = "GFLOP/s",
     .better = ORCH_BETTER_MAX,
     .help = "operations of the layers over the sum of their times"},
    {.name = "peak_gflop_s",
     .label = "measured peak rate",
     .min = "0",
     .unit = "GFLOP/s",
     .help = "measured rate of the fastest large matrix product"},
    {.name = "peak_gbyte_s",
     .label = "measured bandwidth",
     .min = "0",
     .unit = "GB/s",
     .help = "measured bandwidth of a large element-wise operation"},
    {.name = "roofline_time",
     .label = "roofline time",
     .min = "0",
     .unit = "ms",
     .help = "by_layer: time of the layers at the peak rate, or at the peak bandwidth if longer"},
    {.name = "ppp",
     .label = "PPP",
     .better = ORCH_BETTER_MAX,
     .help = "by_layer: platform percent of peak, roofline_time / batch_time"},
    {.name = "utilisation",
     .label = "utilisation",
     .better = ORCH_BETTER_MAX,
     .help = "layers_gflop_s / peak_gflop_s"},
};

static const struct orch_artifact ARTIFACTS[] = {
    {.name = "conv",
     .help = "timer justus: CSV, a row for each convolution, geometry and time in ms"},
    {.name = "dense", .help = "timer justus: CSV, a row for each dense layer"},
    {.name = "rows", .help = "timer engine: CSV, a row for each layer and other part of a step"},
};

static int check(const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    if (*p->net && p->layers.count) {
        host->fail(host, "set either 'net' or 'layers', not both");
        return ORCH_FAILED;
    }
    struct orch_net *net = *p->net ? orch_layerbench_make_net(p, host) : NULL;
    bool ok = *p->net           ? net != NULL
              : p->layers.count ? orch_layerbench_check_list(p, host)
                                : orch_layerbench_check_ranges(p, host);
    orch_net_free(net);
    return ok ? ORCH_OK : ORCH_FAILED;
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    out->network = *p->net ? p->net : NULL;
    out->precision = p->precision;
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

/* The time of several threads together is not the time that passes, and a GPU computes while the
 * processor waits. */
static bool clock_fits(const struct params *p, const char *device, const struct orch_host *host)
{
    bool fits = !orch_layerbench_processor_time(p) ||
                (!g_str_has_prefix(device, "cuda") && threads_of(p, host) == 1 &&
                 strcmp(p->timer, "justus") != 0);
    if (!fits)
        host->fail(host, "'clock: processor' needs threads: 1, device: cpu and timer: engine");
    return fits;
}

/* In a smoke run everything is timed once, on a batch of at most two images (whole.c: small ones
 * where the recipe gives no size). */
static struct params settings_of(const struct params *given, const struct orch_host *host)
{
    struct params p = *given;
    if (host->smoke(host)) {
        p.net_batch = MIN(p.net_batch, 2);
        p.repeats = 1;
        p.warmup = 0;
    }
    return p;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    const struct params settings = settings_of(params, host), *p = &settings;
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
    if (!clock_fits(p, device, host))
        return ORCH_FAILED;
    torch->threads_set(threads_of(p, host));
    torch->seed(host->derive_seed(host, "values"));
    if (*p->net)
        return orch_layerbench_net(torch, p, device, host);
    bool is_justus = strcmp(p->timer, "justus") == 0 && p->layers.count == 0;
    return (is_justus ? orch_layerbench_layers : orch_layerbench_given)(torch, p, device, host);
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "layerbench",
    .version = "2.0.0",
    .summary = "times single layers, or a network's layers beside its whole step",
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
