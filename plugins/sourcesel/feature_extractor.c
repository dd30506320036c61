/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/sourcesel/feature_extractor.h"

#include "lib/net/net.h"
#include "lib/weights/weights.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/precision.h"
#include "plugins/common/training/work.h"

#define FEATURE_BATCH 256

static bool load(struct orch_extractor *e, const char *path, GError **error)
{
    struct orch_weights *weights = orch_weights_load(path, error);
    const bool ok = weights && orch_torch_state_load(e->session->torch, e->model, e->net, weights,
                                                     true, NULL, error);
    orch_weights_free(weights);
    if (!ok)
        g_prefix_error(error, "extractor: ");
    return ok;
}

bool orch_extractor_open(struct orch_extractor *e, const struct orch_session *s, const char *net,
                         const char *path, GError **error)
{
    struct orch_net_options options = {.name = net,
                                       .channels = s->train_set->channels,
                                       .height = s->train_set->height,
                                       .width = s->train_set->width,
                                       .classes = MAX(2, s->train->classes)};
    struct orch_torch_setup setup = {.device = s->device, .precision = orch_precision_of(s)};
    *e = (struct orch_extractor){.session = s, .net = orch_net_make(&options, error)};
    e->model = e->net ? s->torch->model_new(e->net, &setup, error) : NULL;
    if (!e->model || !orch_torch_init(s->torch, e->model, e->net,
                                      s->host->derive_seed(s->host, "extractor"), error))
        return false;
    e->width = s->torch->feature_count(e->model);
    return s->host->smoke(s->host) || load(e, path, error);
}

float *orch_extractor_features(const struct orch_extractor *e, const struct orch_subset *subset,
                               GError **error)
{
    const struct orch_session *s = e->session;
    g_autofree float *features = g_new(float, (gsize)(subset->count * e->width) + 1);
    const struct orch_loader_options options = {.batch = FEATURE_BATCH,
                                                .threads = (int)s->training->loader_threads,
                                                .transforms = orch_work_normalisation(s->training)};
    struct orch_feed *feed = orch_feed_images(subset, &options, error);
    struct orch_feed_batch batch;
    GError *problem = NULL;
    int64_t done = 0;
    bool ok = feed != NULL;
    if (ok)
        feed->start(feed->ctx, 0);
    while (ok && feed->next(feed->ctx, &batch, &problem)) {
        ok = s->torch->features(e->model, &batch.input, features + done * e->width, error);
        done += batch.input.count;
    }
    orch_feed_free(feed);
    if (problem)
        g_propagate_error(error, problem);
    return ok && !problem ? g_steal_pointer(&features) : NULL;
}

void orch_extractor_clear(struct orch_extractor *e)
{
    if (e->model)
        e->session->torch->model_free(e->model);
    orch_net_free(e->net);
    *e = (struct orch_extractor){0};
}
