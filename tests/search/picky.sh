# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of searches: picky makes the plugin picky/picky.so, whose loss is its parameter 'width' and whose check of a trial
# is what stands on standard input, lines of C that know `width` and `host`.
picky() {
    local check
    check=$(cat)
    mkdir picky
    cat >picky/picky.c <<C
#include <orch/plugin.h>
#include <stdlib.h>
struct params { double width; };
static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, width, ORCH_REAL, .def = "10", .min = "0", .max = "1000"),
};
static const struct orch_metric METRICS[] = {{.name = "loss", .better = ORCH_BETTER_MIN}};
static int check(const void *pointer, const struct orch_host *host)
{
    double width = ((const struct params *)pointer)->width;
$check
}
static int run(void *state, const void *pointer, const struct orch_host *host)
{
    (void)state;
    host->metric(host, "loss", 1, ((const struct params *)pointer)->width);
    return ORCH_OK;
}
static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD, .name = "picky", .version = "1.0.0", .summary = "rejects what is wide", .licence = "MIT",
    .params_bytes = sizeof(struct params), ORCH_TABLE(params, PARAMS), ORCH_TABLE(metrics, METRICS),
    .check = check, .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
C
    cc -std=c11 -shared -fPIC -I"$SOURCE/include" -o picky/picky.so picky/picky.c || _fail 'cc'
    trust picky/picky.so
}
