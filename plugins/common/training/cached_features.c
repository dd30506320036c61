/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/cached_features.h"

#include "lib/base/ident.h"
#include "plugins/common/data/loader.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/work.h"

static float *compute(const struct orch_session *s, const struct orch_subset *subset, int64_t width,
                      GError **error)
{
    float *features = g_new(float, (gsize)(subset->count * width) + 1);
    struct orch_loader_options options = {.batch = 256,
                                          .threads = (int)s->training->loader_threads,
                                          .channels_last = s->channels_last,
                                          .transforms = orch_work_normalisation(s->training)};
    struct orch_loader *loader = orch_loader_new(subset, &options, error);
    struct orch_loader_batch batch;
    int64_t done = 0;
    bool ok = loader != NULL;
    if (ok)
        orch_loader_start(loader, 0);
    while (ok && orch_loader_next(loader, &batch)) {
        struct orch_torch_batch input = {.input = ORCH_TORCH_FLOAT,
                                         .images = batch.images,
                                         .count = batch.count,
                                         .is_channels_last = s->channels_last};
        ok = s->torch->features(s->model, &input, features + done * width, error);
        done += batch.count;
    }
    orch_loader_free(loader);
    if (!ok)
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
    f->val = f->val_part ? compute(s, s->val, f->width, error) : NULL;
    if (!f->val) {
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
