/* SPDX-License-Identifier: MIT */
/* What this machine reaches: matrix products, memory, disk. Each takes about a second. */
#ifndef ORCH_HW_MEASURE_H
#define ORCH_HW_MEASURE_H

#include <glib.h>
#include <stdbool.h>

/** Best rate of single-precision matrix products of 1024 x 1024 in about `seconds`, operations a
 * second (a multiply-add is two). Uses oneDNN (what LibTorch computes with) or OpenBLAS where one
 * is installed, else a plain loop; `*out_library` (static) says which. `threads` 0: as many as the
 * library takes; the plain loop and a library that cannot be told take one. 0 when it failed. */
double orch_measure_gemm(int threads, double seconds, const char **out_library);

/** Best rate of copying (read and written bytes both count) arrays far larger than caches with
 * `threads` threads, in bytes a second. */
double orch_measure_memory(int threads, double seconds);

struct orch_disk_rates {
    double write, read; /* bytes a second; the reading may be the disk's own cache's */
};
/** Writes 256 MiB into `folder`, syncs, drops it from the page cache, reads it, removes it. */
bool orch_measure_disk(const char *folder, struct orch_disk_rates *out, GError **error);

#endif
