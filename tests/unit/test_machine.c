/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine probe: this machine, made-up ones (x86, ARM, control groups of both kinds) and
 * NVML through a library that stands in for the driver's. */
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"
#include "lib/hw/machine.h"
#include "lib/hw/probe.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static const unsigned four_cpus[] = {0, 1, 2, 3};
static const char *self;

static char *new_root(void)
{
    char *root = g_dir_make_tmp("orch-machine-XXXXXX", NULL);
    assert_non_null(root);
    return root;
}

static void free_root(char *root)
{
    assert_true(orch_tree_remove(root, NULL));
    g_free(root);
}

static void put(const char *root, const char *path, const char *text)
{
    g_autofree char *full = g_strconcat(root, path, NULL);
    g_autofree char *folder = g_path_get_dirname(full);
    assert_true(orch_dir_make(folder, NULL));
    assert_true(g_file_set_contents(full, text, -1, NULL));
}

/* Two sockets, a core each, two threads a core. */
static void put_topology(const char *root)
{
    for (unsigned cpu = 0; cpu < 4; cpu++) {
        g_autofree char *folder = g_strdup_printf("/sys/devices/system/cpu/cpu%u/topology/", cpu);
        g_autofree char *package = g_strconcat(folder, "physical_package_id", NULL);
        g_autofree char *core = g_strconcat(folder, "core_cpus_list", NULL);
        put(root, package, cpu % 2 ? "1\n" : "0\n");
        put(root, core, cpu % 2 ? "1,3\n" : "0,2\n");
    }
}

static char *new_x86_root(void)
{
    char *root = new_root();
    put(root, "/proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 79\nmodel name\t: Intel(R) Xeon(R)  CPU E5-2690 v4 @ 2.60GHz\n"
        "cpu MHz\t\t: 1199.987\n\nprocessor\t: 1\nmodel name\t: other\n");
    put(root, "/proc/meminfo", "MemTotal:       16384000 kB\nMemFree:        100 kB\n");
    put(root, "/etc/os-release",
        "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"
        "VERSION_ID=\"12\"\n");
    put_topology(root);
    return root;
}

static void test_this_machine(void **state)
{
    (void)state;
    struct orch_machine *machine = orch_machine_probe();
    assert_true(*machine->cpu_model && *machine->arch && *machine->os && *machine->kernel);
    assert_non_null(machine->hostname);
    cpu_set_t set;
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_in_range(machine->threads, 1, CPU_COUNT(&set));
    assert_in_range(machine->cores, 1, machine->threads);
    assert_true(machine->sockets >= 1);
    assert_true(machine->memory_bytes > 64 * MIB);
    /* with or without GPUs, what there is agrees with itself */
    assert_true(machine->gpus->len > 0 || machine->gpu_note != NULL);
    assert_int_equal(machine->gpus->len == 0, machine->gpu_driver == NULL);
    assert_true(orch_machine_load() >= 0);
    orch_machine_free(machine);
    orch_machine_free(NULL);
}

static void test_probe_is_quick(void **state)
{
    (void)state;
    const unsigned one = 0;
    int64_t best = INT64_MAX;
    for (int i = 0; i < 20; i++) {
        int64_t started = orch_mono_ns();
        orch_machine_free(orch_machine_probe_at("", &one, 1));
        best = MIN(best, orch_mono_ns() - started);
    }
    print_message("probe without NVML: %.0f us\n", (double)best / 1e3);
    assert_true(best < 2000000);
}

