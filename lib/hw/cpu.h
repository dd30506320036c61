/* SPDX-License-Identifier: MIT */
/* Internal to lib/hw: CPU models, sockets and cores. */
#ifndef ORCH_HW_CPU_H
#define ORCH_HW_CPU_H

#include <stdbool.h>

/** CPU model from /proc/cpuinfo below `root`, with runs of blanks reduced to one; "unknown CPU" if
 * it is not given. Caller frees. */
char *orch_cpu_model_from_proc(const char *root);

/** CPU model from the CPUID instruction (x86's brand string), with runs of blanks reduced to one;
 * NULL if not available. Caller frees. */
char *orch_cpu_model_from_cpuid(void);

/** The widest vector instructions of this processor that programs use, as in struct orch_machine;
 * NULL: not known. Static. */
const char *orch_cpu_vectors(void);

/** Counts distinct sockets and physical cores among the hardware threads `cpus`. Without
 * information in /sys it assumes one socket and one core per thread. */
void orch_cpu_count(const char *root, const unsigned *cpus, unsigned cpu_count, int *out_sockets,
                    int *out_cores);

/** First number in the list of hardware threads that share a core with `cpu`, which identifies the
 * core; `cpu` without information in /sys. */
unsigned orch_cpu_core(const char *root, unsigned cpu);

#endif
