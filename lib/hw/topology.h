/* SPDX-License-Identifier: MIT */
/* Where the CPUs (hardware threads) of this machine stand: which of them share a physical core and
 * which belong to one NUMA node. Chooses the CPUs of a trial. Read through hwloc where it is
 * installed, else from /sys. */
#ifndef ORCH_HW_TOPOLOGY_H
#define ORCH_HW_TOPOLOGY_H

#include <glib.h>
#include <stdbool.h>

struct orch_cpu {
    unsigned number; /* the kernel's */
    unsigned core;   /* equal for the CPUs of one physical core */
    unsigned node;   /* NUMA node; 0 where the machine has none */
};

struct orch_topology {
    GArray *cpus;       /* struct orch_cpu: those this process may use, by number */
    const char *source; /* "hwloc" or "/sys" */
};

/** The hardware threads that this process may run on (affinity, cpuset): unsigned, ascending, at
 * least one. The caller unrefs. */
GArray *orch_allowed_cpus(void);

/** The topology of the CPUs that this process may use. Takes a few milliseconds with hwloc. */
struct orch_topology *orch_topology_new(void);
void orch_topology_free(struct orch_topology *topology);

/** What a trial asks for. */
struct orch_cpu_wish {
    unsigned count;
    unsigned shares; /* number of such trials that the machine shall hold, at least 1: a trial takes
                        at most its share of the physical cores before it takes their second
                        hardware threads */
    int node;        /* preferred NUMA node, that of the trial's GPU; -1: none */
};

/** Chooses `wish->count` CPUs of which `is_busy(ctx, number)` is false; they must be there. Prefers
 * one NUMA node, and in it physical cores that no other trial uses. Writes their numbers in
 * ascending order to `out`. Returns the NUMA node of all of them, or -1 for several. */
int orch_topology_choose(const struct orch_topology *topology, const struct orch_cpu_wish *wish,
                         bool (*is_busy)(const void *ctx, unsigned cpu), const void *ctx, int *out);

/** "0-3,8" of ascending numbers. Caller frees. */
char *orch_cpu_list_format(const int *cpus, unsigned count);

#endif
