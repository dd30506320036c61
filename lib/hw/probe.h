/* SPDX-License-Identifier: MIT */
/* Inside lib/hw: the parts of the machine probe, each against a root of its own so that tests can
 * put another machine's /proc and /sys in place of this one's. */
#ifndef ORCH_HW_PROBE_H
#define ORCH_HW_PROBE_H

#include "lib/hw/machine.h"

/** Describes the machine whose /proc, /sys and /etc lie below `root` ("" for this one), for a
 * process that may run on the `cpu_count` hardware threads `cpus`. GPUs are not looked for. */
struct orch_machine *orch_machine_probe_at(const char *root, const unsigned *cpus,
                                           unsigned cpu_count);

/** Hardware threads that the cgroup quotas of this process allow, rounded up; 0: no limit. */
int orch_cgroup_threads(const char *root);
/** Bytes of memory that the cgroups of this process allow; 0: no limit. */
int64_t orch_cgroup_memory(const char *root);

/** Text of file `root` + formatted path without its line end; NULL when it cannot be read. At most
 * 64 KiB. The caller frees. */
char *orch_probe_text(const char *root, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** Fills gpus, gpu_driver, cuda_version and gpu_note of `machine` through NVML. */
void orch_nvml_probe(struct orch_machine *machine);

void orch_gpu_device_free(struct orch_gpu_device *device);

#endif
