/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory that actors and learner share, and actors as processes. */
#include "plugins/replay/actor/actor_pool.h"
#include "plugins/replay/agent/q_learner.h"
#include "plugins/replay/memory/replay.h"

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

enum { STEPS = 20000, FRAME = 24, PARAMETERS = 1000, PULLS = 300 };

static struct orch_actor_share *share;

static void fill_frame(uint8_t *frame, int64_t number)
{
    for (int i = 0; i < FRAME; i++)
        frame[i] = (uint8_t)(number + i);
}

static void *push_steps(void *ctx)
{
    (void)ctx;
    uint8_t frame[FRAME];
    for (int32_t i = 0; i < STEPS; i++) {
        const struct orch_actor_step step = {.env = i, .action = -i, .reward = (float)i};
        fill_frame(frame, i);
        if (!orch_actor_share_push(share, 1, &step, frame))
            break;
    }
    return NULL;
}

/** Steps arrive whole and in order through a ring that holds few of them. */
static void test_ring(void **state)
{
    (void)state;
    const struct orch_actor_setup setup = {.actors = 2, .envs = 1, .frame_stack = 1, .n_step = 1};
    share = orch_actor_share_new(&setup, 3, FRAME, 5, NULL);
    assert_non_null(share);
    pthread_t writer;
    struct orch_actor_step step;
    uint8_t frame[FRAME], expected[FRAME];
    assert_int_equal(pthread_create(&writer, NULL, push_steps, NULL), 0);
    for (int32_t i = 0; i < STEPS;) {
        assert_false(orch_actor_share_pop(share, 0, &step, frame));
        if (!orch_actor_share_pop(share, 1, &step, frame)) {
            sched_yield();
            continue;
        }
        fill_frame(expected, i);
        assert_true(step.env == i && step.action == -i && step.reward == (float)i);
        assert_memory_equal(frame, expected, FRAME);
        i++;
    }
    pthread_join(writer, NULL);
    /* a full ring does not hold an actor that is to end */
    const struct orch_actor_step any = {0};
    for (int i = 0; i < 5; i++)
        assert_true(orch_actor_share_push(share, 0, &any, frame));
    orch_actor_share_stop(share);
    assert_false(orch_actor_share_push(share, 0, &any, frame));
    orch_actor_share_free(share);
}

static void *publish_all(void *ctx)
{
    float values[PARAMETERS];
    const bool *goes_on = ctx;
    for (int64_t version = 1; __atomic_load_n(goes_on, __ATOMIC_ACQUIRE); version++) {
        for (int i = 0; i < PARAMETERS; i++)
            values[i] = (float)(version % 1000);
        orch_actor_share_publish(share, values, version);
        sched_yield();
    }
    return NULL;
}

/** Parameters that are read while they change are those of one version. */
static void test_parameters(void **state)
{
    (void)state;
    const struct orch_actor_setup setup = {.actors = 1, .envs = 1, .frame_stack = 1, .n_step = 1};
    share = orch_actor_share_new(&setup, PARAMETERS, FRAME, 5, NULL);
    float values[PARAMETERS];
    bool goes_on = true;
    pthread_t writer;
    assert_true(orch_actor_share_pull(share, values) == -1);
    assert_int_equal(pthread_create(&writer, NULL, publish_all, &goes_on), 0);
    for (int pulls = 0; pulls < PULLS;) {
        const int64_t version = orch_actor_share_pull(share, values);
        if (version < 0)
            continue;
        for (int i = 0; i < PARAMETERS; i++)
            assert_true(values[i] == (float)(version % 1000));
        pulls++;
    }
    __atomic_store_n(&goes_on, false, __ATOMIC_RELEASE);
    pthread_join(writer, NULL);
    orch_actor_share_free(share);
}

