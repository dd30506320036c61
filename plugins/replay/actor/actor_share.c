/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor/actor_share.h"

#include "lib/base/error.h"
#include "plugins/common/shard/weight_shard.h"
#include "plugins/replay/actor/shared_memory.h"

#include <string.h>

enum { WAIT_US = 50 };
static const uint64_t MAGIC = 0x6f72636841637432u; /* of this layout */

/* A shard of the parameters. */
struct shard {
    _Alignas(64) uint64_t sequence; /* odd while the parameters change */
    int64_t updates;                /* -1: there are none */
};

/* The memory: this, a ring of counters for each actor, the shards, the parameters, the slots of all
 * rings. */
struct memory {
    struct orch_shared_head head;
    int64_t parameters, frame_bytes, room, slot_bytes;
    struct orch_actor_setup setup;
    _Alignas(64) uint32_t is_stopped;
    int64_t frames;
    _Alignas(64) int64_t pulls;
    struct orch_shared_ring rings[];
};

struct orch_actor_share {
    struct orch_shared_memory shared;
    struct memory *memory; /* the same */
    struct shard *shards;
    uint32_t *parameters; /* bits of floats */
    uint8_t *slots;
};

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static int64_t shards_of(const struct orch_actor_setup *setup)
{
    return MAX(setup->shards, 1);
}

static int64_t shards_at(const struct orch_actor_setup *setup)
{
    const size_t rings = sizeof(struct orch_shared_ring) * (size_t)setup->actors;
    return round_up((int64_t)(sizeof(struct memory) + rings), 64);
}

static int64_t parameters_at(const struct orch_actor_setup *setup)
{
    return shards_at(setup) + (int64_t)sizeof(struct shard) * shards_of(setup);
}

static int64_t slots_at(const struct orch_actor_setup *setup, int64_t parameters)
{
    return round_up(parameters_at(setup) + parameters * (int64_t)sizeof(float), 64);
}

/* Takes the memory over. */
static struct orch_actor_share *share_of(struct orch_shared_memory shared)
{
    struct orch_actor_share *s = g_new0(struct orch_actor_share, 1);
    s->shared = shared;
    s->memory = (struct memory *)(void *)shared.head;
    return s;
}

static void find_parts(struct orch_actor_share *s)
{
    const struct memory *m = s->memory;
    uint8_t *base = (uint8_t *)s->memory;
    s->shards = (struct shard *)(void *)(base + shards_at(&m->setup));
    s->parameters = (uint32_t *)(void *)(base + parameters_at(&m->setup));
    s->slots = base + slots_at(&m->setup, m->parameters);
}

struct orch_actor_share *orch_actor_share_new(const struct orch_actor_setup *setup,
                                              int64_t parameters, int64_t frame_bytes, int64_t room,
                                              GError **error)
{
    const int64_t slot_bytes = round_up((int64_t)sizeof(struct orch_actor_step) + frame_bytes, 8);
    const int64_t bytes = slots_at(setup, parameters) + setup->actors * room * slot_bytes;
    struct orch_shared_memory shared;
    g_autofree char *users = g_strdup_printf("%" G_GINT64_FORMAT " actors", setup->actors);
    if (!orch_shared_memory_new(&shared, "orch-actors", MAGIC, bytes, users, error))
        return NULL;
    struct orch_actor_share *s = share_of(shared);
    struct memory *m = s->memory;
    m->parameters = parameters;
    m->frame_bytes = frame_bytes;
    m->room = room;
    m->slot_bytes = slot_bytes;
    m->setup = *setup;
    find_parts(s);
    for (int64_t i = 0; i < shards_of(setup); i++)
        s->shards[i].updates = -1;
    return s;
}

struct orch_actor_share *orch_actor_share_attach(int fd, GError **error)
{
    struct orch_shared_memory shared;
    if (!orch_shared_memory_attach(&shared, fd, MAGIC, sizeof(struct memory))) {
        orch_error_set(error, ORCH_ERROR_PROTOCOL,
                       "do not start an actor yourself: a learner starts the actors",
                       "file descriptor %d does not lead to the shared memory of a learner", fd);
        return NULL;
    }
    struct orch_actor_share *s = share_of(shared);
    find_parts(s);
    return s;
}

void orch_actor_share_free(struct orch_actor_share *share)
{
    if (!share)
        return;
    orch_shared_memory_close(&share->shared);
    g_free(share);
}

int orch_actor_share_fd(const struct orch_actor_share *share)
{
    return share->shared.fd;
}

const struct orch_actor_setup *orch_actor_share_setup(const struct orch_actor_share *share)
{
    return &share->memory->setup;
}

int64_t orch_actor_share_parameters(const struct orch_actor_share *share)
{
    return share->memory->parameters;
}

int64_t orch_actor_share_frame_bytes(const struct orch_actor_share *share)
{
    return share->memory->frame_bytes;
}

void orch_actor_share_stop(struct orch_actor_share *share)
{
    __atomic_store_n(&share->memory->is_stopped, 1, __ATOMIC_RELEASE);
}

bool orch_actor_share_is_stopped(const struct orch_actor_share *share)
{
    return __atomic_load_n(&share->memory->is_stopped, __ATOMIC_ACQUIRE);
}

