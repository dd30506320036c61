/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Putting drawn steps together: states of several frames, returns of several steps. */
#include "plugins/replay/memory/replay_private.h"

static inline void copy_bytes(uint8_t *to, const uint8_t *from, int64_t bytes)
{
    if (bytes == 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, (size_t)bytes);
}

/* Whether the record at `position` is the first of its episode, as far as records are kept. */
static bool is_first(const struct orch_replay *r, const struct replay_lane *l, int64_t position)
{
    if (position == 0 || position - 1 < l->head - r->lane_capacity)
        return true;
    const uint32_t end = orch_replay_step_of(r, orch_replay_record(r, l, position - 1))->end;
    return end == ORCH_REPLAY_TERMINATED || end == ORCH_REPLAY_FINAL;
}

/* Frames from the newest back; before an episode's first one that is repeated. */
static void copy_stack(const struct orch_replay *r, const struct replay_lane *l, int64_t position,
                       uint8_t *to)
{
    for (int i = r->options.stack - 1; i >= 0; i--) {
        copy_bytes(to + i * r->frame_bytes, orch_replay_record(r, l, position), r->frame_bytes);
        if (i > 0 && !is_first(r, l, position))
            position--;
    }
}

static void copy_state(const struct orch_replay *r, const struct replay_lane *l, int64_t position,
                       void *states, int64_t row)
{
    uint8_t *to = (uint8_t *)states + row * r->frame_bytes * r->options.stack;
    if (r->options.stack == 1)
        copy_bytes(to, orch_replay_record(r, l, position), r->frame_bytes);
    else
        copy_stack(r, l, position, to);
}

/* States of one frame and returns of one step, the usual case. */
static inline void gather_simple(const struct orch_replay *r, const struct replay_lane *l,
                                 int64_t slot, const struct orch_replay_batch *batch, int64_t row)
{
    const int64_t bytes = r->frame_bytes, after = slot + 1 == r->lane_capacity ? 0 : slot + 1;
    uint8_t *record = l->records + slot * r->record_bytes;
    const struct replay_step *step = orch_replay_step_of(r, record);
    batch->actions[row] = step->action;
    batch->returns[row] = step->reward;
    batch->discounts[row] = step->end == ORCH_REPLAY_TERMINATED ? 0 : (float)r->options.gamma;
    copy_bytes((uint8_t *)batch->states + row * bytes, record, bytes);
    copy_bytes((uint8_t *)batch->next_states + row * bytes, l->records + after * r->record_bytes,
               bytes);
}

void orch_replay_gather(const struct orch_replay *r, const struct replay_lane *l, int64_t position,
                        const struct orch_replay_batch *batch, int64_t row)
{
    if (r->options.n_step == 1 && r->options.stack == 1) {
        gather_simple(r, l, orch_replay_slot(r, l->head, l->head_slot, position), batch, row);
        return;
    }
    const struct replay_step *step = orch_replay_step_of(r, orch_replay_record(r, l, position));
    double sum = 0, discount = 1;
    int64_t next = position;
    batch->actions[row] = step->action;
    for (int i = 0; i < r->options.n_step; i++) {
        step = orch_replay_step_of(r, orch_replay_record(r, l, next));
        sum += discount * (double)step->reward;
        discount = step->end == ORCH_REPLAY_TERMINATED ? 0 : discount * r->options.gamma;
        if (step->end == ORCH_REPLAY_TERMINATED)
            break;
        next++;
        if (step->end == ORCH_REPLAY_TRUNCATED)
            break;
    }
    batch->returns[row] = (float)sum;
    batch->discounts[row] = (float)discount;
    copy_state(r, l, position, batch->states, row);
    copy_state(r, l, next, batch->next_states, row);
}
