/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GORILA: the rules of stability, the parameter server, the memory that it shares with learners,
 * and a learner as a process. */
#include "plugins/replay/actor/actor_pool.h"
#include "plugins/replay/gorila/gorila_pool.h"
#include "plugins/replay/gorila/gorila_rules.h"
#include "plugins/replay/gorila/gorila_server.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- rules ------------------------------------------------------------------------------------
 */

static void test_staleness(void **state)
{
    (void)state;
    assert_false(orch_gorila_is_stale(10, 10, 3));
    assert_false(orch_gorila_is_stale(10, 13, 3));
    assert_true(orch_gorila_is_stale(10, 14, 3));
    assert_false(orch_gorila_is_stale(0, 1000000, 0)); /* no limit */
}

/** The target network follows when the server's count passes a multiple of the period, however
 * many updates lie between two pulls. */
static void test_target(void **state)
{
    (void)state;
    assert_true(orch_gorila_target_is_due(-1, 0, 100));
    assert_false(orch_gorila_target_is_due(0, 99, 100));
    assert_true(orch_gorila_target_is_due(0, 100, 100));
    assert_true(orch_gorila_target_is_due(0, 350, 100));
    assert_false(orch_gorila_target_is_due(350, 399, 100));
    assert_true(orch_gorila_target_is_due(350, 400, 100));
    int64_t followed = -1, follows = 0;
    for (int64_t version = 0; version <= 1000; version += 7)
        if (orch_gorila_target_is_due(followed, version, 100)) {
            followed = version;
            follows++;
        }
    assert_true(follows == 10); /* at the start and after 100, 200, ... 900 */
}

/** Losses far above the running mean are refused, but not for ever. */
static void test_losses(void **state)
{
    (void)state;
    struct orch_gorila_losses losses = {.deviations = 3};
    for (int i = 0; i < ORCH_GORILA_LOSSES_FIRST; i++) /* before there is a mean, none is */
        assert_true(orch_gorila_losses_accept(&losses, i % 2 ? 1 : 3));
    assert_true(fabs(losses.mean - 2) < 1e-9 && fabs(losses.variance - 1) < 1e-9);
    assert_true(orch_gorila_losses_accept(&losses, 4.9));
    assert_true(orch_gorila_losses_accept(&losses, 0)); /* a small loss never is */
    assert_false(orch_gorila_losses_accept(&losses, 20));
    int refused = 0;
    while (!orch_gorila_losses_accept(&losses, 20))
        refused++;
    assert_in_range(refused, 1, 100);
    struct orch_gorila_losses all = {0};
    for (int i = 0; i < 1000; i++)
        assert_true(orch_gorila_losses_accept(&all, i == 999 ? 1e9 : 1));
}

/* ---- the server -------------------------------------------------------------------------------
 */

enum { PARAMETERS = 5, SHARDS = 2 };

static struct orch_actor_share *make_actors(void)
{
    const struct orch_actor_setup setup = {.actors = 1, .envs = 1, .n_step = 1, .shards = SHARDS};
    struct orch_actor_share *share = orch_actor_share_new(&setup, PARAMETERS, 4, 2, NULL);
    assert_non_null(share);
    return share;
}

static void assert_published(const struct orch_actor_share *share, int64_t version, float first,
                             float last)
{
    float read[PARAMETERS];
    assert_true(orch_actor_share_pull(share, read) == version);
    assert_true(fabsf(read[0] - first) < 1e-6F && fabsf(read[PARAMETERS - 1] - last) < 1e-6F);
}

/** The server applies fresh gradients to all shards and publishes the result; it drops stale ones
 * without a change, and counts both. */
static void test_server(void **state)
{
    (void)state;
    const float parameters[PARAMETERS] = {1, 2, 3, 4, 5}, gradient[PARAMETERS] = {1, 0, 0, 0, -2};
    struct orch_actor_share *share = make_actors();
    const struct orch_gorila_server_options options = {.parameters = PARAMETERS,
                                                       .shards = SHARDS,
                                                       .optimizer = ORCH_WEIGHT_SGD,
                                                       .stale_most = 2,
                                                       .share = share};
    struct orch_gorila_server *server = orch_gorila_server_new(&options, parameters);
    assert_published(share, 0, 1, 5);
    assert_true(orch_gorila_server_take(server, gradient, 0, 0.5));
    assert_published(share, 1, 0.5F, 6);
    assert_true(orch_gorila_server_take(server, gradient, 0, 0.5)); /* 1 update old */
    assert_true(orch_gorila_server_take(server, gradient, 0, 0.5)); /* 2 updates */
    assert_published(share, 3, -0.5F, 8);
    assert_false(orch_gorila_server_take(server, gradient, 0, 0.5)); /* 3 updates: dropped */
    assert_published(share, 3, -0.5F, 8);
    assert_true(orch_gorila_server_take(server, gradient, 3, 0.5));
    const struct orch_gorila_server_counts counts = orch_gorila_server_counts(server);
    assert_true(counts.updates == 4 && counts.dropped == 1);
    assert_true(counts.stale_sum == 0 + 1 + 2 + 3 + 0 && counts.stale_most == 3);
    const int64_t expected[] = {2, 1, 1, 1};
    assert_true(counts.by_staleness->len == G_N_ELEMENTS(expected));
    assert_memory_equal(counts.by_staleness->data, expected, sizeof expected);
    orch_gorila_server_free(server);
    orch_actor_share_free(share);
}

