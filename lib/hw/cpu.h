/* SPDX-License-Identifier: MIT */
/* Inside lib/hw: names and numbers of processors. */
#ifndef ORCH_HW_CPU_H
#define ORCH_HW_CPU_H

#include <stdbool.h>

/** Model of the processor from /proc/cpuinfo below `root`, blanks squeezed; "unknown CPU" when it
 * does not say. The caller frees. */
char *orch_cpu_model_from_proc(const char *root);

/** Model from the processor itself (x86's brand string), blanks squeezed; NULL where there is no
 * such thing. The caller frees. */
char *orch_cpu_model_from_cpuid(void);

/** Counts distinct sockets and physical cores among the hardware threads `cpus`. What /sys does not
 * say counts as one socket, and one core a thread. */
void orch_cpu_count(const char *root, const unsigned *cpus, unsigned cpu_count, int *out_sockets,
                    int *out_cores);

#endif
