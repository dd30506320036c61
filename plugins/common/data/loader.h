/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of a subset, made by worker threads ahead of their use. What a batch holds depends on
 * seed, epoch and position alone: it is the same for every number of threads. */
#ifndef ORCH_PLUGINS_COMMON_LOADER_H
#define ORCH_PLUGINS_COMMON_LOADER_H

#include "plugins/common/data/image_set.h"

struct orch_loader_options {
    int batch;          /* images a batch, > 0 */
    int threads;        /* workers; 0: batches are made when they are asked for */
    bool shuffle;       /* a new order each epoch */
    bool drop_last;     /* leave out a last batch that is not full */
    int crop_pad;       /* pad by so many zeros on each side, then crop at random; 0: none */
    bool flip;          /* mirror every other image, drawn */
    bool channels_last; /* batches are count x H x W x C */
    uint64_t seed;
};

/** A batch: `images` is count x C x H x W (or as channels_last says), (value / 255 - mean) / std.
 * Valid until the next call.
 */
struct orch_loader_batch {
    const float *images;
    const int64_t *labels;
    int64_t count;
};

struct orch_loader;
/** `subset` must outlive the loader. Never NULL. */
struct orch_loader *orch_loader_new(const struct orch_subset *subset,
                                    const struct orch_loader_options *options);
/** Begins epoch `epoch` (from 0) anew, wherever the last one stood. */
void orch_loader_start(struct orch_loader *loader, int64_t epoch);
/** The next batch; false at the epoch's end. */
bool orch_loader_next(struct orch_loader *loader, struct orch_loader_batch *out);
int64_t orch_loader_batches(const struct orch_loader *loader);
void orch_loader_free(struct orch_loader *loader);

#endif
