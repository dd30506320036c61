/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that a trial's process makes and the processes that it starts attach to, and the counters
 * of a ring in it: one process writes entries, one reads them. Linux: memfd_create(2). */
#ifndef ORCH_PLUGINS_REPLAY_ACTOR_SHARED_MEMORY_H
#define ORCH_PLUGINS_REPLAY_ACTOR_SHARED_MEMORY_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/** Stands at the beginning of the memory. */
struct orch_shared_head {
    uint64_t magic; /* of the layout */
    int64_t bytes;  /* of the memory */
};

struct orch_shared_memory {
    struct orch_shared_head *head;
    int fd;
};

/** Makes `bytes` of zeroed memory. `name` is shown in /proc, `users` in the error ("4 actors").
 * Fails with ORCH_ERROR_IO. */
bool orch_shared_memory_new(struct orch_shared_memory *out, const char *name, uint64_t magic,
                            int64_t bytes, const char *users, GError **error);
/** Attaches to the memory behind `fd`, which it then owns. False, with `fd` still open, unless it
 * is memory of this layout with at least `least` bytes. */
bool orch_shared_memory_attach(struct orch_shared_memory *out, int fd, uint64_t magic,
                               int64_t least);
/** Unmaps the memory and closes the descriptor. */
void orch_shared_memory_close(struct orch_shared_memory *memory);

/** Each counter is in a cache line of its own, so that writer and reader do not share one. */
struct orch_shared_ring {
    _Alignas(64) uint64_t head; /* entries that were written */
    _Alignas(64) uint64_t tail; /* entries that were read */
};

/** For the writer: true when all `room` entries wait for the reader. */
bool orch_shared_ring_is_full(const struct orch_shared_ring *ring, int64_t room);
/** For the writer: hands the entry `head` to the reader. */
void orch_shared_ring_push(struct orch_shared_ring *ring);
/** For the reader: true when no entry waits. */
bool orch_shared_ring_is_empty(const struct orch_shared_ring *ring);
/** For the reader: gives the entry `tail` back to the writer. */
void orch_shared_ring_pop(struct orch_shared_ring *ring);
/** Number of entries that were written; any process may ask. */
int64_t orch_shared_ring_written(const struct orch_shared_ring *ring);

#endif
