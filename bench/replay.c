/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of the replay buffer in millions of steps a second: 'bench_replay [CAPACITY [VALUES
 * [WRITERS]]]'. Frames of VALUES floats (4: CartPole's), batches of 256. Without WRITERS one thread
 * works, and seconds are those of its processor time. With WRITERS so many threads add to a lane
 * each: first as fast as they can, then 100,000 steps a second each, in eights as an actor with
 * eight copies does, while one thread samples. Seconds are then those of the clock. bench/replay.sh
 * sets peers beside it and draws its chart. */
#include "plugins/replay/memory/replay.h"

#include "lib/base/random.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 256, LEAST_MS = 1000 };

static int64_t capacity = 1000000, values = 4, writers;
static float *frames, *next, returns[BATCH], discounts[BATCH], weights[BATCH], errors[BATCH];
static int32_t actions[BATCH];
static int64_t places[BATCH];
static uint64_t state = 1;

static struct orch_replay *make(enum orch_replay_sampling sampling)
{
    const struct orch_replay_options options = {.capacity = capacity,
                                                .lanes = writers > 0 ? (int)writers : 1,
                                                .frame_values = values,
                                                .stack = 1,
                                                .n_step = 1,
                                                .gamma = 0.99,
                                                .sampling = sampling,
                                                .alpha = 0.6,
                                                .epsilon = 1e-6,
                                                .seed = 1};
    GError *error = NULL;
    struct orch_replay *r = orch_replay_new(&options, &error);
    if (!r) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    return r;
}

static void add(struct orch_replay *r)
{
    const struct orch_replay_steps steps = {BATCH, frames, actions, returns, NULL, NULL};
    orch_replay_add(r, 0, &steps, NULL);
}

static void sample(struct orch_replay *r)
{
    const struct orch_replay_batch batch = {frames,    next,    actions, returns,
                                            discounts, weights, places};
    orch_replay_sample(r, BATCH, 0.4, &batch, NULL);
}

static void sample_and_update(struct orch_replay *r)
{
    sample(r);
    for (int i = 0; i < BATCH; i++)
        errors[i] = (float)orch_random_unit(&state);
    orch_replay_update(r, places, errors, BATCH, NULL);
}

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void time_rate(const char *name, struct orch_replay *r, void (*work)(struct orch_replay *))
{
    int64_t rounds = 0, begin = cpu_ns(), end;
    do {
        for (int i = 0; i < 100; i++)
            work(r);
        rounds += 100;
        end = cpu_ns();
    } while (end - begin < LEAST_MS * INT64_C(1000000));
    printf("%s %.4g\n", name, (double)(rounds * BATCH) / (double)(end - begin) * 1e3);
}

static void fill(struct orch_replay *r)
{
    for (int64_t i = 0; i < capacity + BATCH; i += BATCH)
        add(r);
}

/* ---- threads ----------------------------------------------------------------------------------
 */

enum { PACED_STEPS = 8, PACE_US = 80 };

struct writer {
    struct orch_replay *buffer;
    int lane;
    bool is_paced;
    int64_t steps; /* until is_over */
    pthread_t thread;
};

static bool is_over;

static void *write_lane(void *ctx)
{
    struct writer *w = ctx;
    const int64_t count = w->is_paced ? PACED_STEPS : BATCH, begin_us = g_get_monotonic_time();
    const struct orch_replay_steps steps = {count, frames, actions, returns, NULL, NULL};
    while (!__atomic_load_n(&is_over, __ATOMIC_RELAXED)) {
        orch_replay_add(w->buffer, w->lane, &steps, NULL);
        w->steps += count;
        const int64_t due_us = begin_us + w->steps / PACED_STEPS * PACE_US;
        if (w->is_paced && g_get_monotonic_time() < due_us)
            g_usleep(PACE_US);
    }
    return NULL;
}

static void start(struct writer *all, struct orch_replay *r, bool is_paced)
{
    is_over = false;
    for (int64_t i = 0; i < writers; i++) {
        all[i] = (struct writer){.buffer = r, .lane = (int)i, .is_paced = is_paced};
        if (pthread_create(&all[i].thread, NULL, write_lane, &all[i]) != 0)
            exit(1);
    }
}

static int64_t stop(struct writer *all)
{
    int64_t steps = 0;
    __atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < writers; i++) {
        pthread_join(all[i].thread, NULL);
        steps += all[i].steps;
    }
    return steps;
}

static void time_threads(void)
{
    struct orch_replay *r = make(ORCH_REPLAY_UNIFORM);
    struct writer *all = g_new0(struct writer, writers);
    int64_t begin_us = g_get_monotonic_time(), drawn = 0;
    start(all, r, false);
    g_usleep(LEAST_MS * 1000);
    const int64_t added = stop(all);
    printf("add %.4g\n", (double)added / (double)(g_get_monotonic_time() - begin_us));
    /* the writers' arrays are not those that the reader fills */
    float *seen = g_new(float, BATCH *values), rewards[BATCH];
    int32_t taken[BATCH];
    const struct orch_replay_batch batch = {seen, next, taken, rewards, discounts, weights, places};
    start(all, r, true);
    begin_us = g_get_monotonic_time();
    while (g_get_monotonic_time() < begin_us + LEAST_MS * 1000)
        drawn += orch_replay_sample(r, BATCH, 0.4, &batch, NULL) ? BATCH : 0;
    printf("sample %.4g\n", (double)drawn / (double)(g_get_monotonic_time() - begin_us));
    stop(all);
    orch_replay_free(r);
    g_free(all);
    g_free(seen);
}

/* ---- one thread -------------------------------------------------------------------------------
 */

static void time_one(void)
{
    struct orch_replay *uniform = make(ORCH_REPLAY_UNIFORM);
    fill(uniform);
    time_rate("add", uniform, add);
    time_rate("sample", uniform, sample);
    orch_replay_free(uniform);
    struct orch_replay *prioritised = make(ORCH_REPLAY_PROPORTIONAL);
    fill(prioritised);
    for (int i = 0; i < 4000; i++)
        sample_and_update(prioritised);
    time_rate("prioritised", prioritised, sample_and_update);
    orch_replay_free(prioritised);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        capacity = strtoll(argv[1], NULL, 10);
    if (argc > 2)
        values = strtoll(argv[2], NULL, 10);
    if (argc > 3)
        writers = strtoll(argv[3], NULL, 10);
    frames = calloc((size_t)(BATCH * values), sizeof *frames);
    next = calloc((size_t)(BATCH * values), sizeof *next);
    if (writers > 0)
        time_threads();
    else
        time_one();
    free(frames);
    free(next);
    return 0;
}
