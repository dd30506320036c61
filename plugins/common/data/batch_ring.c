/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workers take batch numbers from a counter and fill slot `number % slots`; the reader takes the
 * slots in order. A worker waits until its slot has been read. */
#include "plugins/common/data/batch_ring.h"

#include "lib/base/ident.h"

#include <glib.h>

struct orch_batch_ring {
    void (*make)(void *ctx, int64_t number, int slot);
    void *ctx;
    int64_t batches; /* of the epoch */
    int slots;
    int64_t made_number[ORCH_BATCH_SLOTS_MAX]; /* the batch in each slot, -1: none */
    int64_t next_made, next_read;              /* batch numbers */
    bool reading;                              /* the reader uses the slot before next_read */
    bool stop;
    GMutex mutex;
    GCond made, freed;
    GPtrArray *threads;
    int busy;        /* number of workers that are filling a slot */
    int64_t made_ns; /* spent on making batches, summed over the threads */
};

int orch_batch_ring_slots(int threads)
{
    return (int)CLAMP(2 * (int64_t)threads, 1, ORCH_BATCH_SLOTS_MAX);
}

double orch_batch_ring_made_s(struct orch_batch_ring *r)
{
    g_mutex_lock(&r->mutex);
    const int64_t made_ns = r->made_ns;
    g_mutex_unlock(&r->mutex);
    return (double)made_ns / 1e9;
}

/* Makes a batch. Returns the time that it took, in nanoseconds. */
static int64_t make_batch(const struct orch_batch_ring *r, int64_t number)
{
    const int64_t begin = orch_mono_ns();
    r->make(r->ctx, number, (int)(number % r->slots));
    return orch_mono_ns() - begin;
}

/* True if the slot for batch `number` may be filled because its previous batch has been read and
 * released. */
static bool slot_is_free(const struct orch_batch_ring *r, int64_t number)
{
    int64_t held = r->next_read - (r->reading ? 1 : 0);
    return number - held < r->slots;
}

static void *work(void *pointer)
{
    struct orch_batch_ring *r = pointer;
    g_mutex_lock(&r->mutex);
    while (!r->stop) {
        if (r->next_made >= r->batches || !slot_is_free(r, r->next_made)) {
            g_cond_wait(&r->freed, &r->mutex);
            continue;
        }
        int64_t number = r->next_made++;
        r->busy++;
        g_mutex_unlock(&r->mutex);
        const int64_t taken_ns = make_batch(r, number);
        g_mutex_lock(&r->mutex);
        r->made_ns += taken_ns;
        r->busy--;
        r->made_number[number % r->slots] = number;
        g_cond_broadcast(&r->made);
    }
    g_mutex_unlock(&r->mutex);
    return NULL;
}

struct orch_batch_ring *orch_batch_ring_new(int threads, int slots,
                                            void (*make)(void *ctx, int64_t number, int slot),
                                            void *ctx)
{
    struct orch_batch_ring *r = g_new0(struct orch_batch_ring, 1);
    g_mutex_init(&r->mutex);
    g_cond_init(&r->made);
    g_cond_init(&r->freed);
    r->make = make;
    r->ctx = ctx;
    r->slots = slots;
    r->threads = g_ptr_array_new();
    for (int i = 0; i < threads; i++)
        g_ptr_array_add(r->threads, g_thread_new("loader", work, r));
    return r;
}

void orch_batch_ring_start(struct orch_batch_ring *r, int64_t batches,
                           void (*prepare)(void *ctx, int64_t epoch), int64_t epoch)
{
    g_mutex_lock(&r->mutex);
    r->next_made = r->batches; /* workers start no further batches of the old epoch */
    while (r->busy)
        g_cond_wait(&r->made, &r->mutex);
    for (int i = 0; i < r->slots; i++)
        r->made_number[i] = -1;
    if (prepare)
        prepare(r->ctx, epoch);
    r->batches = batches;
    r->next_made = r->next_read = 0;
    r->reading = false;
    g_cond_broadcast(&r->freed);
    g_mutex_unlock(&r->mutex);
}

bool orch_batch_ring_next(struct orch_batch_ring *r, int64_t *out_number, int *out_slot)
{
    g_mutex_lock(&r->mutex);
    r->reading = false;
    g_cond_broadcast(&r->freed);
    if (r->next_read >= r->batches) {
        g_mutex_unlock(&r->mutex);
        return false;
    }
    const int64_t number = r->next_read;
    const int slot = (int)(number % r->slots);
    if (r->threads->len == 0) {
        r->made_ns += make_batch(r, number);
        r->next_made = number + 1;
    }
    while (r->threads->len && r->made_number[slot] != number)
        g_cond_wait(&r->made, &r->mutex);
    r->next_read++;
    r->reading = true;
    g_mutex_unlock(&r->mutex);
    *out_number = number;
    *out_slot = slot;
    return true;
}

void orch_batch_ring_free(struct orch_batch_ring *r)
{
    if (!r)
        return;
    g_mutex_lock(&r->mutex);
    r->stop = true;
    g_cond_broadcast(&r->freed);
    g_mutex_unlock(&r->mutex);
    for (guint i = 0; i < r->threads->len; i++)
        g_thread_join(r->threads->pdata[i]);
    g_ptr_array_unref(r->threads);
    g_mutex_clear(&r->mutex);
    g_cond_clear(&r->made);
    g_cond_clear(&r->freed);
    g_free(r);
}
