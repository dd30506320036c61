/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that says what its slot is: `ranks` is started as several ranks (without MPI itself),
 * `plain` is not. Both also run under a host of ABI 1.0. */
#include <orch/plugin.h>

#include <stdio.h>
#include <unistd.h>

struct params {
    int64_t naps; /* of 10 ms, in every rank */
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, naps, ORCH_INT, .def = "0", .min = "0"),
};

static const struct orch_metric METRICS[] = {
    {.name = "ranks"},
    {.name = "threads"},
    {.name = "gpus"},
    {.name = "memory"},
};

static int cost(const void *params, struct orch_cost *out)
{
    (void)params;
    out->batch = 8;
    if (orch_cost_has(out, unit))
        out->unit = "frames";
    if (orch_cost_has(out, steps))
        out->steps = 100;
    return ORCH_OK;
}

static int run(void *state, const void *pointer, const struct orch_host *host)
{
    const struct params *params = pointer;
    struct orch_slot slot = {.struct_bytes = sizeof slot};
    char text[64];
    (void)state;
    if (orch_host_has(host, slot))
        host->slot(host, &slot);
    snprintf(text, sizeof text, "is %u of %u, local %u", slot.rank, slot.ranks, slot.local_rank);
    host->note(host, text);
    host->result(host, "ranks", slot.ranks);
    host->result(host, "threads", slot.threads);
    host->result(host, "gpus", slot.gpus);
    host->result(host, "memory", (double)slot.memory_bytes);
    for (int64_t i = 0; i < params->naps; i++, usleep(10000))
        if (host->cancelled(host))
            return ORCH_CANCELLED;
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
#ifdef PLAIN
    .name = "plain",
#else
    .name = "ranks",
    .needs = {.mpi = 1},
#endif
    .version = "1.0.0",
    .summary = "says what its slot is",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
