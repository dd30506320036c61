/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of a subset, prepared in advance by worker threads. The contents of a batch depend only
 * on seed, epoch, copy and position, not on the number of threads.
 *
 * Shards: with `shards` = n, batch k of all shards together holds the samples of batch k of a
 * loader with n times the batch size and no shards. If that batch has m samples, shard r has its
 * samples [r m / n, (r + 1) m / n), rounded down, each transformed as there. All shards have the
 * same number of batches, so in the last one a shard may have fewer samples than another, or none.
 * Each shard's gradient of its summed losses, divided by total, therefore adds up
 * to the gradient of the mean loss of the whole batch. */
#ifndef ORCH_PLUGINS_COMMON_LOADER_H
#define ORCH_PLUGINS_COMMON_LOADER_H

#include "plugins/common/data/image_set.h"
#include "plugins/common/data/transform.h"

struct orch_loader_options {
    int batch;          /* samples of a batch (of each shard), > 0 */
    int threads;        /* number of workers; 0: batches are made on request */
    bool shuffle;       /* new random order in each epoch */
    bool drop_last;     /* skip an incomplete last batch (of all shards together) */
    bool channels_last; /* batches are count x H x W x C */
    bool pad_ahead;     /* pad the images for their crops when the loader is made, not in each
                         * batch: the same batches, for memory of one more copy of the subset.
                         * Without a crop, and with plans_only, it means nothing */
    bool plans_only;    /* leave the images out: they are made elsewhere from rows and plans */
    int copies;         /* transformed copies of each sample (batch augmentation, Hoffer et al.
                         * 2020); 0 counts as 1 */
    int shard, shards;  /* this shard, from 0, and their number; 0 shards count as 1 */
    uint64_t seed;
    struct orch_transforms transforms;
};

/** A batch, valid until the next call. Copy j of its sample i is at j * samples + i, so that the
 * first `samples` images are those of the same batch without further copies. */
struct orch_loader_batch {
    const float *images;   /* count x C x H x W (or channels last); NULL if plans_only */
    const int64_t *labels; /* count, in [0, subset->classes) */
    const int64_t *rows;   /* count rows of the data set */
    const struct orch_transform_plan *plans; /* count */
    int64_t count;                           /* samples x copies; 0 is possible with shards */
    int64_t samples;
    int64_t total; /* count of this batch in all shards together */
};

/** True if the batches of a loader with these options fit in the memory of the machine, or of the
 * control group of this process; for images of `shape`. Else fails as
 * orch_loader_new would. Nothing is allocated. */
bool orch_loader_fits(const struct orch_loader_options *options, struct orch_image_shape shape,
                      GError **error);

struct orch_loader;
/** Makes a loader, with its threads and the memory of its batches. `subset` must outlive it and not
 * change. Fails with NULL and ORCH_ERROR_RECIPE for an option out of range, and where the batches
 * take more memory than the machine or the control group of this process has; the error names both
 * numbers, the batch size and the copies. */
struct orch_loader *orch_loader_new(const struct orch_subset *subset,
                                    const struct orch_loader_options *options, GError **error);
/** Starts epoch `epoch` (from 0), whatever the state of the previous one. */
void orch_loader_start(struct orch_loader *loader, int64_t epoch);
/** Returns the next batch; false at the end of the epoch. */
bool orch_loader_next(struct orch_loader *loader, struct orch_loader_batch *out);
/** Number of batches of an epoch, the same for every shard. */
int64_t orch_loader_batches(const struct orch_loader *loader);
/** Time that was spent on making batches since the loader was made, in seconds, summed over the
 * threads. */
double orch_loader_made_s(struct orch_loader *loader);
/** Normalised value of each byte, for making images from rows and plans. Borrowed. */
const struct orch_transform_table *orch_loader_table(const struct orch_loader *loader);
void orch_loader_free(struct orch_loader *loader);

#endif