static void test_x86(void **state)
{
    (void)state;
    char *root = new_x86_root();
    struct orch_machine *machine = orch_machine_probe_at(root, four_cpus, 4);
    assert_string_equal(machine->cpu_model, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz");
    assert_string_equal(machine->os, "Debian GNU/Linux 12");
    assert_int_equal(machine->sockets, 2);
    assert_int_equal(machine->cores, 2);
    assert_int_equal(machine->threads, 4);
    assert_int_equal(machine->memory_bytes, INT64_C(16384000) * 1024);
    orch_machine_free(machine);

    const unsigned one_core[] = {1, 3};
    machine = orch_machine_probe_at(root, one_core, 2);
    assert_int_equal(machine->sockets, 1);
    assert_int_equal(machine->cores, 1);
    assert_int_equal(machine->threads, 2);
    orch_machine_free(machine);
    free_root(root);
}

static void test_arm(void **state)
{
    static const struct {
        const char *cpuinfo, *expected;
    } cases[] = {
        {"processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "ARM Neoverse-N1"},
        {"CPU implementer\t: 0x41\nCPU part\t: 0xfff\n", "ARM implementer 0x41 part 0xfff"},
        {"processor : 0\nHardware\t: BCM2835\n", "BCM2835"},
        {"cpu\t\t: POWER9, altivec supported\nclock\t\t: 2300MHz\n", "POWER9, altivec supported"},
        {"", "unknown CPU"},
    };
    (void)state;
    char *root = new_root();
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        put(root, "/proc/cpuinfo", cases[i].cpuinfo);
        struct orch_machine *machine = orch_machine_probe_at(root, four_cpus, 4);
        assert_string_equal(machine->cpu_model, cases[i].expected);
        assert_string_equal(machine->os, "unknown OS");
        assert_int_equal(machine->cores, 4); /* nothing in /sys: a core a thread */
        orch_machine_free(machine);
    }
    free_root(root);
}

static void test_cgroup_v2(void **state)
{
    (void)state;
    char *root = new_x86_root();
    put(root, "/proc/self/cgroup", "0::/user.slice/job.scope\n");
    put(root, "/sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n");
    put(root, "/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
    put(root, "/sys/fs/cgroup/user.slice/job.scope/memory.max", "1073741824\n");
    put(root, "/sys/fs/cgroup/user.slice/memory.max", "max\n");
    struct orch_machine *machine = orch_machine_probe_at(root, four_cpus, 4);
    assert_int_equal(machine->threads, 2); /* 1.5 rounded up, from the level above */
    assert_int_equal(machine->cores, 2);
    assert_int_equal(machine->memory_bytes, GIB);
    orch_machine_free(machine);

    /* a path of the host's that is not visible in the container: its own group is the mount */
    put(root, "/proc/self/cgroup", "0::/../../host/path\n");
    put(root, "/sys/fs/cgroup/cpu.max", "100000 100000\n");
    assert_int_equal(orch_cgroup_threads(root), 1);
    assert_int_equal(orch_cgroup_memory(root), 0);
    free_root(root);
}

static void test_cgroup_v1(void **state)
{
    (void)state;
    char *root = new_x86_root();
    put(root, "/proc/self/cgroup", "5:memory:/docker/a\n3:cpu,cpuacct:/docker/a\n1:name=x:/\n");
    put(root, "/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_quota_us", "300000\n");
    put(root, "/sys/fs/cgroup/cpu,cpuacct/docker/a/cpu.cfs_period_us", "100000\n");
    put(root, "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    put(root, "/sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "9223372036854771712\n");
    put(root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n");
    struct orch_machine *machine = orch_machine_probe_at(root, four_cpus, 4);
    assert_int_equal(machine->threads, 3);
    assert_int_equal(machine->memory_bytes, 2 * GIB);
    orch_machine_free(machine);
    free_root(root);
}

/* A machine with two GPUs, not probed. */
static struct orch_machine *new_machine(char **out_root)
{
    *out_root = new_x86_root();
    struct orch_machine *machine = orch_machine_probe_at(*out_root, four_cpus, 4);
    for (unsigned i = 0; i < 2; i++) {
        struct orch_gpu_device *gpu = g_new0(struct orch_gpu_device, 1);
        gpu->index = i;
        gpu->model = g_strdup("Tesla V100-SXM2-16GB");
        gpu->uuid = g_strdup_printf("GPU-%u", i);
        gpu->memory_bytes = 16 * GIB;
        g_ptr_array_add(machine->gpus, gpu);
    }
    machine->gpu_driver = g_strdup("470.57.02");
    return machine;
}

static void change_text(char **field, const char *text)
{
    g_free(*field);
    *field = g_strdup(text);
}

static void test_key_is_stable(void **state)
{
    (void)state;
    char *root;
    struct orch_machine *machine = new_machine(&root);
    g_autofree char *key = orch_machine_key(machine);
    assert_int_equal(strlen(key), 32);
    assert_int_equal(strspn(key, "0123456789abcdef"), 32);

    change_text(&machine->hostname, "elsewhere");
    change_text(&machine->kernel, "7.0.0");
    change_text(&machine->gpu_driver, "999.0");
    change_text(&machine->os, "Debian GNU/Linux 13");
    machine->memory_bytes += 3 * MIB; /* another kernel keeps a little more for itself */
    struct orch_gpu_device *gpu = machine->gpus->pdata[0];
    change_text(&gpu->uuid, "GPU-other");
    g_autofree char *same = orch_machine_key(machine);
    assert_string_equal(same, key);
    orch_machine_free(machine);
    free_root(root);
}

/* The clock in /proc/cpuinfo changes from one read to the next. */
static void test_key_without_clock(void **state)
{
    (void)state;
    char *root = new_root();
    char *keys[2];
    for (unsigned i = 0; i < 2; i++) {
        put(root, "/proc/cpuinfo",
            i ? "model name\t: Xeon\ncpu MHz\t\t: 3100.1\nbogomips\t: 6200.2\n"
              : "model name\t: Xeon\ncpu MHz\t\t: 1200.0\nbogomips\t: 2400.0\n");
        struct orch_machine *machine = orch_machine_probe_at(root, four_cpus, 4);
        keys[i] = orch_machine_key(machine);
        orch_machine_free(machine);
    }
    assert_string_equal(keys[0], keys[1]);
    g_free(keys[0]);
    g_free(keys[1]);
    free_root(root);
}

static void test_key_tells_apart(void **state)
{
    (void)state;
    g_autoptr(GHashTable) keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < 8; i++) {
        char *root;
        struct orch_machine *machine = new_machine(&root);
        struct orch_gpu_device *gpu = machine->gpus->pdata[1];
        switch (i) {
        case 1:
            change_text(&machine->cpu_model, "AMD EPYC 7763");
            break;
        case 2:
            machine->cores = 1;
            break;
        case 3:
            machine->threads = 2;
            break;
        case 4:
            machine->memory_bytes *= 2;
            break;
        case 5:
            change_text(&gpu->model, "NVIDIA H200");
            break;
        case 6:
            g_ptr_array_remove_index(machine->gpus, 1);
            break;
        case 7:
            change_text(&machine->arch, "s390x");
            break;
        default:
            break;
        }
        assert_true(g_hash_table_add(keys, orch_machine_key(machine)));
        orch_machine_free(machine);
        free_root(root);
    }
    assert_int_equal(g_hash_table_size(keys), 8);
}

static void test_where(void **state)
{
    (void)state;
    char *root;
    struct orch_machine *machine = new_machine(&root);
    const unsigned both[] = {1, 0}, beyond[] = {0, 7};
    g_autofree char *cpu = orch_machine_device_key(machine, NULL, 0, 1, 4);
    g_autofree char *thread = orch_machine_device_key(machine, NULL, 0, 1, 1);
    g_autofree char *two = orch_machine_device_key(machine, both, 2, 1, 4);
    g_autofree char *one = orch_machine_device_key(machine, both, 1, 1, 4);
    g_autofree char *half = orch_machine_device_key(machine, both, 1, 0.5, 4);
    g_autofree char *third = orch_machine_device_key(machine, both, 1, 1.0 / 3, 4);
    g_autofree char *unknown = orch_machine_device_key(machine, beyond, 2, 1, 4);
    assert_string_equal(cpu, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz, 4 threads");
    assert_string_equal(thread, "Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz, 1 thread");
    assert_string_equal(two, "2x Tesla V100-SXM2-16GB");
    assert_string_equal(one, "1x Tesla V100-SXM2-16GB");
    assert_string_equal(half, "0.5x Tesla V100-SXM2-16GB");
    assert_string_equal(third, "0.333333x Tesla V100-SXM2-16GB");
    assert_true(orch_device_key_is_share(half));
    assert_false(orch_device_key_is_share(one));
    assert_false(orch_device_key_is_share(NULL));
    assert_string_equal(unknown, "1x Tesla V100-SXM2-16GB + 1x unknown GPU");
    orch_machine_free(machine);
    free_root(root);
}

/* What this very program, started with another library path, says about its GPUs. */
static json_t *facts_with(const char *library_dir, const char *fake_case)
{
    char *argv[] = {(char *)(uintptr_t)self, (char *)(uintptr_t) "--facts", NULL};
    g_auto(GStrv) environment = g_get_environ();
    environment = g_environ_setenv(environment, "LD_LIBRARY_PATH", library_dir, TRUE);
    environment = g_environ_setenv(environment, "FAKE_NVML", fake_case, TRUE);
    g_autofree char *out = NULL;
    int status = -1;
    assert_true(g_spawn_sync(NULL, argv, environment, G_SPAWN_DEFAULT, NULL, NULL, &out, NULL,
                             &status, NULL));
    assert_int_equal(status, 0);
    json_t *facts = orch_json_parse(out, strlen(out), 65536, NULL);
    assert_non_null(facts);
    return facts;
}

/* A record says what the processor of its machine computes with. */
static void test_vectors(void **state)
{
    (void)state;
    g_autoptr(json_t) facts = facts_with(FAKE_NVML_DIR, "two");
    const char *vectors = orch_json_text(facts, "vectors", NULL);
#if defined(__x86_64__) || defined(__aarch64__)
    assert_non_null(vectors);
    assert_int_equal(g_str_has_suffix(vectors, "bf16"), orch_cpu_computes_bf16());
#else
    assert_null(vectors);
#endif
}

static void test_nvml(void **state)
{
    (void)state;
    g_autoptr(json_t) facts = facts_with(FAKE_NVML_DIR, "two");
    assert_string_equal(orch_json_text(facts, "gpu_driver", ""), "470.57.02");
    assert_true(json_is_null(json_object_get(facts, "gpu_note")));
    const json_t *gpus = json_object_get(facts, "gpus");
    assert_int_equal(json_array_size(gpus), 2);
    const json_t *second = json_array_get(gpus, 1);
    assert_int_equal(orch_json_int(second, "index", -1), 1);
    assert_string_equal(orch_json_text(second, "model", ""), "Tesla V100-SXM2-16GB");
    assert_string_equal(orch_json_text(second, "uuid", ""), "GPU-fake-1");
    assert_int_equal(orch_json_int(second, "memory_bytes", 0), 16945512448);
    assert_string_equal(orch_json_text(second, "compute_capability", ""), "7.0");
}

static void test_nvml_failures(void **state)
{
    static const struct {
        const char *fake_case;
        unsigned gpu_count;
        const char *note;
    } cases[] = {
        {"init", 0, "NVML: Driver Not Loaded"},
        {"none", 0, "no device"},
        {"lost", 1, "GPU 1: GPU is lost"},
        {"bare", 2, NULL},
    };
    (void)state;
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(json_t) facts = facts_with(FAKE_NVML_DIR, cases[i].fake_case);
        assert_int_equal(json_array_size(json_object_get(facts, "gpus")), cases[i].gpu_count);
        const char *note = orch_json_text(facts, "gpu_note", NULL);
        assert_int_equal(note == NULL, cases[i].note == NULL);
        if (note)
            assert_string_equal(note, cases[i].note);
    }
}

static void test_nvml_broken_library(void **state)
{
    (void)state;
    char *folder = new_root();
    put(folder, "/libnvidia-ml.so.1", "not a library");
    g_autoptr(json_t) facts = facts_with(folder, "");
    assert_int_equal(json_array_size(json_object_get(facts, "gpus")), 0);
    const char *note = orch_json_text(facts, "gpu_note", "");
    assert_true(g_str_has_prefix(note, "NVML library: "));
    assert_non_null(strstr(note, folder));
    free_root(folder);
}

static int print_facts(void)
{
    struct orch_machine *machine = orch_machine_probe();
    g_autoptr(json_t) facts = orch_machine_facts(machine);
    g_autofree char *text = orch_json_canonical(facts);
    puts(text);
    orch_machine_free(machine);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--facts") == 0)
        return print_facts();
    g_autofree char *path = g_file_read_link("/proc/self/exe", NULL);
    self = path ? path : argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_machine),
        cmocka_unit_test(test_probe_is_quick),
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_arm),
        cmocka_unit_test(test_cgroup_v2),
        cmocka_unit_test(test_cgroup_v1),
        cmocka_unit_test(test_key_is_stable),
        cmocka_unit_test(test_key_without_clock),
        cmocka_unit_test(test_key_tells_apart),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_nvml),
        cmocka_unit_test(test_nvml_failures),
        cmocka_unit_test(test_nvml_broken_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