/* ---- the memory -------------------------------------------------------------------------------
 */

enum { ENTRIES = 20000 };

static struct orch_gorila_share *share;
static struct orch_worker_pool *pool;

static void *send_gradients(void *ctx)
{
    (void)ctx;
    for (int64_t i = 0; i < ENTRIES; i++) {
        struct orch_gorila_gradient *g;
        while (!(g = orch_gorila_share_reserve(share, ORCH_GORILA_GRADIENTS, 1)))
            sched_yield();
        *g = (struct orch_gorila_gradient){.version = i, .loss = (double)i};
        float *values = (float *)(void *)(g + 1);
        for (int k = 0; k < PARAMETERS; k++)
            values[k] = (float)(i + k);
        orch_gorila_share_commit(share, ORCH_GORILA_GRADIENTS, 1);
    }
    return NULL;
}

/** Entries arrive whole and in order, and are counted by their bytes. */
static void test_rings(void **state)
{
    (void)state;
    const struct orch_gorila_setup setup = {.learners = 2, .steps = 3};
    share = orch_gorila_share_new(&setup, PARAMETERS, 4, NULL);
    assert_non_null(share);
    pthread_t writer;
    assert_int_equal(pthread_create(&writer, NULL, send_gradients, NULL), 0);
    for (int64_t i = 0; i < ENTRIES;) {
        const struct orch_gorila_gradient *g =
            orch_gorila_share_peek(share, ORCH_GORILA_GRADIENTS, 1);
        assert_null(orch_gorila_share_peek(share, ORCH_GORILA_GRADIENTS, 0));
        if (!g) {
            sched_yield();
            continue;
        }
        const float *values = (const float *)(const void *)(g + 1);
        assert_true(g->version == i && g->loss == (double)i);
        for (int k = 0; k < PARAMETERS; k++)
            assert_true(values[k] == (float)(i + k));
        orch_gorila_share_drop(share, ORCH_GORILA_GRADIENTS, 1);
        i++;
    }
    pthread_join(writer, NULL);
    const int64_t entry = (int64_t)(sizeof(struct orch_gorila_gradient) + 24); /* in words of 8 */
    assert_true(orch_gorila_share_bytes(share, ORCH_GORILA_GRADIENTS) == ENTRIES * entry);
    /* steps are claimed as often as the training has them */
    for (int64_t i = 1; i <= 3; i++)
        assert_true(orch_gorila_share_claim(share) == i);
    assert_true(orch_gorila_share_claim(share) == 0 && orch_gorila_share_frames(share) == 3);
    orch_gorila_share_free(share);
}

static void test_attach(void **state)
{
    (void)state;
    g_autoptr(GError) error = NULL;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_null(orch_gorila_share_attach(fd, &error));
    assert_non_null(
        strstr(error->message, "does not lead to the shared memory of a parameter server"));
    close(fd);
}

/* ---- a learner as a process -------------------------------------------------------------------
 */

enum { BATCH = 4, VALUES = 3, ACTIONS = 2 };

static const struct orch_gorila_setup LEARNER = {.net = "mlp:8",
                                                 .device = "cpu",
                                                 .engine = ORCH_Q_PLAIN,
                                                 .channels = 1,
                                                 .height = VALUES,
                                                 .width = 1,
                                                 .frames = 1,
                                                 .actions = ACTIONS,
                                                 .is_huber = true,
                                                 .has_target = true,
                                                 .target_period = 10,
                                                 .target_blend = 1,
                                                 .learners = 1,
                                                 .actors = 1,
                                                 .envs = 1,
                                                 .steps = 100,
                                                 .is_central = true,
                                                 .batch = BATCH,
                                                 .n_step = 1,
                                                 .train_every = 1,
                                                 .gamma = 0.9,
                                                 .pull_every = 1};

static struct orch_q_learner *make_reference(void)
{
    const struct orch_q_learner_options options = {.net = {.net = LEARNER.net,
                                                           .channels = 1,
                                                           .height = VALUES,
                                                           .width = 1,
                                                           .engine = ORCH_Q_PLAIN,
                                                           .device = "cpu",
                                                           .seed = 3},
                                                   .actions = ACTIONS,
                                                   .is_huber = true,
                                                   .has_target = true,
                                                   .rate = 1};
    struct orch_q_learner *q = orch_q_learner_new(&options, NULL);
    assert_non_null(q);
    return q;
}

