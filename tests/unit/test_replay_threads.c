/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many writers and one reader at the same time: no drawn step is torn. */
#include "plugins/replay/memory/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>

enum { LANES = 4, FRAME = 33, CHUNK = 7, STEPS = 8000 * CHUNK, BATCH = 64, BATCHES = 500 };

static struct orch_replay *replay;
static bool goes_on;

/* Until the reader has drawn enough. Every value of frame k of a lane is k * LANES + lane, as its
 * action and reward are. */
static void *write_steps(void *ctx)
{
    const int lane = (int)(intptr_t)ctx;
    float frames[CHUNK * FRAME], rewards[CHUNK];
    int32_t actions[CHUNK];
    uint8_t ends[CHUNK];
    for (int first = 0; __atomic_load_n(&goes_on, __ATOMIC_ACQUIRE);
         first = (first + CHUNK) % STEPS) {
        for (int i = 0; i < CHUNK; i++) {
            const int number = (first + i) * LANES + lane;
            for (int v = 0; v < FRAME; v++)
                frames[i * FRAME + v] = (float)number;
            actions[i] = number;
            rewards[i] = (float)number;
            ends[i] = (first + i) % 29 == 28 || first + i == STEPS - 1 ? ORCH_REPLAY_TERMINATED
                                                                       : ORCH_REPLAY_GOES_ON;
        }
        const struct orch_replay_steps steps = {CHUNK, frames, actions, rewards, ends, NULL};
        if (!orch_replay_add(replay, lane, &steps, NULL))
            break;
    }
    return NULL;
}

static bool is_whole(const float *frame, int number)
{
    for (int v = 0; v < FRAME; v++)
        if (frame[v] != (float)number)
            return false;
    return true;
}

static void check_threads(enum orch_replay_sampling sampling)
{
    static float states[BATCH * FRAME], next[BATCH * FRAME];
    float returns[BATCH], discounts[BATCH], weights[BATCH], errors[BATCH];
    int32_t actions[BATCH];
    int64_t places[BATCH];
    const struct orch_replay_options options = {.capacity = 2000,
                                                .lanes = LANES,
                                                .frame_values = FRAME,
                                                .stack = 1,
                                                .n_step = 1,
                                                .gamma = 0.5,
                                                .sampling = sampling,
                                                .alpha = 0.6,
                                                .epsilon = 1e-3};
    const struct orch_replay_batch batch = {states,    next,    actions, returns,
                                            discounts, weights, places};
    pthread_t writers[LANES];
    replay = orch_replay_new(&options, NULL);
    assert_non_null(replay);
    goes_on = true;
    for (intptr_t i = 0; i < LANES; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, write_steps, (void *)i), 0);
    for (int batches = 0; batches < BATCHES;) {
        if (orch_replay_ready(replay) < BATCH) {
            sched_yield();
            continue;
        }
        assert_true(orch_replay_sample(replay, BATCH, 0.5, &batch, NULL));
        for (int i = 0; i < BATCH; i++) {
            assert_true(is_whole(states + i * FRAME, actions[i]));
            assert_true(returns[i] == (float)actions[i]);
            assert_true(discounts[i] == 0 || is_whole(next + i * FRAME, actions[i] + LANES));
            errors[i] = (float)(actions[i] % 11);
        }
        assert_true(orch_replay_update(replay, places, errors, BATCH, NULL));
        batches++;
    }
    __atomic_store_n(&goes_on, false, __ATOMIC_RELEASE);
    for (int i = 0; i < LANES; i++)
        pthread_join(writers[i], NULL);
    orch_replay_free(replay);
}

static void test_uniform(void **state)
{
    (void)state;
    check_threads(ORCH_REPLAY_UNIFORM);
}

static void test_proportional(void **state)
{
    (void)state;
    check_threads(ORCH_REPLAY_PROPORTIONAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_proportional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
