/* SPDX-License-Identifier: MIT */
/* Chooses CPUs by sorting all free ones: first the first hardware threads of physical cores that
 * nobody uses, then the second threads of these cores, last the free threads of cores that another
 * trial uses. Which cores a trial shares with itself matters less than which it shares with others,
 * because the other trial's times would change, too. */
#include "lib/hw/topology.h"

#include "lib/hw/cpu.h"
#include "lib/hw/probe.h"
#include "lib/hw/topology_probe.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX (1 << 16)

/* ---- reading ----------------------------------------------------------------------------------
 */

/* The kernel's mask may be wider than cpu_set_t, so the width is doubled until it fits. */
GArray *orch_allowed_cpus(void)
{
    GArray *cpus = g_array_new(FALSE, FALSE, sizeof(unsigned));
    for (unsigned width = 1024; width <= CPUS_MAX; width *= 2) {
        cpu_set_t *set = CPU_ALLOC(width);
        size_t size = CPU_ALLOC_SIZE(width);
        CPU_ZERO_S(size, set);
        int status = sched_getaffinity(0, size, set);
        int saved = errno;
        for (unsigned i = 0; status == 0 && i < width; i++)
            if (CPU_ISSET_S(i, size, set))
                g_array_append_val(cpus, i);
        CPU_FREE(set);
        if (status == 0 || saved != EINVAL)
            break;
    }
    for (unsigned i = 0; !cpus->len && i < (unsigned)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1); i++)
        g_array_append_val(cpus, i);
    return cpus;
}

/* Marks the node of each CPU in a list such as "0-3,8" (cpulist of /sys). */
static void mark_node(GArray *cpus, const char *list, unsigned node)
{
    g_auto(GStrv) parts = g_strsplit(list, ",", -1);
    for (char **part = parts; *part; part++) {
        char *rest = NULL;
        guint64 first = g_ascii_strtoull(*part, &rest, 10), last = first;
        if (rest == *part)
            continue;
        if (*rest == '-')
            last = g_ascii_strtoull(rest + 1, NULL, 10);
        for (guint i = 0; i < cpus->len; i++) {
            struct orch_cpu *cpu = &g_array_index(cpus, struct orch_cpu, i);
            if (cpu->number >= first && cpu->number <= last)
                cpu->node = node;
        }
    }
}

struct orch_topology *orch_topology_from_sys(const char *root, const unsigned *cpus, unsigned count)
{
    enum { NODES_MAX = 1024 };
    struct orch_topology *topology = g_new0(struct orch_topology, 1);
    *topology = (struct orch_topology){g_array_new(FALSE, FALSE, sizeof(struct orch_cpu)), "/sys"};
    for (unsigned i = 0; i < count; i++) {
        struct orch_cpu cpu = {cpus[i], orch_cpu_core(root, cpus[i]), 0};
        g_array_append_val(topology->cpus, cpu);
    }
    g_autofree char *online = orch_probe_text(root, "/sys/devices/system/node/online");
    const char *last = online ? strrchr(online, '-') : NULL;
    const char *comma = online ? strrchr(online, ',') : NULL;
    last = MAX(last, comma);
    guint64 highest = last ? g_ascii_strtoull(last + 1, NULL, 10) : 0;
    for (unsigned node = 0; node <= MIN(highest, (guint64)NODES_MAX); node++) {
        g_autofree char *list =
            orch_probe_text(root, "/sys/devices/system/node/node%u/cpulist", node);
        if (list)
            mark_node(topology->cpus, list, node);
    }
    return topology;
}

int orch_pci_node(const char *root, unsigned domain, unsigned bus, unsigned device)
{
    g_autofree char *text = orch_probe_text(root, "/sys/bus/pci/devices/%04x:%02x:%02x.0/numa_node",
                                            domain, bus, device);
    gint64 node = text ? g_ascii_strtoll(text, NULL, 10) : -1;
    return node >= 0 && node < G_MAXINT ? (int)node : -1;
}

struct orch_topology *orch_topology_new(void)
{
    g_autoptr(GArray) cpus = orch_allowed_cpus();
    const unsigned *numbers = (const unsigned *)(void *)cpus->data;
    struct orch_topology *topology = orch_topology_from_hwloc(numbers, cpus->len);
    return topology ? topology : orch_topology_from_sys("", numbers, cpus->len);
}

void orch_topology_free(struct orch_topology *topology)
{
    if (!topology)
        return;
    g_array_unref(topology->cpus);
    g_free(topology);
}

/* ---- choosing ---------------------------------------------------------------------------------
 */

enum rank { WHOLE_CORE, SIBLING, BEYOND_SHARE, BEYOND_SIBLING, PART_OF_USED_CORE };

struct free_cpu {
    unsigned number, node;
    enum rank rank;
};

static unsigned count_in(const GArray *cpus, unsigned node, bool only_whole)
{
    unsigned count = 0;
    for (guint i = 0; i < cpus->len; i++) {
        const struct free_cpu *cpu = &g_array_index(cpus, struct free_cpu, i);
        bool is_first = cpu->rank == WHOLE_CORE || cpu->rank == BEYOND_SHARE;
        count += cpu->node == node && (is_first || !only_whole);
    }
    return count;
}

static int compare_free(const void *a, const void *b)
{
    const struct free_cpu *x = a, *y = b;
    if (x->rank != y->rank)
        return (x->rank > y->rank) - (x->rank < y->rank);
    if (x->node != y->node)
        return (x->node > y->node) - (x->node < y->node);
    return (x->number > y->number) - (x->number < y->number);
}

