/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Deep Q-learning: matrix products and Adam against double precision, gradients against finite
 * differences, targets by hand, target networks, exploration, and losses that are not finite. */
#include "plugins/replay/agent/dense_loops.h"
#include "plugins/replay/agent/exploration.h"
#include "plugins/replay/agent/q_learner.h"

#include "lib/base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static void fill(float *values, int64_t count, uint64_t seed)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(2 * orch_random_unit(&seed) - 1);
}

/* ---- loops ------------------------------------------------------------------------------------
 */

/* rows and columns that fill whole tiles and that do not, the left matrix plain and transposed */
static void products_equal_double_sums(void **state)
{
    static const int SIZES[][3] = {{1, 8, 1}, {4, 16, 5}, {7, 24, 33}, {64, 64, 17}};
    static float left[64 * 64], right[64 * 64], start[64], out[64 * 64];
    (void)state;
    fill(left, 64 * 64, 1);
    fill(right, 64 * 64, 2);
    fill(start, 64, 3);
    for (size_t s = 0; s < G_N_ELEMENTS(SIZES); s++)
        for (int transposed = 0; transposed < 2; transposed++) {
            const int rows = SIZES[s][0], columns = SIZES[s][1], depth = SIZES[s][2];
            const struct orch_dense_matrix m = {left, transposed ? 1 : depth,
                                                transposed ? rows : 1};
            orch_dense_product(rows, columns, depth, m, right, start, out);
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < columns; c++) {
                    double sum = (double)start[c];
                    for (int k = 0; k < depth; k++)
                        sum += (double)left[r * m.row_step + k * m.column_step] *
                               (double)right[k * columns + c];
                    assert_true(fabs(sum - (double)out[r * columns + c]) < 1e-5);
                }
        }
}

static void adam_equals_its_formula(void **state)
{
    enum { COUNT = 9 };
    float values[COUNT], means[COUNT] = {0}, squares[COUNT] = {0}, gradients[COUNT];
    double expected[COUNT], m[COUNT] = {0}, v[COUNT] = {0};
    (void)state;
    fill(values, COUNT, 4);
    for (int i = 0; i < COUNT; i++)
        expected[i] = (double)values[i];
    for (int step = 1; step <= 20; step++) {
        fill(gradients, COUNT, 100 + (uint64_t)step);
        orch_dense_adam(values, gradients, means, squares, COUNT, step, 0.01);
        for (int i = 0; i < COUNT; i++) {
            const double g = (double)gradients[i];
            m[i] = 0.9 * m[i] + 0.1 * g;
            v[i] = 0.999 * v[i] + 0.001 * g * g;
            expected[i] -=
                0.01 * (m[i] / (1 - pow(0.9, step))) / (sqrt(v[i] / (1 - pow(0.999, step))) + 1e-8);
        }
    }
    for (int i = 0; i < COUNT; i++)
        assert_true(fabs(expected[i] - (double)values[i]) < 1e-5);
}

/* ---- learner ----------------------------------------------------------------------------------
 */

enum { STATE = 3, ACTIONS = 3, BATCH = 5 };

static struct orch_q_learner_options options_of(void)
{
    return (struct orch_q_learner_options){.net = {.net = "mlp:12,9",
                                                   .channels = STATE,
                                                   .height = 1,
                                                   .width = 1,
                                                   .device = "cpu",
                                                   .seed = 7},
                                           .actions = ACTIONS,
                                           .is_huber = true,
                                           .has_target = true,
                                           .target_period = 1000,
                                           .target_blend = 1,
                                           .rate = 0.01};
}

static struct orch_q_learner *make(const struct orch_q_learner_options *options)
{
    GError *error = NULL;
    struct orch_q_learner *q = orch_q_learner_new(options, &error);
    if (!q)
        fail_msg("%s", error->message);
    return q;
}

static const int32_t CHOSEN[BATCH] = {0, 1, 2, 1, 0};
static const float RETURNS[BATCH] = {0.5f, -0.5f, 3, -4, 1};
static const float DISCOUNTS[BATCH] = {0.9f, 0.9f, 0, 0.81f, 0.9f};
static const float WEIGHTS[BATCH] = {1, 0.5f, 0.25f, 1, 0.75f};
static float states[BATCH * STATE], next_states[BATCH * STATE];

