/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/scenes/scene_loader.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "plugins/common/data/batch_ring.h"
#include "plugins/common/data/random.h"
#include "plugins/common/data/transform.h"

#define SIZE_MAX_PIXELS 4096
#define BATCH_MAX 100000

struct slot {
    float *images;
    int64_t *rows, *first;
    GArray *boxes, *labels, *is_difficult;
    int64_t count;
    GError *error; /* of the first image of the batch that could not be read */
};

struct orch_scene_loader {
    const struct orch_scene_set *set;
    struct orch_scene_loader_options options;
    int64_t *order; /* images in the order of the epoch */
    int64_t epoch, batches;
    struct slot slots[ORCH_BATCH_SLOTS_MAX];
    int slot_count;
    struct orch_batch_ring *ring;
};

static size_t values_of_image(const struct orch_scene_loader *l)
{
    return 3 * (size_t)l->options.pixels.size * (size_t)l->options.pixels.size;
}

/* The objects of an image that the batch shall have. Returns their number. */
static int64_t pick_objects(const struct orch_scene_loader *l, int64_t row, int64_t *out_object,
                            struct orch_box *out_boxes)
{
    int64_t count = 0;
    for (int64_t i = l->set->first[row]; i < l->set->first[row + 1]; i++) {
        if (l->set->is_difficult[i] && !l->options.with_difficult)
            continue;
        out_object[count] = i;
        out_boxes[count++] = l->set->boxes[i];
    }
    return count;
}

static void add_objects(const struct orch_scene_loader *l, const struct orch_scene_plan *plan,
                        const int64_t *objects, const struct orch_box *boxes, int64_t count,
                        struct slot *slot)
{
    g_autofree struct orch_box *moved = g_new(struct orch_box, count + 1);
    g_autofree int64_t *kept = g_new(int64_t, count + 1);
    const int64_t seen = orch_scene_plan_boxes(plan, boxes, count, moved, kept);
    for (int64_t i = 0; i < seen; i++) {
        const int64_t object = objects[kept[i]];
        g_array_append_val(slot->boxes, moved[i]);
        g_array_append_val(slot->labels, l->set->labels[object]);
        g_array_append_val(slot->is_difficult, l->set->is_difficult[object]);
    }
}

/* Makes image `at` of a batch, which stands at `place` in the order of the epoch. */
static bool make_image(const struct orch_scene_loader *l, int64_t place, int64_t at,
                       struct slot *slot)
{
    const int64_t row = l->order[place];
    const int64_t most = l->set->first[row + 1] - l->set->first[row];
    g_autofree int64_t *objects = g_new(int64_t, most + 1);
    g_autofree struct orch_box *boxes = g_new(struct orch_box, most + 1);
    const int64_t count = pick_objects(l, row, objects, boxes);
    struct orch_scene_image image;
    slot->rows[at] = row;
    slot->first[at] = slot->boxes->len;
    if (!orch_scene_image_get(l->set, row, &image, &slot->error))
        return false;
    const uint64_t stream = orch_transform_stream(l->options.seed, l->epoch, place, 0);
    const struct orch_scene_plan plan = orch_scene_plan_draw(&l->options.transforms, image.width,
                                                             image.height, boxes, count, stream);
    orch_scene_plan_apply(&plan, &image, &l->options.pixels,
                          slot->images + (size_t)at * values_of_image(l));
    add_objects(l, &plan, objects, boxes, count, slot);
    orch_scene_image_release(&image);
    return true;
}

static void make_batch(void *ctx, int64_t number, int index)
{
    struct orch_scene_loader *l = ctx;
    struct slot *slot = &l->slots[index];
    const int64_t from = number * l->options.batch;
    slot->count = MIN(l->options.batch, l->set->count - from);
    g_array_set_size(slot->boxes, 0);
    g_array_set_size(slot->labels, 0);
    g_array_set_size(slot->is_difficult, 0);
    g_clear_error(&slot->error);
    for (int64_t i = 0; i < slot->count; i++)
        if (!make_image(l, from + i, i, slot))
            return;
    slot->first[slot->count] = slot->boxes->len;
}

