/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the steps of a batch. Their places are known before the first is read, so the records of
 * the next ones are fetched from memory meanwhile, whichever lanes they lie in. Where each lane was
 * drawn and read by itself, a learner with 8 lanes and batches of 64 waited for memory in two
 * thirds of the time of sampling (perf). */
#include "plugins/replay/memory/replay_private.h"

#include "lib/base/random.h"

/* How many records a batch asks for before it uses them. A core fetches about two lines for each of
 * them at once; with 32, and with a third line for each, a learner waited longer than without. */
enum { AHEAD = 12 };

/* Asks for the record of a place, and for the one in which the next state lies. */
static inline void prefetch(const struct orch_replay *r, int64_t place)
{
    const uint8_t *record = r->memory + place * r->record_bytes;
    __builtin_prefetch(record);
    __builtin_prefetch(record + 2 * r->record_bytes - 1);
}

static bool is_step(const struct orch_replay *r, const struct replay_lane *l, int64_t position)
{
    return orch_replay_step_of(r, orch_replay_record(r, l, position))->end != ORCH_REPLAY_FINAL;
}

/* The position in a lane's slot, and whether it can be drawn: a writer may have come round since
 * the place was chosen. */
static inline bool position_of(const struct orch_replay *r, const struct replay_lane *l,
                               int64_t slot, int64_t *out_position)
{
    int64_t before = l->head_slot - slot;
    before += before <= 0 ? r->lane_capacity : 0;
    *out_position = l->head - before;
    uint8_t *record = l->records + slot * r->record_bytes;
    return *out_position >= orch_replay_oldest(r, l) &&
           *out_position < orch_replay_complete(r, l) &&
           orch_replay_step_of(r, record)->end != ORCH_REPLAY_FINAL;
}

/* A step of the lane in place of one that cannot be drawn: with priorities the newest complete one,
 * else any. */
static int64_t replace(struct orch_replay *r, const struct replay_lane *l)
{
    const int64_t oldest = orch_replay_oldest(r, l), complete = orch_replay_complete(r, l);
    int64_t position = complete - 1;
    do {
        if (!r->tree)
            position = oldest + (int64_t)orch_random_below(&r->random, (size_t)(complete - oldest));
        else if (!is_step(r, l, position))
            position--;
    } while (!is_step(r, l, position));
    return position;
}

/* Reads the steps of one lane from `first` on. Returns the first of the next lane. */
static int64_t collect_lane(struct orch_replay *r, int64_t first, int64_t count,
                            const struct orch_replay_batch *batch)
{
    const int64_t lane = r->options.lanes == 1 ? 0 : r->slots[first] / r->lane_capacity;
    const int64_t base = lane * r->lane_capacity, end = base + r->lane_capacity;
    struct replay_lane *l = &r->lanes[lane];
    int64_t i = first;
    pthread_mutex_lock(&l->lock);
    for (; i < count && r->slots[i] < end; i++) {
        int64_t position;
        if (i + AHEAD < count)
            prefetch(r, r->slots[i + AHEAD]);
        if (!position_of(r, l, r->slots[i] - base, &position))
            position = replace(r, l);
        orch_replay_gather(r, l, position, batch, i);
        if (batch->places)
            batch->places[i] = position * r->options.lanes + lane;
    }
    pthread_mutex_unlock(&l->lock);
    return i;
}

void orch_replay_collect(struct orch_replay *r, int64_t count,
                         const struct orch_replay_batch *batch)
{
    for (int64_t i = 0; i < MIN(AHEAD, count); i++)
        prefetch(r, r->slots[i]);
    for (int64_t i = 0; i < count;)
        i = collect_lane(r, i, count, batch);
}

void orch_replay_make_room(struct orch_replay *r, int64_t count)
{
    if (count <= r->room)
        return;
    r->slots = g_renew(int64_t, r->slots, count);
    r->draws = g_renew(float, r->draws, count);
    r->room = count;
}
