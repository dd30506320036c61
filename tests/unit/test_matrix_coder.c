/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indicators of categories: a level that was not measured is none of the others, but a version that
 * was not measured counts as the nearest one. */
#include "predictors/features/matrix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#define ROWS 4

static struct orch_matrix *words(const char *feature, const char *const *names)
{
    struct orch_matrix *m = orch_matrix_new(ROWS);
    double *column = orch_matrix_add_category(m, feature);
    for (size_t i = 0; i < ROWS; i++)
        column[i] = names[i] ? orch_matrix_level(m, 0, names[i]) : (double)NAN;
    return m;
}

/* Two rows of the first level, one of the second, none of the third, one without. */
static struct orch_matrix *learned(const char *feature)
{
    static const char *const names[ROWS] = {"5005", "5105", "5005", NULL};
    struct orch_matrix *m = words(feature, names);
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

static const double TARGET[ROWS] = {1, 2, 3, 4};

static void check(enum orch_coding coding)
{
    static const char *const names[ROWS] = {"5005", "5105", "5110", "9000"};
    struct orch_matrix *m = learned("act"), *asked = words("act", names);
    struct orch_coder *coder = orch_coder_fit(m, TARGET, coding);
    assert_int_equal(orch_coder_cols(coder), 2); /* the third has no rows */
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

/* Encodes each word of `asked`, which has to be coded as the known one beside it. */
static void check_versions(const char *const *known, const char *const (*pairs)[2],
                           enum orch_coding coding)
{
    struct orch_matrix *m = words("torch", known);
    struct orch_coder *coder = orch_coder_fit(m, TARGET, coding);
    for (size_t i = 0; pairs[i][0]; i++) {
        const char *const names[ROWS] = {pairs[i][0], pairs[i][1], NULL, NULL};
        struct orch_matrix *asked = words("torch", names);
        g_autofree double *coded = orch_coder_apply(coder, asked);
        if (squared_distance(coded, (size_t)orch_coder_cols(coder), 0, 1) > 1e-12)
            fail_msg("%s is not coded as %s", pairs[i][0], pairs[i][1]);
        orch_matrix_free(asked);
    }
    orch_coder_free(coder);
    orch_matrix_free(m);
}

static void test_unknown_version(void **state)
{
    (void)state;
    static const char *const digits[ROWS] = {"110", "240", "291", "291d"};
    static const char *const dotted[ROWS] = {"PyTorch 2.9.1", "PyTorch 2.11.0", "none", "MXNet 3"};
    static const char *const pairs[][2] = {{"240d", "291d"}, {"113", "110"}, {"265", "240"},
                                           {"300", "291"},   {"110", "110"}, {NULL, NULL}};
    static const char *const words_too[][2] = {{"pytorch 2.10.1", "PyTorch 2.11.0"},
                                               {"PyTorch 2.9", "PyTorch 2.9.1"},
                                               {"PyTorch 3.0", "PyTorch 2.11.0"},
                                               {"MXNet 1.2", "MXNet 3"},
                                               {"JAX 3", "JAX 9"}, /* neither is known */
                                               {NULL, NULL}};
    const enum orch_coding codings[] = {ORCH_CODING_MEAN, ORCH_CODING_ONE_HOT, ORCH_CODING_NEAR};
    for (size_t k = 0; k < G_N_ELEMENTS(codings); k++) {
        check_versions(digits, pairs, codings[k]);
        check_versions(dotted, words_too, codings[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_unknown_level),
                                       cmocka_unit_test(test_unknown_version)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
