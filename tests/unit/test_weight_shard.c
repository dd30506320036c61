/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shards of a parameter server's weights: their bounds, and each optimizer's rule. */
#include "plugins/common/shard/weight_shard.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ELEMENTS = 7, UPDATES = 3 };

static const struct orch_weight_range ALL = {0, ELEMENTS, true};

static void make(struct orch_weight_shard *shard, GArray *ranges, enum orch_weight_optimizer kind)
{
    const float values[ELEMENTS] = {1, 2, 3, 4, 5, 6, 7};
    const struct orch_weight_rule rule = {.optimizer = kind, .momentum = 0.5};
    orch_weight_shard_init(shard, ranges, values, 1, 2, &rule);
}

/** Shards cover every element once, and differ by one element at most. */
static void test_bounds(void **state)
{
    (void)state;
    for (int shards = 1; shards <= 9; shards++) {
        int64_t next = 0;
        for (int i = 0; i < shards; i++) {
            int64_t begin, count;
            orch_weight_shard_bounds(ELEMENTS, i, shards, &begin, &count);
            assert_true(begin == next);
            assert_true(count == ELEMENTS / shards || count == ELEMENTS / shards + 1);
            next += count;
        }
        assert_true(next == ELEMENTS);
    }
}

/** A parameter of value 4 and three gradients 1, 1, -2 at rate 0.1, by PyTorch's formulas: the
 * expected values are computed here in double, term by term. */
static void test_optimizers(void **state)
{
    (void)state;
    const double gradients[UPDATES] = {1, 1, -2};
    double values[4] = {4, 4, 4, 4}, velocity = 0, sum = 0, mean = 0, first = 0, second = 0;
    for (int u = 0; u < UPDATES; u++) {
        const double g = gradients[u], t = u + 1;
        values[ORCH_WEIGHT_SGD] -= 0.1 * (velocity = 0.5 * velocity + g);
        values[ORCH_WEIGHT_ADAGRAD] -= 0.1 * g / (sqrt(sum += g * g) + 1e-10);
        values[ORCH_WEIGHT_RMSPROP] -= 0.1 * g / (sqrt(mean = 0.99 * mean + 0.01 * g * g) + 1e-8);
        first = 0.9 * first + 0.1 * g;
        second = 0.999 * second + 0.001 * g * g;
        values[ORCH_WEIGHT_ADAM] -=
            0.1 * first / (1 - pow(0.9, t)) / (sqrt(second / (1 - pow(0.999, t))) + 1e-8);
    }
    GArray *ranges = g_array_new(FALSE, FALSE, sizeof ALL);
    g_array_append_val(ranges, ALL);
    for (int kind = 0; ORCH_WEIGHT_OPTIMIZERS[kind]; kind++) {
        struct orch_weight_shard shard;
        make(&shard, ranges, (enum orch_weight_optimizer)kind);
        assert_true(shard.begin == 3 && shard.count == 4);
        for (int u = 0; u < UPDATES; u++) {
            const float push[4] = {(float)gradients[u]};
            orch_weight_shard_add(&shard, push);
            orch_weight_shard_update(&shard, 0.1);
        }
        assert_true(shard.version == UPDATES);
        assert_true(fabs((double)shard.values[0] - values[kind]) < 1e-5);
        assert_true(shard.values[1] == 5); /* its gradient was 0 */
        orch_weight_shard_clear(&shard);
    }
    g_array_unref(ranges);
}

/** Several pushes before an update count by their mean. */
static void test_mean(void **state)
{
    (void)state;
    GArray *ranges = g_array_new(FALSE, FALSE, sizeof ALL);
    g_array_append_val(ranges, ALL);
    struct orch_weight_shard shard;
    make(&shard, ranges, ORCH_WEIGHT_SGD);
    const float one[4] = {1, 2, 0, 0}, other[4] = {3, 2, 0, 0};
    orch_weight_shard_add(&shard, one);
    orch_weight_shard_add(&shard, other);
    orch_weight_shard_update(&shard, 0.5);
    assert_true(shard.values[0] == 3 && shard.values[1] == 4 && shard.values[2] == 6);
    orch_weight_shard_clear(&shard);
    g_array_unref(ranges);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_optimizers),
        cmocka_unit_test(test_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
