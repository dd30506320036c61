/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Waits and reports the actual duration: for testing recipes, limits and the display. */
#include <orch/plugin.h>

#include <time.h>

struct params {
    double seconds;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, seconds, ORCH_DURATION, .label = "seconds", .unit = "s", .def = "1",
               .min = "0", .max = "1d", .help = "how long to wait"),
};

static const struct orch_metric METRICS[] = {
    {.name = "slept_s",
     .label = "slept time",
     .min = "0",
     .unit = "s",
     .help = "time that the wait took"},
};

/* Maximum delay before a cancel is noticed. */
static const double STEP_S = 0.02;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void wait_s(double seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds};
    time.tv_nsec = (long)((seconds - (double)time.tv_sec) * 1e9);
    nanosleep(&time, NULL);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    double seconds = host->smoke(host) ? 0 : p->seconds, begin = now_s(), slept = 0;
    (void)state;
    host->phase(host, "sleeping");
    for (; slept < seconds; slept = now_s() - begin) {
        if (host->cancelled(host))
            return ORCH_CANCELLED;
        host->progress(host, slept, seconds);
        wait_s(seconds - slept < STEP_S ? seconds - slept : STEP_S);
    }
    host->progress(host, seconds, seconds);
    host->result(host, "slept_s", slept);
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "sleep",
    .version = "1.0.0",
    .summary = "waits for a given time",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