static void test_attach(void **state)
{
    (void)state;
    const struct orch_actor_setup setup = {
        .actors = 3, .envs = 2, .frame_stack = 1, .n_step = 4, .net = "mlp:8", .shards = 3};
    share = orch_actor_share_new(&setup, 7, FRAME, 5, NULL);
    const float values[7] = {1, 2, 3, 4, 5, 6, 7};
    float read[7];
    orch_actor_share_publish(share, values, 42);
    struct orch_actor_share *other = orch_actor_share_attach(dup(orch_actor_share_fd(share)), NULL);
    assert_non_null(other);
    assert_string_equal(orch_actor_share_setup(other)->net, "mlp:8");
    assert_true(orch_actor_share_pull(other, read) == 42);
    assert_memory_equal(values, read, sizeof values);
    /* the version of shards that differ is that of the oldest */
    const float shard[2] = {30, 40};
    orch_actor_share_publish_shard(share, 1, shard, 43);
    assert_true(orch_actor_share_pull(other, read) == 42);
    assert_true(read[1] == 2 && read[2] == 30 && read[3] == 40 && read[4] == 5);
    assert_true(orch_actor_share_updates(other) == 42);
    /* two pulls of seven floats, and no step */
    const struct orch_actor_traffic traffic = orch_actor_share_traffic(share);
    assert_true(traffic.parameter_bytes == (int64_t)(2 * sizeof values) && !traffic.step_bytes);
    orch_actor_share_stop(share);
    assert_true(orch_actor_share_is_stopped(other));
    orch_actor_share_free(other);
    orch_actor_share_free(share);
    g_autoptr(GError) error = NULL;
    const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_null(orch_actor_share_attach(fd, &error));
    assert_non_null(strstr(error->message, "does not lead to the shared memory of a learner"));
    close(fd);
}

/* ---- actors as processes ----------------------------------------------------------------------
 */

enum { EPISODE = 9, ACTIONS = 3, BOARD = 50, ACTORS = 2, ENVS = 2, STACK_MAX = 3 };

static struct orch_q_learner *learner;

static void start_catch(struct orch_worker_pool **out_pool, double gamma, double limit, int stack)
{
    GError *error = NULL;
    const struct orch_actor_setup setup = {.environment = "catch",
                                           .net = "mlp:16",
                                           .engine = ORCH_Q_PLAIN,
                                           .actors = ACTORS,
                                           .envs = ENVS,
                                           .frame_stack = stack,
                                           .n_step = 3,
                                           .learning_starts = 1 << 30,
                                           .pull_every = 1,
                                           .gamma = gamma,
                                           .value_limit = limit,
                                           .seed = 5};
    const struct orch_q_learner_options options = {.net = {.net = "mlp:16",
                                                           .channels = stack,
                                                           .height = 10,
                                                           .width = 5,
                                                           .engine = ORCH_Q_PLAIN,
                                                           .device = "cpu",
                                                           .seed = 3},
                                                   .actions = ACTIONS,
                                                   .rate = 1e-3};
    learner = orch_q_learner_new(&options, &error);
    assert_non_null(learner);
    struct orch_q_net *net = orch_q_learner_net(learner);
    g_autofree float *parameters = g_new(float, orch_q_net_count(net));
    assert_true(orch_q_net_get(net, parameters, NULL));
    share = orch_actor_share_new(&setup, orch_q_net_count(net), BOARD, 64, NULL);
    orch_actor_share_publish(share, parameters, 17);
    *out_pool = orch_actor_pool_new(share, &error);
    if (!*out_pool)
        fail_msg("%s", error->message);
}