void orch_actor_share_set_frames(struct orch_actor_share *share, int64_t frames)
{
    __atomic_store_n(&share->memory->frames, frames, __ATOMIC_RELAXED);
}

int64_t orch_actor_share_frames(const struct orch_actor_share *share)
{
    return __atomic_load_n(&share->memory->frames, __ATOMIC_RELAXED);
}

void orch_actor_share_publish_shard(struct orch_actor_share *share, int64_t index,
                                    const float *values, int64_t updates)
{
    struct shard *shard = &share->shards[index];
    int64_t begin, count;
    orch_weight_shard_bounds(share->memory->parameters, (int)index,
                             (int)shards_of(&share->memory->setup), &begin, &count);
    __atomic_store_n(&shard->sequence, shard->sequence + 1, __ATOMIC_RELAXED);
    for (int64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        /* who sees it sees the odd sequence, too */
        __atomic_store_n(&share->parameters[begin + i], bits, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&shard->updates, updates, __ATOMIC_RELEASE);
    __atomic_store_n(&shard->sequence, shard->sequence + 1, __ATOMIC_RELEASE);
}

void orch_actor_share_publish(struct orch_actor_share *share, const float *parameters,
                              int64_t updates)
{
    const int64_t shards = shards_of(&share->memory->setup);
    for (int64_t i = 0; i < shards; i++) {
        int64_t begin, count;
        orch_weight_shard_bounds(share->memory->parameters, (int)i, (int)shards, &begin, &count);
        orch_actor_share_publish_shard(share, i, parameters + begin, updates);
    }
}

/* Copies a shard. Returns its number of updates; -1 when it is to end. */
static int64_t pull_shard(const struct orch_actor_share *share, const struct shard *shard,
                          int64_t begin, int64_t count, float *out)
{
    for (;;) {
        const uint64_t before = __atomic_load_n(&shard->sequence, __ATOMIC_ACQUIRE);
        for (int64_t i = begin; i < begin + count; i++) {
            const uint32_t bits = __atomic_load_n(&share->parameters[i], __ATOMIC_ACQUIRE);
            memcpy(&out[i], &bits, sizeof bits);
        }
        const int64_t updates = __atomic_load_n(&shard->updates, __ATOMIC_ACQUIRE);
        if (before % 2 == 0 && __atomic_load_n(&shard->sequence, __ATOMIC_RELAXED) == before)
            return updates;
        if (orch_actor_share_is_stopped(share))
            return -1;
    }
}

int64_t orch_actor_share_pull(const struct orch_actor_share *share, float *out)
{
    struct memory *m = share->memory;
    const int64_t shards = shards_of(&m->setup);
    int64_t oldest = G_MAXINT64;
    for (int64_t i = 0; i < shards; i++) {
        int64_t begin, count;
        orch_weight_shard_bounds(m->parameters, (int)i, (int)shards, &begin, &count);
        oldest = MIN(oldest, pull_shard(share, &share->shards[i], begin, count, out));
    }
    __atomic_add_fetch(&m->pulls, 1, __ATOMIC_RELAXED);
    return oldest;
}

int64_t orch_actor_share_updates(const struct orch_actor_share *share)
{
    /* shards are published in order */
    const int64_t last = shards_of(&share->memory->setup) - 1;
    return __atomic_load_n(&share->shards[last].updates, __ATOMIC_ACQUIRE);
}

struct orch_actor_traffic orch_actor_share_traffic(const struct orch_actor_share *share)
{
    const struct memory *m = share->memory;
    struct orch_actor_traffic traffic = {.parameter_bytes =
                                             __atomic_load_n(&m->pulls, __ATOMIC_RELAXED) *
                                             m->parameters * (int64_t)sizeof(float)};
    for (int64_t i = 0; i < m->setup.actors; i++)
        traffic.step_bytes += orch_shared_ring_written(&m->rings[i]) * m->slot_bytes;
    return traffic;
}

static uint8_t *slot_of(const struct orch_actor_share *s, int64_t actor, uint64_t count)
{
    const struct memory *m = s->memory;
    return s->slots + (actor * m->room + (int64_t)(count % (uint64_t)m->room)) * m->slot_bytes;
}

bool orch_actor_share_push(struct orch_actor_share *share, int64_t actor,
                           const struct orch_actor_step *step, const void *frame)
{
    struct orch_shared_ring *ring = &share->memory->rings[actor];
    while (orch_shared_ring_is_full(ring, share->memory->room)) {
        if (orch_actor_share_is_stopped(share))
            return false;
        g_usleep(WAIT_US);
    }
    uint8_t *slot = slot_of(share, actor, ring->head);
    memcpy(slot, step, sizeof *step);
    memcpy(slot + sizeof *step, frame, (size_t)share->memory->frame_bytes);
    orch_shared_ring_push(ring);
    return true;
}

bool orch_actor_share_pop(struct orch_actor_share *share, int64_t actor,
                          struct orch_actor_step *out, void *out_frame)
{
    struct orch_shared_ring *ring = &share->memory->rings[actor];
    if (orch_shared_ring_is_empty(ring))
        return false;
    const uint8_t *slot = slot_of(share, actor, ring->tail);
    memcpy(out, slot, sizeof *out);
    memcpy(out_frame, slot + sizeof *out, (size_t)share->memory->frame_bytes);
    orch_shared_ring_pop(ring);
    return true;
}
