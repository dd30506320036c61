/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains an image classifier from scratch. docs/plugins/train.md. */
#include "plugins/common/training/fast_params.h"
#include "plugins/common/training/training.h"

#include <orch/plugin.h>

struct params {
    struct orch_training t;
};

static const struct orch_param PARAMS[] = {
    ORCH_TRAINING_DATA_PARAMS(struct params),
    ORCH_TRAINING_NET_PARAMS(struct params),
    ORCH_TRAINING_FAST_PARAMS(struct params),
    ORCH_TRAINING_RUN_PARAMS(struct params),
};
static const struct orch_metric METRICS[] = {ORCH_TRAINING_METRICS};
static const struct orch_artifact ARTIFACTS[] = {ORCH_TRAINING_ARTIFACTS};

static int check(const void *params, const struct orch_host *host)
{
    return orch_training_check(&((const struct params *)params)->t, host);
}

static int cost(const void *params, struct orch_cost *out)
{
    return orch_training_cost(&((const struct params *)params)->t, out);
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    return orch_training_open(&((const struct params *)params)->t, host, out_state);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)params;
    return orch_training_run(state, host);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct params),
    .name = "train",
    .version = "1.8.0",
    .summary = "trains an image classifier from scratch",
    .close = orch_training_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
