/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What sampling beside a trial measures, on real processes and on a made-up /proc, and what it
 * costs. CPU time is compared with CPU time, so that a busy machine changes nothing. */
#include "core/host/utilisation.h"
#include "lib/base/file.h"
#include "lib/hw/usage.h"
#include "lib/wire/system_metrics.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static double cpu_of(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void burn(double cpu_s)
{
    while (cpu_of(RUSAGE_SELF) < cpu_s)
        ;
}

/* A child with two children of its own, one of which is orphaned; all end before they are read. */
static void start_family(void)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child)
        return;
    pid_t waited = fork();
    if (waited == 0) {
        burn(0.2);
        _exit(0);
    }
    if (fork() == 0) { /* outlives its parent */
        burn(0.3);
        _exit(0);
    }
    burn(0.1);
    waitpid(waited, NULL, 0);
    _exit(0);
}

static bool has_children_file(void)
{
    return access("/proc/self/task", R_OK) == 0 && access("/proc/thread-self/children", R_OK) == 0;
}

static void test_tree(void **state)
{
    (void)state;
    struct orch_machine_usage usage;
    if (!has_children_file()) {
        print_message("skipped: this kernel does not list children in /proc\n");
        skip();
    }
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
        print_message("skipped: no process adopts orphans here (qemu-user)\n");
        skip();
    }
    struct orch_usage_meter *meter = orch_usage_meter_new("/proc");
    double before = cpu_of(RUSAGE_CHILDREN), seen = 0;
    start_family();
    for (bool are_left = true; are_left;) { /* reads while they run, end and move to this process */
        orch_usage_meter_read(meter, &usage);
        seen += usage.cpu_tree_s;
        are_left = waitpid(-1, NULL, WNOHANG) >= 0;
    }
    orch_usage_meter_read(meter, &usage);
    seen += usage.cpu_tree_s;
    double used = cpu_of(RUSAGE_CHILDREN) - before;
    assert_true(used >= 0.6);
    if (fabs(seen - used) > 0.05) /* ticks of 10 ms, of three processes */
        fail_msg("the meter saw %.3f s of %.3f s", seen, used);
    orch_usage_meter_free(meter);
}

