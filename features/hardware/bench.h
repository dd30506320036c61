/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures this machine, and keeps the result as the device 'here' that forecasts can use. */
#ifndef ORCH_FEATURES_HARDWARE_BENCH_H
#define ORCH_FEATURES_HARDWARE_BENCH_H

#include "lib/devices/ceilings.h"
#include "lib/hw/machine.h"

/** Called before each measurement with its name. */
typedef void orch_bench_progress(void *ctx, const char *what);

/** Measures matrix products by precision, memory, the disk of `folder` and every visible GPU, and
 * writes the device file (orch_hardware_here_file). Takes about ten seconds, and ten more for each
 * GPU. What cannot be measured is a row with its reason. NULL with ORCH_ERROR_IO when fp32 or the
 * disk cannot be measured, or the file cannot be written. Caller frees. */
struct orch_ceilings *orch_bench_here(const struct orch_machine *machine, const char *folder,
                                      orch_bench_progress *progress, void *ctx, GError **error);
/** The name of a GPU model in the table of GPUs; NULL when it is not there. Borrowed. */
const char *orch_bench_gpu_name(const char *model);

#endif
