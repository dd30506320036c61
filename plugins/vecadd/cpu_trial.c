/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial on the processor. The caches are emptied before each sample by reading a buffer that is
 * larger than they are: reading leaves nothing to write back. */
#include "plugins/common/kernels/free_memory.h"
#include "plugins/vecadd/cpu_add.h"
#include "plugins/vecadd/host_memory.h"
#include "plugins/vecadd/summands.h"
#include "plugins/vecadd/vecadd.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)
enum { CHOICE_TRIES = 3, TRIAD_SAMPLES = 10 };

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

/* ---- STREAM's triad ---------------------------------------------------------------------------
 */

/* The bandwidth that additions are held against: the triad with every thread over arrays of four
 * times the caches. Its samples alternate with those of the addition, so that other work on the
 * machine slows both alike. Three arrays count, as in STREAM: what a write-allocate reads does
 * not. */
struct triad {
    struct arrays arrays; /* a NULL: no memory, not measured */
    struct addition addition;
    struct orch_samples samples;
    double spent_s;
};

static size_t triad_bytes(const struct cpu_trial *t)
{
    const double room = orch_free_memory(t->host);
    const size_t bytes = MAX(4 * orch_vecadd_cache_bytes(), 64 * MIB);
    if (t->trial->is_smoke)
        return MIB;
    return room > 0 ? MIN(bytes, (size_t)(room / 6)) : bytes;
}

static void triad_init(struct triad *triad, struct cpu_trial *t)
{
    const struct vecadd_vector_kernels *vectors = orch_vecadd_vector_kernels();
    vecadd_kernel *const kernels[] = {vectors->triad_cached, vectors->triad_streaming};
    double best = INFINITY;
    *triad = (struct triad){0};
    orch_samples_init(&triad->samples, &t->trial->rule);
    if (!arrays_init(&triad->arrays, triad_bytes(t) / sizeof(float)))
        return;
    orch_vecadd_fill(t->all, t->trial->seed, triad->arrays.a, triad->arrays.b, triad->arrays.out,
                     triad->arrays.count);
    vecadd_kernel *fastest = kernels[0];
    for (int i = 0; i < 2 * CHOICE_TRIES; i++) {
        triad->addition = (struct addition){kernels[i % 2], &triad->arrays, 3};
        const double time_s = time_addition(t->all, &triad->addition);
        fastest = time_s < best ? kernels[i % 2] : fastest;
        best = fmin(best, time_s);
    }
    triad->addition.kernel = fastest;
}

/* One sample, unless there are enough of them and they took longer than the additions. */
static void triad_sample(struct triad *triad, struct cpu_trial *t, double additions_s)
{
    if (!triad->arrays.a || (triad->samples.count >= TRIAD_SAMPLES && triad->spent_s > additions_s))
        return;
    const double time_s = time_addition(t->all, &triad->addition);
    triad->spent_s += time_s;
    orch_samples_add(&triad->samples, time_s, 0);
}

/* Bytes a second; 0 without samples. */
static double triad_rate(const struct triad *triad)
{
    return triad->samples.count ? orch_vecadd_bytes(triad->arrays.count) /
                                      orch_samples_summarize(&triad->samples).median_s
                                : 0;
}

static void triad_release(struct triad *triad)
{
    arrays_release(&triad->arrays);
    orch_samples_release(&triad->samples);
}

/* ---- the trial --------------------------------------------------------------------------------
 */

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
    struct triad triad;
    double spent_s = 0;
    triad_init(&triad, t);
    orch_samples_init(&cold, &t->trial->rule);
    orch_samples_init(&warm, &t->trial->rule);
    while (!t->host->cancelled(t->host) && orch_samples_need_more(&cold)) {
        const double begin = orch_samples_now_s();
        orch_samples_add(&cold, time_cold(t, addition), 0);
        spent_s += orch_samples_now_s() - begin;
        triad_sample(&triad, t, spent_s);
    }
    while (!t->host->cancelled(t->host) && orch_samples_need_more(&warm))
        orch_samples_add(&warm, time_addition(t->team, addition), 0);
    const bool ended = !t->host->cancelled(t->host);
    if (ended) {
        orch_vecadd_report_kernel(t->trial, &cold, triad_rate(&triad), t->host);
        t->host->result(t->host, "kernel_warm_time", 1e3 * orch_samples_summarize(&warm).median_s);
        t->host->result(t->host, "total_time",
                        1e3 * orch_samples_summarize(&cold).median_s); /* nothing is copied */
    }
    triad_release(&triad);
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
        t->host->note(t->host, "too little memory to empty the caches: some measured times may be "
                               "those of data in a cache");
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
    if (!orch_memory_fits(orch_vecadd_bytes(trial->count), "three arrays", "fewer elements", host))
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
