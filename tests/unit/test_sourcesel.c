/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source selection: divergences of known distributions, triples of sources, labels, sets. */
#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/sourcesel/pseudo_labels.h"
#include "plugins/sourcesel/source_divergence.h"
#include "plugins/sourcesel/source_sets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Sums of a few products of doubles near 1. */
#define TOLERANCE 1e-12

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= TOLERANCE))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* ---- divergences ------------------------------------------------------------------------------
 */

static void test_known_divergences(void **state)
{
    (void)state;
    const double half[] = {0.5, 0.5}, quarter[] = {0.25, 0.75}, point[] = {1, 0}, other[] = {0, 1};
    assert_near(orch_sourcesel_kl(half, quarter, 2), 0.5 * log(2) + 0.5 * log(2.0 / 3));
    assert_near(orch_sourcesel_kl(quarter, half, 2), 0.25 * log(0.5) + 0.75 * log(1.5));
    assert_near(orch_sourcesel_kl(half, half, 2), 0);
    assert_near(orch_sourcesel_kl(point, half, 2), log(2)); /* 0 ln 0 = 0 */
    assert_true(isinf(orch_sourcesel_kl(half, point, 2)));
    assert_near(orch_sourcesel_js(point, other, 2), log(2));
    assert_near(orch_sourcesel_js(quarter, half, 2), orch_sourcesel_js(half, quarter, 2));
    const double mixed[] = {0.375, 0.625};
    assert_near(orch_sourcesel_js(quarter, half, 2),
                (orch_sourcesel_kl(quarter, mixed, 2) + orch_sourcesel_kl(half, mixed, 2)) / 2);
    /* neither depends on the order of the features */
    const double p[] = {0.1, 0.2, 0.7}, q[] = {0.3, 0.3, 0.4};
    const double turned_p[] = {0.7, 0.1, 0.2}, turned_q[] = {0.4, 0.3, 0.3};
    assert_near(orch_sourcesel_kl(p, q, 3), orch_sourcesel_kl(turned_p, turned_q, 3));
}

/* "0.2;0.3;0.5"; the caller frees. */
static double *numbers_of(const char *text, size_t count)
{
    g_auto(GStrv) words = g_strsplit(text, ";", -1);
    double *values = g_new(double, count);
    assert_int_equal(g_strv_length(words), count);
    for (size_t i = 0; i < count; i++)
        assert_true(orch_real_parse(words[i], &values[i]));
    return values;
}

static double number_of(const char *text)
{
    g_autofree double *value = numbers_of(text, 1);
    return *value;
}

/* Pairs of random distributions whose divergences another program computed. */
static void test_computed_divergences(void **state)
{
    (void)state;
    g_autofree char *path =
        g_build_filename(g_getenv("ORCH_SOURCE_DIR"), "tests", "data", "divergences.csv", NULL);
    g_autofree char *text = NULL;
    assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(g_strchomp(text), "\n", -1);
    assert_true(g_strv_length(lines) > 3);
    for (size_t i = 1; lines[i]; i++) {
        g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
        int64_t count;
        assert_int_equal(g_strv_length(cells), 6);
        assert_true(orch_int_parse(cells[0], &count));
        g_autofree double *p = numbers_of(cells[1], (size_t)count);
        g_autofree double *q = numbers_of(cells[2], (size_t)count);
        assert_near(orch_sourcesel_kl(p, q, (size_t)count), number_of(cells[3]));
        assert_near(orch_sourcesel_kl(q, p, (size_t)count), number_of(cells[4]));
        assert_near(orch_sourcesel_js(p, q, (size_t)count), number_of(cells[5]));
    }
}

static void test_distributions(void **state)
{
    (void)state;
    const double features[] = {3, 0, -2, 1}, scaled[] = {30, 0, -1, 10};
    double out[4], same[4];
    orch_sourcesel_distribution(features, 4, 0.25, out);
    assert_near(out[0], (0.75 + 0.25) / 2);
    assert_near(out[1], 0.25 / 2);
    assert_near(out[2], 0.25 / 2); /* a negative feature counts as 0 */
    assert_near(out[3], (0.25 + 0.25) / 2);
    orch_sourcesel_distribution(scaled, 4, 0.25, same);
    for (int i = 0; i < 4; i++)
        assert_near(same[i], out[i]);
    const double none[] = {0, -1, NAN, 0};
    orch_sourcesel_distribution(none, 4, 1e-8, out);
    for (int i = 0; i < 4; i++)
        assert_near(out[i], 0.25);
}

/* ---- triples ----------------------------------------------------------------------------------
 */

static void assert_triple(struct orch_triple triple, int a, int b, int c)
{
    assert_int_equal(triple.source[0], a);
    assert_int_equal(triple.source[1], b);
    assert_int_equal(triple.source[2], c);
}

static void test_nearest(void **state)
{
    (void)state;
    assert_triple(orch_sourcesel_nearest((const double[]){4, 1, 3, 2}, 4), 1, 3, 2);
    assert_triple(orch_sourcesel_nearest((const double[]){3, 2, 1}, 3), 2, 1, 0);
    assert_triple(orch_sourcesel_nearest((const double[]){1, 1, 1, 0}, 4), 3, 0, 1); /* ties */
    assert_triple(orch_sourcesel_nearest((const double[]){HUGE_VAL, 2, HUGE_VAL}, 3), 1, 0, 2);
}

static void test_area(void **state)
{
    (void)state;
    assert_near(orch_sourcesel_triangle_area(3, 4, 5), 6);
    assert_near(orch_sourcesel_triangle_area(2, 2, 2), sqrt(3));
    assert_near(orch_sourcesel_triangle_area(1, 2, 3), 0);
    assert_near(orch_sourcesel_triangle_area(1, 1, 5), 0); /* no triangle */
}

