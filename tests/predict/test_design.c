/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which trials to measure: shown by holding out on a law that is known, networks x GPUs. */
#include "features/predict/trial/design.h"

#include "features/predict/trial/duration.h"
#include "lib/base/error.h"
#include "lib/base/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define NETS 5
#define GPUS 3
#define CELLS (NETS * GPUS)

/* hw4, problem 4: ResNets 18 to 56 on K80, P100, V100; time = a of the net x b of the GPU x noise
 */
static struct orch_matrix *make_cells(double *seconds, uint64_t seed, double noise)
{
    static const char *const nets[] = {"18", "20", "32", "44", "56"}, *const gpus[] = {
                                                                          "K80", "P100", "V100"};
    struct orch_matrix *m = orch_matrix_new(CELLS);
    double *net = orch_matrix_add_category(m, "net"), *gpu = orch_matrix_add_category(m, "gpu");
    double a[NETS], b[GPUS];
    for (int i = 0; i < NETS; i++)
        a[i] = 3 * orch_random_unit(&seed);
    for (int i = 0; i < GPUS; i++)
        b[i] = 2 * orch_random_unit(&seed);
    for (int i = 0; i < CELLS; i++) {
        net[i] = orch_matrix_level(m, 0, nets[i / GPUS]);
        gpu[i] = orch_matrix_level(m, 1, gpus[i % GPUS]);
        seconds[i] = exp(a[i / GPUS] + b[i % GPUS] + noise * (orch_random_unit(&seed) - 0.5));
    }
    return m;
}

/* Mean |log error| of the cells that were not measured; adds to *held those within their interval.
 */
static double error_of(const struct orch_matrix *m, const double *truth, const bool *measured,
                       int *held)
{
    double seconds[CELLS], sum = 0;
    struct orch_interval out[CELLS];
    struct orch_duration_law law;
    int count = 0;
    for (int i = 0; i < CELLS; i++)
        seconds[i] = measured[i] ? truth[i] : (double)NAN;
    orch_duration_law(m, NULL, seconds, (struct orch_scatter){0}, out, &law);
    for (int i = 0; i < CELLS; i++) {
        if (measured[i])
            continue;
        *held += isnan(out[i].mid) || (truth[i] >= out[i].low && truth[i] <= out[i].high);
        /* no answer counts as the mean of what was measured */
        double guess = 0, n = 0;
        for (int j = 0; j < CELLS; j++)
            if (measured[j]) {
                guess += log(truth[j]);
                n++;
            }
        double value = isnan(out[i].mid) ? guess / n : log(out[i].mid);
        sum += fabs(value - log(truth[i]));
        count++;
    }
    return sum / count;
}

static void choose(const struct orch_matrix *m, int n, bool *measured)
{
    bool none[CELLS] = {false}, all[CELLS];
    struct orch_design_choice choices[CELLS];
    memset(all, true, sizeof all);
    memset(measured, 0, CELLS * sizeof *measured);
    assert_int_equal(orch_design_choose(m, none, all, n, choices, NULL), n);
    for (int i = 0; i < n; i++) {
        assert_false(measured[choices[i].row]);
        measured[choices[i].row] = true;
        assert_true(i == 0 || choices[i].left <= choices[i - 1].left + 1e-12);
    }
}

static void choose_randomly(int n, bool *measured, uint64_t *random)
{
    memset(measured, 0, CELLS * sizeof *measured);
    for (int left = n; left;) {
        size_t i = orch_random_below(random, CELLS);
        left -= !measured[i];
        measured[i] = true;
    }
}

