/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trains on labels of which a share is wrong. The example of docs/training-plugins.md: what differs
 * from the plugin `train` is the feed, a metric, and a number in the checkpoint. */
#include "lib/base/error.h"
#include "lib/weights/weights.h"
#include "plugins/common/data/random.h"
#include "plugins/common/training/epochs.h"
#include "plugins/common/training/training.h"

struct params {
    struct orch_training t;
    double noise;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, noise, ORCH_REAL, .def = "0.2", .min = "0", .max = "1",
               .help = "share of the training images whose label is drawn at random"),
    ORCH_TRAINING_DATA_PARAMS(struct params),
    ORCH_TRAINING_NET_PARAMS(struct params),
    ORCH_TRAINING_RUN_PARAMS(struct params),
};
static const struct orch_metric METRICS[] = {
    {.name = "noisy_images", .unit = "images", .help = "training images with a drawn label"},
    {.name = "gap", .step_unit = "epoch", .help = "val_accuracy - train_accuracy"},
    ORCH_TRAINING_METRICS,
};
static const struct orch_artifact ARTIFACTS[] = {ORCH_TRAINING_ARTIFACTS};

/* The usual feed, after the labels of some training images were replaced. */
static struct orch_feed *noisy_feed(void *ctx, const struct orch_session *s, GError **error)
{
    const struct params *p = ctx;
    uint64_t random = s->host->derive_seed(s->host, "noise");
    g_autofree int32_t *labels = g_new(int32_t, s->train->count + 1);
    int64_t drawn = 0;
    for (int64_t i = 0; i < s->train->count; i++) {
        bool is_noisy = orch_random_unit(&random) < p->noise;
        int32_t other = (int32_t)orch_random_below_32(&random, (uint32_t)s->train->classes);
        labels[i] = is_noisy ? other : orch_subset_label(s->train, i);
        drawn += is_noisy;
    }
    s->host->result(s->host, "noisy_images", (double)drawn);
    return orch_subset_set_labels(s->train, labels, s->train->count, error)
               ? orch_feed_training(s, NULL, error)
               : NULL;
}

static bool report_gap(void *ctx, const struct orch_moment *moment, GError **error)
{
    (void)ctx;
    (void)error;
    const struct orch_host *host = moment->session->host;
    const struct orch_torch_totals *train = moment->train, *val = moment->val;
    host->metric(host, "gap", moment->epoch + 1,
                 (double)val->correct / (double)val->images -
                     (double)train->correct / (double)train->images);
    return true;
}

/* A training does not resume from a checkpoint with another share of noise. */
static bool save(void *ctx, struct orch_weights *checkpoint, GError **error)
{
    const struct params *p = ctx;
    const int64_t one = 1;
    float noise = (float)p->noise;
    return orch_weights_add(checkpoint, "noisy.noise", ORCH_DTYPE_FLOAT32, 1, &one, &noise, error);
}

static bool restore(void *ctx, const struct orch_weights *checkpoint, GError **error)
{
    const struct params *p = ctx;
    const struct orch_weight *weight = orch_weights_find(checkpoint, "noisy.noise");
    float noise = -1;
    if (weight && weight->count == 1)
        orch_weight_to_float(weight, &noise);
    if (noise == (float)p->noise)
        return true;
    orch_error_set(error, ORCH_ERROR_CHECK, "remove the checkpoint to start again",
                   "the checkpoint was made with noise %g", (double)noise);
    return false;
}

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
    struct orch_training_parts parts = {.ctx = (void *)(uintptr_t)params,
                                        .feed = noisy_feed,
                                        .after_epoch = report_gap,
                                        .save = save,
                                        .restore = restore};
    return orch_training_run_with(state, host, &parts);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct params),
    .name = "noisy",
    .version = "1.0.0",
    .summary = "trains on labels of which a share is wrong",
    .close = orch_training_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
