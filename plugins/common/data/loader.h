/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of a subset, prepared in advance by worker threads. The contents of a batch depend only
 * on seed, epoch and position, not on the number of threads. */
#ifndef ORCH_PLUGINS_COMMON_LOADER_H
#define ORCH_PLUGINS_COMMON_LOADER_H

#include "plugins/common/data/image_set.h"

struct orch_loader_options {
    int batch;          /* batch size, > 0 */
    int threads;        /* number of workers; 0: batches are made on request */
    bool shuffle;       /* new random order in each epoch */
    bool drop_last;     /* skip an incomplete last batch */
    int crop_pad;       /* zero padding on each side before a random crop; 0: none */
    bool flip;          /* mirror images with probability 1/2 */
    bool channels_last; /* batches are count x H x W x C */
    uint64_t seed;
};

/** A batch. `images` is count x C x H x W (or channels last), with values (value / 255 - mean) /
 * std. Valid until the next call. */
struct orch_loader_batch {
    const float *images;
    const int64_t *labels;
    int64_t count;
};

struct orch_loader;
/** `subset` must outlive the loader. Never NULL. */
struct orch_loader *orch_loader_new(const struct orch_subset *subset,
                                    const struct orch_loader_options *options);
/** Starts epoch `epoch` (from 0), whatever the state of the previous one. */
void orch_loader_start(struct orch_loader *loader, int64_t epoch);
/** Returns the next batch; false at the end of the epoch. */
bool orch_loader_next(struct orch_loader *loader, struct orch_loader_batch *out);
int64_t orch_loader_batches(const struct orch_loader *loader);
void orch_loader_free(struct orch_loader *loader);

#endif
