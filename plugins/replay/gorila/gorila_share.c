/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_share.h"

#include "lib/base/error.h"
#include "plugins/replay/actor/shared_memory.h"

/* Entries of a ring. */
enum { GRADIENTS_ROOM = 2, EPISODES_ROOM = 256, BATCHES_ROOM = 2 };
static const uint64_t MAGIC = 0x6f726368476f7231u; /* of this layout */

struct learner {
    struct orch_shared_ring rings[ORCH_GORILA_RINGS];
    _Alignas(64) struct orch_gorila_counts counts;
};

/* Where the entries of one kind of rings are: learner after learner. */
struct place {
    int64_t at, room, entry_bytes;
};

/* The memory: this, and the entries of all rings. */
struct memory {
    struct orch_shared_head head;
    int64_t frame_bytes;
    struct orch_gorila_setup setup;
    struct place places[ORCH_GORILA_RINGS];
    _Alignas(64) int64_t frames;
    struct learner learners[];
};

struct orch_gorila_share {
    struct orch_shared_memory shared;
    struct memory *memory; /* the same */
};

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

/* Of one batch. */
static int64_t states_bytes(const struct orch_gorila_setup *setup, int64_t frame_bytes)
{
    return round_up(setup->batch * setup->frames * frame_bytes, 8);
}

static int64_t batch_bytes(const struct orch_gorila_setup *setup, int64_t frame_bytes)
{
    if (!setup->is_central)
        return 0;
    const int64_t each = sizeof(int32_t) + 2 * sizeof(float);
    return setup->batch * each + 2 * states_bytes(setup, frame_bytes);
}

/* Fills the places. Returns the bytes of the memory. */
static int64_t lay_out(const struct orch_gorila_setup *setup, int64_t parameters,
                       int64_t frame_bytes, struct place *out)
{
    const int64_t gradient =
        (int64_t)sizeof(struct orch_gorila_gradient) + parameters * (int64_t)sizeof(float);
    const struct place places[ORCH_GORILA_RINGS] = {
        [ORCH_GORILA_GRADIENTS] = {.room = GRADIENTS_ROOM, .entry_bytes = gradient},
        [ORCH_GORILA_EPISODES] = {.room = EPISODES_ROOM,
                                  .entry_bytes = sizeof(struct orch_gorila_episode)},
        [ORCH_GORILA_BATCHES] = {.room = BATCHES_ROOM,
                                 .entry_bytes = batch_bytes(setup, frame_bytes)}};
    const size_t learners = sizeof(struct learner) * (size_t)setup->learners;
    int64_t at = (int64_t)(sizeof(struct memory) + learners);
    for (int i = 0; i < ORCH_GORILA_RINGS; i++) {
        out[i] = places[i];
        out[i].entry_bytes = round_up(out[i].entry_bytes, 8);
        out[i].at = at = round_up(at, 64);
        at += setup->learners * out[i].room * out[i].entry_bytes;
    }
    return at;
}

/* Takes the memory over. */
static struct orch_gorila_share *share_of(struct orch_shared_memory shared)
{
    struct orch_gorila_share *s = g_new0(struct orch_gorila_share, 1);
    s->shared = shared;
    s->memory = (struct memory *)(void *)shared.head;
    return s;
}

struct orch_gorila_share *orch_gorila_share_new(const struct orch_gorila_setup *setup,
                                                int64_t parameters, int64_t frame_bytes,
                                                GError **error)
{
    struct place places[ORCH_GORILA_RINGS];
    const int64_t bytes = lay_out(setup, parameters, frame_bytes, places);
    struct orch_shared_memory shared;
    g_autofree char *users = g_strdup_printf("%" G_GINT64_FORMAT " learners", setup->learners);
    if (!orch_shared_memory_new(&shared, "orch-learners", MAGIC, bytes, users, error))
        return NULL;
    struct orch_gorila_share *s = share_of(shared);
    struct memory *m = s->memory;
    m->frame_bytes = frame_bytes;
    m->setup = *setup;
    for (int i = 0; i < ORCH_GORILA_RINGS; i++)
        m->places[i] = places[i];
    return s;
}

