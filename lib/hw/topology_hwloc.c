/* SPDX-License-Identifier: MIT */
/* The topology as hwloc 2 describes it. The library is opened at run time, because only a run that
 * pins its trials needs it, and linking it would slow the start of every command. Only functions
 * that hwloc.h does not define inline are used. Reference: hwloc 2.9 manual, "Object Types" and
 * "hwloc and NUMA". */
#include "lib/hw/topology_probe.h"

#ifdef ORCH_HAS_HWLOC

#include <dlfcn.h>
#include <hwloc.h>
#include <string.h>

struct hwloc {
    void *library;
    unsigned (*api_version)(void);
    int (*init)(hwloc_topology_t *);
    int (*load)(hwloc_topology_t);
    void (*destroy)(hwloc_topology_t);
    int (*depth)(hwloc_topology_t, hwloc_obj_type_t);
    unsigned (*count)(hwloc_topology_t, int);
    hwloc_obj_t (*object)(hwloc_topology_t, int, unsigned);
    int (*first)(hwloc_const_bitmap_t);
};

static const struct {
    size_t offset;
    const char *name;
} FUNCTIONS[] = {
    {offsetof(struct hwloc, api_version), "hwloc_get_api_version"},
    {offsetof(struct hwloc, init), "hwloc_topology_init"},
    {offsetof(struct hwloc, load), "hwloc_topology_load"},
    {offsetof(struct hwloc, destroy), "hwloc_topology_destroy"},
    {offsetof(struct hwloc, depth), "hwloc_get_type_depth"},
    {offsetof(struct hwloc, count), "hwloc_get_nbobjs_by_depth"},
    {offsetof(struct hwloc, object), "hwloc_get_obj_by_depth"},
    {offsetof(struct hwloc, first), "hwloc_bitmap_first"},
};

/* Opens the library whose binary interface these headers describe (soname 15: hwloc 2). */
static bool open_hwloc(struct hwloc *out)
{
    struct hwloc h = {.library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_LOCAL)};
    bool ok = h.library != NULL;
    for (unsigned i = 0; ok && i < G_N_ELEMENTS(FUNCTIONS); i++) {
        void *found = dlsym(h.library, FUNCTIONS[i].name);
        memcpy((char *)&h + FUNCTIONS[i].offset, &found, sizeof found);
        ok = found != NULL;
    }
    ok = ok && h.api_version() >> 16 == HWLOC_API_VERSION >> 16;
    if (ok)
        *out = h;
    else if (h.library)
        dlclose(h.library);
    return ok;
}

static unsigned core_of(hwloc_obj_t unit)
{
    hwloc_obj_t at = unit;
    while (at && at->type != HWLOC_OBJ_CORE)
        at = at->parent;
    return at ? at->logical_index : unit->logical_index;
}

static void read_units(const struct hwloc *h, hwloc_topology_t topology, const unsigned *cpus,
                       unsigned count, GArray *out)
{
    int depth = h->depth(topology, HWLOC_OBJ_PU);
    g_autoptr(GHashTable) wanted = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < count; i++)
        g_hash_table_add(wanted, GUINT_TO_POINTER(cpus[i]));
    for (unsigned i = 0; depth >= 0 && i < h->count(topology, depth); i++) {
        hwloc_obj_t unit = h->object(topology, depth, i);
        if (!g_hash_table_contains(wanted, GUINT_TO_POINTER(unit->os_index)))
            continue;
        int node = unit->nodeset ? h->first(unit->nodeset) : -1;
        struct orch_cpu cpu = {unit->os_index, core_of(unit), (unsigned)MAX(node, 0)};
        g_array_append_val(out, cpu);
    }
}

static int by_number(const void *a, const void *b)
{
    unsigned x = ((const struct orch_cpu *)a)->number, y = ((const struct orch_cpu *)b)->number;
    return (x > y) - (x < y);
}

struct orch_topology *orch_topology_from_hwloc(const unsigned *cpus, unsigned count)
{
    struct hwloc h;
    hwloc_topology_t topology;
    if (!open_hwloc(&h))
        return NULL;
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct orch_cpu));
    if (h.init(&topology) == 0) {
        if (h.load(topology) == 0)
            read_units(&h, topology, cpus, count, found);
        h.destroy(topology);
    }
    dlclose(h.library);
    if (found->len != count) {
        g_array_unref(found);
        return NULL;
    }
    g_array_sort(found, by_number);
    struct orch_topology *out = g_new0(struct orch_topology, 1);
    *out = (struct orch_topology){found, "hwloc"};
    return out;
}

#else

struct orch_topology *orch_topology_from_hwloc(const unsigned *cpus, unsigned count)
{
    (void)cpus;
    (void)count;
    return NULL;
}

#endif