static void end_catch(struct orch_worker_pool *pool)
{
    orch_actor_pool_free(pool, share);
    orch_actor_share_free(share);
    orch_q_learner_free(learner);
    assert_true(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

/** Waits for the next step of an actor's copy 0; those of the others are dropped. */
static struct orch_actor_step next_step(int64_t actor, uint8_t *frame)
{
    struct orch_actor_step step;
    for (;;) {
        for (int64_t i = 0; i < ACTORS; i++)
            if (orch_actor_share_pop(share, i, &step, frame) && i == actor && step.env == 0)
                return step;
        sched_yield();
    }
}

/* Q of the state at step `t` of an episode, which has `stack` frames; action -1: the largest. */
static float value(uint8_t (*frames)[BOARD], int t, int stack, int action)
{
    float planes[STACK_MAX * BOARD], values[ACTIONS], most = -INFINITY;
    for (int k = 0; k < stack; k++)
        for (int i = 0; i < BOARD; i++)
            planes[k * BOARD + i] = frames[MAX(t - stack + 1 + k, 0)][i];
    assert_true(orch_q_learner_values(learner, planes, 1, values, NULL));
    for (int i = 0; i < ACTIONS; i++)
        most = fmaxf(most, values[i]);
    return action < 0 ? most : values[action];
}

static void take_episode(struct orch_actor_step *steps, uint8_t (*frames)[BOARD])
{
    for (int t = 0; t < EPISODE; t++) {
        steps[t] = next_step(1, frames[t]);
        assert_true(steps[t].version == 17);
        assert_int_equal(steps[t].end,
                         t < EPISODE - 1 ? ORCH_REPLAY_GOES_ON : ORCH_REPLAY_TERMINATED);
        assert_int_equal(frames[t][5 * t] + frames[t][5 * t + 1] + frames[t][5 * t + 2] +
                             frames[t][5 * t + 3] + frames[t][5 * t + 4],
                         1); /* the ball is in row t */
    }
}

static void check_priorities(double limit, int stack)
{
    struct orch_worker_pool *pool;
    static uint8_t frames[EPISODE][BOARD];
    struct orch_actor_step steps[EPISODE];
    const double gamma = 0.9;
    int limited = 0;
    start_catch(&pool, gamma, limit, stack);
    for (int episode = 0; episode < 5; episode++) {
        take_episode(steps, frames);
        for (int t = 0; t < EPISODE; t++) {
            double target = 0;
            for (int k = 0; k < 3 && t + k < EPISODE; k++)
                target += pow(gamma, k) * (double)steps[t + k].reward;
            if (t + 3 < EPISODE)
                target += pow(gamma, 3) * (double)value(frames, t + 3, stack, -1);
            if (limit > 0 && fabs(target) > limit) {
                target = copysign(limit, target);
                limited++;
            }
            const double expected = fabs(target - (double)value(frames, t, stack, steps[t].action));
            assert_true(fabs((double)steps[t].priority - expected) < 1e-5 * (1 + expected));
        }
    }
    assert_true(limit > 0 ? limited >= 5 * 3 : limited == 0);
    assert_int_equal(orch_worker_pool_alive(pool), ACTORS);
    end_catch(pool);
}

/** The priorities that an actor sends are |R + gamma^n max Q(s after n steps) - Q(s, a)|, where an
 * episode's end cuts the return and `value_limit` bounds the target, as the learner's. */
static void test_priorities(void **state)
{
    (void)state;
    check_priorities(0, 1);
    check_priorities(0.3, 1);
    check_priorities(0, 3);
}

/** Actors whose parameters do not fit theirs end, which the learner is told. */
static void test_deaths(void **state)
{
    (void)state;
    GError *error = NULL;
    const struct orch_actor_setup setup = {.environment = "catch",
                                           .net = "mlp:16",
                                           .engine = ORCH_Q_PLAIN,
                                           .actors = ACTORS,
                                           .envs = 1,
                                           .frame_stack = 1,
                                           .n_step = 1,
                                           .pull_every = 1};
    share = orch_actor_share_new(&setup, 11, BOARD, 8, NULL);
    struct orch_worker_pool *pool = orch_actor_pool_new(share, &error);
    if (!pool)
        fail_msg("%s", error->message);
    int died = 0;
    while (died < ACTORS) {
        char *how = NULL;
        if (orch_worker_pool_next_death(pool, &how) < 0) {
            g_usleep(1000);
            continue;
        }
        assert_string_equal(how, "ended with status 1");
        g_free(how);
        died++;
    }
    assert_int_equal(orch_worker_pool_alive(pool), 0);
    orch_actor_pool_free(pool, share);
    orch_actor_share_free(share);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),   cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_attach), cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_deaths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
