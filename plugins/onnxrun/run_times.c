/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/run_times.h"

#include <string.h>
#include <time.h>

enum { SMOKE_REPEATS = 2 };

static double now_s(const struct onnxrun_params *p)
{
    const bool is_processor = strcmp(p->clock, "processor") == 0;
    struct timespec now;
    clock_gettime(is_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

GArray *orch_onnxrun_times(const struct onnxrun_trial *t, bool (*once)(void *ctx, GError **error),
                           void *ctx, GError **error)
{
    const bool is_smoke = t->host->smoke(t->host);
    const int64_t warmup = is_smoke ? 0 : t->p->warmup,
                  repeats = is_smoke ? SMOKE_REPEATS : t->p->repeats;
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    for (int64_t i = -warmup; i < repeats && !t->host->cancelled(t->host); i++) {
        const double begin_s = now_s(t->p);
        if (!once(ctx, error)) {
            g_array_unref(times);
            return NULL;
        }
        const double took_s = now_s(t->p) - begin_s;
        if (i >= 0)
            g_array_append_val(times, took_s);
        t->host->progress(t->host, (double)(i + warmup + 1), (double)(warmup + repeats));
    }
    return times;
}
