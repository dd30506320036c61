/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds two vectors on the processor and on a GPU, and times each part. See docs/plugins/vecadd.md.
 */
#include "plugins/vecadd/vecadd.h"

#include "plugins/common/no_effect.h"

#include <glib.h>
#include <string.h>

struct vecadd_params {
    const char *scenario, *memory;
    int64_t millions, elements;
    int64_t warmup, min_samples;
    double min_time, time_limit, settled;
    int64_t threads;
};

const char *const VECADD_SCENARIOS[] = {"cpu_1",    "cpu_all",    "gpu_1x1", "gpu_1x256",
                                        "gpu_grid", "gpu_stride", NULL};
const char *const VECADD_MEMORIES[] = {"pageable",         "pinned",         "managed",
                                       "managed_prefetch", "managed_advice", NULL};

#define PARAM(member, type, ...) ORCH_PARAM(struct vecadd_params, member, type, __VA_ARGS__)
static const struct orch_param PARAMS[] = {
    PARAM(scenario, ORCH_ENUM, .label = "scenario", .def = "cpu_all", .choices = VECADD_SCENARIOS,
          .help = "who adds: processor threads (cpu_), or GPU threads: one, one block of 256, one "
                  "for each element, or a grid-stride loop"),
    PARAM(memory, ORCH_ENUM, .label = "memory", .def = "pageable", .choices = VECADD_MEMORIES,
          .help = "gpu scenarios: copies from pageable or pinned memory, or managed memory, "
                  "also with prefetch or advice"),
    PARAM(millions, ORCH_INT, .label = "millions", .def = "1", .min = "1", .max = "100000",
          .unit = "million", .help = "elements of each array"),
    PARAM(elements, ORCH_INT, .label = "elements", .def = "0", .min = "0", .max = "100000000000",
          .help = "number of elements, instead of millions"),
    PARAM(warmup, ORCH_INT, .label = "warmup", .def = "2", .min = "0", .max = "1000",
          .help = "untimed kernel runs before the samples"),
    PARAM(min_samples, ORCH_INT, .label = "fewest samples", .def = "10", .min = "1",
          .max = "100000", .help = "smallest number of samples of the kernel"),
    PARAM(min_time, ORCH_DURATION, .label = "shortest time of sampling", .def = "0.5s", .min = "0",
          .help = "shortest time of sampling"),
    PARAM(time_limit, ORCH_DURATION, .label = "time limit", .def = "5s", .min = "0",
          .help = "longest time of sampling; at least 3 samples"),
    PARAM(settled, ORCH_REAL, .label = "settled interval", .def = "0.02", .min = "0.0001",
          .max = "1",
          .help = "sampling ends when the 95 % interval of the median is this share of the median"),
    PARAM(threads, ORCH_INT, .label = "threads", .def = "0", .min = "0", .max = "4096",
          .help = "threads of scenario cpu_all; 0: as many as the trial's slot has"),
};

#define MS(metric, words, text)                                                                    \
    {                                                                                              \
        .name = metric, .label = words, .min = "0", .unit = "ms", .better = ORCH_BETTER_MIN,       \
        .help = text                                                                               \
    }
#define RATE(metric, words, text)                                                                  \
    {                                                                                              \
        .name = metric, .label = words, .min = "0", .unit = "GB/s", .better = ORCH_BETTER_MAX,     \
        .help = text                                                                               \
    }
