/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The references of plugin gpukernels against what is known of their results. Needs no GPU. */
#include "plugins/gpukernels/cuda/kernel_case.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 3, COLUMNS = 5, COUNT = ROWS * COLUMNS };
static const struct orch_kernel_shape SHAPE = {ROWS, COLUMNS}, TURNED = {COLUMNS, ROWS};
static float in[COUNT], out[COUNT], back[COUNT];

static int make_input(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        in[i] = (float)(i * 7 % COUNT) / 4;
        out[i] = back[i] = 0;
    }
    return 0;
}

static void test_saxpy(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT; i++)
        out[i] = 1;
    ORCH_KERNEL_SAXPY.reference(out, in, SHAPE);
    for (int i = 0; i < COUNT; i++)
        assert_true(out[i] == 1 + 2.5f * in[i]); /* exact: multiples of 1/8 */
    assert_true(ORCH_KERNEL_SAXPY.accumulates);
}

static void test_reduction(void **state)
{
    (void)state;
    ORCH_KERNEL_REDUCTION.reference(out, in, SHAPE);
    assert_true(out[0] == (COUNT - 1) * COUNT / 2 / 4.0f && out[1] == 0);
    assert_int_equal(ORCH_KERNEL_REDUCTION.out_count(SHAPE), 1);
}

static void test_transpose(void **state)
{
    (void)state;
    ORCH_KERNEL_TRANSPOSE.reference(out, in, SHAPE);
    assert_true(out[0] == in[0] && out[1] == in[COLUMNS] && out[ROWS] == in[1]);
    ORCH_KERNEL_TRANSPOSE.reference(back, out, TURNED);
    assert_memory_equal(in, back, sizeof in);
}

static void test_softmax(void **state)
{
    (void)state;
    ORCH_KERNEL_SOFTMAX.reference(out, in, SHAPE);
    for (int r = 0; r < ROWS; r++) {
        double sum = 0;
        for (int c = 0; c < COLUMNS; c++) {
            const int i = r * COLUMNS + c;
            sum += (double)out[i];
            assert_true(fabs(log((double)out[i] / (double)out[r * COLUMNS]) -
                             ((double)in[i] - (double)in[r * COLUMNS])) < 1e-5);
        }
        assert_true(fabs(sum - 1) < 1e-6);
    }
    for (int i = 0; i < COUNT;
         i++) /* a shift of the inputs changes nothing, and large ones do not overflow */
        back[i] = in[i] + 512;
    float shifted[COUNT];
    ORCH_KERNEL_SOFTMAX.reference(shifted, back, SHAPE);
    assert_memory_equal(shifted, out, sizeof out);
}

/* What the table must hold for a trial. */
static void test_table(void **state)
{
    (void)state;
    int count = 0;
    for (; ORCH_KERNEL_CASES[count]; count++) {
        const struct orch_kernel_case *kernel = ORCH_KERNEL_CASES[count];
        assert_true(kernel->name && kernel->reference && kernel->naive && kernel->fast);
        assert_true(kernel->bytes(SHAPE) >= 4 * COUNT && kernel->out_count(SHAPE) >= 1);
        assert_true(kernel->tolerance(SHAPE, 0.5) >= 0 && kernel->tolerance(SHAPE, 0.5) < 1e-4);
    }
    assert_int_equal(count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_saxpy, make_input),
        cmocka_unit_test_setup(test_reduction, make_input),
        cmocka_unit_test_setup(test_transpose, make_input),
        cmocka_unit_test_setup(test_softmax, make_input),
        cmocka_unit_test_setup(test_table, make_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