static struct orch_q_batch batch_of(void)
{
    fill(states, BATCH * STATE, 11);
    fill(next_states, BATCH * STATE, 12);
    return (struct orch_q_batch){.count = BATCH,
                                 .states = states,
                                 .next_states = next_states,
                                 .actions = CHOSEN,
                                 .returns = RETURNS,
                                 .discounts = DISCOUNTS,
                                 .weights = WEIGHTS};
}

/* The online network is moved away from the target network, which keeps the first weights. */
static void move(struct orch_q_learner *q)
{
    GError *error = NULL;
    const int64_t count = orch_q_net_count(orch_q_learner_net(q));
    g_autofree float *values = g_new(float, count);
    fill(values, count, 5);
    assert_true(orch_q_net_set(orch_q_learner_net(q), values, &error));
}

/* The temporal-difference errors, without learning. */
static void errors_of(struct orch_q_learner *q, const struct orch_q_batch *batch, float *out)
{
    g_autofree float *gradients = g_new(float, orch_q_net_count(orch_q_learner_net(q)));
    struct orch_q_report report;
    bool diverged;
    assert_true(orch_q_learner_gradients(q, batch, out, gradients, &report, &diverged, NULL));
}

static double loss_of(struct orch_q_learner *q, const struct orch_q_batch *batch)
{
    float errors[BATCH];
    double loss = 0;
    errors_of(q, batch, errors);
    for (int i = 0; i < BATCH; i++) {
        const double e = fabs((double)errors[i]);
        loss += (double)batch->weights[i] * (e <= 1 ? e * e / 2 : e - 0.5) / BATCH;
    }
    return loss;
}

/* Gradients of the whole network, through Huber, weights and the dueling sum. With a step of 1e-3
 * in single precision the quotients are right to some 1e-3. */
static void gradients_equal_differences(void **state)
{
    (void)state;
    for (int dueling = 0; dueling < 2; dueling++) {
        struct orch_q_learner_options options = options_of();
        options.is_dueling = dueling;
        struct orch_q_learner *q = make(&options);
        move(q);
        const struct orch_q_batch batch = batch_of();
        struct orch_q_net *net = orch_q_learner_net(q);
        const int64_t count = orch_q_net_count(net);
        g_autofree float *values = g_new(float, count), *gradients = g_new(float, count);
        float errors[BATCH];
        struct orch_q_report report;
        bool diverged;
        assert_true(
            orch_q_learner_gradients(q, &batch, errors, gradients, &report, &diverged, NULL));
        assert_true(fabs(report.loss - loss_of(q, &batch)) < 1e-5);
        assert_true(orch_q_net_get(net, values, NULL));
        double largest = 0;
        for (int64_t i = 0; i < count; i += 3) {
            const float before = values[i];
            values[i] = before + 1e-3f;
            assert_true(orch_q_net_set(net, values, NULL));
            const double above = loss_of(q, &batch);
            values[i] = before - 1e-3f;
            assert_true(orch_q_net_set(net, values, NULL));
            const double slope = (above - loss_of(q, &batch)) / 2e-3;
            values[i] = before;
            assert_true(fabs(slope - (double)gradients[i]) < 4e-3);
            largest = fmax(largest, fabs(slope));
        }
        assert_true(largest > 0.1);
        orch_q_learner_free(q);
    }
}

/* y = R + discount max Q', and with double learning Q' of the online network's choice. */
static void targets_are_those_of_the_papers(void **state)
{
    (void)state;
    int differing = 0;
    for (int is_double = 0; is_double < 2; is_double++) {
        struct orch_q_learner_options options = options_of();
        options.is_double = is_double;
        struct orch_q_learner *q = make(&options), *first = make(&options);
        move(q);
        struct orch_q_batch batch = batch_of();
        float online[BATCH * ACTIONS], target[BATCH * ACTIONS], here[BATCH * ACTIONS];
        float errors[BATCH];
        next_states[2 * STATE] = NAN; /* the episode has ended: not used */
        errors_of(q, &batch, errors);
        assert_true(orch_q_learner_values(q, next_states, BATCH, online, NULL));
        assert_true(orch_q_learner_values(first, next_states, BATCH, target, NULL));
        assert_true(orch_q_learner_values(q, states, BATCH, here, NULL));
        for (int i = 0; i < BATCH; i++) {
            const float *chooser = (is_double ? online : target) + i * ACTIONS;
            int choice = 0;
            for (int a = 1; a < ACTIONS; a++)
                choice = chooser[a] > chooser[choice] ? a : choice;
            const float next = DISCOUNTS[i] > 0 ? DISCOUNTS[i] * target[i * ACTIONS + choice] : 0;
            assert_float_equal(errors[i], RETURNS[i] + next - here[i * ACTIONS + CHOSEN[i]], 1e-5f);
            for (int a = 0; is_double && DISCOUNTS[i] > 0 && a < ACTIONS; a++)
                differing += target[i * ACTIONS + a] > target[i * ACTIONS + choice];
        }
        orch_q_learner_free(q);
        orch_q_learner_free(first);
    }
    assert_true(differing > 0); /* both kinds of target were told apart */
}

