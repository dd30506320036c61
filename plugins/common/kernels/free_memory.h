/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether arrays fit into the machine's memory, asked before they are allocated: where the system
 * promises more memory than it has, an allocation succeeds and the process is killed later. */
#ifndef ORCH_PLUGINS_COMMON_KERNELS_FREE_MEMORY_H
#define ORCH_PLUGINS_COMMON_KERNELS_FREE_MEMORY_H

#include <orch/plugin.h>
#include <stdbool.h>

/** Bytes that this trial may still allocate: what the machine has free, and at most the slot's
 * limit; 0: unknown. */
double orch_free_memory(const struct orch_host *host);
/** True if `bytes` fit into the machine's memory with a tenth to spare. Otherwise reports through
 * host->fail that `what` ("three arrays") need so much, and to choose `instead` ("fewer
 * elements"). */
bool orch_memory_fits(double bytes, const char *what, const char *instead,
                      const struct orch_host *host);

#endif
