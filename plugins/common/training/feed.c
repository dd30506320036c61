/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/training/feed.h"

#include "plugins/common/data/random.h"
#include "plugins/common/training/work.h"

#include <string.h>

void orch_feed_free(struct orch_feed *feed)
{
    if (!feed)
        return;
    if (feed->free)
        feed->free(feed->ctx);
    g_free(feed);
}

/* ---- images -----------------------------------------------------------------------------------
 */

struct images {
    struct orch_loader *loader;
    int64_t number, batches;
    bool is_channels_last, is_shard;
    /* the set on a GPU that makes the images from the loader's plans, or NULL */
    struct orch_torch_images *on_gpu;
    const struct orch_torch *torch;
};

static void images_start(void *ctx, int64_t epoch)
{
    struct images *images = ctx;
    images->number = 0;
    orch_loader_start(images->loader, epoch);
}

/* Images and labels of the batch, in the memory of the GPU. Targets and weights stay with the
 * loader: the model checks and copies them. */
static bool make_on_gpu(const struct images *images, const struct orch_loader_batch *batch,
                        struct orch_torch_batch *out, GError **error)
{
    struct orch_torch_image_plans plans = {.count = batch->count,
                                           .rows = batch->rows,
                                           .plans = batch->plans,
                                           .table = orch_loader_table(images->loader),
                                           .labels = batch->labels,
                                           .channels_last = images->is_channels_last};
    return images->torch->images_make(images->on_gpu, &plans, out, error);
}

static bool images_next(void *ctx, struct orch_feed_batch *out, GError **error)
{
    struct images *images = ctx;
    struct orch_loader_batch batch;
    if (!orch_loader_next(images->loader, &batch))
        return false;
    struct orch_torch_batch input = {.input = ORCH_TORCH_FLOAT,
                                     .images = batch.images,
                                     .labels = batch.labels,
                                     .count = batch.count,
                                     .is_channels_last = images->is_channels_last};
    if (images->on_gpu && batch.count > 0 && !make_on_gpu(images, &batch, &input, error))
        return false;
    if (images->is_shard)
        input.total_count = batch.total;
    *out = (struct orch_feed_batch){.input = input,
                                    .at = (double)images->number / (double)images->batches};
    images->number++;
    return true;
}

static double images_made_s(void *ctx)
{
    struct images *images = ctx;
    return orch_loader_made_s(images->loader);
}

static void images_free(void *ctx)
{
    struct images *images = ctx;
    orch_loader_free(images->loader);
    g_free(images);
}

struct orch_feed *orch_feed_images(const struct orch_subset *subset,
                                   const struct orch_loader_options *options, GError **error)
{
    struct orch_loader *loader = orch_loader_new(subset, options, error);
    if (!loader)
        return NULL;
    struct images *images = g_new0(struct images, 1);
    struct orch_feed *feed = g_new0(struct orch_feed, 1);
    *images = (struct images){.loader = loader,
                              .batches = orch_loader_batches(loader),
                              .is_channels_last = options->channels_last,
                              .is_shard = options->shards > 1};
    *feed = (struct orch_feed){.ctx = images,
                               .batches = images->batches,
                               .samples = subset->count,
                               .start = images_start,
                               .next = images_next,
                               .made_s = images_made_s,
                               .free = images_free};
    return feed;
}

struct orch_feed *orch_feed_session_images(const struct orch_session *s,
                                           const struct orch_subset *subset,
                                           const struct orch_loader_options *options,
                                           GError **error)
{
    struct orch_loader_options own = *options;
    struct orch_torch_images *on_gpu = subset->dataset == s->train_set ? s->train_images
                                       : subset->dataset == s->val_set ? s->val_images
                                                                       : NULL;
    own.channels_last = s->channels_last;
    own.plans_only = on_gpu != NULL;
    struct orch_feed *feed = orch_feed_images(subset, &own, error);
    if (feed) {
        struct images *images = feed->ctx;
        images->on_gpu = on_gpu;
        images->torch = s->torch;
    }
    return feed;
}

/* ---- features ---------------------------------------------------------------------------------
 */

struct features {
    const struct orch_subset *subset;
    const float *features;
    int64_t width, batch, first; /* `first`: position of the next batch in `order` */
    bool is_shuffled;
    uint64_t seed;
    int64_t *order;
    float *rows;
    int64_t *labels;
};

static void features_start(void *ctx, int64_t epoch)
{
    struct features *f = ctx;
    f->first = 0;
    for (int64_t i = 0; i < f->subset->count; i++)
        f->order[i] = i;
    if (f->is_shuffled)
        orch_random_shuffle(f->order, f->subset->count,
                            orch_random_stream_of(f->seed, 0x5f0ff1e, (uint64_t)epoch));
}

static bool features_next(void *ctx, struct orch_feed_batch *out, GError **error)
{
    (void)error;
    struct features *f = ctx;
    int64_t count = MIN(f->batch, f->subset->count - f->first);
    if (count <= 0)
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = f->order[f->first + i];
        memcpy(f->rows + i * f->width, f->features + row * f->width,
               sizeof(float) * (size_t)f->width);
        f->labels[i] = orch_subset_label(f->subset, row);
    }
    *out = (struct orch_feed_batch){.input = {.input = ORCH_TORCH_FEATURES,
                                              .images = f->rows,
                                              .labels = f->labels,
                                              .count = count},
                                    .at = (double)f->first / (double)f->subset->count};
    f->first += count;
    return true;
}

static void features_free(void *ctx)
{
    struct features *f = ctx;
    g_free(f->order);
    g_free(f->rows);
    g_free(f->labels);
    g_free(f);
}

struct orch_feed *orch_feed_features(const struct orch_subset *subset, const float *features,
                                     int64_t width, int64_t batch, bool is_shuffled, uint64_t seed)
{
    struct features *f = g_new0(struct features, 1);
    struct orch_feed *feed = g_new0(struct orch_feed, 1);
    *f = (struct features){.subset = subset,
                           .features = features,
                           .width = width,
                           .batch = batch,
                           .is_shuffled = is_shuffled,
                           .seed = seed,
                           .order = g_new(int64_t, subset->count + 1),
                           .rows = g_new(float, (gsize)(batch * width)),
                           .labels = g_new(int64_t, batch)};
    *feed = (struct orch_feed){.ctx = f,
                               .batches = (subset->count + batch - 1) / batch,
                               .samples = subset->count,
                               .start = features_start,
                               .next = features_next,
                               .free = features_free};
    return feed;
}

/* ---- the usual one ----------------------------------------------------------------------------
 */

struct orch_feed *orch_feed_copies(const struct orch_session *s, int copies, GError **error)
{
    const struct orch_training *t = s->training;
    struct orch_loader_options options = {.batch = (int)s->batch,
                                          .threads = (int)t->loader_threads,
                                          .shuffle = true,
                                          .copies = copies,
                                          .pad_ahead = t->pad_ahead,
                                          .seed = s->host->derive_seed(s->host, "shuffle")};
    return orch_work_transforms(t, &options.transforms, error)
               ? orch_feed_session_images(s, s->train, &options, error)
               : NULL;
}

struct orch_feed *orch_feed_training(const struct orch_session *s,
                                     const struct orch_features *features, GError **error)
{
    if (!features)
        return orch_feed_copies(s, 1, error);
    return orch_feed_features(s->train, features->train, features->width, s->batch, true,
                              s->host->derive_seed(s->host, "shuffle"));
}
