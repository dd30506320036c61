/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns that share a histogram: which ones do, and that codes stand for the columns' own bins. */
#include "predictors/models/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 4000

/* Five devices; two facts of each; a kernel of 7 sizes; many values, twice; 3 columns of 9 values
 * that are drawn apart: with the rest they are too many combinations for one bundle. */
static double *table(int cols)
{
    double *values = g_new(double, (size_t)ROWS *(size_t)cols);
    unsigned random = 7;
    for (size_t i = 0; i < ROWS; i++) {
        double device = (random = random * 1103515245u + 12345u) >> 16 & 0x7fff;
        device = fmod(device, 5);
        double many = (random = random * 1103515245u + 12345u) >> 16 & 0x7fff;
        double row[] = {device,
                        3 - device * device,
                        device < 2 ? (double)NAN : 10 + device,
                        (double)(i % 7),
                        many,
                        many * 2};
        for (int c = 0; c < cols; c++)
            values[(size_t)c * ROWS + i] = c < 6 ? row[c] : (double)((i * (size_t)(c + 1) / 7) % 9);
    }
    return values;
}

static const struct orch_tree_lane *lane_of(const struct orch_tree_bins *bins, int column,
                                            const struct orch_tree_member **out)
{
    const struct orch_tree_lane *found = NULL;
    for (guint k = 0; k < bins->lanes->len; k++) {
        const struct orch_tree_lane *lane = bins->lanes->pdata[k];
        for (guint m = 0; m < lane->members->len; m++) {
            const struct orch_tree_member *member =
                &g_array_index(lane->members, struct orch_tree_member, m);
            if (member->column != column)
                continue;
            assert_null(found); /* each column is in one lane */
            found = lane;
            *out = member;
        }
    }
    return found;
}

static void test_lanes(void **state)
{
    (void)state;
    enum { COLS = 9 };
    double *values = table(COLS);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, ROWS, COLS);
    const struct orch_tree_lane *lanes[COLS];
    for (int c = 0; c < COLS; c++) {
        const struct orch_tree_member *member = NULL;
        lanes[c] = lane_of(bins, c, &member);
        assert_non_null(lanes[c]);
        assert_non_null(member);
        int codes = lanes[c] ? lanes[c]->codes : 0;
        assert_in_range(codes, 1, 256);
        for (size_t i = 0; lanes[c] && i < ROWS; i++) {
            uint8_t code = lanes[c]->code[i], bin = bins->bins[(size_t)c * ROWS + i];
            assert_true(code < codes);
            assert_int_equal(member && member->bin_of ? member->bin_of[code] : code, bin);
        }
    }
    assert_ptr_equal(lanes[0], lanes[1]); /* what is known of a device adds no code */
    assert_ptr_equal(lanes[0], lanes[2]);
    assert_ptr_equal(lanes[0], lanes[3]);
    assert_int_equal(lanes[0] ? lanes[0]->codes : 0, 5 * 7);
    assert_ptr_equal(lanes[4], lanes[5]); /* equal bins */
    assert_ptr_not_equal(lanes[0], lanes[4]);
    assert_ptr_not_equal(lanes[6], lanes[0]);
    assert_true(bins->lanes->len < 6);
    orch_tree_bins_free(bins);
    g_free(values);
}

/* The best split by histograms of lanes is the best by single columns, which are read where a split
 * considers a small share of the features: the best of many draws has all of them. */
static void test_same_trees(void **state)
{
    (void)state;
    enum { COLS = 9 };
    double *values = table(COLS);
    struct orch_tree_bins *bins = orch_tree_bins_new(values, ROWS, COLS);
    float *gradient = g_new(float, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        gradient[i] = (float)(sin((double)i) + values[i] - values[3 * ROWS + i] +
                              (isnan(values[2 * ROWS + i]) ? 2 : 0));
    uint32_t *index = g_new(uint32_t, ROWS);
    double sums[2];
    for (int whole = 0; whole < 2; whole++) {
        struct orch_tree_options options = {
            .depth = 1, .leaf_rows = 1, .lambda = 1, .feature_share = whole ? 1 : 0.4, .seed = 3};
        for (uint32_t i = 0; i < ROWS; i++)
            index[i] = i;
        struct orch_tree *best = NULL;
        for (uint64_t seed = 0; seed < (whole ? 1 : 40); seed++) {
            options.seed = seed;
            struct orch_tree *tree =
                orch_tree_grow(bins, gradient, NULL, index, ROWS, &options, NULL);
            const struct orch_tree_node *a = (const void *)tree->nodes->data;
            const struct orch_tree_node *b = best ? (const void *)best->nodes->data : NULL;
            if (!b || a->gain > b->gain) {
                orch_tree_free(best);
                best = tree;
            } else {
                orch_tree_free(tree);
            }
        }
        sums[whole] = g_array_index(best->nodes, struct orch_tree_node, 0).gain;
        orch_tree_free(best);
    }
    assert_true(sums[0] > 0 && sums[0] == sums[1]); /* integers are summed: to the last bit */
    g_free(index);
    g_free(gradient);
    orch_tree_bins_free(bins);
    g_free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_same_trees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
