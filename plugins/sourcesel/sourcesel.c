/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Source selection for transfer learning (Dube et al. 2019, lecture 7): base networks that learn
 * from true labels or from pseudo-labels by the nearest sources, and targets with their divergence
 * from the sources. See docs/plugins/sourcesel.md. */
#include "plugins/sourcesel/sourcesel.h"

#include "plugins/common/training/epochs.h"
#include "plugins/common/training/notes.h"

#include <orch/plugin.h>

static const char *const STAGES[] = {"base", "target", NULL};
static const char *const LABELS[] = {"classes", "sources", "nearest3", "cfa", NULL};
static const char *const MODES[] = {"full", "feature", "scratch", NULL};

#define ROW(member, kind, ...) ORCH_PARAM(struct sourcesel_params, member, kind, __VA_ARGS__)
#define TRAINING_ROW(member, kind, ...)                                                            \
    ORCH_TRAINING_ROW(struct sourcesel_params, member, kind, __VA_ARGS__)

static const struct orch_param PARAMS[] = {
    ROW(stage, ORCH_ENUM, .label = "stage", .def = "base", .choices = STAGES,
        .help = "base: train a network on the sources; target: train one on the target"),
    ROW(sources, ORCH_LIST | ORCH_STRING, .label = "sources",
        .def = "[tops 0 6, knits 2 4, legs 1 3, shoes 5 7, rest 8 9]",
        .help = "sets of classes: a name and its classes, e.g. \"shoes 5 7\""),
    ROW(target, ORCH_STRING, .label = "target", .flags = ORCH_PARAM_OPTIONAL,
        .help = "name of the target set, which is no source"),
    ROW(use, ORCH_LIST | ORCH_STRING, .label = "use", .def = "[]",
        .help = "names of the sources; empty: all sets but the target"),
    ROW(labels, ORCH_ENUM, .label = "labels", .def = "classes", .choices = LABELS,
        .help = "stage base: true classes, sources, or pseudo-labels (nearest3, cfa)"),
    ROW(extractor, ORCH_ARTIFACT, .label = "extractor", .flags = ORCH_PARAM_OPTIONAL,
        .help = "network that gives features: ${experiment.weights}, or a .safetensors file"),
    ROW(extractor_net, ORCH_STRING, .label = "extractor net", .flags = ORCH_PARAM_OPTIONAL,
        .help = "the extractor's network (default: net)"),
    ROW(reference_images, ORCH_INT, .label = "reference images", .def = "100", .min = "1",
        .unit = "images", .help = "images of each source class whose source is known"),
    ROW(epsilon, ORCH_REAL, .label = "epsilon", .def = "1e-8", .min = "1e-300", .max = "1",
        .help = "constant that is added to each share before computing the divergence"),
    ROW(min_images, ORCH_INT, .label = "smallest images", .def = "20", .min = "1", .unit = "images",
        .help = "drop pseudo-labels with fewer training images than this"),
    ROW(mode, ORCH_ENUM, .label = "mode", .def = "full", .choices = MODES,
        .help = "stage target, full: all layers learn; feature: only a new head does; scratch: no "
                "weights"),
    ROW(base_accuracy, ORCH_REAL, .label = "base accuracy", .def = "0", .min = "0", .max = "1",
        .help = "stage target: accuracy of the labelled base; 0: unknown"),
    TRAINING_ROW(weights, ORCH_ARTIFACT, .label = "weights", .flags = ORCH_PARAM_OPTIONAL,
                 .help = "base network: ${experiment.weights}, or a .safetensors or .pth file"),
    TRAINING_ROW(cache_features, ORCH_BOOL, .label = "cache features", .def = "true",
                 .help = "mode feature: compute the frozen layers' outputs only once"),
    TRAINING_ROW(freeze, ORCH_INT, .label = "freeze", .def = "0", .min = "0",
                 .help = "mode full: freeze the layer groups below this number"),
    TRAINING_ROW(layer_rates, ORCH_LIST | ORCH_REAL, .label = "layer rates", .def = "[]",
                 .min = "0",
                 .help = "learning rate factors of layer groups from the input on, e.g. [0.1, 1]"),
    ORCH_TRAINING_DATA_PARAMS(struct sourcesel_params),
    ORCH_TRAINING_NET_PARAMS(struct sourcesel_params),
    ORCH_TRAINING_RUN_PARAMS(struct sourcesel_params),
};
static const struct orch_metric METRICS[] = {
    {.name = "divergence",
     .label = "divergence",
     .unit = "nats",
     .better = ORCH_BETTER_MIN,
     .help = "KL(target || sources) of the mean features, all sources together"},
    {.name = "relative_error",
     .label = "relative error",
     .better = ORCH_BETTER_MIN,
     .help = "(base_accuracy - accuracy) / base_accuracy on the same validation images"},
    {.name = "pseudo_labels",
     .label = "pseudo-labels",
     .unit = "labels",
     .help = "pseudo-labels that are learned"},
    {.name = "dropped_images",
     .label = "dropped images",
     .min = "0",
     .unit = "images",
     .help = "training images whose pseudo-label has fewer than min_images"},
    {.name = "label_purity",
     .label = "label purity",
     .min = "0",
     .max = "1",
     .help = "share of the labelled images that have the most frequent true class of their label"},
    {.name = "nearest_own",
     .label = "images nearest to their own source",
     .min = "0",
     .max = "1",
     .help = "share of the images whose nearest source is their own"},
    ORCH_TRAINING_METRICS,
};
static const struct orch_artifact ARTIFACTS[] = {
    {.name = "labels", .help = "images and most frequent true class of each label, CSV"},
    {.name = "sources", .help = "the sources, and the target's divergence from each, CSV"},
    ORCH_TRAINING_ARTIFACTS,
};

