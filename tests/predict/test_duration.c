/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Durations of trials: from repeats, and by a law over parameters, on data with a known law. How
 * often the interval holds what came is counted, not assumed. */
#include "features/predict/trial/duration.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static double normal(uint64_t *r)
{
    double u = 1 - orch_random_unit(r), v = orch_random_unit(r);
    return sqrt(-2 * log(u)) * cos(2 * G_PI * v);
}

static void test_scatter_is_pooled_over_cells(void **state)
{
    (void)state;
    double e = exp(0.1);
    double seconds[] = {10 * e, 10 / e, 1 * e, 1 / e, 7};
    size_t cells[] = {0, 0, 3, 3, 1};
    struct orch_scatter scatter = orch_scatter_of(seconds, cells, 5);
    assert_true(fabs(scatter.dof - 2) < 1e-12);
    assert_true(fabs(scatter.sd - sqrt(0.04 / 2)) < 1e-12); /* four squares of 0.1 over 2 */
}

static void test_one_run_alone_is_not_trusted(void **state)
{
    (void)state;
    struct orch_scatter nothing = {0}, steady = {.sd = 0.01, .dof = 50};
    double one[] = {100};
    struct orch_interval wide = orch_duration_of_repeats(one, 1, nothing);
    struct orch_interval narrow = orch_duration_of_repeats(one, 1, steady);
    assert_true(fabs(wide.mid - 100) < 1e-9);
    assert_true(wide.low < 75 && wide.high > 133);
    assert_true(narrow.high < 108 && narrow.high > 101);
    double nine[] = {99, 100, 101, 98, 102, 100, 99, 101, 100};
    struct orch_interval many =
        orch_duration_of_repeats(nine, 9, orch_scatter_of(nine, (size_t[9]){0}, 9));
    assert_true(many.high - many.low < (wide.high - wide.low) / 2);
}

/* A further run of the same trial, at several scatters and numbers of runs. */
static void test_coverage_of_repeats(void **state)
{
    (void)state;
    uint64_t random = 5;
    for (int n = 1; n <= 9; n += 4) {
        int held = 0, all = 2000;
        for (int trial = 0; trial < all; trial++) {
            double seconds[9], sd = 0.08;
            for (int i = 0; i < n; i++)
                seconds[i] = 50 * exp(sd * normal(&random));
            struct orch_scatter scatter = orch_scatter_of(seconds, (size_t[9]){0}, (size_t)n);
            struct orch_interval d = orch_duration_of_repeats(seconds, (size_t)n, scatter);
            double next = 50 * exp(sd * normal(&random));
            held += next >= d.low && next <= d.high;
        }
        double coverage = (double)held / all;
        if (coverage < 0.88 || coverage > (n == 1 ? 1 : 0.98)) /* one alone: on the safe side */
            fail_msg("%d runs: coverage %.3f", n, coverage);
    }
}

/* time = 2 s x epochs x cost of the net x noise; nets a and b and c. */
struct sweep {
    struct orch_matrix *matrix;
    double seconds[200], truth[200], work[200];
    size_t rows;
};

static void make_sweep(struct sweep *s, size_t rows, double noise, uint64_t seed)
{
    static const char *const names[] = {"a", "b", "c"};
    static const double costs[] = {1, 4, 10};
    uint64_t random = seed;
    s->rows = rows;
    s->matrix = orch_matrix_new(rows);
    double *epochs = orch_matrix_add_number(s->matrix, "epochs");
    double *net = orch_matrix_add_category(s->matrix, "net");
    double *rate = orch_matrix_add_number(s->matrix, "lr"); /* tells nothing */
    for (size_t i = 0; i < rows; i++) {
        size_t which = (size_t)(orch_random_unit(&random) * 3);
        epochs[i] = floor(exp(orch_random_unit(&random) * 4)) + 1;
        rate[i] = exp(-5 * orch_random_unit(&random));
        net[i] = orch_matrix_level(s->matrix, 1, names[which]);
        s->work[i] = epochs[i] * costs[which];
        s->truth[i] = 2 * s->work[i] * exp(noise * normal(&random));
        s->seconds[i] = s->truth[i];
    }
}

static void test_law_is_recovered(void **state)
{
    (void)state;
    struct sweep s;
    make_sweep(&s, 40, 0, 3);
    for (size_t i = 30; i < 40; i++)
        s.seconds[i] = (double)NAN;
    struct orch_interval out[40];
    struct orch_duration_law law;
    orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
    assert_int_equal(law.cells, 30);
    assert_true(law.relative_error < 0.02);
    for (size_t i = 30; i < 40; i++)
        assert_true(fabs(out[i].mid / s.truth[i] - 1) < 0.05);
    orch_matrix_free(s.matrix);
}

static void test_coverage_of_the_law(void **state)
{
    (void)state;
    for (size_t rows = 12; rows <= 60; rows *= 5) {
        int held = 0, all = 0;
        for (uint64_t seed = 1; seed <= 60; seed++) {
            struct sweep s;
            struct orch_interval out[200];
            struct orch_duration_law law;
            make_sweep(&s, rows + 10, 0.2, seed * 7919);
            for (size_t i = rows; i < rows + 10; i++)
                s.seconds[i] = (double)NAN;
            orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
            for (size_t i = rows; i < rows + 10; i++, all++)
                held += s.truth[i] >= out[i].low && s.truth[i] <= out[i].high;
            orch_matrix_free(s.matrix);
        }
        double coverage = (double)held / all;
        if (coverage < 0.86 || coverage > 0.97)
            fail_msg("%zu cells: coverage %.3f", rows, coverage);
    }
}

