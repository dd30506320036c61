/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/cached_features.h"

#include "lib/base/ident.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/notes.h"
#include "plugins/common/training/work.h"

#include <string.h>

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

/* The features of `part` out of those of `whole`; NULL if a row of `part` is not in `whole`. */
static float *pick(const struct orch_subset *part, const struct orch_subset *whole,
                   const float *features, int64_t width)
{
    g_autoptr(GHashTable) positions = g_hash_table_new(g_int64_hash, g_int64_equal);
    float *picked = g_new(float, (gsize)(part->count * width) + 1);
    for (int64_t i = 0; i < whole->count; i++)
        g_hash_table_insert(positions, &whole->rows[i],
                            (gpointer)(uintptr_t)(features + i * width));
    for (int64_t i = 0; i < part->count; i++) {
        const float *row = g_hash_table_lookup(positions, &part->rows[i]);
        if (!row) {
            g_free(picked);
            return NULL;
        }
        memcpy(picked + i * width, row, (size_t)width * sizeof *row);
    }
    return picked;
}

/* Those of the validation images: of all of them where they are wanted, and of each epoch's. */
static bool compute_validation(const struct orch_session *s, struct orch_features *f,
                               GError **error)
{
    if (s->training->full_validation) {
        f->val = compute(s, s->val, f->width, error);
        if (!f->val)
            return false;
        f->val_part = pick(s->val_part, s->val, f->val, f->width);
    }
    if (!f->val_part)
        f->val_part = compute(s, s->val_part, f->width, error);
    return f->val_part != NULL;
}

struct orch_features *orch_features_compute(const struct orch_session *s, GError **error)
{
    struct orch_features *f = g_new0(struct orch_features, 1);
    int64_t begin = orch_mono_ns();
    s->host->phase(s->host, "computing features");
    f->width = s->torch->feature_count(s->model);
    f->train = compute(s, s->train, f->width, error);
    f->seconds = (double)(orch_mono_ns() - begin) / 1e9;
    if (!f->train || !compute_validation(s, f, error)) {
        orch_features_free(f);
        return NULL;
    }
    orch_training_note(s->host,
                       "the frozen layers computed the %d features of each training image once, in "
                       "%.2f s; training_time includes this time, epoch_time does not",
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
