/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trees answer many rows as they answer each alone, to the last bit: small ones and large ones,
 * with values missing to either side, at cuts, and for rows that fill no block. */
#include "lib/base/random.h"
#include "predictors/models/trees.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { COLS = 5, ROWS = 3000, ASKED = 777 };

/* The first column has few values, all of them cuts; the third has gaps that say much, the fourth
 * gaps that say nothing. */
static double *make_values(size_t rows, uint64_t seed)
{
    double *values = g_new(double, COLS *rows);
    for (size_t i = 0; i < COLS * rows; i++)
        values[i] = i < rows ? (double)orch_random_below(&seed, 9) : orch_random_unit(&seed);
    for (size_t i = 2 * rows; i < 4 * rows; i++)
        values[i] = orch_random_unit(&seed) < 0.2 ? (double)NAN : values[i];
    return values;
}

static double law(const double *values, size_t rows, size_t i)
{
    double gap = values[2 * rows + i];
    return values[i] * values[rows + i] + (isnan(gap) ? 7 * values[4 * rows + i] : gap);
}

static struct orch_trees *grow(int count, int depth, size_t leaf_rows)
{
    g_autofree double *values = make_values(ROWS, 1);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, ROWS, COLS);
    struct orch_trees *trees = orch_trees_new();
    static float gradient[ROWS];
    static uint32_t index[ROWS];
    for (int t = 0; t < count; t++) {
        struct orch_tree_options options = {.depth = depth,
                                            .leaf_rows = leaf_rows,
                                            .lambda = 1,
                                            .gain = 1e-12,
                                            .feature_share = 0.6,
                                            .seed = (uint64_t)t};
        for (uint32_t i = 0; i < ROWS; i++) {
            gradient[i] = (float)-law(values, ROWS, i);
            index[i] = i;
        }
        orch_trees_append(trees, orch_tree_grow(bins, gradient, NULL, index, ROWS, &options, NULL));
    }
    orch_tree_bins_free(bins);
    return trees;
}

/* All rows at once, and one by one: few rows go by the values themselves. */
static void compare(struct orch_trees *trees)
{
    g_autofree double *values = make_values(ASKED, 2);
    double all[ASKED] = {0}, line[COLS];
    int apart = 0;
    orch_trees_add(trees, values, ASKED, COLS, 0.3, all);
    for (size_t i = 0; i < ASKED; i++) {
        double own = 0;
        for (size_t c = 0; c < COLS; c++)
            line[c] = values[c * ASKED + i];
        orch_trees_add(trees, line, 1, COLS, 0.3, &own);
        assert_memory_equal(&own, &all[i], sizeof own);
        apart += fabs(own - all[0]) > 0.1;
    }
    assert_true(apart > ASKED / 2);
}

static void test_small(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 6; depth++) {
        struct orch_trees *trees = grow(9, depth, 2);
        compare(trees);
        orch_trees_free(trees);
    }
}

static void test_large(void **state)
{
    (void)state;
    struct orch_trees *trees = grow(3, 20, 1);
    compare(trees);
    orch_trees_free(trees);
}

/* Small and large ones in one sum, and as they come back from where they were kept. */
static void test_kept(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    struct orch_trees *trees = grow(2, 12, 3);
    json_t *saved = orch_trees_save(trees, ORCH_SAVE_PACKED);
    struct orch_trees *back = orch_trees_load(saved, COLS, &error);
    assert_non_null(back);
    compare(back);
    g_autofree double *values = make_values(ASKED, 3);
    double a[ASKED] = {0}, b[ASKED] = {0};
    orch_trees_add(trees, values, ASKED, COLS, 1, a);
    orch_trees_add(back, values, ASKED, COLS, 1, b);
    assert_memory_equal(a, b, sizeof a);
    json_decref(saved);
    orch_trees_free(back);
    orch_trees_free(trees);
}

/* One column with more cuts than a byte counts: 400 trees with a split each. */
static void test_many_cuts(void **state)
{
    (void)state;
    enum { CUTS = 400 };
    struct orch_trees *trees = orch_trees_new();
    for (int t = 0; t < CUTS; t++) {
        struct orch_tree *tree = g_new0(struct orch_tree, 1);
        struct orch_tree_node nodes[3] = {{.feature = 4, .left = 1, .right = 2},
                                          {.feature = -1, .value = 1},
                                          {.feature = -1, .value = t}};
        nodes[0].threshold = (double)t / CUTS;
        tree->nodes = g_array_new(FALSE, FALSE, sizeof(struct orch_tree_node));
        g_array_append_vals(tree->nodes, nodes, 3);
        orch_trees_append(trees, tree);
    }
    compare(trees);
    orch_trees_free(trees);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small), cmocka_unit_test(test_large),
                                       cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_many_cuts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