struct orch_gorila_share *orch_gorila_share_attach(int fd, GError **error)
{
    struct orch_shared_memory shared;
    if (orch_shared_memory_attach(&shared, fd, MAGIC, sizeof(struct memory)))
        return share_of(shared);
    orch_error_set(error, ORCH_ERROR_PROTOCOL,
                   "do not start a learner yourself: a parameter server starts the learners",
                   "file descriptor %d does not lead to the shared memory of a parameter server",
                   fd);
    return NULL;
}

void orch_gorila_share_free(struct orch_gorila_share *share)
{
    if (!share)
        return;
    orch_shared_memory_close(&share->shared);
    g_free(share);
}

int orch_gorila_share_fd(const struct orch_gorila_share *share)
{
    return share->shared.fd;
}

const struct orch_gorila_setup *orch_gorila_share_setup(const struct orch_gorila_share *share)
{
    return &share->memory->setup;
}

struct orch_gorila_counts *orch_gorila_share_counts(struct orch_gorila_share *share,
                                                    int64_t learner)
{
    return &share->memory->learners[learner].counts;
}

/* ---- rings ----------------------------------------------------------------------------------- */

static struct orch_shared_ring *ring_of(const struct orch_gorila_share *s,
                                        enum orch_gorila_ring ring, int64_t learner)
{
    return &s->memory->learners[learner].rings[ring];
}

static void *entry_of(const struct orch_gorila_share *s, enum orch_gorila_ring ring,
                      int64_t learner, uint64_t count)
{
    const struct place *p = &s->memory->places[ring];
    const int64_t entry = learner * p->room + (int64_t)(count % (uint64_t)p->room);
    return (uint8_t *)s->memory + p->at + entry * p->entry_bytes;
}

void *orch_gorila_share_reserve(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                                int64_t learner)
{
    const struct orch_shared_ring *r = ring_of(share, ring, learner);
    return orch_shared_ring_is_full(r, share->memory->places[ring].room)
               ? NULL
               : entry_of(share, ring, learner, r->head);
}

void orch_gorila_share_commit(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                              int64_t learner)
{
    orch_shared_ring_push(ring_of(share, ring, learner));
}

const void *orch_gorila_share_peek(const struct orch_gorila_share *share,
                                   enum orch_gorila_ring ring, int64_t learner)
{
    const struct orch_shared_ring *r = ring_of(share, ring, learner);
    return orch_shared_ring_is_empty(r) ? NULL : entry_of(share, ring, learner, r->tail);
}

void orch_gorila_share_drop(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                            int64_t learner)
{
    orch_shared_ring_pop(ring_of(share, ring, learner));
}

int64_t orch_gorila_share_bytes(const struct orch_gorila_share *share, enum orch_gorila_ring ring)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < share->memory->setup.learners; i++)
        entries += orch_shared_ring_written(ring_of(share, ring, i));
    return entries * share->memory->places[ring].entry_bytes;
}

struct orch_gorila_batch orch_gorila_share_batch(const struct orch_gorila_share *share, void *entry)
{
    const int64_t n = share->memory->setup.batch;
    const int64_t states = states_bytes(&share->memory->setup, share->memory->frame_bytes);
    uint8_t *at = entry;
    struct orch_gorila_batch b = {.states = at, .next_states = at + states};
    b.actions = (int32_t *)(void *)(at + 2 * states);
    b.returns = (float *)(void *)(b.actions + n);
    b.discounts = b.returns + n;
    return b;
}

/* ---- steps ----------------------------------------------------------------------------------- */

int64_t orch_gorila_share_claim(struct orch_gorila_share *share)
{
    struct memory *m = share->memory;
    int64_t frames = __atomic_load_n(&m->frames, __ATOMIC_RELAXED);
    while (frames < m->setup.steps)
        if (__atomic_compare_exchange_n(&m->frames, &frames, frames + 1, true, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            return frames + 1;
    return 0;
}

int64_t orch_gorila_share_frames(const struct orch_gorila_share *share)
{
    return __atomic_load_n(&share->memory->frames, __ATOMIC_RELAXED);
}
