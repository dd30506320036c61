/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of sums: its invariant, and what it finds, against sums from scratch. */
#include "plugins/replay/memory/sum_tree.h"

#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>
#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

static int64_t find(const struct orch_sum_tree *tree, float at)
{
    int64_t index = -1;
    orch_sum_tree_find_many(tree, &at, 1, &index);
    return index;
}

static void test_find(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 15, 16, 17, 255, 256, 257, 5000};
    for (size_t c = 0; c < G_N_ELEMENTS(counts); c++) {
        struct orch_sum_tree *tree = orch_sum_tree_new(counts[c]);
        uint64_t random = c;
        double sum = 0;
        /* whole numbers, whose sums are exact */
        for (int64_t i = 0; i < counts[c]; i++) {
            const float weight = (float)orch_random_below(&random, 4);
            orch_sum_tree_set(tree, i, weight);
            assert_true(orch_sum_tree_get(tree, i) == weight);
        }
        for (int64_t i = 0; i < counts[c]; i++) {
            const double weight = (double)orch_sum_tree_get(tree, i);
            for (double at = sum; at < sum + weight; at += 0.5) {
                const float place = (float)at;
                assert_int_equal(find(tree, place), i);
            }
            sum += weight;
        }
        assert_true((double)orch_sum_tree_total(tree) == sum);
        orch_sum_tree_free(tree);
    }
}

static void test_a_million_operations(void **state)
{
    (void)state;
    enum { COUNT = 10007, OPERATIONS = 1000000, MANY = 64 };
    struct orch_sum_tree *tree = orch_sum_tree_new(COUNT);
    g_autofree float *expected = g_new0(float, COUNT);
    uint64_t random = 7;
    for (int i = 0; i < OPERATIONS; i++) {
        const int64_t at = (int64_t)orch_random_below(&random, COUNT);
        const float weight = (float)orch_random_unit(&random);
        const int64_t wanted = (int64_t)orch_random_below(&random, 40);
        const int64_t length = MIN(COUNT - at, wanted);
        if (i % 100 == 0) {
            orch_sum_tree_set_range(tree, at, length, weight);
            for (int64_t k = 0; k < length; k++)
                expected[at + k] = weight;
        } else if (i % 100 == 1) {
            int64_t places[MANY];
            float weights[MANY];
            for (int k = 0; k < MANY; k++) {
                places[k] = (int64_t)orch_random_below(&random, COUNT);
                expected[places[k]] = weights[k] = (float)orch_random_unit(&random);
            }
            orch_sum_tree_set_many(tree, places, weights, MANY);
        } else {
            expected[at] = weight;
            orch_sum_tree_set(tree, at, weight);
        }
    }
    double sum = 0;
    assert_true(orch_sum_tree_is_sound(tree));
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(orch_sum_tree_get(tree, i) == expected[i]);
        sum += (double)expected[i];
    }
    if (fabs((double)orch_sum_tree_total(tree) - sum) > 1e-5 * sum)
        fail_msg("total %.9g, expected %.9g", (double)orch_sum_tree_total(tree), sum);
    orch_sum_tree_free(tree);
}

/* Draws in proportion to the weights: chi-square over all places, of which some are never drawn. */
static void test_frequencies(void **state)
{
    (void)state;
    enum { COUNT = 300, DRAWS = 400000 };
    struct orch_sum_tree *tree = orch_sum_tree_new(COUNT);
    g_autofree double *hits = g_new0(double, COUNT);
    uint64_t random = 11;
    double chi = 0;
    int degrees = -1;
    for (int i = 0; i < COUNT; i++)
        orch_sum_tree_set(tree, i, i % 7 ? (float)(1 + i % 13) * 0.37f : 0);
    const double total = (double)orch_sum_tree_total(tree);
    for (int i = 0; i < DRAWS; i++)
        hits[find(tree, (float)(orch_random_unit(&random) * total))]++;
    for (int i = 0; i < COUNT; i++) {
        const double expected = DRAWS * (double)orch_sum_tree_get(tree, i) / total;
        if (expected > 0) {
            chi += (hits[i] - expected) * (hits[i] - expected) / expected;
            degrees++;
        } else {
            assert_true(hits[i] == 0);
        }
    }
    const double p = gsl_cdf_chisq_Q(chi, degrees);
    if (p < 1e-4)
        fail_msg("chi-square %g with %d degrees of freedom, p %g", chi, degrees, p);
    orch_sum_tree_free(tree);
}

/* Beyond the total by rounding: the last weight that is not 0. */
static void test_at_the_end(void **state)
{
    (void)state;
    struct orch_sum_tree *tree = orch_sum_tree_new(40);
    orch_sum_tree_set(tree, 3, 0.1f);
    orch_sum_tree_set(tree, 20, 0.7f);
    assert_int_equal(find(tree, orch_sum_tree_total(tree)), 20);
    assert_int_equal(find(tree, 0), 3);
    orch_sum_tree_free(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_a_million_operations),
        cmocka_unit_test(test_frequencies),
        cmocka_unit_test(test_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
