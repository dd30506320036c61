/* SPDX-License-Identifier: MIT */
/* STREAM's triad (McCalpin 1995, stream.c): a = b + s c over three arrays, 24 bytes an element. The
 * line of `a` that a store first reads (write-allocate) is not counted, as in STREAM: where the
 * processor does that, its memory moves up to a third more than the figure. */
#include "features/hardware/measure.h"

#include "lib/base/ident.h"
#include "lib/hw/machine.h"

#include <unistd.h>

#define ARRAY_BYTES_MIN ((int64_t)64 << 20)
#define ARRAY_BYTES_MAX ((int64_t)1 << 30)
/* Bytes moved in one sample, so that starting the threads does not matter. */
#define SAMPLE_BYTES ((double)(256 << 20))

struct share {
    double *a;
    const double *b, *c;
    size_t count, rounds;
    bool fills; /* first touch, so that each thread's pages lie near it */
};

static gpointer run_share(gpointer data)
{
    const struct share *s = data;
    double *restrict a = s->a;
    const double *restrict b = s->b, *restrict c = s->c;
    for (size_t i = 0; s->fills && i < s->count; i++)
        a[i] = 0, ((double *)(uintptr_t)b)[i] = 1, ((double *)(uintptr_t)c)[i] = 2;
    for (size_t round = 0; !s->fills && round < s->rounds; round++) {
        for (size_t i = 0; i < s->count; i++)
            a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" : : "r"(a) : "memory"); /* no round is left out */
    }
    return NULL;
}

struct triad {
    struct share *shares;
    GThread **running;
    int threads;
    double bytes;
};

static double run_triad(void *ctx)
{
    struct triad *t = ctx;
    int64_t begin = orch_mono_ns();
    for (int i = 1; i < t->threads; i++)
        t->running[i] = g_thread_new("triad", run_share, &t->shares[i]);
    run_share(&t->shares[0]);
    for (int i = 1; i < t->threads; i++)
        g_thread_join(t->running[i]);
    return t->bytes / ((double)(orch_mono_ns() - begin) / 1e9);
}

/* Four times the last cache, as STREAM asks for, between 64 MiB and 1 GiB. */
static size_t array_count(void)
{
    int64_t cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
    int64_t bytes = CLAMP(4 * cache, ARRAY_BYTES_MIN, ARRAY_BYTES_MAX);
    int64_t memory = orch_machine_memory("");
    if (memory > 0)
        bytes = MIN(bytes, memory / 16);
    return (size_t)bytes / sizeof(double);
}

struct orch_measured orch_measure_triad(int threads, size_t bytes, double seconds)
{
    threads = MAX(threads, 1);
    const size_t wanted = bytes ? bytes / 3 / sizeof(double) : array_count();
    const size_t count = MAX(wanted / (size_t)threads, 1) * (size_t)threads;
    const double round_bytes = 3.0 * sizeof(double) * (double)count;
    const size_t rounds = (size_t)MAX(SAMPLE_BYTES / round_bytes, 1);
    g_autofree double *arrays = g_malloc(3 * count * sizeof *arrays);
    g_autofree struct share *shares = g_new(struct share, threads);
    g_autofree GThread **running = g_new0(GThread *, threads);
    struct triad triad = {shares, running, threads, round_bytes * (double)rounds};
    const size_t each = count / (size_t)threads;
    for (int i = 0; i < threads; i++) {
        double *from = arrays + (size_t)i * each;
        shares[i] = (struct share){from, from + count, from + 2 * count, each, rounds, true};
    }
    run_triad(&triad);
    for (int i = 0; i < threads; i++)
        shares[i].fills = false;
    return orch_rate_samples_take(run_triad, &triad, seconds);
}