static const struct orch_metric METRICS[] = {
    MS("kernel_time", "kernel time", "median addition, caches flushed before each"),
    MS("kernel_warm_time", "kernel warm time",
       "median addition, caches filled by the previous one"),
    {.name = "kernel_spread",
     .label = "kernel spread",
     .min = "0",
     .unit = "s/s",
     .help = "interquartile range / median of kernel_time's samples"},
    MS("allocation_time", "allocation time",
       "median allocation of the three arrays (gpu: on the device, or managed)"),
    MS("copy_in_time", "copy in time", "median copy or prefetch of both inputs to the GPU"),
    MS("copy_out_time", "copy out time",
       "median copy, prefetch or first reading of the result by the processor"),
    MS("free_time", "free time", "median release of the three arrays"),
    MS("total_time", "total time", "allocation, copies, kernel and release"),
    MS("context_time", "context time", "creation of the CUDA context, once in a program"),
    MS("host_allocation_time", "host allocation time",
       "allocation of the host's three arrays, once"),
    MS("fill_time", "fill time", "random inputs written, once"),
    MS("first_kernel_time", "first kernel time",
       "first addition of the program, from launch to completion"),
    MS("program_time", "program time", "start of the process until the first result is back"),
    RATE("bandwidth", "bandwidth", "12 bytes x elements / kernel_time"),
    RATE("measured_bandwidth", "measured bandwidth",
         "bandwidth of the same memory, measured in the same trial"),
    {.name = "bandwidth_share",
     .label = "bandwidth share",
     .min = "0",
     .unit = "s/s",
     .better = ORCH_BETTER_MAX,
     .help = "bandwidth / measured_bandwidth"},
    RATE("nominal_bandwidth", "nominal bandwidth",
         "peak bandwidth of the GPU's memory, from its clock and bus width"),
    {.name = "nominal_share",
     .label = "nominal share",
     .min = "0",
     .unit = "s/s",
     .better = ORCH_BETTER_MAX,
     .help = "bandwidth / nominal_bandwidth"},
    RATE("copy_in_bandwidth", "copy in bandwidth", "8 bytes x elements / copy_in_time"),
    RATE("copy_out_bandwidth", "copy out bandwidth", "4 bytes x elements / copy_out_time"),
    {.name = "sample_time",
     .label = "sample time",
     .min = "0",
     .unit = "ms",
     .step_unit = "sample",
     .help = "each sample of kernel_time"},
    {.name = "kernel_samples",
     .label = "kernel samples",
     .help = "samples that kernel_time is the median of"},
    {.name = "dropped_samples",
     .label = "dropped samples",
     .help = "samples left out because the GPU ran below 75 % of its highest clock"},
    {.name = "sm_clock",
     .label = "clock of the multiprocessors",
     .unit = "MHz",
     .help = "median clock of the multiprocessors after a sample"},
    {.name = "memory_clock",
     .label = "memory clock",
     .unit = "MHz",
     .help = "clock of the GPU's memory after the last sample"},
    {.name = "ecc",
     .label = "error correction",
     .help = "1: the GPU's memory has error correction (ECC); 0: it has not"},
    {.name = "streaming_stores",
     .label = "streaming stores",
     .help = "1: cpu_all bypassed the caches; 0: it did not"},
    {.name = "thread_count",
     .label = "number of threads",
     .help = "threads that added: of the processor, or of the GPU's grid"},
    {.name = "element_count", .label = "number of elements", .help = "elements of each array"},
    {.name = "wrong_elements",
     .label = "wrong elements",
     .better = ORCH_BETTER_MIN,
     .help = "results that differ from the reference; 0, or the trial fails"},
};

static int index_of(const char *const *names, const char *name)
{
    int i = 0;
    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static int check(const void *params, const struct orch_host *host)
{
    static const char *const of_gpu[] = {"memory", NULL};
    const struct vecadd_params *p = params;
    const bool is_cpu = index_of(VECADD_SCENARIOS, p->scenario) <= VECADD_CPU_ALL;
    if (is_cpu)
        orch_no_effect(host, of_gpu);
    if (is_cpu && strcmp(p->memory, "pageable") != 0)
        return orch_vecadd_fail(host, "memory: '%s' needs a gpu scenario, not '%s'", p->memory,
                                p->scenario);
    return ORCH_OK;
}

/* What the trial's slot gives. */
static int slot_threads(const struct orch_host *host)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (orch_host_has(host, slot))
        host->slot(host, &slot);
    return (int)slot.threads;
}

static struct vecadd_trial trial_of(const struct vecadd_params *p, const struct orch_host *host)
{
    const size_t count = (size_t)(p->elements ? p->elements : p->millions * 1000000);
    struct vecadd_trial trial = {
        .scenario = (enum vecadd_scenario)index_of(VECADD_SCENARIOS, p->scenario),
        .memory = (enum vecadd_memory)index_of(VECADD_MEMORIES, p->memory),
        .count = count,
        .warmup = (int)p->warmup,
        .threads = p->threads ? (int)p->threads : slot_threads(host),
        .seed = (uint32_t)host->derive_seed(host, "values"),
        .rule = {.min_count = (size_t)p->min_samples,
                 .max_count = MAX((size_t)p->min_samples, (size_t)20000),
                 .min_s = p->min_time,
                 .limit_s = p->time_limit,
                 .settled = p->settled},
    };
    if (host->smoke(host)) {
        trial.count = MIN(count, (size_t)10007);
        trial.warmup = 0;
        trial.is_smoke = true;
        trial.rule = (struct orch_samples_rule){.min_count = 2, .max_count = 2, .settled = 1};
    }
    return trial;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    const struct vecadd_trial trial = trial_of(params, host);
    host->result(host, "element_count", (double)trial.count);
    return trial.scenario <= VECADD_CPU_ALL ? orch_vecadd_cpu_run(&trial, host)
                                            : orch_vecadd_gpu_run(&trial, host);
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "vecadd",
    .version = "1.0.0",
    .summary = "adds two vectors on the processor and on a GPU, with each part timed",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .params_bytes = sizeof(struct vecadd_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
