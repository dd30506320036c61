/* SPDX-License-Identifier: MIT */
/* How busy GPUs are, read through NVML. The library is opened at run time (nvml_api.h). */
#ifndef ORCH_HW_GPU_USAGE_H
#define ORCH_HW_GPU_USAGE_H

#include <stdbool.h>

/** One reading of a GPU. NaN where the driver does not tell it. */
struct orch_gpu_usage {
    double core_percent; /* time with a running kernel, over the driver's last window (<= 1 s) */
    double memory_busy_percent; /* time with reads or writes of its memory, in the same window */
    double memory_mb;           /* in use, 10^6 bytes */
    double power_w, temperature_c, clock_mhz, memory_clock_mhz;
};

struct orch_gpu_usages;

/** Opens NVML. NULL without a driver; `*out_note` then says why, unless there is no NVML library at
 * all (NULL). The caller frees the note. */
struct orch_gpu_usages *orch_gpu_usages_open(char **out_note);
void orch_gpu_usages_close(struct orch_gpu_usages *usages);
/** Number of GPUs that the driver knows; 0 when it does not answer. */
unsigned orch_gpu_usages_count(const struct orch_gpu_usages *usages);
/** Finds the driver's number of a GPU by its name in CUDA_VISIBLE_DEVICES: an index, a UUID or its
 * beginning; for a MIG instance it is the GPU that the instance is part of. */
bool orch_gpu_usages_find(const struct orch_gpu_usages *usages, const char *name,
                          unsigned *out_device);
/** Reads a GPU by the driver's number, from 0. False when it does not answer any more (it is lost,
 * or the driver was unloaded); `*out_note` then says why, and the caller frees it. */
bool orch_gpu_usage_read(const struct orch_gpu_usages *usages, unsigned device,
                         struct orch_gpu_usage *out, char **out_note);

#endif
