/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures this machine, and keeps the result as the device 'here' that forecasts can use. */
#ifndef ORCH_CORE_HARDWARE_BENCH_H
#define ORCH_CORE_HARDWARE_BENCH_H

#include "lib/hw/machine.h"
#include "lib/hw/measure.h"

struct orch_bench {
    double one_core, all_cores; /* single-precision operations per second */
    double memory;              /* bytes per second */
    struct orch_disk_rates disk;
    const char *library; /* of the matrix products; static */
};
/** Measures matrix products, memory and the disk of `folder`, in a few seconds, and writes the
 * device file (orch_hardware_here_file). False with ORCH_ERROR_IO when something cannot be measured
 * or written. */
bool orch_bench_here(const struct orch_machine *machine, const char *folder, struct orch_bench *out,
                     GError **error);
/** The name of a GPU model in the table of GPUs; NULL when it is not there. Borrowed. */
const char *orch_bench_gpu_name(const char *model);

#endif