static void the_target_follows_when_it_is_due(void **state)
{
    struct orch_q_learner_options options = options_of();
    const struct orch_q_batch batch = batch_of();
    float errors[BATCH], before[BATCH * ACTIONS], now[BATCH * ACTIONS], online[BATCH * ACTIONS];
    struct orch_q_report report;
    bool diverged;
    const float *out;
    (void)state;
    options.target_period = 3;
    struct orch_q_learner *q = make(&options);
    for (int update = 1; update <= 6; update++) {
        assert_true(orch_q_net_forward(orch_q_learner_target(q), states, BATCH, false, &out, NULL));
        memcpy(before, out, sizeof before);
        assert_true(orch_q_learner_train(q, &batch, errors, &report, &diverged, NULL));
        assert_true(orch_q_net_forward(orch_q_learner_target(q), states, BATCH, false, &out, NULL));
        memcpy(now, out, sizeof now);
        assert_true(orch_q_learner_values(q, states, BATCH, online, NULL));
        assert_true((memcmp(before, now, sizeof now) == 0) == (update % 3 != 0));
        assert_true((memcmp(online, now, sizeof now) == 0) == (update % 3 == 0));
    }
    assert_int_equal(orch_q_learner_updates(q), 6);
    orch_q_learner_free(q);
}

/* With a limit y is kept within it, on both sides, also where the episode has ended. */
static void targets_keep_within_their_limit(void **state)
{
    struct orch_q_learner_options options = options_of();
    const struct orch_q_batch batch = batch_of();
    float free_errors[BATCH], errors[BATCH], values[BATCH * ACTIONS];
    int cut = 0;
    (void)state;
    struct orch_q_learner *q = make(&options);
    options.value_limit = 0.6;
    struct orch_q_learner *limited = make(&options);
    errors_of(q, &batch, free_errors);
    errors_of(limited, &batch, errors);
    assert_true(orch_q_learner_values(q, states, BATCH, values, NULL));
    for (int i = 0; i < BATCH; i++) {
        const float value = values[i * ACTIONS + CHOSEN[i]], y = free_errors[i] + value;
        assert_float_equal(errors[i] + value, fmaxf(-0.6f, fminf(y, 0.6f)), 1e-5f);
        cut += fabsf(y) > 0.6f;
    }
    assert_true(cut >= 2 && cut < BATCH);
    orch_q_learner_free(q);
    orch_q_learner_free(limited);
}

/* A problem of one step: the values become the rewards. */
static void values_become_the_rewards(void **state)
{
    static const float ENDS[BATCH] = {0};
    struct orch_q_learner_options options = options_of();
    struct orch_q_batch batch = batch_of();
    float errors[BATCH], values[BATCH * ACTIONS];
    struct orch_q_report report;
    bool diverged;
    (void)state;
    batch.discounts = ENDS;
    struct orch_q_learner *q = make(&options);
    for (int update = 0; update < 2000; update++)
        assert_true(orch_q_learner_train(q, &batch, errors, &report, &diverged, NULL));
    assert_true(orch_q_learner_values(q, states, BATCH, values, NULL));
    for (int i = 0; i < BATCH; i++)
        assert_float_equal(values[i * ACTIONS + CHOSEN[i]], RETURNS[i], 0.05f);
    orch_q_learner_free(q);
}

static void a_loss_that_is_not_finite_is_said(void **state)
{
    struct orch_q_learner_options options = options_of();
    struct orch_q_batch batch = batch_of();
    float errors[BATCH];
    struct orch_q_report report;
    bool diverged;
    GError *error = NULL;
    (void)state;
    states[0] = NAN;
    struct orch_q_learner *q = make(&options);
    assert_false(orch_q_learner_train(q, &batch, errors, &report, &diverged, &error));
    assert_true(diverged && strstr(error->message, "loss of update 1 is not finite"));
    g_error_free(error);
    orch_q_learner_free(q);
}

