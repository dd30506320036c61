/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of the environments on one core, in millions of steps a second of processor time:
 * 'bench_env [NAME [COPIES]]'. Actions are drawn beforehand, as the peers' are. bench/env.sh sets
 * Gymnasium and MinAtar beside it. */
#include "plugins/replay/env/env.h"

#include "lib/base/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 64 }; /* of actions that are drawn beforehand */
static const int64_t LEAST_NS = 1000000000;

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static double steps_per_us(const struct orch_env_kind *kind, int64_t copies)
{
    const struct orch_envs_options options = {.kind = kind, .count = copies, .seed = 1};
    struct orch_envs *envs = orch_envs_new(&options, NULL);
    const size_t values = (size_t)(copies * kind->observation_values);
    g_autofree float *rewards = g_new(float, copies);
    g_autofree uint8_t *ends = g_new(uint8_t, copies);
    g_autofree float *observations = g_new(float, values), *finals = g_new(float, values);
    g_autofree int32_t *actions = g_new(int32_t, ROUNDS * copies);
    const struct orch_envs_result result = {rewards, ends, observations, finals};
    uint64_t random = 2;
    for (int64_t i = 0; i < ROUNDS * copies; i++)
        actions[i] = (int32_t)orch_random_below(&random, (size_t)kind->actions);
    orch_envs_reset(envs, observations, NULL);
    int64_t steps = 0, end;
    const int64_t begin = cpu_ns();
    do {
        for (int round = 0; round < ROUNDS; round++)
            orch_envs_step(envs, actions + round * copies, &result, NULL);
        steps += ROUNDS * copies;
        end = cpu_ns();
    } while (end - begin < LEAST_NS);
    orch_envs_free(envs);
    return (double)steps / (double)(end - begin) * 1e3;
}

int main(int argc, char **argv)
{
    const int64_t copies = argc > 2 ? strtoll(argv[2], NULL, 10) : 64;
    for (size_t i = 0; orch_env_at(i); i++)
        if (argc < 2 || strcmp(argv[1], orch_env_at(i)->name) == 0)
            printf("%s %.4g\n", orch_env_at(i)->name, steps_per_us(orch_env_at(i), copies));
    return 0;
}
