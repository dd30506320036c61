/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers take batch numbers from a counter and fill slot `number % SLOTS`; the reader takes the
 * slots in order. A worker waits until its slot has been read. The random numbers for each image
 * come from a stream that depends on seed, epoch and the image's position, so the result does not
 * depend on which worker prepares it. */
#include "plugins/common/data/loader.h"

#include "plugins/common/data/random.h"

#include <string.h>

#define SLOTS_MAX 16

struct slot {
    float *images;
    int64_t *labels;
    int64_t count;
    int64_t number; /* number of its batch; -1: none */
};

struct orch_loader {
    const struct orch_subset *subset;
    struct orch_loader_options options;
    int64_t *order; /* row order of the epoch */
    int64_t epoch, batches;
    float table[3][256]; /* byte -> normalised, by channel */
    float zero[3];       /* padding: a black pixel */
    struct slot slots[SLOTS_MAX];
    int slot_count;
    int64_t next_made, next_read; /* batch numbers */
    bool reading;                 /* the reader is using the slot before next_read */
    bool stop;
    GMutex mutex;
    GCond made, freed;
    GPtrArray *threads;
    int busy; /* number of workers that are filling a slot */
};

int64_t orch_loader_batches(const struct orch_loader *loader)
{
    return loader->batches;
}

/* Writes a row of one channel; `source` is NULL above or below the image. */
static void make_row(const struct orch_loader *l, int channel, const uint8_t *source, int dx,
                     bool mirror, float *out, int64_t step)
{
    const float *table = l->table[channel];
    const float zero = l->zero[channel];
    const int width = l->subset->dataset->width;
    for (int x = 0; x < width; x++) {
        int u = (mirror ? width - 1 - x : x) + dx;
        out[x * step] = !source || u < 0 || u >= width ? zero : table[source[u]];
    }
}

/* Writes one image: a crop of the padded original, possibly mirrored, and normalised. */
static void make_image(const struct orch_loader *l, int64_t place, float *out)
{
    const struct orch_image_set *d = l->subset->dataset;
    const uint8_t *in = orch_subset_image(l->subset, l->order[place]);
    uint64_t random = orch_random_stream(l->options.seed, (uint64_t)l->epoch + 1, (uint64_t)place);
    int pad = l->options.crop_pad;
    int dx = pad ? (int)orch_random_below(&random, 2 * (uint32_t)pad + 1) - pad : 0;
    int dy = pad ? (int)orch_random_below(&random, 2 * (uint32_t)pad + 1) - pad : 0;
    bool mirror = l->options.flip && orch_random_below(&random, 2);
    /* strides between neighbours in a row, between rows, and between channels */
    const bool last = l->options.channels_last;
    const int64_t step = last ? d->channels : 1, line = step * d->width;
    const int64_t plane = last ? 1 : line * d->height;
    for (int c = 0; c < d->channels; c++)
        for (int y = 0; y < d->height; y++) {
            const int from = y + dy;
            const uint8_t *source = NULL;
            if (from >= 0 && from < d->height)
                source = in + ((int64_t)c * d->height + from) * d->width;
            make_row(l, c % 3, source, dx, mirror, out + c * plane + y * line, step);
        }
}

static void make_batch(const struct orch_loader *l, struct slot *slot, int64_t number)
{
    const struct orch_image_set *d = l->subset->dataset;
    int64_t size = (int64_t)d->channels * d->height * d->width;
    int64_t first = number * l->options.batch;
    slot->count = MIN((int64_t)l->options.batch, l->subset->count - first);
    for (int64_t i = 0; i < slot->count; i++) {
        make_image(l, first + i, slot->images + i * size);
        slot->labels[i] = orch_subset_label(l->subset, l->order[first + i]);
    }
}

/* True if the slot for batch `number` may be filled because its previous batch has been read and
 * released. */
static bool slot_is_free(const struct orch_loader *l, int64_t number)
{
    int64_t held = l->next_read - (l->reading ? 1 : 0);
    return number - held < l->slot_count;
}

