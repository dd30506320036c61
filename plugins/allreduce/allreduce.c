/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures all-reduces by size: time, algorithm and bus bandwidth, and the latency and bandwidth
 * that explain them. See docs/plugins/allreduce.md. */
#include "plugins/allreduce/allreduce.h"

#include "plugins/common/comm/algorithms.h"
#include "plugins/common/comm/needs_mpi.h"
#include "plugins/common/no_effect.h"

#include <string.h>

static const char *const DEVICES[] = {"cpu", "cuda", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct allreduce_params, workers, ORCH_INT, .label = "workers", .def = "2",
               .min = "2", .max = "4096", .help = "processes that sum their numbers"),
    ORCH_PARAM(struct allreduce_params, algorithm, ORCH_ENUM, .label = "algorithm", .def = "auto",
               .choices = orch_comm_algorithm_names,
               .help = "algorithm of the all-reduce; auto: the library's own choice"),
    ORCH_PARAM(struct allreduce_params, device, ORCH_ENUM, .label = "device", .def = "cpu",
               .choices = DEVICES,
               .help = "cpu: MPI sums in memory; cuda: NCCL sums on a GPU of each worker"),
    ORCH_PARAM(struct allreduce_params, workers_per_node, ORCH_INT, .label = "workers per node",
               .def = "0", .min = "0", .max = "4096",
               .help = "algorithm hierarchical: workers that count as one machine; 0: all workers "
                       "of a machine"),
    ORCH_PARAM(struct allreduce_params, bytes, ORCH_LIST | ORCH_BYTES, .label = "bytes",
               .def = "[1KiB, 4KiB, 16KiB, 64KiB, 256KiB, 1MiB, 4MiB, 16MiB, 64MiB, 256MiB]",
               .min = "4", .max = "17179869184", .help = "sizes of the all-reduce, in fp32"),
    ORCH_PARAM(struct allreduce_params, repeats, ORCH_INT, .label = "repeats", .def = "50",
               .min = "1", .max = "1000000", .help = "timed all-reduces of each size"),
    ORCH_PARAM(struct allreduce_params, warmup, ORCH_INT, .label = "warmup", .def = "10",
               .min = "1", .max = "1000000", .help = "untimed all-reduces before the timed ones"),
    ORCH_PARAM(struct allreduce_params, time_limit, ORCH_DURATION, .label = "time limit",
               .def = "5s", .min = "0",
               .help = "longest time for the repeats of a size; at least 3"),
};

static const struct orch_metric METRICS[] = {
    {.name = "time",
     .label = "time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .step_unit = "bytes",
     .help = "median all-reduce of this size"},
    {.name = "min_time",
     .label = "shortest time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .step_unit = "bytes",
     .help = "shortest all-reduce of this size"},
    {.name = "algorithm_bandwidth",
     .label = "algorithm bandwidth",
     .min = "0",
     .unit = "GB/s",
     .better = ORCH_BETTER_MAX,
     .step_unit = "bytes",
     .help = "bytes / median time"},
    {.name = "bus_bandwidth",
     .label = "bus bandwidth",
     .min = "0",
     .unit = "GB/s",
     .better = ORCH_BETTER_MAX,
     .step_unit = "bytes",
     .help = "bus_factor x algorithm_bandwidth, as in nccl-tests"},
    {.name = "fitted_time",
     .label = "fitted time",
     .min = "0",
     .unit = "s",
     .step_unit = "bytes",
     .help = "time of this size by the fitted latency and bandwidth"},
    {.name = "fit_residual",
     .label = "residual of the fit",
     .unit = "s/s",
     .step_unit = "bytes",
     .help = "(fitted_time - time) / time"},
    {.name = "timed_repeats",
     .label = "timed repeats",
     .step_unit = "bytes",
     .help = "timed all-reduces of this size"},
    {.name = "bus_factor", .label = "bus factor", .help = "2 (n - 1) / n for n workers"},
    {.name = "latency",
     .label = "latency",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "latency of a message (alpha of the fit)"},
    {.name = "bandwidth",
     .label = "bandwidth",
     .min = "0",
     .unit = "GB/s",
     .better = ORCH_BETTER_MAX,
     .help = "bandwidth of a link (1 / beta of the fit)"},
    {.name = "largest_bandwidth",
     .label = "largest bandwidth",
     .min = "0",
     .unit = "GB/s",
     .better = ORCH_BETTER_MAX,
     .help = "bandwidth of a link in the largest all-reduce, latency included"},
    {.name = "fit_error",
     .label = "error of the fit",
     .unit = "s/s",
     .better = ORCH_BETTER_MIN,
     .help = "mean of abs(fit_residual)"},
    {.name = "worker_count", .label = "number of workers", .help = "workers that summed"},
};

/* Only the hierarchical algorithm uses the number of workers of a machine. */
static const char *const OF_HIERARCHICAL[] = {"workers_per_node", NULL};

static int check(const void *params, const struct orch_host *host)
{
    const struct allreduce_params *p = params;
    if (strcmp(p->algorithm, "hierarchical") != 0)
        orch_no_effect(host, OF_HIERARCHICAL);
    if (p->bytes.count > 0)
        return ORCH_OK;
    host->fail(host, "bytes: no size is given; write for example bytes: [1KiB, 1MiB]");
    return ORCH_FAILED;
}

static int cost(const void *params, struct orch_cost *out)
{
    out->workers = (uint32_t)((const struct allreduce_params *)params)->workers;
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "allreduce",
    .version = "1.0.0",
    .summary = "measures all-reduces over MPI or NCCL by size, algorithm and workers",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .needs = {.mpi = ORCH_COMM_NEEDS_MPI},
    .params_bytes = sizeof(struct allreduce_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .cost = cost,
    .run = orch_allreduce_run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
