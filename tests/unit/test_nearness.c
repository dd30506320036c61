/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is near to what was learned from, and what is beyond it. */
#include "predictors/nearness.h"
#include "predictors/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

/* A table of batches, and how long ago each was measured, which hardly differs. */
static struct orch_matrix *table(const double *batches, size_t rows, double jitter)
{
    struct orch_matrix *m = orch_matrix_new(rows);
    double *batch = orch_matrix_add_number(m, "batch");
    double *gflop = orch_matrix_add_number(m, "work gflop");
    double *age = orch_matrix_add_number(m, "age");
    double *workers = orch_matrix_add_number(m, "workers");
    uint64_t random = 3;
    for (size_t i = 0; i < rows; i++) {
        batch[i] = batches[i];
        gflop[i] = 4.1 * batches[i];
        age[i] = 100 + jitter * orch_random_unit(&random);
        workers[i] = i / 4 % 2 ? 0 : 4;
    }
    return m;
}

static struct orch_nearness *learn(double jitter)
{
    double batches[80];
    for (int i = 0; i < 80; i++)
        batches[i] = (double[]){16, 32, 64, 96}[i % 4];
    struct orch_matrix *m = table(batches, 80, jitter);
    struct orch_nearness *n = orch_nearness_fit(m, 1);
    orch_matrix_free(m);
    return n;
}

/* Between those seen is near, though all rows seen have twins; far beyond them is far. */
static void test_between(void **state)
{
    (void)state;
    const double asked[] = {17, 24, 48, 80, 96, 100, 400, 2};
    for (int k = 0; k < 2; k++) {
        struct orch_nearness *n = learn(k ? 1e-6 : 0);
        struct orch_matrix *m = table(asked, G_N_ELEMENTS(asked), k ? 1e-6 : 0);
        double d[G_N_ELEMENTS(asked)];
        orch_nearness_of(n, m, d);
        for (size_t i = 0; i < 6; i++)
            assert_true(d[i] <= 1);
        assert_true(d[6] > 2 && d[7] > 2);
        orch_nearness_free(n);
        orch_matrix_free(m);
    }
}

static bool is_batch(const char *name, const void *data)
{
    (void)data;
    return strcmp(name, "batch") == 0;
}

/* By how much a row is beyond: of its own numbers, not of what was worked out from them. */
static void test_beyond(void **state)
{
    (void)state;
    const double asked[] = {96, 192, 8, 50};
    struct orch_nearness *n = learn(0);
    struct orch_matrix *m = table(asked, 4, 0);
    double beyond[4];
    orch_nearness_beyond(n, m, NULL, NULL, beyond);
    assert_true(fabs(beyond[0]) < 1e-12 && fabs(beyond[3]) < 1e-12);
    assert_true(fabs(beyond[1] - log(2)) < 1e-9 && fabs(beyond[2] - log(2)) < 1e-9);
    orch_nearness_beyond(n, m, is_batch, NULL, beyond);
    assert_true(fabs(beyond[1]) < 1e-12);
    /* of what may be zero, logarithms of one more; a missing number is not beyond */
    ((double *)(uintptr_t)orch_matrix_column(m, 3))[0] = 9;
    ((double *)(uintptr_t)orch_matrix_column(m, 0))[1] = (double)NAN;
    orch_nearness_beyond(n, m, NULL, NULL, beyond);
    assert_true(fabs(beyond[0] - log(2)) < 1e-9 && fabs(beyond[1]) < 1e-12);
    orch_nearness_free(n);
    orch_matrix_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_between),
                                       cmocka_unit_test(test_beyond)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