static void test_memory(void **state)
{
    (void)state;
    if (!has_children_file())
        skip();
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        volatile char *bytes = malloc(64 << 20);
        for (size_t i = 0; i < 64 << 20; i += 4096)
            bytes[i] = 1;
        if (write(ready[1], "x", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct orch_usage_meter *meter = orch_usage_meter_new("/proc");
    struct orch_machine_usage usage;
    orch_usage_meter_read(meter, &usage);
    assert_true(usage.memory_tree_mb > 64 && usage.memory_tree_mb < 640);
    assert_true(usage.memory_machine > 0 && usage.memory_machine < 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    orch_usage_meter_read(meter, &usage);
    assert_true(usage.memory_tree_mb < 1);
    orch_usage_meter_free(meter);
}

/* ---- a made-up /proc --------------------------------------------------------------------------
 */

static void put(const char *root, const char *path, const char *text)
{
    g_autofree char *full = g_build_filename(root, path, NULL);
    g_autofree char *folder = g_path_get_dirname(full);
    assert_true(orch_dir_make(folder, NULL));
    assert_true(g_file_set_contents(full, text, -1, NULL));
}

/* Fields 14 to 17 in ticks, and 24 in pages. */
static char *stat_line(int user, int system, int ended, int pages)
{
    return g_strdup_printf("7 (a ) name) S 1 7 7 0 -1 0 0 0 0 0 %d %d %d 0 20 0 1 0 99 1000 %d 1\n",
                           user, system, ended, pages);
}

static void put_process(const char *root, const char *pid, int ticks, int read_bytes)
{
    g_autofree char *stat = g_strconcat(pid, "/stat", NULL), *io = g_strconcat(pid, "/io", NULL);
    g_autofree char *line = stat_line(ticks, 0, 0, 250);
    g_autofree char *bytes =
        g_strdup_printf("rchar: 9\nread_bytes: %d\nwrite_bytes: 500000\n", read_bytes);
    put(root, stat, line);
    put(root, io, bytes);
}

static void test_made_up(void **state)
{
    (void)state;
    g_autofree char *root = g_dir_make_tmp("orch-usage-XXXXXX", NULL);
    double ticks = (double)sysconf(_SC_CLK_TCK), page = (double)sysconf(_SC_PAGESIZE);
    put(root, "stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 1 1 1\n");
    put(root, "meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 250 kB\n");
    g_autofree char *self = stat_line(50, 50, 0, 9);
    put(root, "self/stat", self);
    put(root, "self/io", "rchar: 1\nread_bytes: 0\nwrite_bytes: 0\n");
    put(root, "self/task/5/children", "77 ");
    put(root, "self/task/6/children", "");
    put(root, "77/task/77/children", "78 79"); /* the last number is cut, so it is left out */
    put_process(root, "77", 10, 1000000);
    put_process(root, "78", 20, 2000000);
    struct orch_usage_meter *meter = orch_usage_meter_new(root);
    put(root, "stat", "cpu  130 0 100 720 150 0 0 0 0 0\n");
    put_process(root, "77", 10 + 7, 1000000 + 250000);
    put_process(root, "78", 20 + 5, 2000000);
    struct orch_machine_usage usage;
    orch_usage_meter_read(meter, &usage);
    assert_true(fabs(usage.cpu_tree_s - 12 / ticks) < 1e-9);
    assert_true(fabs(usage.cpu_machine - 0.3) < 1e-9);
    assert_true(fabs(usage.memory_tree_mb - 500 * page / 1e6) < 1e-9);
    assert_true(fabs(usage.memory_machine - 0.75) < 1e-9);
    assert_true(fabs(usage.read_mb - 0.25) < 1e-9 && usage.written_mb == 0);
    /* 78 ends, and 77 waits for it: nothing is lost, and nothing is counted twice */
    g_autofree char *waited = stat_line(17, 0, 25, 250);
    put(root, "77/stat", waited);
    put(root, "77/task/77/children", "");
    orch_usage_meter_read(meter, &usage);
    assert_true(fabs(usage.cpu_tree_s) < 1e-9);
    /* 77 is gone, but this process has not got its sums yet: they come with the next reading, once
     */
    put(root, "self/task/5/children", "");
    orch_usage_meter_read(meter, &usage);
    assert_true(usage.cpu_tree_s == 0 && usage.memory_tree_mb == 0);
    g_autofree char *reaped = stat_line(50, 50, 42 + 3, 9);
    put(root, "self/stat", reaped);
    orch_usage_meter_read(meter, &usage);
    assert_true(fabs(usage.cpu_tree_s - 3 / ticks) < 1e-9);
    /* sums that nobody takes over are given up at the second reading */
    put(root, "self/stat", self);
    for (int i = 0; i < 2; i++) {
        orch_usage_meter_read(meter, &usage);
        assert_true(usage.cpu_tree_s == 0);
    }
    g_autofree char *later = stat_line(50, 50, 5, 9);
    put(root, "self/stat", later);
    orch_usage_meter_read(meter, &usage);
    assert_true(fabs(usage.cpu_tree_s - 5 / ticks) < 1e-9);
    orch_usage_meter_free(meter);
    /* a /proc without these files */
    assert_true(orch_tree_remove(root, NULL));
    meter = orch_usage_meter_new(root);
    orch_usage_meter_read(meter, &usage);
    assert_true(isnan(usage.cpu_tree_s) && isnan(usage.cpu_machine) &&
                isnan(usage.memory_tree_mb) && isnan(usage.memory_machine) && isnan(usage.read_mb));
    orch_usage_meter_free(meter);
}

/* ---- cost -------------------------------------------------------------------------------------
 */

/* A sample each second of a trial of 20 processes takes less than 0.5 % of a core. */
static void test_cost(void **state)
{
    (void)state;
    enum { PROCESSES = 20, SAMPLES = 100 };
    pid_t pids[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((pids[i] = fork()) == 0)
            for (;;)
                pause();
    struct orch_usage_meter *meter = orch_usage_meter_new("/proc");
    struct orch_machine_usage usage;
    double before = cpu_of(RUSAGE_THREAD);
    for (int i = 0; i < SAMPLES; i++)
        orch_usage_meter_read(meter, &usage);
    double each = (cpu_of(RUSAGE_THREAD) - before) / SAMPLES;
    print_message("a sample of %d processes takes %.2f ms\n", PROCESSES, 1e3 * each);
    for (int i = 0; i < PROCESSES; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    orch_usage_meter_free(meter);
    assert_true(each / ORCH_SYSTEM_INTERVAL_S < 0.005);
}

/* Whatever a sample costs, the pause after it is long enough. */
static void test_pause(void **state)
{
    (void)state;
    for (double cost = 1e-5; cost < 100; cost *= 3) {
        double wait = orch_utilisation_wait_s(1, cost);
        assert_true(wait >= 1 && cost / wait < 0.005);
    }
    assert_true(orch_utilisation_wait_s(5, 1e-4) == 5);
}

/* A day at one sample a second is some thousand points, and a window never is shorter than the
 * interval. */
static void test_windows(void **state)
{
    (void)state;
    unsigned points = 0;
    for (double at = 0; at < 86400; points++) {
        double window = orch_utilisation_window_s(1, at);
        assert_true(window >= 1 && (at < 600 ? window == 1 : window <= at / 500));
        at += window;
    }
    assert_true(points > 600 && points < 4000);
}

static void test_names(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ORCH_SYSTEM_ALL; i++) {
        const struct orch_metric_spec *spec = orch_system_metric_at(i);
        assert_ptr_equal(orch_system_metric_find(spec->name), spec);
        assert_true(orch_metric_is_system(spec->name) && spec->unit && *spec->unit);
        assert_string_equal(spec->step_unit, "second");
    }
    assert_string_equal(orch_system_metric_at(ORCH_SYSTEM_METRICS + ORCH_SYSTEM_GPU_METRICS)->name,
                        "system/gpu1_core");
    assert_null(orch_system_metric_find("loss"));
    assert_null(orch_system_metric_find("system/gpu99_core"));
    assert_false(orch_metric_is_system("system"));
}

/* A trial that asks for no samples has no thread. */
static void test_off(void **state)
{
    (void)state;
    struct orch_trial_spec *trial = orch_trial_new();
    assert_null(orch_utilisation_start(trial, 0));
    assert_int_equal(orch_utilisation_fd(NULL), -1);
    assert_true(orch_utilisation_end(NULL, NULL) == 0);
    orch_trial_free(trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),  cmocka_unit_test(test_memory), cmocka_unit_test(test_made_up),
        cmocka_unit_test(test_cost),  cmocka_unit_test(test_pause),  cmocka_unit_test(test_windows),
        cmocka_unit_test(test_names), cmocka_unit_test(test_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
