/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both engines of a network that values actions compute the same: outputs, updates, optimizer. */
#include "plugins/replay/agent/q_net.h"

#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

enum { STATE = 4, OUTPUTS = 2, BATCH = 32 };

static void fill(float *values, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(2 * orch_random_unit(&seed) - 1);
}

static struct orch_q_net *make(enum orch_q_engine engine)
{
    GError *error = NULL;
    const struct orch_q_net_options options = {.net = "mlp:24,17",
                                               .channels = STATE,
                                               .height = 1,
                                               .width = 1,
                                               .outputs = OUTPUTS,
                                               .engine = engine,
                                               .device = "cpu",
                                               .seed = 3};
    struct orch_q_net *net = orch_q_net_new(&options, &error);
    if (!net)
        fail_msg("%s", error->message);
    return net;
}

static double difference(const float *a, const float *b, int64_t count)
{
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    return worst;
}

/* 50 steps of Adam with equal gradients from equal weights. Products are summed in another order,
 * and Adam divides by roots of small squares: the tolerance is a thousandth of the way gone. */
static void both_engines_compute_the_same(void **state)
{
    struct orch_q_net *plain = make(ORCH_Q_PLAIN), *torch = make(ORCH_Q_TORCH);
    const int64_t count = orch_q_net_count(plain);
    g_autofree float *start = g_new(float, count), *a = g_new(float, 2 * count);
    g_autofree float *b = g_new(float, 2 * count);
    float states[BATCH * STATE], gradients[BATCH * OUTPUTS];
    const float *left, *right;
    int64_t steps[2];
    (void)state;
    assert_int_equal(count, orch_q_net_count(torch));
    assert_int_equal(count, (STATE + 1) * 24 + 25 * 17 + 18 * OUTPUTS);
    assert_true(orch_q_net_get(plain, start, NULL) && orch_q_net_set(torch, start, NULL));
    for (uint64_t i = 0; i < 50; i++) {
        fill(states, BATCH * STATE, i);
        fill(gradients, BATCH * OUTPUTS, 1000 + i);
        assert_true(orch_q_net_forward(plain, states, BATCH, true, &left, NULL));
        assert_true(orch_q_net_forward(torch, states, BATCH, true, &right, NULL));
        assert_true(difference(left, right, BATCH * OUTPUTS) < 1e-4);
        assert_true(orch_q_net_learn(plain, gradients, 0.001, NULL));
        assert_true(orch_q_net_learn(torch, gradients, 0.001, NULL));
    }
    assert_true(orch_q_net_get(plain, a, NULL) && orch_q_net_get(torch, b, NULL));
    assert_true(difference(a, start, count) > 0.005);
    assert_true(difference(a, b, count) < 5e-5);
    assert_true(orch_q_net_moments_get(plain, a, &steps[0], NULL));
    assert_true(orch_q_net_moments_get(torch, b, &steps[1], NULL));
    assert_int_equal(steps[0], 50);
    assert_int_equal(steps[1], 50);
    assert_true(difference(a, b, 2 * count) < 1e-4);
    orch_q_net_free(plain);
    orch_q_net_free(torch);
}

static void a_copied_state_goes_on_equally(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        struct orch_q_net *nets[2] = {make(e ? ORCH_Q_TORCH : ORCH_Q_PLAIN),
                                      make(e ? ORCH_Q_TORCH : ORCH_Q_PLAIN)};
        const int64_t count = orch_q_net_count(nets[0]);
        g_autofree float *values = g_new(float, 3 * count), *other = g_new(float, count);
        float states[BATCH * STATE], gradients[BATCH * OUTPUTS];
        const float *out;
        int64_t steps;
        fill(states, BATCH * STATE, 1);
        fill(gradients, BATCH * OUTPUTS, 2);
        for (int i = 0; i < 2; i++) { /* the second starts from the state of the first */
            for (int step = 0; step < (i ? 1 : 3); step++) {
                assert_true(orch_q_net_forward(nets[i], states, BATCH, true, &out, NULL));
                assert_true(orch_q_net_learn(nets[i], gradients, 0.01, NULL));
                if (i == 0 && step == 1) {
                    assert_true(orch_q_net_get(nets[0], values, NULL));
                    assert_true(orch_q_net_moments_get(nets[0], values + count, &steps, NULL));
                    assert_true(orch_q_net_set(nets[1], values, NULL));
                    assert_true(orch_q_net_moments_set(nets[1], values + count, steps, NULL));
                }
            }
        }
        assert_true(orch_q_net_get(nets[0], values, NULL) && orch_q_net_get(nets[1], other, NULL));
        assert_memory_equal(values, other, sizeof(float) * (size_t)count);
        orch_q_net_free(nets[0]);
        orch_q_net_free(nets[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_engines_compute_the_same),
        cmocka_unit_test(a_copied_state_goes_on_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