static void *work(void *pointer)
{
    struct orch_loader *l = pointer;
    g_mutex_lock(&l->mutex);
    while (!l->stop) {
        if (l->next_made >= l->batches || !slot_is_free(l, l->next_made)) {
            g_cond_wait(&l->freed, &l->mutex);
            continue;
        }
        int64_t number = l->next_made++;
        struct slot *slot = &l->slots[number % l->slot_count];
        l->busy++;
        g_mutex_unlock(&l->mutex);
        make_batch(l, slot, number);
        g_mutex_lock(&l->mutex);
        l->busy--;
        slot->number = number;
        g_cond_broadcast(&l->made);
    }
    g_mutex_unlock(&l->mutex);
    return NULL;
}

struct orch_loader *orch_loader_new(const struct orch_subset *subset,
                                    const struct orch_loader_options *options)
{
    struct orch_loader *l = g_new0(struct orch_loader, 1);
    const struct orch_image_set *d = subset->dataset;
    l->subset = subset;
    l->options = *options;
    l->batches = options->drop_last ? subset->count / options->batch
                                    : (subset->count + options->batch - 1) / options->batch;
    l->order = g_new(int64_t, subset->count + 1);
    for (int c = 0; c < 3; c++) {
        for (int v = 0; v < 256; v++)
            l->table[c][v] = ((float)v / 255.0F - d->mean[c]) / (d->std[c] > 0 ? d->std[c] : 1.0F);
        l->zero[c] = l->table[c][0];
    }
    l->slot_count = CLAMP(2 * options->threads, 1, SLOTS_MAX);
    for (int i = 0; i < l->slot_count; i++) {
        l->slots[i].images =
            g_new(float, (gsize)options->batch *(gsize)d->channels *(gsize)(d->height * d->width));
        l->slots[i].labels = g_new(int64_t, options->batch);
        l->slots[i].number = -1;
    }
    g_mutex_init(&l->mutex);
    g_cond_init(&l->made);
    g_cond_init(&l->freed);
    l->next_made = l->next_read = l->batches; /* nothing to do before an epoch starts */
    l->threads = g_ptr_array_new();
    for (int i = 0; i < options->threads; i++)
        g_ptr_array_add(l->threads, g_thread_new("loader", work, l));
    return l;
}

void orch_loader_start(struct orch_loader *l, int64_t epoch)
{
    g_mutex_lock(&l->mutex);
    l->next_made = l->batches; /* workers start no further batches of the old epoch */
    while (l->busy)
        g_cond_wait(&l->made, &l->mutex);
    for (int i = 0; i < l->slot_count; i++)
        l->slots[i].number = -1;
    for (int64_t i = 0; i < l->subset->count; i++)
        l->order[i] = i;
    if (l->options.shuffle)
        orch_random_shuffle(l->order, l->subset->count,
                            orch_random_stream(l->options.seed, 0x5f0ff1e, (uint64_t)epoch));
    l->epoch = epoch;
    l->next_made = l->next_read = 0;
    l->reading = false;
    g_cond_broadcast(&l->freed);
    g_mutex_unlock(&l->mutex);
}

bool orch_loader_next(struct orch_loader *l, struct orch_loader_batch *out)
{
    g_mutex_lock(&l->mutex);
    l->reading = false;
    g_cond_broadcast(&l->freed);
    if (l->next_read >= l->batches) {
        g_mutex_unlock(&l->mutex);
        return false;
    }
    int64_t number = l->next_read;
    struct slot *slot = &l->slots[number % l->slot_count];
    if (l->threads->len == 0) {
        make_batch(l, slot, number);
        l->next_made = number + 1;
    }
    while (l->threads->len && slot->number != number)
        g_cond_wait(&l->made, &l->mutex);
    l->next_read++;
    l->reading = true;
    g_mutex_unlock(&l->mutex);
    *out = (struct orch_loader_batch){slot->images, slot->labels, slot->count};
    return true;
}

void orch_loader_free(struct orch_loader *l)
{
    if (!l)
        return;
    g_mutex_lock(&l->mutex);
    l->stop = true;
    g_cond_broadcast(&l->freed);
    g_mutex_unlock(&l->mutex);
    for (guint i = 0; i < l->threads->len; i++)
        g_thread_join(l->threads->pdata[i]);
    g_ptr_array_unref(l->threads);
    for (int i = 0; i < l->slot_count; i++) {
        g_free(l->slots[i].images);
        g_free(l->slots[i].labels);
    }
    g_mutex_clear(&l->mutex);
    g_cond_clear(&l->made);
    g_cond_clear(&l->freed);
    g_free(l->order);
    g_free(l);
}
