/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs during which the machine did other work: how orch-host measures it, which runs comparisons
 * of times leave out. */
#include "core/host/foreign_cpu.h"
#include "core/stats/disturbed.h"
#include "lib/wire/foreign_cpu_fact.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void put_counters(const char *path, unsigned long long cpu0, unsigned long long steal1)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "cpu  1 2 3 4 5 6 7 8 0 0\n"
            "cpu0 %llu 100 10 999999 888888 1 2 3 77777 0\n"
            "cpu1 5 0 0 999 0 0 0 %llu 0 0\n"
            "cpu12 9 9 9 9 9 9 9 9 0 0\nintr 1 2 3\n",
            cpu0, steal1);
    fclose(file);
}

static void test_share(void **state)
{
    (void)state;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "orch-test-stat-XXXXXX", NULL);
    assert_true(close(g_mkstemp(path)) == 0);
    const unsigned long long tick = (unsigned long long)sysconf(_SC_CLK_TCK);
    static const struct {
        int cpus[2];
        unsigned count;
        double wall_s, expected;
    } rows[] = {
        {{0}, 1, 10, 0.3},          /* 3 s of 10 s: user time; idle, iowait, guest do not count */
        {{0, 1}, 2, 10, 0.2},       /* and 1 s of stolen time on the other */
        {{1}, 1, 10, 0.1},          /* work on CPUs that the trial may not use is no matter */
        {{12}, 1, 10, 0},           /* its counters did not move */
        {{0}, 1, 2, 1},             /* never above the whole */
        {{0}, 1, 0.5, (double)NAN}, /* too short */
        {{99}, 1, 10, (double)NAN}, /* there is no such CPU */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct foreign_cpu foreign;
        put_counters(path, 1000, 50);
        orch_foreign_cpu_begin(&foreign, path, rows[i].cpus, rows[i].count);
        put_counters(path, 1000 + 3 * tick, 50 + tick);
        double share = orch_foreign_cpu_share(&foreign, rows[i].wall_s);
        orch_foreign_cpu_clear(&foreign);
        /* less the CPU time of this test itself meanwhile: well under 10 ms */
        if (isnan(rows[i].expected) ? !isnan(share) : !(fabs(share - rows[i].expected) < 0.01))
            fail_msg("row %zu: %g, expected %g", i, share, rows[i].expected);
    }
    struct foreign_cpu ended; /* what others use after the trial's end does not count */
    put_counters(path, 1000, 50);
    orch_foreign_cpu_begin(&ended, path, rows[0].cpus, rows[0].count);
    put_counters(path, 1000 + 3 * tick, 50);
    orch_foreign_cpu_end(&ended);
    put_counters(path, 1000 + 9 * tick, 50);
    assert_true(fabs(orch_foreign_cpu_share(&ended, 10) - 0.3) < 0.01);
    orch_foreign_cpu_clear(&ended);
    unlink(path);
    struct foreign_cpu none;
    orch_foreign_cpu_begin(&none, path, NULL, 0);
    assert_true(isnan(orch_foreign_cpu_share(&none, 10)));
    orch_foreign_cpu_clear(&none);
    orch_foreign_cpu_begin(&none, NULL, NULL, 0); /* the machine's own counters */
    assert_false(isnan(orch_foreign_cpu_share(&none, 10)));
    orch_foreign_cpu_clear(&none);
}

static void test_facts(void **state)
{
    (void)state;
    static const struct {
        const char *facts;
        bool is_disturbed;
    } rows[] = {
        {NULL, false},
        {"", false},
        {"{\"foreign_cpu\":", false},
        {"{\"foreign_cpu\":0.1,\"load\":9.5}", false}, /* at the threshold */
        {"{\"foreign_cpu\":0.101}", true},
        {"{\"foreign_cpu\":1}", true},
        {"{\"foreign_cpu\":\"0.5\"}", false},
        {"{\"foreign_cpu\":\"nan\"}", false},
        {"{\"foreign_cpu\":-1}", false},
        {"{\"coords\":{\"foreign_cpu\":0.9}}", false}, /* a swept parameter of that name */
        {"[{\"foreign_cpu\":0.9}]", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (orch_facts_are_disturbed(rows[i].facts) != rows[i].is_disturbed)
            fail_msg("%s", rows[i].facts);
}

#define BUSY "{\"coords\":{\"lr\":0.1},\"foreign_cpu\":0.4}"
#define QUIET "{\"coords\":{\"lr\":0.1},\"foreign_cpu\":0.02}"
#define OTHER_BUSY "{\"coords\":{\"lr\":0.2},\"foreign_cpu\":0.4}"

static struct orch_run run_of(const char *experiment, const char *facts)
{
    return (struct orch_run){.experiment = (char *)(uintptr_t)experiment,
                             .facts = (char *)(uintptr_t)facts};
}

static void test_left_out(void **state)
{
    (void)state;
    struct orch_run runs[] = {run_of("a", BUSY), run_of("a", QUIET), run_of("a", OTHER_BUSY),
                              run_of("b", BUSY), run_of("a", BUSY)};
    const bool is_out[] = {true, false, false, false, true};
    g_autoptr(GPtrArray) all = g_ptr_array_new();
    for (size_t i = 0; i < G_N_ELEMENTS(runs); i++)
        g_ptr_array_add(all, &runs[i]);
    g_ptr_array_add(all, NULL); /* a trial that was not run */
    struct orch_disturbed disturbed;
    orch_disturbed_find(NULL, all, &disturbed);
    for (size_t i = 0; i < G_N_ELEMENTS(runs); i++)
        assert_int_equal(orch_disturbed_has(&disturbed, &runs[i]), is_out[i]);
    assert_int_equal(disturbed.left_out_count, 2);
    assert_int_equal(disturbed.kept_count, 2);
    g_autofree char *text = orch_disturbed_text(2, 2, "--disturbed");
    assert_non_null(strstr(text, "2 runs are left out"));
    assert_non_null(strstr(text, "--disturbed counts them too"));
    assert_non_null(strstr(text, "2 runs may be too slow"));
    assert_null(orch_disturbed_text(0, 0, NULL));
    orch_disturbed_clear(&disturbed);
    assert_false(orch_disturbed_has(&disturbed, &runs[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_share), cmocka_unit_test(test_facts),
                                       cmocka_unit_test(test_left_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