/* Sources at (0,0), (4,0), (1,1), (2,3) and (3,0) of a plane: of 0 and 1 with 2, 3 or 4 the
 * triangle with 3 has the largest area, 6. */
static void test_cfa(void **state)
{
    (void)state;
    const double x[] = {0, 4, 1, 2, 3}, y[] = {0, 0, 1, 3, 0};
    double between[25];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            between[i * 5 + j] = hypot(x[i] - x[j], y[i] - y[j]);
    assert_triple(orch_sourcesel_cfa((const double[]){1, 9, 2, 3, 4}, between, 5), 0, 1, 3);
    assert_triple(orch_sourcesel_cfa((const double[]){9, 1, 2, 3, 4}, between, 5), 1, 0, 3);
    /* of 2 and 3 with 0, 1 or 4: areas 0.5, 3.5 and 2.5 */
    assert_triple(orch_sourcesel_cfa((const double[]){2, 3, 1, 9, 4}, between, 5), 2, 3, 1);
    /* equal distances and equal areas: the lower index */
    const double equal[] = {0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0};
    assert_triple(orch_sourcesel_cfa((const double[]){1, 1, 1, 1}, equal, 4), 0, 1, 2);
    assert_triple(orch_sourcesel_cfa((const double[]){2, 1, 2, 1}, equal, 4), 1, 0, 2);
}

static void test_labels(void **state)
{
    (void)state;
    const struct orch_triple images[] = {{{2, 0, 1}}, {{0, 1, 2}}, {{2, 0, 1}}, {{0, 2, 1}},
                                         {{2, 0, 1}}, {{0, 1, 2}}, {{1, 0, 2}}, {{1, 0, 2}}};
    struct orch_triple_labels *labels = orch_sourcesel_labels_new(images, 8, 2);
    assert_int_equal(labels->triples->len, 3); /* (0,2,1) occurs once */
    assert_int_equal(orch_sourcesel_label_of(labels, images[1]), 0);
    assert_int_equal(orch_sourcesel_label_of(labels, images[6]), 1);
    assert_int_equal(orch_sourcesel_label_of(labels, images[0]), 2);
    assert_int_equal(orch_sourcesel_label_of(labels, images[3]), -1);
    assert_int_equal(g_array_index(labels->images, int64_t, 2), 3);
    orch_sourcesel_labels_free(labels);
    labels = orch_sourcesel_labels_new(images, 0, 1);
    assert_int_equal(labels->triples->len, 0);
    assert_int_equal(orch_sourcesel_label_of(labels, images[0]), -1);
    orch_sourcesel_labels_free(labels);
}

/* ---- sets -------------------------------------------------------------------------------------
 */

static GPtrArray *parse(const char *const *texts, size_t count, const char *const *use,
                        size_t use_count, GError **error)
{
    const struct orch_list sources = {count, texts}, names = {use_count, use};
    return orch_source_sets_parse(&sources, &names, error);
}

static void test_sets(void **state)
{
    (void)state;
    const char *const texts[] = {"shoes 5 7", " tops  0 6 ", "legs 1 3"};
    const char *const use[] = {"legs", "shoes"};
    g_autoptr(GPtrArray) all = parse(texts, 3, NULL, 0, NULL);
    assert_int_equal(all->len, 3);
    assert_int_equal(orch_source_sets_find(all, 6), 1);
    assert_int_equal(orch_source_sets_find(all, 9), -1);
    g_autoptr(GPtrArray) two = parse(texts, 3, use, 2, NULL);
    g_autoptr(GArray) classes = orch_source_sets_classes(two);
    const int64_t expected[] = {1, 3, 5, 7};
    assert_int_equal(two->len, 2);
    assert_int_equal(classes->len, 4);
    assert_memory_equal(classes->data, expected, sizeof expected);
}

static void test_refused_sets(void **state)
{
    (void)state;
    static const struct {
        const char *texts[2], *use, *message;
    } cases[] = {
        {{"shoes", NULL}, NULL, "sources: 'shoes' has no classes"},
        {{"shoes 5 x", NULL}, NULL, "sources: 'x' of 'shoes' is not a class number"},
        {{"shoes 5 -1", NULL}, NULL, "sources: '-1' of 'shoes' is not a class number"},
        {{"shoes 5 5", NULL}, NULL, "sources: 'shoes' names class 5 twice"},
        {{"shoes 5", "feet 5"}, NULL, "sources: class 5 is in 'shoes' and in 'feet'"},
        {{"shoes 5", "shoes 7"}, NULL, "sources: 'shoes' occurs twice"},
        {{" ", NULL}, NULL, "sources: a set has no name"},
        {{NULL, NULL}, NULL, "sources: the list is empty"},
        {{"shoes 5", "tops 0"}, "hats", "'use': there is no source 'hats'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GError *error = NULL;
        const size_t count = !cases[i].texts[0] ? 0 : cases[i].texts[1] ? 2 : 1;
        assert_null(parse(cases[i].texts, count, &cases[i].use, cases[i].use ? 1 : 0, &error));
        if (!g_str_has_prefix(error->message, cases[i].message))
            fail_msg("%s", error->message);
        assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
        g_clear_error(&error);
    }
    const char *const texts[] = {"shoes 5", "tops 0"}, *const twice[] = {"tops", "tops"};
    GError *error = NULL;
    assert_null(parse(texts, 2, twice, 2, &error));
    assert_string_equal(error->message, "'use': 'tops' occurs twice");
    g_clear_error(&error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_divergences),
        cmocka_unit_test(test_computed_divergences),
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_area),
        cmocka_unit_test(test_cfa),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_refused_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
