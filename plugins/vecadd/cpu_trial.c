/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial on the processor. The caches are emptied before each sample by reading a buffer that is
 * larger than they are: reading leaves nothing to write back. */
#include "plugins/vecadd/cpu_add.h"
#include "plugins/vecadd/host_memory.h"
#include "plugins/vecadd/summands.h"
#include "plugins/vecadd/vecadd.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
enum { CHOICE_TRIES = 3, TRIAD_SAMPLES = 10 };
#define TRIAD_LIMIT_S 2.0

struct arrays {
    float *a, *b, *out;
    size_t count;
};

/* One piece of work for the team. */
struct addition {
    vecadd_kernel *kernel;
    const struct arrays *arrays;
    float scale;
};

struct cpu_trial {
    const struct vecadd_trial *trial;
    const struct orch_host *host;
    struct orch_team *team; /* those that add */
    struct orch_team
        *all; /* every thread of the slot: fills, checks, empties caches, measures the memory */
    struct orch_vecadd_flush flush;
    struct arrays arrays;
};

static void arrays_release(struct arrays *arrays)
{
    free(arrays->a);
    free(arrays->b);
    free(arrays->out);
    *arrays = (struct arrays){0};
}

static bool arrays_init(struct arrays *arrays, size_t count)
{
    *arrays = (struct arrays){.count = count};
    arrays->a = orch_vecadd_floats_new(count);
    arrays->b = orch_vecadd_floats_new(count);
    arrays->out = orch_vecadd_floats_new(count);
    if (arrays->a && arrays->b && arrays->out)
        return true;
    arrays_release(arrays);
    return false;
}

static void add_part(void *argument, int index, int threads)
{
    const struct addition *addition = argument;
    const struct arrays *arrays = addition->arrays;
    size_t begin, end;
    orch_vecadd_part(arrays->count, index, threads, &begin, &end);
    addition->kernel(arrays->out + begin, arrays->a + begin, arrays->b + begin, addition->scale,
                     end - begin);
}

static double time_addition(struct orch_team *team, const struct addition *addition)
{
    struct addition copy = *addition;
    const double begin = orch_samples_now_s();
    orch_team_run(team, add_part, &copy);
    return orch_samples_now_s() - begin;
}

static double time_cold(struct cpu_trial *t, const struct addition *addition)
{
    orch_vecadd_flush_caches(&t->flush, t->all);
    return time_addition(t->team, addition);
}

/* Streaming stores, or those through the caches: the faster of both, cold. */
static vecadd_kernel *choose_kernel(struct cpu_trial *t)
{
    const struct vecadd_vector_kernels *vectors = orch_vecadd_vector_kernels();
    double best[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 2 * CHOICE_TRIES; i++) {
        const struct addition addition = {i % 2 ? vectors->add_streaming : vectors->add_cached,
                                          &t->arrays, 1};
        best[i % 2] = fmin(best[i % 2], time_cold(t, &addition));
    }
    const bool streams = vectors->has_streaming && best[1] < best[0] && !t->trial->is_smoke;
    t->host->result(t->host, "streaming_stores", streams);
    return streams ? vectors->add_streaming : vectors->add_cached;
}

/* STREAM's triad over arrays of four times the caches with every thread: the median of the better
 * kind of stores, in bytes a second; 0 without memory. Three arrays count, as in STREAM: what a
 * write-allocate reads does not. */
static double triad_bandwidth(struct cpu_trial *t)
{
    const struct vecadd_vector_kernels *vectors = orch_vecadd_vector_kernels();
    const double room = orch_vecadd_free_memory(t->host);
    size_t bytes = MAX(4 * orch_vecadd_cache_bytes(), 64 * MIB);
    if (room > 0)
        bytes = MIN(bytes, (size_t)(room / 6));
    if (t->trial->is_smoke)
        bytes = MIB;
    struct arrays arrays;
    if (!arrays_init(&arrays, bytes / sizeof(float)))
        return 0;
    orch_vecadd_fill(t->all, t->trial->seed, arrays.a, arrays.b, arrays.out, arrays.count);
    const struct orch_samples_rule full = {TRIAD_SAMPLES, 1000, t->trial->rule.min_s / 2,
                                           TRIAD_LIMIT_S, 0.02};
    const struct orch_samples_rule rule = t->trial->is_smoke ? t->trial->rule : full;
    double best = INFINITY;
    for (int streams = 0; streams < 1 + vectors->has_streaming; streams++) {
        const struct addition triad = {streams ? vectors->triad_streaming : vectors->triad_cached,
                                       &arrays, 3};
        struct orch_samples samples;
        orch_samples_init(&samples, &rule);
        time_addition(t->all, &triad);
        while (orch_samples_need_more(&samples))
            orch_samples_add(&samples, time_addition(t->all, &triad), 0);
        best = fmin(best, orch_samples_summarize(&samples).median_s);
        orch_samples_release(&samples);
    }
    const double rate = orch_vecadd_bytes(arrays.count) / best;
    arrays_release(&arrays);
    return rate;
}

