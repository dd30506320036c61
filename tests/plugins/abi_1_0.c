/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plugin that was built with the header of ABI 1.0 (tests/plugins/abi-1.0). */
#include <orch/plugin.h>

#if ORCH_ABI_MINOR != 0
#error "this is the header of another version"
#endif

static const struct orch_metric METRICS[] = {{.name = "answer"}};

static int cost(const void *params, struct orch_cost *out)
{
    (void)params;
    out->network = "lenet5";
    out->images = 1000;
    out->batch = 10;
    return out->struct_bytes >= sizeof *out ? ORCH_OK : ORCH_FAILED;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)state;
    (void)params;
    if (host->struct_bytes < sizeof *host)
        return ORCH_FAILED;
    host->result(host, "answer", 42);
    return ORCH_OK;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "abi_1_0",
    .version = "1.0.0",
    .summary = "as old as ABI 1.0",
    .licence = "GPL-3.0-or-later",
    ORCH_TABLE(metrics, METRICS),
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