static int compare_numbers(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The free CPUs with their node; sets `rank` without regard to the trial's share. */
static GArray *list_free(const struct orch_topology *topology,
                         bool (*is_busy)(const void *ctx, unsigned cpu), const void *ctx)
{
    GArray *out = g_array_new(FALSE, FALSE, sizeof(struct free_cpu));
    const GArray *cpus = topology->cpus;
    for (guint i = 0; i < cpus->len; i++) {
        const struct orch_cpu *cpu = &g_array_index(cpus, struct orch_cpu, i);
        if (is_busy(ctx, cpu->number))
            continue;
        struct free_cpu made = {cpu->number, cpu->node, WHOLE_CORE};
        for (guint j = 0; j < cpus->len; j++) {
            const struct orch_cpu *other = &g_array_index(cpus, struct orch_cpu, j);
            if (other->core != cpu->core || j == i)
                continue;
            if (is_busy(ctx, other->number))
                made.rank = PART_OF_USED_CORE;
            else if (j < i && made.rank == WHOLE_CORE)
                made.rank = SIBLING;
        }
        g_array_append_val(out, made);
    }
    return out;
}

static unsigned core_of(const struct orch_topology *topology, unsigned number)
{
    for (guint i = 0; i < topology->cpus->len; i++) {
        const struct orch_cpu *cpu = &g_array_index(topology->cpus, struct orch_cpu, i);
        if (cpu->number == number)
            return cpu->core;
    }
    return number;
}

/* Number of physical cores that a trial may take before it takes their second threads. */
static unsigned core_share(const struct orch_topology *topology, unsigned shares)
{
    g_autoptr(GHashTable) cores = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < topology->cpus->len; i++)
        g_hash_table_add(cores,
                         GUINT_TO_POINTER(g_array_index(topology->cpus, struct orch_cpu, i).core));
    return MAX(1u, g_hash_table_size(cores) / MAX(1u, shares));
}

/* The node that holds all the CPUs, best with physical cores of their own; of several the one with
 * the fewest free CPUs, which leaves the largest hole elsewhere. -1: none is large enough. */
static int find_node(const GArray *cpus, const struct orch_cpu_wish *wish, unsigned cores)
{
    int found = -1;
    bool found_whole = false;
    unsigned found_free = 0;
    for (guint i = 0; i < cpus->len; i++) {
        unsigned node = g_array_index(cpus, struct free_cpu, i).node;
        unsigned all = count_in(cpus, node, false);
        bool is_whole = count_in(cpus, node, true) >= MIN(wish->count, cores);
        if (all < wish->count)
            continue;
        if ((int)node == wish->node)
            return (int)node;
        if (found < 0 || (is_whole && !found_whole) ||
            (is_whole == found_whole && all < found_free)) {
            found = (int)node;
            found_whole = is_whole;
            found_free = all;
        }
    }
    return found;
}

/* Lowers the rank of the physical cores beyond the trial's share, in the order of their numbers. */
static void apply_share(const struct orch_topology *topology, GArray *cpus, unsigned cores)
{
    g_autoptr(GHashTable) beyond = g_hash_table_new(NULL, NULL);
    unsigned taken = 0;
    for (guint i = 0; i < cpus->len; i++) {
        struct free_cpu *cpu = &g_array_index(cpus, struct free_cpu, i);
        if (cpu->rank == WHOLE_CORE && taken++ >= cores) {
            cpu->rank = BEYOND_SHARE;
            g_hash_table_add(beyond, GUINT_TO_POINTER(core_of(topology, cpu->number)));
        }
    }
    for (guint i = 0; i < cpus->len; i++) {
        struct free_cpu *cpu = &g_array_index(cpus, struct free_cpu, i);
        gpointer core = GUINT_TO_POINTER(core_of(topology, cpu->number));
        if (cpu->rank == SIBLING && g_hash_table_contains(beyond, core))
            cpu->rank = BEYOND_SIBLING;
    }
}

int orch_topology_choose(const struct orch_topology *topology, const struct orch_cpu_wish *wish,
                         bool (*is_busy)(const void *ctx, unsigned cpu), const void *ctx, int *out)
{
    g_autoptr(GArray) cpus = list_free(topology, is_busy, ctx);
    unsigned cores = core_share(topology, wish->shares);
    int node = find_node(cpus, wish, cores);
    for (guint i = cpus->len; node >= 0 && i-- > 0;)
        if ((int)g_array_index(cpus, struct free_cpu, i).node != node)
            g_array_remove_index(cpus, i);
    apply_share(topology, cpus, cores);
    g_array_sort(cpus, compare_free);
    unsigned count = MIN(wish->count, cpus->len);
    for (unsigned i = 0; i < count; i++)
        out[i] = (int)g_array_index(cpus, struct free_cpu, i).number;
    qsort(out, count, sizeof *out, compare_numbers);
    return node;
}

char *orch_cpu_list_format(const int *cpus, unsigned count)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0, last; i < count; i = last + 1) {
        for (last = i; last + 1 < count && cpus[last + 1] == cpus[last] + 1;)
            last++;
        g_string_append_printf(text, "%s%d", i ? "," : "", cpus[i]);
        if (last > i)
            g_string_append_printf(text, "-%d", cpus[last]);
    }
    return g_string_free(text, FALSE);
}
