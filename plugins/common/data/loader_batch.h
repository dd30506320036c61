/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to this folder: memory and contents of one batch. */
#ifndef ORCH_PLUGINS_COMMON_LOADER_BATCH_H
#define ORCH_PLUGINS_COMMON_LOADER_BATCH_H

#include "plugins/common/data/loader.h"

/** What batches are made from; nothing here changes during an epoch. */
struct orch_batch_source {
    const struct orch_subset *subset;
    struct orch_loader_options options; /* copies and shards are at least 1 */
    struct orch_transform_table table;
    int64_t *order; /* indices into the subset in the order of the epoch */
    int64_t epoch;
    uint8_t *padded; /* the subset's images with black margins; NULL: not padded ahead */
    int margin;      /* of `padded`, in pixels */
};

/** Memory of one batch. */
struct orch_batch_slot {
    void *memory; /* one allocation for all arrays */
    float *images;
    int64_t *labels, *rows;
    struct orch_transform_plan *plans;
};

/** Bytes of one slot; a double, because the product of options may exceed 64 bits. */
double orch_batch_bytes(const struct orch_batch_source *source);
/** Allocates the arrays. False if there is no memory. */
bool orch_batch_slot_init(struct orch_batch_slot *slot, const struct orch_batch_source *source);
void orch_batch_slot_release(struct orch_batch_slot *slot);

/** Pads the images of the subset ahead, if the options ask for it. Fails with ORCH_ERROR_RECIPE
 * where there is no memory. Free with orch_batch_pad_release. */
bool orch_batch_pad(struct orch_batch_source *source, GError **error);
void orch_batch_pad_release(struct orch_batch_source *source);

/** Number of batches of an epoch. */
int64_t orch_batch_count(const struct orch_batch_source *source);
/** Fills `slot` with batch `number` of the epoch. Thread-safe for different slots. */
void orch_batch_make(const struct orch_batch_source *source, int64_t number,
                     struct orch_batch_slot *slot);
/** Batch `number` as `slot` holds it. */
struct orch_loader_batch orch_batch_view(const struct orch_batch_source *source, int64_t number,
                                         const struct orch_batch_slot *slot);

#endif
