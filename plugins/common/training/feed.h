/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where batches come from. A feed gives one batch after another, epoch by epoch; what makes them is
 * its own affair: images from a loader's threads, features computed once, a replay buffer.
 *
 *     feed->start(feed->ctx, epoch);
 *     while (feed->next(feed->ctx, &batch, &error))
 *         ... learn from batch ...
 *     if (error) ... the feed failed ... */
#ifndef ORCH_PLUGINS_COMMON_TRAINING_FEED_H
#define ORCH_PLUGINS_COMMON_TRAINING_FEED_H

#include "plugins/common/data/loader.h"
#include "plugins/common/torch/torch.h"
#include "plugins/common/training/cached_features.h"

/** One batch, valid until the next call. */
struct orch_feed_batch {
    struct orch_torch_batch input;
    double at; /* share of the epoch that came before it, [0, 1) */
};

struct orch_feed {
    void *ctx;
    int64_t batches; /* an epoch, > 0 */
    int64_t samples; /* an epoch */
    /** Begins epoch `epoch` (from 0), wherever the previous one was. */
    void (*start)(void *ctx, int64_t epoch);
    /** Gives the next batch. False at the end of the epoch, or with `error` set. */
    bool (*next)(void *ctx, struct orch_feed_batch *out, GError **error);
    /** Seconds spent on making batches since the feed was made, summed over its threads; NULL: not
     * measured. */
    double (*made_s)(void *ctx);
    /** Frees ctx; NULL: the caller owns it. */
    void (*free)(void *ctx);
};

/** Images of a subset, made by a loader: shuffled, transformed, in copies, or one of several
 * shards, as its options say; the losses of shards are divided by the whole batch's weight.
 * `subset` must outlive the feed. Fails with NULL as orch_loader_new.
 */
struct orch_feed *orch_feed_images(const struct orch_subset *subset,
                                   const struct orch_loader_options *options, GError **error);

/** orch_feed_images for a subset of the session's training or validation set, in the model's
 * layout: with images that the GPU makes where that is the session's data path (data_path.h).
 * `options`: channels_last and plans_only are set by this function. */
struct orch_feed *orch_feed_session_images(const struct orch_session *session,
                                           const struct orch_subset *subset,
                                           const struct orch_loader_options *options,
                                           GError **error);

/** Rows of `width` floats that belong to the subset's rows, in their order: features that a frozen
 * body gave. `features` and `subset` must outlive the feed. `is_shuffled`: in a random order drawn
 * from `seed` and the epoch, else unchanged. */
struct orch_feed *orch_feed_features(const struct orch_subset *subset, const float *features,
                                     int64_t width, int64_t batch, bool is_shuffled, uint64_t seed);

/** The usual feed of a training: the session's training images in random order, with the transforms
 * that its parameters name; or their features (may be NULL). */
struct orch_feed *orch_feed_training(const struct orch_session *session,
                                     const struct orch_features *features, GError **error);

/** The usual feed, with images, in batches of `copies` > 0 transformed copies of each sample: the
 * first copy is the image that a feed of one copy gives. */
struct orch_feed *orch_feed_copies(const struct orch_session *session, int copies, GError **error);

/** Frees the feed and its ctx; NULL is allowed. A caller that fills a struct orch_feed of its own
 * allocates it with g_new0. */
void orch_feed_free(struct orch_feed *feed);

#endif
