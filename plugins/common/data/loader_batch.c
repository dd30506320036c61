/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One batch: which samples it has, and their images and labels. */
#include "plugins/common/data/loader_batch.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- memory -----------------------------------------------------------------------------------
 */

/* The arrays of a slot: bytes per image, in the order in which they lie in memory (the widest type
 * first, so that each is aligned). */
struct layout {
    size_t labels, rows, images, plans;
};

static struct layout layout_of(const struct orch_batch_source *source)
{
    const struct orch_image_set *d = source->subset->dataset;
    const size_t values = (size_t)d->channels * (size_t)d->height * (size_t)d->width;
    return (struct layout){
        .labels = sizeof(int64_t),
        .rows = sizeof(int64_t),
        .images = source->options.plans_only ? 0 : sizeof(float) * values,
        .plans = sizeof(struct orch_transform_plan),
    };
}

double orch_batch_bytes(const struct orch_batch_source *source)
{
    const struct layout l = layout_of(source);
    const double images = (double)source->options.batch * source->options.copies;
    return images * (double)(l.labels + l.rows + l.images + l.plans);
}

/* Takes `bytes` per image from the memory at `at`; NULL for an array that is left out. */
static void *cut(char **at, size_t bytes, size_t images)
{
    void *array = bytes ? *at : NULL;
    *at += bytes * images;
    return array;
}

bool orch_batch_slot_init(struct orch_batch_slot *slot, const struct orch_batch_source *source)
{
    const struct layout l = layout_of(source);
    const size_t images = (size_t)source->options.batch * (size_t)source->options.copies;
    *slot = (struct orch_batch_slot){0};
    slot->memory = g_try_malloc((gsize)orch_batch_bytes(source));
    if (!slot->memory)
        return false;
    char *at = slot->memory;
    slot->labels = cut(&at, l.labels, images);
    slot->rows = cut(&at, l.rows, images);
    slot->images = cut(&at, l.images, images);
    slot->plans = cut(&at, l.plans, images);
    return true;
}

void orch_batch_slot_release(struct orch_batch_slot *slot)
{
    g_free(slot->memory);
    *slot = (struct orch_batch_slot){0};
}

/* ---- padded images ----------------------------------------------------------------------------
 */

static int crop_of(const struct orch_transforms *transforms)
{
    for (int i = 0; i < transforms->count; i++)
        if (transforms->items[i].kind == ORCH_TRANSFORM_CROP)
            return transforms->items[i].size;
    return 0;
}

/* Bytes of a padded image. */
static size_t padded_bytes(const struct orch_batch_source *source)
{
    const struct orch_image_set *d = source->subset->dataset;
    return (size_t)d->channels * (size_t)(d->height + 2 * source->margin) *
           (size_t)(d->width + 2 * source->margin);
}

static void pad(const struct orch_batch_source *source, const uint8_t *image, uint8_t *out)
{
    const struct orch_image_set *d = source->subset->dataset;
    const int64_t line = d->width + 2 * source->margin;
    memset(out, 0, padded_bytes(source));
    for (int c = 0; c < d->channels; c++)
        for (int y = 0; y < d->height; y++)
            memcpy(out +
                       (c * (int64_t)(d->height + 2 * source->margin) + y + source->margin) * line +
                       source->margin,
                   image + (c * (int64_t)d->height + y) * d->width, (size_t)d->width);
}

bool orch_batch_pad(struct orch_batch_source *source, GError **error)
{
    const struct orch_loader_options *o = &source->options;
    source->margin = o->pad_ahead && !o->plans_only ? crop_of(&o->transforms) : 0;
    if (source->margin == 0)
        return true;
    const size_t bytes = padded_bytes(source), count = (size_t)source->subset->count;
    source->padded = g_try_malloc_n(count + 1, bytes);
    if (!source->padded) {
        g_autofree char *text = orch_bytes_format((int64_t)(bytes * count));
        orch_error_set(error, ORCH_ERROR_RECIPE, "set pad_ahead: false",
                       "there is no memory for the padded images, which take %s", text);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        pad(source, orch_subset_image(source->subset, (int64_t)i), source->padded + i * bytes);
    return true;
}

void orch_batch_pad_release(struct orch_batch_source *source)
{
    g_clear_pointer(&source->padded, g_free);
}

/* ---- contents ---------------------------------------------------------------------------------
 */

int64_t orch_batch_count(const struct orch_batch_source *source)
{
    const int64_t whole = (int64_t)source->options.batch * source->options.shards;
    const int64_t count = source->subset->count;
    return count / whole + (!source->options.drop_last && count % whole ? 1 : 0);
}

/* The samples of a batch: places in the order of the epoch. */
struct part {
    int64_t first, samples; /* of this shard */
    int64_t total;          /* of all shards */
};

static struct part part_of(const struct orch_batch_source *source, int64_t number)
{
    const struct orch_loader_options *o = &source->options;
    const int64_t start = number * o->batch * o->shards;
    const int64_t total = MIN((int64_t)o->batch * o->shards, source->subset->count - start);
    const int64_t from = total * o->shard / o->shards, to = total * (o->shard + 1) / o->shards;
    return (struct part){start + from, to - from, total};
}

static void draw_plan(const struct orch_batch_source *source, int64_t place, int64_t row, int copy,
                      struct orch_transform_plan *out)
{
    const struct orch_image_set *d = source->subset->dataset;
    const struct orch_loader_options *o = &source->options;
    orch_transforms_draw(&o->transforms, d->width, d->height,
                         orch_transform_stream(o->seed, source->epoch, place, copy), out);
    for (int i = 0; i < o->transforms.count; i++)
        if (o->transforms.items[i].alternates)
            out->mirror = orch_transform_alternate(o->seed, row, source->epoch, copy);
}

/* Writes copy `copy` of the sample at `place` as image `at` of the batch. */
static void make_image(const struct orch_batch_source *source, int64_t place, int copy, int64_t at,
                       struct orch_batch_slot *slot)
{
    const struct orch_subset *s = source->subset;
    const struct orch_image_set *d = s->dataset;
    const struct orch_loader_options *o = &source->options;
    const struct orch_image_shape shape = {d->channels, d->height, d->width};
    const int64_t index = source->order[place];
    draw_plan(source, place, s->rows[index], copy, &slot->plans[at]);
    slot->labels[at] = orch_subset_label(s, index);
    slot->rows[at] = s->rows[index];
    const uint8_t *image = source->padded ? source->padded + (size_t)index * padded_bytes(source)
                                          : orch_subset_image(s, index);
    if (slot->images)
        orch_transform_apply_padded(
            &slot->plans[at], &source->table, shape, source->margin, o->channels_last, image,
            slot->images + at * (int64_t)d->channels * d->height * d->width);
}

void orch_batch_make(const struct orch_batch_source *source, int64_t number,
                     struct orch_batch_slot *slot)
{
    const struct part part = part_of(source, number);
    for (int copy = 0; copy < source->options.copies; copy++)
        for (int64_t i = 0; i < part.samples; i++)
            make_image(source, part.first + i, copy, copy * part.samples + i, slot);
}

struct orch_loader_batch orch_batch_view(const struct orch_batch_source *source, int64_t number,
                                         const struct orch_batch_slot *slot)
{
    const struct part part = part_of(source, number);
    const int copies = source->options.copies;
    return (struct orch_loader_batch){.images = slot->images,
                                      .labels = slot->labels,
                                      .rows = slot->rows,
                                      .plans = slot->plans,
                                      .count = part.samples * copies,
                                      .samples = part.samples,
                                      .total = part.total * copies};
}