/* time = start + seconds an item x n^power x noise: a script that loads its libraries first. */
static void make_script(struct sweep *s, size_t rows, double start_s, double noise, uint64_t seed)
{
    uint64_t random = seed;
    s->rows = rows;
    s->matrix = orch_matrix_new(rows);
    double *n = orch_matrix_add_number(s->matrix, "n");
    double *kind = orch_matrix_add_category(s->matrix, "kind");
    for (size_t i = 0; i < rows; i++) {
        bool is_slow = orch_random_unit(&random) < 0.5;
        n[i] = floor(100 * exp(orch_random_unit(&random) * 4));
        kind[i] = orch_matrix_level(s->matrix, 1, is_slow ? "slow" : "fast");
        s->truth[i] = start_s + 2e-5 * pow(n[i], 1.4) * (is_slow ? 3 : 1);
        s->seconds[i] = s->truth[i] * exp(noise * normal(&random));
    }
}

static void test_start_up_is_learned(void **state)
{
    (void)state;
    static const double starts[] = {0, 0.5, 2};
    for (size_t which = 0; which < G_N_ELEMENTS(starts); which++) {
        int held = 0, all = 0;
        double off = 0;
        for (uint64_t seed = 1; seed <= 60; seed++) {
            struct sweep s;
            struct orch_interval out[200];
            struct orch_duration_law law;
            make_script(&s, 30, starts[which], 0.03, seed * 104729);
            double measured[30];
            for (size_t i = 20; i < 30; i++) {
                measured[i] = s.seconds[i];
                s.seconds[i] = (double)NAN;
            }
            orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
            for (size_t i = 20; i < 30; i++, all++) {
                held += measured[i] >= out[i].low && measured[i] <= out[i].high;
                off += fabs(log(out[i].mid / s.truth[i]));
            }
            if (starts[which] > 0 && fabs(law.start_s / starts[which] - 1) > 0.25)
                fail_msg("start-up of %g s taken for %g s (seed %d)", starts[which], law.start_s,
                         (int)seed);
            orch_matrix_free(s.matrix);
        }
        if (off / all > 0.05 || (double)held / all < 0.86)
            fail_msg("start-up of %g s: off by %.3f, coverage %.3f", starts[which], off / all,
                     (double)held / all);
    }
}

static void test_outlier_does_not_lead_the_law(void **state)
{
    (void)state;
    struct sweep s;
    make_sweep(&s, 40, 0.02, 11);
    s.seconds[4] *= 30; /* the machine slept */
    for (size_t i = 30; i < 40; i++)
        s.seconds[i] = (double)NAN;
    struct orch_interval out[40];
    struct orch_duration_law law;
    orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
    for (size_t i = 30; i < 40; i++)
        assert_true(fabs(out[i].mid / s.truth[i] - 1) < 0.15);
    orch_matrix_free(s.matrix);
}

/* One measured trial and a declared amount of work: scaled; without it: unknown when far. */
static void test_one_cell(void **state)
{
    (void)state;
    struct orch_matrix *m = orch_matrix_new(3);
    double *epochs = orch_matrix_add_number(m, "epochs");
    double numbers[] = {1, 1.2, 100}, work[] = {5, 6, 500};
    double seconds[] = {10, (double)NAN, (double)NAN};
    for (int i = 0; i < 3; i++)
        epochs[i] = numbers[i];
    struct orch_interval out[3];
    struct orch_duration_law law;
    orch_duration_law(m, work, seconds, (struct orch_scatter){0}, out, &law);
    assert_true(fabs(out[2].mid - 1000) < 1e-6 && out[2].high > 2000 && out[2].low < 500);
    orch_duration_law(m, NULL, seconds, (struct orch_scatter){0}, out, &law);
    assert_true(fabs(out[1].mid - 10) < 1e-6 && out[1].high > 12);
    assert_true(isnan(out[2].mid));
    seconds[0] = (double)NAN;
    orch_duration_law(m, NULL, seconds, (struct orch_scatter){0}, out, &law);
    assert_true(isnan(out[1].mid));
    orch_matrix_free(m);
}

/* A category that nobody measured makes the interval wider, and so does going far out. */
static void test_the_unknown_is_wide(void **state)
{
    (void)state;
    struct sweep s;
    make_sweep(&s, 32, 0.05, 21);
    double *epochs = (double *)(uintptr_t)orch_matrix_column(s.matrix, 0);
    double *net = (double *)(uintptr_t)orch_matrix_column(s.matrix, 1);
    for (size_t i = 30; i < 32; i++)
        s.seconds[i] = (double)NAN;
    struct orch_interval out[32];
    struct orch_duration_law law;
    epochs[30] = 10;
    epochs[31] = 10;
    net[30] = orch_matrix_level(s.matrix, 1, "a");
    net[31] = orch_matrix_level(s.matrix, 1, "new");
    orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
    double known = log(out[30].high / out[30].low), unknown = log(out[31].high / out[31].low);
    assert_true(known < 0.4 && unknown > 2);
    epochs[31] = 2000;
    net[31] = net[30];
    orch_duration_law(s.matrix, NULL, s.seconds, (struct orch_scatter){0}, out, &law);
    assert_true(log(out[31].high / out[31].low) > 3 * known);
    orch_matrix_free(s.matrix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scatter_is_pooled_over_cells),
        cmocka_unit_test(test_one_run_alone_is_not_trusted),
        cmocka_unit_test(test_coverage_of_repeats),
        cmocka_unit_test(test_law_is_recovered),
        cmocka_unit_test(test_coverage_of_the_law),
        cmocka_unit_test(test_start_up_is_learned),
        cmocka_unit_test(test_outlier_does_not_lead_the_law),
        cmocka_unit_test(test_one_cell),
        cmocka_unit_test(test_the_unknown_is_wide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
