/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The update loops of the CPU against the rules written out in double, and the rule of the fp16
 * scaler. */
#include "plugins/common/torch/scaler.h"

#include "plugins/common/torch/adapter/update_loops.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void assert_state(const struct orch_torch_scaler *scaler, float scale, int64_t finite,
                         int64_t skipped)
{
    if (scaler->scale != scale)
        fail_msg("scale %g, expected %g", (double)scaler->scale, (double)scale);
    assert_int_equal(scaler->finite_steps, finite);
    assert_int_equal(scaler->skipped_steps, skipped);
}

static void test_scale_grows_after_finite_steps(void **state)
{
    (void)state;
    struct orch_torch_scaler scaler = {ORCH_SCALER_START, 0, 0};
    for (int i = 0; i < 1999; i++)
        orch_torch_scaler_update(&scaler, true);
    assert_state(&scaler, 65536, 1999, 0);
    orch_torch_scaler_update(&scaler, true);
    assert_state(&scaler, 131072, 0, 0);
}

static void test_skipped_step_halves_the_scale(void **state)
{
    (void)state;
    struct orch_torch_scaler scaler = {ORCH_SCALER_START, 1999, 3};
    orch_torch_scaler_update(&scaler, false);
    assert_state(&scaler, 32768, 0, 4);
    orch_torch_scaler_update(&scaler, true);
    assert_state(&scaler, 32768, 1, 4);
    orch_torch_scaler_update(&scaler, false);
    assert_state(&scaler, 16384, 0, 5);
}

static void test_scale_stays_finite(void **state)
{
    (void)state;
    struct orch_torch_scaler scaler = {0x1p127F, 1999, 0};
    orch_torch_scaler_update(&scaler, true);
    assert_state(&scaler, 0x1p127F, 0, 0);
}

/* More values than a vector register holds, and not a multiple of it. */
enum { COUNT = 37, STEPS = 5 };

static void fill(float *values, float scale, float phase)
{
    for (int i = 0; i < COUNT; i++)
        values[i] = scale * (float)sin((double)((float)i * 1.3F + phase));
}

/* Relative to 1: the loops round each operation to float, the test computes in double. */
static void assert_near(const float *found, const double *expected)
{
    for (int i = 0; i < COUNT; i++)
        if (!(fabs((double)found[i] - expected[i]) < 2e-6))
            fail_msg("value %d: %.9g, expected %.9g", i, (double)found[i], expected[i]);
}

static void check_sgd(float weight_decay, float momentum, bool nesterov)
{
    float values[COUNT], buffer[COUNT], gradient[COUNT];
    double value[COUNT], velocity[COUNT] = {0};
    fill(values, 1, 0);
    for (int i = 0; i < COUNT; i++) {
        value[i] = (double)values[i];
        buffer[i] = (float)NAN; /* must not be read in the first step */
    }
    for (int step = 0; step < STEPS; step++) {
        struct orch_sgd_step s = {0.1F, weight_decay, momentum, nesterov, step > 0};
        fill(gradient, 0.5F, (float)step);
        orch_sgd_update(values, gradient, momentum != 0 ? buffer : NULL, COUNT, &s);
        for (int i = 0; i < COUNT; i++) {
            double g = (double)gradient[i] + (double)weight_decay * value[i];
            velocity[i] = (double)momentum * velocity[i] + g;
            value[i] -=
                (double)0.1F * (nesterov ? g + (double)momentum * velocity[i] : velocity[i]);
        }
    }
    assert_near(values, value);
}

static void test_sgd_loop(void **state)
{
    (void)state;
    check_sgd(0, 0, false);
    check_sgd(0.01F, 0, false);
    check_sgd(0, 0.9F, false);
    check_sgd(0.01F, 0.9F, false);
    check_sgd(0.01F, 0.9F, true);
}

static void check_adam(double decay, bool is_decoupled)
{
    const double rate = 0.01, beta1 = 0.9, beta2 = 0.999;
    float values[COUNT], mean[COUNT] = {0}, square[COUNT] = {0}, gradient[COUNT];
    double value[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    fill(values, 1, 0);
    for (int i = 0; i < COUNT; i++)
        value[i] = (double)values[i];
    for (int step = 1; step <= STEPS; step++) {
        double correction1 = 1 - pow(beta1, step), correction2 = 1 - pow(beta2, step);
        double factor = is_decoupled ? 1 - rate * decay : 1, l2 = is_decoupled ? 0 : decay;
        struct orch_adam_step s = {.factor = (float)factor,
                                   .weight_decay = (float)l2,
                                   .beta1 = (float)beta1,
                                   .beta2 = (float)beta2,
                                   .complement1 = (float)(1 - beta1),
                                   .complement2 = (float)(1 - beta2),
                                   .root = (float)sqrt(correction2),
                                   .epsilon = 1e-8F,
                                   .rate = (float)(rate / correction1)};
        fill(gradient, 0.5F, (float)step);
        orch_adam_update(values, gradient, mean, square, COUNT, &s);
        for (int i = 0; i < COUNT; i++) {
            double g = (double)gradient[i] + l2 * value[i];
            m[i] = beta1 * m[i] + (1 - beta1) * g;
            v[i] = beta2 * v[i] + (1 - beta2) * g * g;
            value[i] =
                factor * value[i] - rate * (m[i] / correction1) / (sqrt(v[i] / correction2) + 1e-8);
        }
    }
    assert_near(values, value);
}

static void test_adam_loop(void **state)
{
    (void)state;
    check_adam(0, false);
    check_adam(0.1, false);
    check_adam(0.1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scale_grows_after_finite_steps),
        cmocka_unit_test(test_skipped_step_halves_the_scale),
        cmocka_unit_test(test_scale_stays_finite),
        cmocka_unit_test(test_sgd_loop),
        cmocka_unit_test(test_adam_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
