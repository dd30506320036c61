/* SPDX-License-Identifier: MIT */
/* Measures this machine: matrix products, memory, disk. Let nothing else run meanwhile. */
#ifndef ORCH_FEATURES_HARDWARE_MEASURE_H
#define ORCH_FEATURES_HARDWARE_MEASURE_H

#include "lib/devices/ceilings.h"

#include <glib.h>
#include <stdbool.h>

/** Calls `once`, which returns a rate (0: failed), for at least `seconds` and five times, and then
 * until the spread is at most 5 %, but no longer than four times `seconds`. All 0 when a call
 * failed. */
struct orch_measured orch_rate_samples_take(double (*once)(void *ctx), void *ctx, double seconds);

enum orch_cpu_precision { ORCH_CPU_FP32, ORCH_CPU_FP64, ORCH_CPU_BF16, ORCH_CPU_INT8 };
#define ORCH_CPU_PRECISIONS (ORCH_CPU_INT8 + 1)
/** "fp32", "fp64", "bf16", "int8" */
const char *orch_cpu_precision_name(enum orch_cpu_precision precision);

struct orch_cpu_rate {
    struct orch_measured measured; /* operations per second, a multiply-add is two */
    char library[32];              /* that made the product; "" when none can */
};
/** Measures matrix products of 1024 x 1024 with `threads` threads: by oneDNN (LibTorch's library),
 * else OpenBLAS, MKL or, for fp32 and fp64, a kernel of our own. Products of int8 are summed in 32
 * bits, those of bf16 in fp32. All 0 when no library has that precision, or the processor lacks
 * it. */
struct orch_cpu_rate orch_measure_gemm(enum orch_cpu_precision precision, int threads,
                                       double seconds);

/** Measures STREAM's triad with `threads` threads, in bytes per second: 24 bytes an element, so
 * write-allocate traffic is not counted. `bytes`: of all three arrays together; 0: many times the
 * caches. */
struct orch_measured orch_measure_triad(int threads, size_t bytes, double seconds);

struct orch_disk_rates {
    double write, read; /* bytes per second; reading may be served by the disk's own cache */
};
/** Writes 256 MiB to `folder`, syncs, drops it from the page cache, reads it, and removes it. */
bool orch_measure_disk(const char *folder, struct orch_disk_rates *out, GError **error);

#endif
