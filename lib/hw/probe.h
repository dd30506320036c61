/* SPDX-License-Identifier: MIT */
/* Internal to lib/hw: the parts of the machine probe, with a root folder so that tests can
 * substitute another machine's /proc and /sys. */
#ifndef ORCH_HW_PROBE_H
#define ORCH_HW_PROBE_H

#include "lib/hw/machine.h"

/** Describes the machine whose /proc, /sys and /etc are below `root` ("" for this one), for a
 * process that may run on the `cpu_count` hardware threads `cpus`. Does not look for GPUs. */
struct orch_machine *orch_machine_probe_at(const char *root, const unsigned *cpus,
                                           unsigned cpu_count);

/** Number of hardware threads allowed by this process's cgroup quotas, rounded up; 0: no limit. */
int orch_cgroup_threads(const char *root);
/** Bytes of memory allowed by this process's cgroups; 0: no limit. */
int64_t orch_cgroup_memory(const char *root);

/** Contents of a file of at most 64 KiB, `root` plus the formatted path, without the final line
 * end; NULL if it cannot be read. Caller frees. */
char *orch_probe_text(const char *root, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Fills gpus, gpu_driver, cuda_version and gpu_note of `machine` through NVML. */
void orch_nvml_probe(struct orch_machine *machine);

/** Moves the GPUs that `list`, the text of CUDA_VISIBLE_DEVICES (NULL: not set), does not name to
 * `hidden_gpus`, puts the others into its order, and sets how trials are told of each (`visible`).
 * gpu_note says what was hidden. Call once. */
void orch_visible_gpus_choose(struct orch_machine *machine, const char *list);

void orch_gpu_device_free(struct orch_gpu_device *device);

#endif
