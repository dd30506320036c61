/* SPDX-License-Identifier: MIT */
/* Share of a trial's available CPUs that other processes used while it ran: the kernel's counters
 * for these CPUs (/proc/stat) minus the resource usage of the trial's processes and of orch-host.
 * Time that a hypervisor gave to other virtual machines (steal) counts as used by others. */
#ifndef ORCH_HOST_FOREIGN_CPU_H
#define ORCH_HOST_FOREIGN_CPU_H

#include <stdbool.h>

struct foreign_cpu {
    const char *path;   /* of the counters; borrowed */
    bool *is_ours;      /* by CPU number: available to the trial */
    unsigned cpu_count; /* length of is_ours */
    double busy_s;      /* CPU time of all processes at the start; NaN: unknown */
    double own_s;       /* CPU time of orch-host and its children at the start */
    double ended_s; /* CPU time of all processes at the trial's end; NaN: not ended, or unknown */
};

/** Reads the counters at a trial's start. `cpus` (from 0) are those the trial is pinned to (`count`
 * 0: those available to this process). `path` is a file like /proc/stat; NULL: $ORCH_PROC_STAT, by
 * which tests choose how busy the machine is, or /proc/stat. It is borrowed until the end. */
void orch_foreign_cpu_begin(struct foreign_cpu *foreign, const char *path, const int *cpus,
                            unsigned count);
void orch_foreign_cpu_clear(struct foreign_cpu *foreign);
/** Reads the counters at the trial's end. CPU time that other processes use later, while helpers of
 * the trial are waited for, does not count. Ask for the share when the helpers have ended, because
 * their CPU time is known only then. */
void orch_foreign_cpu_end(struct foreign_cpu *foreign);

/** Share (0 to 1) of the trial's CPUs that others used in the `wall_s` seconds since its start. NaN
 * if the counters are missing or the trial was shorter than FOREIGN_CPU_WALL_S. */
double orch_foreign_cpu_share(const struct foreign_cpu *foreign, double wall_s);

/** The same for a program that this process did not start; its CPU time `program_s` since then
 * counts as the trial's own. */
double orch_foreign_cpu_share_of_other(const struct foreign_cpu *foreign, double wall_s,
                                       double program_s);
/** CPU time in seconds of a live process, its live descendants, and descendants they waited for. */
double orch_foreign_cpu_of_program(int pid);

/** Shorter trials are not measured: the counters have a resolution of 10 ms, and the runner's own
 * work at a trial's start and end would dominate. */
#define FOREIGN_CPU_WALL_S 1.0

#endif