static int check_result(struct cpu_trial *t)
{
    size_t first;
    const size_t wrong =
        orch_vecadd_wrong(t->all, t->trial->seed, t->arrays.out, t->arrays.count, &first);
    t->host->result(t->host, "wrong_elements", (double)wrong);
    return wrong ? orch_vecadd_fail(
                       t->host, "%zu of %zu sums differ from the reference, the first at index %zu",
                       wrong, t->arrays.count, first)
                 : ORCH_OK;
}

/* What a program does that adds once. */
static bool first_pass(struct cpu_trial *t, const struct addition *addition)
{
    const struct orch_host *host = t->host;
    const double begin = orch_samples_now_s();
    if (!arrays_init(&t->arrays, t->trial->count))
        return orch_vecadd_fail(host, "cannot allocate three arrays of %zu elements",
                                t->trial->count),
               false;
    const double allocated = orch_samples_now_s();
    orch_vecadd_fill(t->all, t->trial->seed, t->arrays.a, t->arrays.b, t->arrays.out,
                     t->trial->count);
    const double filled = orch_samples_now_s();
    host->result(host, "host_allocation_time", 1e3 * (allocated - begin));
    host->result(host, "fill_time", 1e3 * (filled - allocated));
    host->result(host, "first_kernel_time", 1e3 * time_addition(t->team, addition));
    host->result(host, "program_time", 1e3 * orch_vecadd_process_age_s());
    return true;
}

static int sample(struct cpu_trial *t, const struct addition *addition)
{
    struct orch_samples cold, warm;
    orch_samples_init(&cold, &t->trial->rule);
    orch_samples_init(&warm, &t->trial->rule);
    while (!t->host->cancelled(t->host) && orch_samples_need_more(&cold))
        orch_samples_add(&cold, time_cold(t, addition), 0);
    while (!t->host->cancelled(t->host) && orch_samples_need_more(&warm))
        orch_samples_add(&warm, time_addition(t->team, addition), 0);
    const bool ended = !t->host->cancelled(t->host);
    if (ended) {
        t->host->phase(t->host, "measuring the memory");
        orch_vecadd_report_kernel(t->trial, &cold, triad_bandwidth(t), t->host);
        t->host->result(t->host, "kernel_warm_time", 1e3 * orch_samples_summarize(&warm).median_s);
        t->host->result(t->host, "total_time",
                        1e3 * orch_samples_summarize(&cold).median_s); /* nothing is copied */
    }
    orch_samples_release(&cold);
    orch_samples_release(&warm);
    return ended ? ORCH_OK : ORCH_CANCELLED;
}

static int measure(struct cpu_trial *t)
{
    const bool alone = t->trial->scenario == VECADD_CPU_1;
    struct addition addition = {
        alone ? orch_vecadd_plain : orch_vecadd_vector_kernels()->add_cached, &t->arrays, 1};
    t->host->phase(t->host, "first pass");
    if (!first_pass(t, &addition))
        return ORCH_FAILED;
    int status = check_result(t);
    if (status != ORCH_OK)
        return status;
    orch_vecadd_flush_init(&t->flush, t->all);
    if (!t->flush.buffer)
        t->host->note(t->host,
                      "no memory to empty the caches with: samples may have found data in them");
    if (!alone)
        addition.kernel = choose_kernel(t);
    t->host->phase(t->host, "sampling");
    for (int i = 0; i < t->trial->warmup; i++)
        time_addition(t->team, &addition);
    orch_vecadd_poison(t->all, t->arrays.out, t->arrays.count);
    status = sample(t, &addition);
    return status == ORCH_OK ? check_result(t) : status;
}

int orch_vecadd_cpu_run(const struct vecadd_trial *trial, const struct orch_host *host)
{
    if (!orch_vecadd_memory_fits(orch_vecadd_bytes(trial->count), "three arrays", host))
        return ORCH_FAILED;
    struct cpu_trial t = {.trial = trial, .host = host, .all = orch_team_new(trial->threads)};
    t.team = trial->scenario == VECADD_CPU_1 ? orch_team_new(1) : t.all;
    host->result(host, "thread_count", orch_team_size(t.team));
    if (trial->scenario == VECADD_CPU_ALL) {
        g_autofree char *text =
            g_strdup_printf("vector instructions: %s", orch_vecadd_vector_kernels()->instructions);
        host->note(host, text);
    }
    const int status = measure(&t);
    arrays_release(&t.arrays);
    orch_vecadd_flush_release(&t.flush);
    if (t.team != t.all)
        orch_team_free(t.team);
    orch_team_free(t.all);
    return status;
}
