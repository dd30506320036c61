/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/gorila/gorila_share.h"

#include "lib/base/error.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Entries of a ring. */
enum { GRADIENTS_ROOM = 2, EPISODES_ROOM = 256, BATCHES_ROOM = 2 };
static const uint64_t MAGIC = 0x6f726368476f7231u; /* of this layout */

/* Each counter in a line of its own, so that writer and reader do not share one. */
struct ring {
    _Alignas(64) uint64_t head; /* entries that were written */
    _Alignas(64) uint64_t tail; /* entries that were read */
};

struct learner {
    struct ring rings[ORCH_GORILA_RINGS];
    _Alignas(64) struct orch_gorila_counts counts;
};

/* Where the entries of one kind of rings are: learner after learner. */
struct place {
    int64_t at, room, entry_bytes;
};

/* The memory: this, and the entries of all rings. */
struct memory {
    uint64_t magic;
    int64_t bytes, frame_bytes;
    struct orch_gorila_setup setup;
    struct place places[ORCH_GORILA_RINGS];
    _Alignas(64) int64_t frames;
    struct learner learners[];
};

struct orch_gorila_share {
    struct memory *memory;
    int fd;
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

static struct orch_gorila_share *map(int fd, int64_t bytes)
{
    void *memory = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    struct orch_gorila_share *s = g_new0(struct orch_gorila_share, 1);
    s->memory = memory;
    s->fd = fd;
    return s;
}

struct orch_gorila_share *orch_gorila_share_new(const struct orch_gorila_setup *setup,
                                                int64_t parameters, int64_t frame_bytes,
                                                GError **error)
{
    struct place places[ORCH_GORILA_RINGS];
    const int64_t bytes = lay_out(setup, parameters, frame_bytes, places);
    const int fd = memfd_create("orch-learners", MFD_CLOEXEC);
    struct orch_gorila_share *s = NULL;
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0)
        s = map(fd, bytes);
    if (!s) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno,
                             "cannot make %" G_GINT64_FORMAT
                             " bytes of memory for %" G_GINT64_FORMAT " learners",
                             bytes, setup->learners);
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    struct memory *m = s->memory;
    m->magic = MAGIC;
    m->bytes = bytes;
    m->frame_bytes = frame_bytes;
    m->setup = *setup;
    for (int i = 0; i < ORCH_GORILA_RINGS; i++)
        m->places[i] = places[i];
    return s;
}

struct orch_gorila_share *orch_gorila_share_attach(int fd, GError **error)
{
    struct stat about;
    struct orch_gorila_share *s = NULL;
    if (fstat(fd, &about) == 0 && about.st_size >= (off_t)sizeof(struct memory))
        s = map(fd, about.st_size);
    if (s && s->memory->magic == MAGIC && s->memory->bytes == about.st_size)
        return s;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, "only a parameter server starts learners",
                   "descriptor %d is not the memory of a parameter server of this version", fd);
    if (s) {
        munmap(s->memory, (size_t)about.st_size);
        g_free(s);
    }
    return NULL;
}

void orch_gorila_share_free(struct orch_gorila_share *share)
{
    if (!share)
        return;
    munmap(share->memory, (size_t)share->memory->bytes);
    close(share->fd);
    g_free(share);
}

int orch_gorila_share_fd(const struct orch_gorila_share *share)
{
    return share->fd;
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

/* ---- rings ------------------------------------------------------------------------------------
 */

static struct ring *ring_of(const struct orch_gorila_share *s, enum orch_gorila_ring ring,
                            int64_t learner)
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
    const struct ring *r = ring_of(share, ring, learner);
    const uint64_t used = r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE);
    return used >= (uint64_t)share->memory->places[ring].room
               ? NULL
               : entry_of(share, ring, learner, r->head);
}

void orch_gorila_share_commit(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                              int64_t learner)
{
    struct ring *r = ring_of(share, ring, learner);
    __atomic_store_n(&r->head, r->head + 1, __ATOMIC_RELEASE);
}

const void *orch_gorila_share_peek(const struct orch_gorila_share *share,
                                   enum orch_gorila_ring ring, int64_t learner)
{
    const struct ring *r = ring_of(share, ring, learner);
    return __atomic_load_n(&r->head, __ATOMIC_ACQUIRE) == r->tail
               ? NULL
               : entry_of(share, ring, learner, r->tail);
}

void orch_gorila_share_drop(struct orch_gorila_share *share, enum orch_gorila_ring ring,
                            int64_t learner)
{
    struct ring *r = ring_of(share, ring, learner);
    __atomic_store_n(&r->tail, r->tail + 1, __ATOMIC_RELEASE);
}

int64_t orch_gorila_share_bytes(const struct orch_gorila_share *share, enum orch_gorila_ring ring)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < share->memory->setup.learners; i++)
        entries += (int64_t)__atomic_load_n(&ring_of(share, ring, i)->head, __ATOMIC_RELAXED);
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

/* ---- steps ------------------------------------------------------------------------------------
 */

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
