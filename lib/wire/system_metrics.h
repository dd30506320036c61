/* SPDX-License-Identifier: MIT */
/* Metrics that orch-host measures beside a trial: processor, memory, disk and GPUs. Their names
 * begin with "system/", which no plugin's metric can, so they never mix with a plugin's own. Their
 * step is the number of seconds since the trial's start. */
#ifndef ORCH_WIRE_SYSTEM_METRICS_H
#define ORCH_WIRE_SYSTEM_METRICS_H

#include "lib/wire/manifest.h"

#define ORCH_SYSTEM_PREFIX "system/"
#define ORCH_SYSTEM_STEP_UNIT "second"
/** Seconds between two samples, by default and at least: the window of the GPU's own counters. */
#define ORCH_SYSTEM_INTERVAL_S 1.0

/** Names and units in the order in which orch-host samples them. */
enum orch_system_metric {
    ORCH_SYSTEM_CPU_TRIAL,
    ORCH_SYSTEM_CPU_MACHINE,
    ORCH_SYSTEM_MEMORY_TRIAL,
    ORCH_SYSTEM_MEMORY_MACHINE,
    ORCH_SYSTEM_DISK_READ,
    ORCH_SYSTEM_DISK_WRITE,
    ORCH_SYSTEM_METRICS, /* the end of those of the machine */
};
/** Values of each GPU, "system/gpu0_core". */
enum orch_system_gpu_metric {
    ORCH_SYSTEM_GPU_CORE,
    ORCH_SYSTEM_GPU_MEMORY_BUSY,
    ORCH_SYSTEM_GPU_MEMORY,
    ORCH_SYSTEM_GPU_POWER,
    ORCH_SYSTEM_GPU_TEMPERATURE,
    ORCH_SYSTEM_GPU_CLOCK,
    ORCH_SYSTEM_GPU_MEMORY_CLOCK,
    ORCH_SYSTEM_GPU_METRICS,
};
/** GPUs of one trial that are sampled; further ones are not. */
#define ORCH_SYSTEM_GPUS_MAX 16

/** Number of all system metrics: those of the machine, and those of each GPU. */
#define ORCH_SYSTEM_ALL (ORCH_SYSTEM_METRICS + ORCH_SYSTEM_GPUS_MAX * ORCH_SYSTEM_GPU_METRICS)
/** Returns the metric at an index below ORCH_SYSTEM_ALL; metric m of GPU g has the index
 * ORCH_SYSTEM_METRICS + g * ORCH_SYSTEM_GPU_METRICS + m. Static. */
const struct orch_metric_spec *orch_system_metric_at(unsigned index);
/** Finds a system metric by name; NULL for other names. Static. */
const struct orch_metric_spec *orch_system_metric_find(const char *name);
/** Returns whether the name is in the group "system/", also one that another tracker recorded. */
bool orch_metric_is_system(const char *name);

#endif
