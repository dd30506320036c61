/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The choice of CPUs on machines that hwloc makes up (HWLOC_SYNTHETIC) and on made-up /sys. */
#include "lib/base/file.h"
#include "lib/hw/topology_probe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CPUS_MAX = 64 };

struct scene {
    struct orch_topology *topology;
    bool busy[CPUS_MAX];
};

static bool is_busy(const void *ctx, unsigned cpu)
{
    return cpu < CPUS_MAX && ((const struct scene *)ctx)->busy[cpu];
}

/* NULL when the build has no hwloc. */
static struct scene *synthetic(const char *description, unsigned count)
{
    unsigned cpus[CPUS_MAX];
    for (unsigned i = 0; i < count; i++)
        cpus[i] = i;
    g_setenv("HWLOC_SYNTHETIC", description, TRUE);
    struct scene *scene = g_new0(struct scene, 1);
    scene->topology = orch_topology_from_hwloc(cpus, count);
    g_unsetenv("HWLOC_SYNTHETIC");
    if (!scene->topology)
        g_clear_pointer(&scene, g_free);
    return scene;
}

static void scene_free(struct scene *scene)
{
    orch_topology_free(scene->topology);
    g_free(scene);
}

/* Chooses CPUs, compares the list, and makes them busy. */
static void chooses(struct scene *scene, unsigned count, unsigned shares, int near,
                    const char *list, int node)
{
    int cpus[CPUS_MAX];
    const struct orch_cpu_wish wish = {count, shares, near};
    int found = orch_topology_choose(scene->topology, &wish, is_busy, scene, cpus);
    g_autofree char *text = orch_cpu_list_format(cpus, count);
    assert_string_equal(text, list);
    assert_int_equal(found, node);
    for (unsigned i = 0; i < count; i++)
        scene->busy[cpus[i]] = true;
}

/* Two nodes of four cores with two threads each; hwloc numbers the threads of a core one after the
 * other. */
#define TWO_NODES "pack:2 [numa] core:4 pu:2"

static struct scene *two_nodes(void)
{
    struct scene *scene = synthetic(TWO_NODES, 16);
    if (scene)
        assert_string_equal(scene->topology->source, "hwloc");
    else
        skip(); /* built without hwloc */
    return scene;
}

static void test_cores_first(void **state)
{
    (void)state;
    struct scene *scene = two_nodes();
    chooses(scene, 4, 1, -1, "0,2,4,6", 0); /* whole cores, one node */
    chooses(scene, 2, 1, -1, "8,10", 1);    /* node 0 has only second threads left */
    chooses(scene, 4, 1, -1, "1,3,5,7", 0); /* no node has four whole cores: the fuller one */
    chooses(scene, 6, 1, -1, "9,11-15", 1); /* whatever is left */
    scene_free(scene);
}

static void test_spread_over_nodes(void **state)
{
    (void)state;
    struct scene *scene = two_nodes();
    chooses(scene, 10, 1, -1, "0-4,6,8,10,12,14", -1);
    scene_free(scene);
}

static void test_near_the_gpu(void **state)
{
    (void)state;
    struct scene *scene = two_nodes();
    chooses(scene, 2, 1, 1, "8,10", 1);
    chooses(scene, 6, 1, 1, "9,11-15", 1); /* near before whole */
    chooses(scene, 1, 1, 1, "0", 0);       /* nothing is left there */
    chooses(scene, 1, 1, 9, "2", 0);       /* there is no such node */
    scene_free(scene);
}

static void test_shares(void **state)
{
    (void)state;
    struct scene *scene = two_nodes();
    for (unsigned i = 0; i < 4; i++) { /* four trials at once: two cores with both threads each */
        g_autofree char *list = g_strdup_printf("%u-%u", 4 * i, 4 * i + 3);
        chooses(scene, 4, 4, -1, list, i < 2 ? 0 : 1);
    }
    scene_free(scene);
}

