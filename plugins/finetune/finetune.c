/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Transfer learning: starts with the weights of a base network and trains all layers (full) or only
 * a new head (feature); scratch ignores the weights, for comparison. See
 * docs/plugins/finetune.md. */
#include "plugins/common/training/training.h"

#include <orch/plugin.h>

#include <string.h>

struct params {
    struct orch_training t;
    const char *mode;
};

static const char *const MODES[] = {"full", "feature", "scratch", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, mode, ORCH_ENUM, .label = "mode", .def = "full", .choices = MODES,
               .help =
                   "full: all layers learn; feature: only a new head does; scratch: no weights"),
    ORCH_TRAINING_ROW(
        struct params, weights, ORCH_ARTIFACT, .label = "weights", .flags = ORCH_PARAM_OPTIONAL,
        .help = "base network: ${experiment.weights}, or a .safetensors or .pth file"),
    ORCH_TRAINING_ROW(struct params, cache_features, ORCH_BOOL, .label = "cache features",
                      .def = "true",
                      .help = "mode feature: compute the frozen layers' outputs only once"),
    ORCH_TRAINING_ROW(struct params, freeze, ORCH_INT, .label = "freeze", .def = "0", .min = "0",
                      .help = "mode full: freeze the layer groups below this number"),
    ORCH_TRAINING_ROW(struct params, layer_rates, ORCH_LIST | ORCH_REAL, .label = "layer rates",
                      .def = "[]", .min = "0",
                      .help =
                          "learning rate factors of layer groups from the input on, e.g. [0.1, 1]"),
    ORCH_TRAINING_DATA_PARAMS(struct params),
    ORCH_TRAINING_NET_PARAMS(struct params),
    ORCH_TRAINING_RUN_PARAMS(struct params),
};
static const struct orch_metric METRICS[] = {ORCH_TRAINING_METRICS};
static const struct orch_artifact ARTIFACTS[] = {ORCH_TRAINING_ARTIFACTS};

/* Converts the mode to training parameters. */
static bool settle(const struct params *p, struct orch_training *out, const struct orch_host *host)
{
    bool scratch = strcmp(p->mode, "scratch") == 0;
    *out = p->t;
    out->feature_extractor = strcmp(p->mode, "feature") == 0;
    if (scratch)
        out->weights = NULL;
    if (!scratch && !p->t.weights) {
        host->fail(host, "modes 'full' and 'feature' need a base network: set weights, for example "
                         "weights: \"${pretrain.weights}\"");
        return false;
    }
    if (out->feature_extractor && (p->t.freeze || p->t.layer_rates.count)) {
        host->fail(host, "'freeze' and 'layer_rates' need mode 'full'");
        return false;
    }
    return true;
}

static int check(const void *params, const struct orch_host *host)
{
    struct orch_training t;
    return settle(params, &t, host) ? orch_training_check(&t, host) : ORCH_FAILED;
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct params *p = params;
    struct orch_training t = p->t;
    t.feature_extractor = strcmp(p->mode, "feature") == 0;
    return orch_training_cost(&t, out);
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    static struct orch_training t; /* static, because a process runs only one trial */
    return settle(params, &t, host) ? orch_training_open(&t, host, out_state) : ORCH_FAILED;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    (void)params;
    return orch_training_run(state, host);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct params),
    .name = "finetune",
    .version = "1.8.0",
    .summary = "transfer learning: finetunes a base network, or uses it as a feature extractor",
    .close = orch_training_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
