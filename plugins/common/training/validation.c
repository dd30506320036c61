/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/validation.h"

#include "plugins/common/training/average.h"
#include "plugins/common/training/feed.h"
#include "plugins/common/training/work.h"

/** Batch sizes, on images and on features. */
enum { IMAGES = 256, FEATURES = 1024 };

static bool evaluate(const struct orch_session *s, struct orch_feed *feed,
                     struct orch_torch_totals *out, GError **error)
{
    struct orch_torch_model *judged = orch_average_judged(s);
    struct orch_torch_totals dropped;
    struct orch_feed_batch batch;
    GError *problem = NULL;
    bool ok = s->torch->totals_take(judged, &dropped, error);
    feed->start(feed->ctx, 0);
    while (ok && feed->next(feed->ctx, &batch, &problem)) {
        if (batch.input.input != ORCH_TORCH_FEATURES)
            batch.input.flip_below = s->training->test_flip_below;
        ok = s->torch->evaluate(judged, &batch.input, error);
    }
    if (problem)
        g_propagate_error(error, problem);
    return ok && !problem && s->torch->totals_take(judged, out, error);
}

bool orch_validate(const struct orch_session *s, const struct orch_subset *subset,
                   const float *features, struct orch_torch_totals *out, GError **error)
{
    struct orch_loader_options options = {.batch = IMAGES,
                                          .threads = (int)s->training->loader_threads,
                                          .transforms = orch_work_normalisation(s->training)};
    int64_t width = features ? s->torch->feature_count(s->model) : 0;
    struct orch_feed *feed = features
                                 ? orch_feed_features(subset, features, width, FEATURES, false, 0)
                                 : orch_feed_session_images(s, subset, &options, error);
    bool ok = feed && evaluate(s, feed, out, error);
    orch_feed_free(feed);
    return ok;
}
