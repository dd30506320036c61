/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/cached_features.h"

#include "lib/base/ident.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/work.h"

static float *compute(const struct orch_session *s, const struct orch_subset *subset, int64_t width,
                      GError **error)
{
    float *features = g_new(float, (gsize)(subset->count * width) + 1);
    struct orch_loader_options options = {.batch = 256,
                                          .threads = (int)s->training->loader_threads,
                                          .transforms = orch_work_normalisation(s->training)};
    struct orch_feed *feed = orch_feed_session_images(s, subset, &options, error);
    struct orch_feed_batch batch;
    GError *problem = NULL;
    int64_t done = 0;
    bool ok = feed != NULL;
    if (ok)
        feed->start(feed->ctx, 0);
    while (ok && feed->next(feed->ctx, &batch, &problem)) {
        ok = s->torch->features(s->model, &batch.input, features + done * width, error);
        done += batch.input.count;
    }
    if (problem)
        g_propagate_error(error, problem);
    orch_feed_free(feed);
    if (!ok || problem)
        g_clear_pointer(&features, g_free);
    return features;
}

struct orch_features *orch_features_compute(const struct orch_session *s, GError **error)
{
    struct orch_features *f = g_new0(struct orch_features, 1);
    int64_t begin = orch_mono_ns();
    s->host->phase(s->host, "computing features");
    f->width = s->torch->feature_count(s->model);
    f->train = compute(s, s->train, f->width, error);
    f->seconds = (double)(orch_mono_ns() - begin) / 1e9;
    f->val_part = f->train ? compute(s, s->val_part, f->width, error) : NULL;
    bool ok = f->val_part != NULL;
    if (ok && s->training->full_validation) {
        f->val = compute(s, s->val, f->width, error);
        ok = f->val != NULL;
    }
    if (!ok) {
        orch_features_free(f);
        return NULL;
    }
    orch_training_note(
        s->host,
        "the frozen body's %d features an image were computed once (%.2f s for the training "
        "images); epoch_time is the head's alone, training_time holds both",
        (int)f->width, f->seconds);
    s->host->result(s->host, "feature_time", f->seconds);
    return f;
}

void orch_features_free(struct orch_features *f)
{
    if (!f)
        return;
    g_free(f->train);
    g_free(f->val);
    g_free(f->val_part);
    g_free(f);
}
