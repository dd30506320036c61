/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches of a scene set, made ahead by threads. What a batch holds depends on seed, epoch and
 * position alone, not on the number of threads. */
#ifndef ORCH_PLUGINS_COMMON_SCENE_LOADER_H
#define ORCH_PLUGINS_COMMON_SCENE_LOADER_H

#include "plugins/common/scenes/scene_transform.h"

struct orch_scene_loader_options {
    int batch;           /* images of a batch, > 0 */
    int threads;         /* 0: batches are made on request */
    bool shuffles;       /* a new random order in each epoch */
    bool with_difficult; /* keep the objects marked difficult: to measure, not to train */
    uint64_t seed;
    struct orch_scene_pixels pixels;
    struct orch_scene_transforms transforms;
};

/** A batch, valid until the next call. */
struct orch_scene_batch {
    const float *images;           /* count x 3 x size x size */
    int64_t count;                 /* > 0 */
    struct orch_box_batch objects; /* of the transformed images */
    const bool *is_difficult;      /* of each object */
    const int64_t *rows;           /* of each image: its number in the set */
};

struct orch_scene_loader;
/** `set` must outlive the loader. Fails with NULL and ORCH_ERROR_RECIPE for an option out of range,
 * and where the batches take more memory than there is. */
struct orch_scene_loader *orch_scene_loader_new(const struct orch_scene_set *set,
                                                const struct orch_scene_loader_options *options,
                                                GError **error);
/** Starts epoch `epoch` (from 0), whatever the state of the previous one. */
void orch_scene_loader_start(struct orch_scene_loader *loader, int64_t epoch);
/** The next batch. False at the end of the epoch, and with `error` set where an image cannot be
 * read: ORCH_ERROR_IO, which names its file. */
bool orch_scene_loader_next(struct orch_scene_loader *loader, struct orch_scene_batch *out,
                            GError **error);
/** Number of batches of an epoch. */
int64_t orch_scene_loader_batches(const struct orch_scene_loader *loader);
/** Seconds spent on making batches, summed over the threads. */
double orch_scene_loader_made_s(struct orch_scene_loader *loader);
void orch_scene_loader_free(struct orch_scene_loader *loader);

#endif