static void engines_refuse_what_they_cannot(void **state)
{
    struct orch_q_learner_options options = options_of();
    GError *error = NULL;
    (void)state;
    options.net.engine = ORCH_Q_PLAIN;
    options.net.net = "lenet5";
    options.net.height = options.net.width = 28;
    assert_null(orch_q_learner_new(&options, &error));
    assert_non_null(strstr(error->message, "engine 'plain' computes only networks 'mlp:...'"));
    g_clear_error(&error);
    options.net.net = "no-such-net";
    assert_null(orch_q_learner_new(&options, &error));
    g_clear_error(&error);
}

/* ---- acting -----------------------------------------------------------------------------------
 */

static void actions_are_greedy_but_for_epsilon(void **state)
{
    enum { COUNT = 3000 };
    static float many[COUNT * STATE], values[COUNT * ACTIONS];
    static double epsilons[COUNT];
    static int32_t chosen[COUNT];
    struct orch_q_learner_options options = options_of();
    struct orch_q_learner *q = make(&options);
    uint64_t random = 9;
    int greedy = 0;
    (void)state;
    fill(many, COUNT * STATE, 3);
    for (int i = 0; i < COUNT; i++)
        epsilons[i] = i < COUNT / 2 ? 0 : 0.6;
    assert_true(orch_q_learner_act(q, many, COUNT, epsilons, &random, chosen, NULL));
    assert_true(orch_q_learner_values(q, many, COUNT, values, NULL));
    for (int i = 0; i < COUNT; i++) {
        bool is_best = true;
        for (int a = 0; a < ACTIONS; a++)
            is_best = is_best && values[i * ACTIONS + a] <= values[i * ACTIONS + chosen[i]];
        assert_true(is_best || i >= COUNT / 2);
        greedy += is_best && i >= COUNT / 2;
    }
    /* 1 - 0.6 + 0.6 / 3 = 0.6 of 1,500, within 5 standard deviations of 0.0127 */
    assert_true(fabs(greedy / 1500.0 - 0.6) < 0.064);
    orch_q_learner_free(q);
}

static void epsilons_follow_their_schedules(void **state)
{
    struct orch_exploration e = {
        .kind = ORCH_EXPLORE_LINEAR, .start = 1, .end = 0.1, .steps = 100, .base = 0.4, .power = 7};
    (void)state;
    assert_true(fabs(orch_exploration_epsilon(&e, 0, 0, 1) - 1) < 1e-12);
    assert_true(fabs(orch_exploration_epsilon(&e, 50, 0, 1) - 0.55) < 1e-12);
    assert_true(fabs(orch_exploration_epsilon(&e, 1000, 0, 1) - 0.1) < 1e-12);
    e.kind = ORCH_EXPLORE_FIXED;
    assert_true(fabs(orch_exploration_epsilon(&e, 0, 0, 1) - 0.1) < 1e-12);
    e.kind = ORCH_EXPLORE_PER_ACTOR;
    /* Horgan et al. 2018, section 4.1: from 0.4 to 0.4^8 */
    assert_true(fabs(orch_exploration_epsilon(&e, 0, 0, 8) - 0.4) < 1e-12);
    assert_true(fabs(orch_exploration_epsilon(&e, 0, 7, 8) - 0.00065536) < 1e-12);
    assert_true(fabs(orch_exploration_epsilon(&e, 0, 0, 1) - 0.4) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_equal_double_sums),
        cmocka_unit_test(adam_equals_its_formula),
        cmocka_unit_test(gradients_equal_differences),
        cmocka_unit_test(targets_are_those_of_the_papers),
        cmocka_unit_test(the_target_follows_when_it_is_due),
        cmocka_unit_test(targets_keep_within_their_limit),
        cmocka_unit_test(values_become_the_rewards),
        cmocka_unit_test(a_loss_that_is_not_finite_is_said),
        cmocka_unit_test(engines_refuse_what_they_cannot),
        cmocka_unit_test(actions_are_greedy_but_for_epsilon),
        cmocka_unit_test(epsilons_follow_their_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