static void test_restricted(void **state)
{
    (void)state;
    const unsigned allowed[] = {3, 5, 9};
    g_setenv("HWLOC_SYNTHETIC", TWO_NODES, TRUE);
    struct orch_topology *topology = orch_topology_from_hwloc(allowed, 3);
    const unsigned beyond[] = {3, 99};
    assert_null(orch_topology_from_hwloc(beyond, 2)); /* does not describe this machine */
    g_unsetenv("HWLOC_SYNTHETIC");
    if (!topology)
        skip();
    struct scene *scene = g_new0(struct scene, 1);
    scene->topology = topology;
    assert_int_equal(topology->cpus->len, 3);
    chooses(scene, 2, 1, -1, "3,5", 0);
    chooses(scene, 1, 1, -1, "9", 1);
    scene_free(scene);
}

/* ---- /sys -------------------------------------------------------------------------------------
 */

static void put(const char *root, const char *path, const char *text)
{
    g_autofree char *full = g_strconcat(root, path, NULL);
    g_autofree char *folder = g_path_get_dirname(full);
    assert_true(orch_dir_make(folder, NULL));
    assert_true(g_file_set_contents(full, text, -1, NULL));
}

static void test_sys(void **state)
{
    (void)state;
    g_autofree char *root = g_dir_make_tmp("orch-topology-XXXXXX", NULL);
    const unsigned cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
    for (unsigned i = 0; i < 8; i++) { /* as Linux numbers them: second threads last */
        g_autofree char *path =
            g_strdup_printf("/sys/devices/system/cpu/cpu%u/topology/core_cpus_list", i);
        g_autofree char *list = g_strdup_printf("%u,%u\n", i % 4, i % 4 + 4);
        put(root, path, list);
    }
    put(root, "/sys/devices/system/node/online", "0-1\n");
    put(root, "/sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    put(root, "/sys/devices/system/node/node1/cpulist", "2-3,6-7\n");
    put(root, "/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
    put(root, "/sys/bus/pci/devices/0000:86:00.0/numa_node", "-1\n");
    assert_int_equal(orch_pci_node(root, 0, 0x3b, 0), 1);
    assert_int_equal(orch_pci_node(root, 0, 0x86, 0), -1);
    assert_int_equal(orch_pci_node(root, 1, 0x3b, 0), -1);
    struct scene *scene = g_new0(struct scene, 1);
    scene->topology = orch_topology_from_sys(root, cpus, 8);
    chooses(scene, 2, 1, 1, "2-3", 1);
    chooses(scene, 2, 1, -1, "0-1", 0);
    chooses(scene, 3, 1, -1, "4-6", -1);
    scene_free(scene);
    assert_true(orch_tree_remove(root, NULL));
}

static void test_sys_without_anything(void **state)
{
    (void)state;
    const unsigned cpus[] = {4, 6};
    struct scene *scene = g_new0(struct scene, 1);
    scene->topology = orch_topology_from_sys("/nonexistent", cpus, 2);
    assert_string_equal(scene->topology->source, "/sys");
    chooses(scene, 2, 1, -1, "4,6", 0);
    scene_free(scene);
}

static void test_this_machine(void **state)
{
    (void)state;
    struct orch_topology *topology = orch_topology_new();
    g_autoptr(GArray) allowed = orch_allowed_cpus();
    assert_int_equal(topology->cpus->len, allowed->len);
    for (guint i = 0; i < allowed->len; i++)
        assert_int_equal(g_array_index(topology->cpus, struct orch_cpu, i).number,
                         g_array_index(allowed, unsigned, i));
    orch_topology_free(topology);
}

static void test_format(void **state)
{
    (void)state;
    const int cpus[] = {0, 1, 2, 5, 7, 8};
    g_autofree char *text = orch_cpu_list_format(cpus, 6), *one = orch_cpu_list_format(cpus, 1),
                    *none = orch_cpu_list_format(cpus, 0);
    assert_string_equal(text, "0-2,5,7-8");
    assert_string_equal(one, "0");
    assert_string_equal(none, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores_first),
        cmocka_unit_test(test_spread_over_nodes),
        cmocka_unit_test(test_near_the_gpu),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_restricted),
        cmocka_unit_test(test_sys),
        cmocka_unit_test(test_sys_without_anything),
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
