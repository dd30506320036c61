/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that make the batches of an epoch ahead of their reader. Batch `number` is made in slot
 * `number` modulo the slots, whose memory is the caller's, and is read in the order of the numbers.
 * What a batch holds must depend on its number alone, since any thread may make it. */
#ifndef ORCH_PLUGINS_COMMON_BATCH_RING_H
#define ORCH_PLUGINS_COMMON_BATCH_RING_H

#include <stdbool.h>
#include <stdint.h>

/** Largest number of slots. */
#define ORCH_BATCH_SLOTS_MAX 16

/** Slots for a number of threads (>= 0): two for each, at least one. */
int orch_batch_ring_slots(int threads);

struct orch_batch_ring;
/** Starts the threads; with 0 threads, batches are made when they are read. `make` fills a slot and
 * is called from any thread, for different slots at the same time. No epoch has started yet. */
struct orch_batch_ring *orch_batch_ring_new(int threads, int slots,
                                            void (*make)(void *ctx, int64_t number, int slot),
                                            void *ctx);
/** Waits until no thread makes a batch of the old epoch, calls `prepare` (what the batches of the
 * new one are made from; may be NULL), and starts an epoch of `batches` batches. */
void orch_batch_ring_start(struct orch_batch_ring *ring, int64_t batches,
                           void (*prepare)(void *ctx, int64_t epoch), int64_t epoch);
/** Waits for the next batch. Its slot stays as it is until the next call. False at the end of the
 * epoch, and before the first one. */
bool orch_batch_ring_next(struct orch_batch_ring *ring, int64_t *out_number, int *out_slot);
/** Seconds spent in `make`, summed over the threads. */
double orch_batch_ring_made_s(struct orch_batch_ring *ring);
/** Stops the threads; NULL is allowed. */
void orch_batch_ring_free(struct orch_batch_ring *ring);

#endif
