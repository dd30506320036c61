/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indicators of categories: a level that was not measured is none of the others. */
#include "predictors/features/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#define ROWS 4

/* Two rows of the first version, one of the second, none of the third, one without. */
static struct orch_matrix *versions(void)
{
    static const char *const names[ROWS] = {"5005", "5105", "5005", NULL};
    struct orch_matrix *m = orch_matrix_new(ROWS);
    double *column = orch_matrix_add_category(m, "cudnn");
    for (size_t i = 0; i < ROWS; i++)
        column[i] = names[i] ? orch_matrix_level(m, 0, names[i]) : (double)NAN;
    orch_matrix_level(m, 0, "5110");
    return m;
}

static double squared_distance(const double *coded, size_t cols, size_t a, size_t b)
{
    double sum = 0;
    for (size_t c = 0; c < cols; c++) {
        double off = coded[c * ROWS + a] - coded[c * ROWS + b];
        sum += off * off;
    }
    return sum;
}

static void check(enum orch_coding coding)
{
    const double target[ROWS] = {1, 2, 3, 4};
    struct orch_matrix *m = versions();
    struct orch_coder *coder = orch_coder_fit(m, target, coding);
    assert_int_equal(orch_coder_cols(coder), 2); /* the third has no rows */
    struct orch_matrix *asked = orch_matrix_new(ROWS);
    double *column = orch_matrix_add_category(asked, "cudnn");
    column[0] = orch_matrix_level(asked, 0, "5005");
    column[1] = orch_matrix_level(asked, 0, "5105");
    column[2] = orch_matrix_level(asked, 0, "5110");
    column[3] = orch_matrix_level(asked, 0, "9000");
    g_autofree double *coded = orch_coder_apply(coder, asked);
    assert_true(squared_distance(coded, 2, 0, 1) > 1.9);
    for (size_t unknown = 2; unknown < ROWS; unknown++) {
        double first = squared_distance(coded, 2, unknown, 0);
        double second = squared_distance(coded, 2, unknown, 1);
        assert_true(first > 0.9 && fabs(first - second) < 1e-12);
    }
    orch_matrix_free(asked);
    orch_coder_free(coder);
    orch_matrix_free(m);
}

static void test_unknown_level(void **state)
{
    (void)state;
    check(ORCH_CODING_ONE_HOT);
    check(ORCH_CODING_NEAR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