/* A batch, for the reference and for the learner's process. */
static void send_batch(struct orch_q_batch *out)
{
    static float states[BATCH * VALUES], next[BATCH * VALUES], returns[BATCH], discounts[BATCH];
    static int32_t actions[BATCH];
    for (int i = 0; i < BATCH * VALUES; i++) {
        states[i] = (float)(i % 5) - 2;
        next[i] = (float)(i % 7) - 3;
    }
    for (int i = 0; i < BATCH; i++) {
        returns[i] = (float)i;
        discounts[i] = i == 2 ? 0 : 0.9F;
        actions[i] = i % ACTIONS;
    }
    *out = (struct orch_q_batch){.count = BATCH,
                                 .states = states,
                                 .next_states = next,
                                 .actions = actions,
                                 .returns = returns,
                                 .discounts = discounts};
    void *entry = orch_gorila_share_reserve(share, ORCH_GORILA_BATCHES, 0);
    assert_non_null(entry);
    const struct orch_gorila_batch b = orch_gorila_share_batch(share, entry);
    memcpy(b.states, states, sizeof states);
    memcpy(b.next_states, next, sizeof next);
    memcpy(b.actions, actions, sizeof actions);
    memcpy(b.returns, returns, sizeof returns);
    memcpy(b.discounts, discounts, sizeof discounts);
    orch_gorila_share_commit(share, ORCH_GORILA_BATCHES, 0);
}

/* Waits for a gradient and compares it with that of the reference. */
static void expect_gradient(struct orch_q_learner *q, const struct orch_q_batch *batch,
                            int64_t version)
{
    const int64_t count = orch_q_net_count(orch_q_learner_net(q));
    g_autofree float *expected = g_new(float, count);
    float errors[BATCH];
    struct orch_q_report report;
    bool diverged;
    assert_true(orch_q_learner_gradients(q, batch, errors, expected, &report, &diverged, NULL));
    const struct orch_gorila_gradient *g;
    char *how = NULL;
    while (!(g = orch_gorila_share_peek(share, ORCH_GORILA_GRADIENTS, 0))) {
        if (orch_worker_pool_next_death(pool, &how) >= 0)
            fail_msg("the learner %s", how);
        g_usleep(100);
    }
    assert_true(g->version == version);
    assert_true(g->loss == report.loss && g->mean_value == report.mean_value);
    assert_memory_equal(g + 1, expected, sizeof(float) * (size_t)count);
    orch_gorila_share_drop(share, ORCH_GORILA_GRADIENTS, 0);
}

static void publish(struct orch_actor_share *actors, struct orch_q_learner *q, float change,
                    int64_t version)
{
    const int64_t count = orch_q_net_count(orch_q_learner_net(q));
    g_autofree float *parameters = g_new(float, count);
    assert_true(orch_q_net_get(orch_q_learner_net(q), parameters, NULL));
    for (int64_t i = 0; i < count; i++)
        parameters[i] += change;
    assert_true(orch_q_net_set(orch_q_learner_net(q), parameters, NULL));
    orch_actor_share_publish(actors, parameters, version);
}

/** A learner's process computes the gradients of the batches that it is given, with the newest
 * parameters; its target network keeps the parameters of the last multiple of target_period
 * updates of the server. */
static void test_learner(void **state)
{
    (void)state;
    GError *error = NULL;
    struct orch_q_batch batch;
    struct orch_q_learner *q = make_reference();
    const struct orch_actor_setup setup = {.actors = 1, .envs = 1, .n_step = 1};
    struct orch_actor_share *actors = orch_actor_share_new(
        &setup, orch_q_net_count(orch_q_learner_net(q)), VALUES * sizeof(float), 2, NULL);
    share = orch_gorila_share_new(&LEARNER, orch_q_net_count(orch_q_learner_net(q)),
                                  VALUES * sizeof(float), NULL);
    publish(actors, q, 0, 0);
    pool = orch_gorila_pool_new(share, actors, &error);
    if (!pool)
        fail_msg("%s", error->message);
    assert_true(orch_q_learner_follow(q, 1, NULL));
    send_batch(&batch);
    expect_gradient(q, &batch, 0);
    publish(actors, q, 0.1F, 9); /* the target network stays as it is */
    send_batch(&batch);
    expect_gradient(q, &batch, 9);
    publish(actors, q, 0.1F, 11); /* ten updates are past: it follows */
    assert_true(orch_q_learner_follow(q, 1, NULL));
    send_batch(&batch);
    expect_gradient(q, &batch, 11);
    orch_actor_share_stop(actors);
    orch_worker_pool_free(pool);
    const struct orch_gorila_counts *counts = orch_gorila_share_counts(share, 0);
    assert_true(counts->gradients == 3 && counts->follows == 1 && counts->losses_dropped == 0);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    orch_gorila_share_free(share);
    orch_actor_share_free(actors);
    orch_q_learner_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_staleness), cmocka_unit_test(test_target),
        cmocka_unit_test(test_losses),    cmocka_unit_test(test_server),
        cmocka_unit_test(test_rings),     cmocka_unit_test(test_attach),
        cmocka_unit_test(test_learner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