/* Measuring the chosen cells forecasts the others better than the average choice does. */
static void test_better_than_chance(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (int n = NETS + GPUS - 1; n <= 11; n += 2) {
        double designed = 0, chance = 0;
        int laws = 40, draws = 30, held = 0, ignored = 0;
        for (int l = 0; l < laws; l++) {
            double truth[CELLS];
            bool measured[CELLS];
            struct orch_matrix *m = make_cells(truth, 100 + (uint64_t)l, 0.1);
            choose(m, n, measured);
            designed += error_of(m, truth, measured, &held) / laws;
            for (int d = 0; d < draws; d++) {
                choose_randomly(n, measured, &random);
                chance += error_of(m, truth, measured, &ignored) / laws / draws;
            }
            orch_matrix_free(m);
        }
        double coverage = (double)held / laws / (CELLS - n);
        print_message("%d of %d measured: mean |log error| of the others %.3f, by chance %.3f; "
                      "within the 90 %% interval %.3f\n",
                      n, CELLS, designed, chance, coverage);
        if (designed > 0.7 * chance || coverage < 0.85)
            fail_msg("%d cells: %.3f, by chance %.3f; coverage %.3f", n, designed, chance,
                     coverage);
    }
}

/* Seven cells determine 5 + 3 - 1 numbers: each level is among those chosen. */
static void test_every_level_is_seen(void **state)
{
    (void)state;
    double truth[CELLS];
    bool measured[CELLS];
    struct orch_matrix *m = make_cells(truth, 1, 0);
    choose(m, NETS + GPUS - 1, measured);
    for (int net = 0; net < NETS; net++) {
        int seen = 0;
        for (int gpu = 0; gpu < GPUS; gpu++)
            seen += measured[net * GPUS + gpu];
        assert_true(seen >= 1);
    }
    for (int gpu = 0; gpu < GPUS; gpu++) {
        int seen = 0;
        for (int net = 0; net < NETS; net++)
            seen += measured[net * GPUS + gpu];
        assert_true(seen >= 1);
    }
    orch_matrix_free(m);
}

/* What is known is not asked for again: with one GPU measured whole, another GPU comes first. */
static void test_known_rows_count(void **state)
{
    (void)state;
    double truth[CELLS];
    bool known[CELLS] = {false}, may[CELLS];
    struct orch_design_choice choices[2];
    struct orch_matrix *m = make_cells(truth, 1, 0);
    for (int i = 0; i < CELLS; i++) {
        known[i] = i % GPUS == 0;
        may[i] = !known[i];
    }
    assert_int_equal(orch_design_choose(m, known, may, 2, choices, NULL), 2);
    assert_true(choices[0].row % GPUS != choices[1].row % GPUS);
    assert_true(choices[1].left < 0.2);
    orch_matrix_free(m);
}

/* A number: both ends first. */
static void test_ends_of_a_number(void **state)
{
    (void)state;
    struct orch_matrix *m = orch_matrix_new(9);
    double *epochs = orch_matrix_add_number(m, "epochs");
    bool none[9] = {false}, all[9];
    struct orch_design_choice choices[20];
    memset(all, true, sizeof all);
    for (int i = 0; i < 9; i++)
        epochs[i] = pow(2, i);
    assert_int_equal(orch_design_choose(m, none, all, 2, choices, NULL), 2);
    assert_true(choices[0].row + choices[1].row == 8 || choices[0].row % 8 == 0 ||
                choices[1].row % 8 == 0);
    assert_int_equal(orch_design_choose(m, none, all, 20, choices, NULL), 9); /* all there are */
    orch_matrix_free(m);
}

static void test_too_many_rows(void **state)
{
    (void)state;
    struct orch_matrix *m = orch_matrix_new(ORCH_DESIGN_ROWS_MAX + 1);
    GError *error = NULL;
    assert_int_equal(orch_design_choose(m, NULL, NULL, 1, NULL, &error), -1);
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_USAGE));
    g_clear_error(&error);
    orch_matrix_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_better_than_chance), cmocka_unit_test(test_every_level_is_seen),
        cmocka_unit_test(test_known_rows_count),   cmocka_unit_test(test_ends_of_a_number),
        cmocka_unit_test(test_too_many_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
