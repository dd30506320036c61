/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does nothing, to measure the overhead of a trial. With `metrics` it reports that number of
 * points, to measure the path of points to the store. */
#include <orch/plugin.h>

struct params {
    int64_t metrics;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, metrics, ORCH_INT, .label = "metrics", .def = "0", .min = "0",
               .max = "100000000", .help = "points of the metric 'value' to report"),
};

static const struct orch_metric METRICS[] = {
    {.name = "value", .label = "value", .step_unit = "step", .help = "a saw tooth between 0 and 1"},
};

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct params *p = params;
    int64_t count = host->smoke(host) && p->metrics > 2 ? 2 : p->metrics;
    (void)state;
    for (int64_t i = 0; i < count; i++) {
        if (i % 1024 == 0 && host->cancelled(host))
            return ORCH_CANCELLED;
        host->metric(host, "value", i, (double)(i * 7919 % 10007) / 10007.0);
    }
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "null",
    .version = "1.0.0",
    .summary = "does nothing",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .run = run,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
