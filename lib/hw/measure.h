/* SPDX-License-Identifier: MIT */
/* Measures this machine: matrix products, memory, disk. Each takes about a second. */
#ifndef ORCH_HW_MEASURE_H
#define ORCH_HW_MEASURE_H

#include <glib.h>
#include <stdbool.h>

/** Measures single-precision matrix products of 1024 x 1024 for about `seconds`. Returns the best
 * rate in operations per second (a multiply-add is two), or 0 on failure. Uses oneDNN (LibTorch's
 * library) or OpenBLAS if installed, else a plain loop; `*out_library` (static) names it. `threads`
 * 0: the library's default; the plain loop and libraries without that setting use one. */
double orch_measure_gemm(int threads, double seconds, const char **out_library);

/** Best rate of copying arrays much larger than the caches with `threads` threads, in bytes per
 * second, with read and written bytes counted. */
double orch_measure_memory(int threads, double seconds);

struct orch_disk_rates {
    double write, read; /* bytes per second; reading may be served by the disk's own cache */
};
/** Writes 256 MiB to `folder`, syncs, drops it from the page cache, reads it, and removes it. */
bool orch_measure_disk(const char *folder, struct orch_disk_rates *out, GError **error);

#endif
