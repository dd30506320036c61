/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The batches of an image subset, made in a ring of slots. The random numbers for each image come
 * from a stream that depends on seed, epoch and the image's position, so the result does not depend
 * on which worker prepares it. */
#include "plugins/common/data/loader.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/hw/machine.h"
#include "plugins/common/data/batch_ring.h"
#include "plugins/common/data/loader_batch.h"
#include "plugins/common/data/random.h"

struct orch_loader {
    struct orch_batch_source source;
    int64_t batches;
    struct orch_batch_slot slots[ORCH_BATCH_SLOTS_MAX];
    int slot_count;
    struct orch_batch_ring *ring;
};

int64_t orch_loader_batches(const struct orch_loader *loader)
{
    return loader->batches;
}

const struct orch_transform_table *orch_loader_table(const struct orch_loader *loader)
{
    return &loader->source.table;
}

double orch_loader_made_s(struct orch_loader *l)
{
    return orch_batch_ring_made_s(l->ring);
}

static void make_batch(void *ctx, int64_t number, int slot)
{
    struct orch_loader *l = ctx;
    orch_batch_make(&l->source, number, &l->slots[slot]);
}

static bool options_are_valid(const struct orch_loader_options *o, GError **error)
{
    if (o->batch > 0 && o->threads >= 0 && o->copies > 0 && o->shard >= 0 && o->shard < o->shards)
        return true;
    if (o->batch <= 0 || o->threads < 0)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "a loader with batches of %d samples and %d threads is not possible: "
                       "expected at least 1 sample, and no negative number of threads",
                       o->batch, o->threads);
    else if (o->copies <= 0)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "%d copies of each sample are not possible: expected at least 1", o->copies);
    else
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "shard %d of %d does not exist: expected 0 to the number of shards less 1",
                       o->shard, o->shards);
    return false;
}

static void set_memory_error(const struct orch_loader *l, double bytes, int64_t present,
                             GError **error)
{
    const struct orch_loader_options *o = &l->source.options;
    const struct orch_image_set *d = l->source.subset->dataset;
    g_autofree char *needed = orch_bytes_format((int64_t)MIN(bytes, 9e18));
    g_autofree char *there = present > 0 ? orch_bytes_format(present) : g_strdup("an unknown size");
    orch_error_set(error, ORCH_ERROR_RECIPE, "choose a smaller batch",
                   "%d batches of %d samples x %d copies of %dx%dx%d values take %s, but this "
                   "machine has %s of memory",
                   l->slot_count, o->batch, o->copies, d->channels, d->height, d->width, needed,
                   there);
}

/* Completes the source's options and the number of slots. */
static bool set_options(struct orch_loader *l, const struct orch_loader_options *options,
                        GError **error)
{
    struct orch_loader_options *o = &l->source.options;
    *o = *options;
    o->copies = o->copies ? o->copies : 1;
    o->shards = o->shards ? o->shards : 1;
    l->slot_count = orch_batch_ring_slots(o->threads);
    return options_are_valid(o, error);
}

/* Allocates the slots if `is_allocated`, unless they are larger than the memory. */
static bool make_slots(struct orch_loader *l, bool is_allocated, GError **error)
{
    const double bytes = l->slot_count * orch_batch_bytes(&l->source);
    const int64_t present = orch_machine_memory("");
    bool is_made = present <= 0 || bytes <= (double)present;
    for (int i = 0; i < l->slot_count && is_made && is_allocated; i++)
        is_made = orch_batch_slot_init(&l->slots[i], &l->source);
    if (!is_made)
        set_memory_error(l, bytes, present, error);
    return is_made;
}

bool orch_loader_fits(const struct orch_loader_options *options, struct orch_image_shape shape,
                      GError **error)
{
    const struct orch_image_set set = {
        .channels = shape.channels, .height = shape.height, .width = shape.width};
    const struct orch_subset subset = {.dataset = &set};
    struct orch_loader l = {.source = {.subset = &subset}};
    return set_options(&l, options, error) && make_slots(&l, false, error);
}

struct orch_loader *orch_loader_new(const struct orch_subset *subset,
                                    const struct orch_loader_options *options, GError **error)
{
    struct orch_loader *l = g_new0(struct orch_loader, 1);
    const struct orch_loader_options *o = &l->source.options;
    const struct orch_image_set *d = subset->dataset;
    l->source.subset = subset;
    if (!set_options(l, options, error) || !make_slots(l, true, error) ||
        !orch_batch_pad(&l->source, error)) {
        orch_loader_free(l);
        return NULL;
    }
    orch_transforms_table(&o->transforms, d->mean, d->std, &l->source.table);
    l->source.order = g_new(int64_t, subset->count + 1);
    l->batches = orch_batch_count(&l->source);
    l->ring = orch_batch_ring_new(o->threads, l->slot_count, make_batch, l);
    return l;
}

static void order_rows(void *ctx, int64_t epoch)
{
    struct orch_loader *l = ctx;
    const int64_t count = l->source.subset->count;
    for (int64_t i = 0; i < count; i++)
        l->source.order[i] = i;
    if (l->source.options.shuffle)
        orch_random_shuffle(
            l->source.order, count,
            orch_random_stream_of(l->source.options.seed, 0x5f0ff1e, (uint64_t)epoch));
    l->source.epoch = epoch;
}

void orch_loader_start(struct orch_loader *l, int64_t epoch)
{
    orch_batch_ring_start(l->ring, l->batches, order_rows, epoch);
}

bool orch_loader_next(struct orch_loader *l, struct orch_loader_batch *out)
{
    int64_t number;
    int slot;
    if (!orch_batch_ring_next(l->ring, &number, &slot))
        return false;
    *out = orch_batch_view(&l->source, number, &l->slots[slot]);
    return true;
}

void orch_loader_free(struct orch_loader *l)
{
    if (!l)
        return;
    orch_batch_ring_free(l->ring);
    for (int i = 0; i < l->slot_count; i++)
        orch_batch_slot_release(&l->slots[i]);
    orch_batch_pad_release(&l->source);
    g_free(l->source.order);
    g_free(l);
}
