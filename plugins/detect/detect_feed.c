/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The training images as batches of the epochs' loop. A batch of that loop has no boxes; the step
 * finds them in struct orch_detect. */
#include "plugins/detect/detect.h"

struct detect_feed {
    struct orch_detect *detect;
    struct orch_scene_loader *loader;
    int64_t batches, given; /* of an epoch, and of it so far */
};

static void start(void *ctx, int64_t epoch)
{
    struct detect_feed *feed = ctx;
    feed->given = 0;
    orch_scene_loader_start(feed->loader, epoch);
}

static bool next(void *ctx, struct orch_feed_batch *out, GError **error)
{
    struct detect_feed *feed = ctx;
    struct orch_scene_batch batch;
    if (!orch_scene_loader_next(feed->loader, &batch, error))
        return false;
    feed->detect->objects = batch.objects;
    out->input = (struct orch_torch_batch){.images = batch.images, .count = batch.count};
    out->at = (double)feed->given / (double)feed->batches;
    feed->given++;
    return true;
}

static double made_s(void *ctx)
{
    struct detect_feed *feed = ctx;
    return orch_scene_loader_made_s(feed->loader);
}

static void feed_free(void *ctx)
{
    struct detect_feed *feed = ctx;
    orch_scene_loader_free(feed->loader);
    g_free(feed);
}

struct orch_feed *orch_detect_feed(struct orch_detect *detect, GError **error)
{
    struct orch_scene_loader *loader =
        orch_object_data_loader(detect->data, ORCH_OBJECTS_TRAIN, detect->session->batch, error);
    if (!loader)
        return NULL;
    struct detect_feed *own = g_new0(struct detect_feed, 1);
    *own = (struct detect_feed){detect, loader, orch_scene_loader_batches(loader), 0};
    struct orch_feed *feed = g_new0(struct orch_feed, 1);
    *feed = (struct orch_feed){.ctx = own,
                               .batches = own->batches,
                               .samples = orch_object_data_images(detect->data, ORCH_OBJECTS_TRAIN),
                               .start = start,
                               .next = next,
                               .made_s = made_s,
                               .free = feed_free};
    return feed;
}
