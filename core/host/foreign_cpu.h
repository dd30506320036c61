/* SPDX-License-Identifier: MIT */
/* How much of the CPUs that a trial may use other processes used while it ran. The kernel's
 * counters of these CPUs (/proc/stat) tell what all processes used; the resource usage of the
 * trial's processes and of orch-host is subtracted. Time that a hypervisor gave to other virtual
 * machines (steal) counts as used by others. */
#ifndef ORCH_HOST_FOREIGN_CPU_H
#define ORCH_HOST_FOREIGN_CPU_H

#include <stdbool.h>

struct foreign_cpu {
    const char *path;   /* of the counters */
    bool *is_ours;      /* by CPU number: the trial may use it */
    unsigned cpu_count; /* of is_ours */
    double busy_s;      /* all processes, at the start; NaN: not known */
    double own_s;       /* orch-host and its children, at the start */
};

/** Reads the counters at a trial's start. `cpus`: those that it is pinned to (`count` 0: those that
 * this process may use). `path`: "/proc/stat", or a copy for tests. */
void foreign_cpu_begin(struct foreign_cpu *foreign, const char *path, const int *cpus,
                       unsigned count);
void foreign_cpu_clear(struct foreign_cpu *foreign);

/** The share (0 to 1) of the trial's CPUs that others used since then, `wall_s` seconds ago. NaN:
 * it cannot be told, as the counters are absent or the trial was shorter than FOREIGN_CPU_WALL_S.
 */
double foreign_cpu_share(const struct foreign_cpu *foreign, double wall_s);

/** Shorter trials are not judged: the counters move in steps of 10 ms, and the runner's own work at
 * a trial's start and end would weigh too much. */
#define FOREIGN_CPU_WALL_S 1.0

#endif
