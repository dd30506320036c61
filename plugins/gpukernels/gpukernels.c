/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Four small kernels, each as a reference on the processor, a naive and a fast version on the GPU:
 * an example of how a kernel is added, measured and checked. See docs/plugins/gpukernels.md. */
#include "plugins/gpukernels/gpukernels.h"

static const char *const KERNELS[] = {"saxpy", "reduction", "transpose", "softmax", NULL};
static const char *const VARIANTS[] = {"cpu", "naive", "fast", NULL};

#define PARAM(member, type, ...) ORCH_PARAM(struct gpukernels_params, member, type, __VA_ARGS__)
static const struct orch_param PARAMS[] = {
    PARAM(kernel, ORCH_ENUM, .label = "kernel", .def = "saxpy", .choices = KERNELS,
          .help = "computation"),
    PARAM(variant, ORCH_ENUM, .label = "variant", .def = "fast", .choices = VARIANTS,
          .help =
              "the reference on one thread of the processor, the plain kernel, or the fast one"),
    PARAM(rows, ORCH_INT, .label = "rows", .def = "4096", .min = "1", .max = "1000000",
          .help = "rows of the input"),
    PARAM(columns, ORCH_INT, .label = "columns", .def = "4096", .min = "1", .max = "1000000",
          .help = "columns; saxpy and reduction work on rows x columns numbers"),
    PARAM(min_samples, ORCH_INT, .label = "fewest samples", .def = "10", .min = "1",
          .max = "100000", .help = "smallest number of samples"),
    PARAM(min_time, ORCH_DURATION, .label = "shortest time of sampling", .def = "0.5s", .min = "0",
          .help = "shortest time of sampling"),
    PARAM(time_limit, ORCH_DURATION, .label = "time limit", .def = "5s", .min = "0",
          .help = "longest time of sampling; at least 3 samples"),
    PARAM(settled, ORCH_REAL, .label = "settled", .def = "0.02", .min = "0.0001", .max = "1",
          .help = "sampling ends when the 95 % interval of the median is this share of the median"),
};

static const struct orch_metric METRICS[] = {
    {.name = "kernel_time",
     .label = "kernel time",
     .min = "0",
     .unit = "ms",
     .better = ORCH_BETTER_MIN,
     .help = "median"},
    {.name = "kernel_spread",
     .label = "kernel spread",
     .min = "0",
     .unit = "s/s",
     .help = "interquartile range / median"},
    {.name = "kernel_samples",
     .label = "kernel samples",
     .help = "samples that kernel_time is the median of"},
    {.name = "bandwidth",
     .label = "bandwidth",
     .min = "0",
     .unit = "GB/s",
     .better = ORCH_BETTER_MAX,
     .help = "bytes that the computation must read and write / kernel_time"},
    {.name = "error_of_tolerance",
     .label = "error of tolerance",
     .better = ORCH_BETTER_MIN,
     .help =
         "largest error against the reference / the kernel's tolerance; above 1 the trial fails"},
};

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "gpukernels",
    .version = "1.0.0",
    .summary = "saxpy, reduction, transpose and softmax on a GPU, naive and fast",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .params_bytes = sizeof(struct gpukernels_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .run = orch_gpukernels_run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
