/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of the replay buffer on one core, in millions a second of processor time: 'bench_replay
 * [CAPACITY [VALUES]]'. Frames of VALUES floats (4: CartPole's), batches of 256. bench/replay.sh
 * sets its peers beside it. */
#include "plugins/common/replay/replay.h"

#include "lib/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 256, LEAST_MS = 1000 };

static int64_t capacity = 1000000, values = 4;
static float *frames, *next, returns[BATCH], discounts[BATCH], weights[BATCH], errors[BATCH];
static int32_t actions[BATCH];
static int64_t places[BATCH];
static uint64_t state = 1;

static struct orch_replay *make(enum orch_replay_sampling sampling)
{
    const struct orch_replay_options options = {.capacity = capacity,
                                                .lanes = 1,
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

int main(int argc, char **argv)
{
    if (argc > 1)
        capacity = strtoll(argv[1], NULL, 10);
    if (argc > 2)
        values = strtoll(argv[2], NULL, 10);
    frames = calloc((size_t)(BATCH * values), sizeof *frames);
    next = calloc((size_t)(BATCH * values), sizeof *next);
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
    free(frames);
    free(next);
    return 0;
}