static bool options_are_valid(const struct orch_scene_loader_options *o, GError **error)
{
    if (o->batch > 0 && o->batch <= BATCH_MAX && o->threads >= 0 && o->pixels.size > 0 &&
        o->pixels.size <= SIZE_MAX_PIXELS && o->pixels.deviation > 0)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "batches of %d images of %d x %d pixels with %d threads are not possible: "
                   "expected 1 to %d images of 1 to %d pixels on a side, and at least 0 threads",
                   o->batch, o->pixels.size, o->pixels.size, o->threads, BATCH_MAX,
                   SIZE_MAX_PIXELS);
    return false;
}

static bool make_slots(struct orch_scene_loader *l, GError **error)
{
    const size_t batch = (size_t)l->options.batch;
    for (int i = 0; i < l->slot_count; i++) {
        struct slot *slot = &l->slots[i];
        slot->images = g_try_malloc_n(batch, values_of_image(l) * sizeof(float));
        slot->rows = g_new(int64_t, batch);
        slot->first = g_new(int64_t, batch + 1);
        slot->boxes = g_array_new(FALSE, FALSE, sizeof(struct orch_box));
        slot->labels = g_array_new(FALSE, FALSE, sizeof(int32_t));
        slot->is_difficult = g_array_new(FALSE, FALSE, sizeof(bool));
        if (slot->images)
            continue;
        g_autofree char *bytes =
            orch_bytes_format((int64_t)(batch * values_of_image(l) * sizeof(float)));
        orch_error_set(error, ORCH_ERROR_RECIPE, "choose a smaller batch",
                       "there is no memory for %d batches of %s", l->slot_count, bytes);
        return false;
    }
    return true;
}

struct orch_scene_loader *orch_scene_loader_new(const struct orch_scene_set *set,
                                                const struct orch_scene_loader_options *options,
                                                GError **error)
{
    if (!options_are_valid(options, error))
        return NULL;
    struct orch_scene_loader *l = g_new0(struct orch_scene_loader, 1);
    l->set = set;
    l->options = *options;
    l->slot_count = orch_batch_ring_slots(options->threads);
    l->batches = (set->count + options->batch - 1) / options->batch;
    l->order = g_new(int64_t, set->count + 1);
    if (!make_slots(l, error)) {
        orch_scene_loader_free(l);
        return NULL;
    }
    l->ring = orch_batch_ring_new(options->threads, l->slot_count, make_batch, l);
    return l;
}

static void order_images(void *ctx, int64_t epoch)
{
    struct orch_scene_loader *l = ctx;
    for (int64_t i = 0; i < l->set->count; i++)
        l->order[i] = i;
    if (l->options.shuffles)
        orch_random_shuffle(l->order, l->set->count,
                            orch_random_stream_of(l->options.seed, 0x5f0ff1e, (uint64_t)epoch));
    l->epoch = epoch;
}

void orch_scene_loader_start(struct orch_scene_loader *l, int64_t epoch)
{
    orch_batch_ring_start(l->ring, l->batches, order_images, epoch);
}

bool orch_scene_loader_next(struct orch_scene_loader *l, struct orch_scene_batch *out,
                            GError **error)
{
    int64_t number;
    int index;
    if (!orch_batch_ring_next(l->ring, &number, &index))
        return false;
    const struct slot *slot = &l->slots[index];
    if (slot->error) {
        g_propagate_error(error, g_error_copy(slot->error));
        return false;
    }
    *out = (struct orch_scene_batch){.images = slot->images,
                                     .count = slot->count,
                                     .objects = {slot->count, slot->first,
                                                 (const struct orch_box *)(void *)slot->boxes->data,
                                                 (const int32_t *)(void *)slot->labels->data},
                                     .is_difficult = (const bool *)slot->is_difficult->data,
                                     .rows = slot->rows};
    return true;
}

int64_t orch_scene_loader_batches(const struct orch_scene_loader *l)
{
    return l->batches;
}

double orch_scene_loader_made_s(struct orch_scene_loader *l)
{
    return orch_batch_ring_made_s(l->ring);
}

void orch_scene_loader_free(struct orch_scene_loader *l)
{
    if (!l)
        return;
    orch_batch_ring_free(l->ring);
    for (int i = 0; i < l->slot_count; i++) {
        struct slot *slot = &l->slots[i];
        g_free(slot->images);
        g_free(slot->rows);
        g_free(slot->first);
        if (slot->boxes) {
            g_array_free(slot->boxes, TRUE);
            g_array_free(slot->labels, TRUE);
            g_array_free(slot->is_difficult, TRUE);
        }
        g_clear_error(&slot->error);
    }
    g_free(l->order);
    g_free(l);
}