static int check(const void *params, const struct orch_host *host)
{
    const struct sourcesel_params *p = params;
    struct sourcesel s;
    GError *error = NULL;
    int status = orch_sourcesel_settle(&s, p, &error) &&
                         orch_training_file_input(host, "extractor", p->extractor, &error)
                     ? orch_training_check(&s.training, host)
                     : orch_training_fail(host, error);
    orch_sourcesel_clear(&s);
    return status;
}

static int cost(const void *params, struct orch_cost *out)
{
    struct sourcesel s;
    GError *error = NULL;
    const bool is_settled = orch_sourcesel_settle(&s, params, &error);
    int status = orch_training_cost(&s.training, out);
    if (is_settled && !orch_sourcesel_is_target(params) && out->images)
        out->images = orch_sourcesel_images(&s, out->images);
    g_clear_error(&error);
    orch_sourcesel_clear(&s);
    return status;
}

/* The base's head tells other classes apart, also where it happens to have as many. */
static bool renew_head(const struct orch_session *s, GError **error)
{
    const uint64_t seed = s->host->derive_seed(s->host, "init");
    return orch_torch_init_head(s->torch, s->model, s->net, seed, error) &&
           (!s->average || orch_torch_init_head(s->torch, s->average, s->net, seed, error));
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    static struct sourcesel s; /* static, because a process runs only one trial */
    GError *error = NULL;
    *out_state = &s;
    if (!orch_sourcesel_settle(&s, params, &error))
        return orch_training_fail(host, error);
    const bool is_target = orch_sourcesel_is_target(params);
    int status = orch_session_open_with(&s.training, host,
                                        is_target ? orch_sourcesel_compare : orch_sourcesel_label,
                                        &s, &s.session);
    if (status != ORCH_OK)
        return status;
    const bool ok = (is_target ? renew_head(s.session, &error)
                               : orch_sourcesel_write_sources(&s, s.session, &error)) &&
                    orch_sourcesel_write_labels(s.session, &error);
    return ok ? ORCH_OK : orch_training_fail(host, error);
}

static int report_error(void *ctx, const struct orch_session *s,
                        const struct orch_torch_totals *val, GError **error)
{
    (void)error;
    const double base = ((const struct sourcesel_params *)ctx)->base_accuracy;
    const double accuracy = (double)val->correct / (double)MAX(1, val->images);
    if (base > 0)
        s->host->result(s->host, "relative_error", (base - accuracy) / base);
    return ORCH_OK;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    struct sourcesel *s = state;
    const struct orch_training_parts parts = {.ctx = (void *)(uintptr_t)params,
                                              .after_training = report_error};
    return orch_training_run_with(s->session, host, &parts);
}

static void stop(void *state)
{
    orch_sourcesel_clear(state);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct sourcesel_params),
    .name = "sourcesel",
    .version = "1.0.0",
    .summary = "source selection: KL divergence, pseudo-labels by the nearest sources, transfer",
    .close = stop,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
