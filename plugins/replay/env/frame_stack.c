/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/frame_stack.h"

#include <string.h>

void orch_frame_stack_init(struct orch_frame_stack *s, const struct orch_env_kind *kind,
                           int64_t frames, int64_t copies)
{
    *s = (struct orch_frame_stack){.kind = kind,
                                   .frames = frames,
                                   .copies = copies,
                                   .frame_bytes = (size_t)kind->observation_values *
                                                  (kind->is_bytes ? 1 : sizeof(float))};
    s->states = g_malloc0(orch_frame_stack_bytes(s));
}

void orch_frame_stack_clear(struct orch_frame_stack *s)
{
    g_free(s->states);
    *s = (struct orch_frame_stack){0};
}

size_t orch_frame_stack_bytes(const struct orch_frame_stack *s)
{
    return (size_t)(s->copies * s->frames) * s->frame_bytes;
}

static uint8_t *state_of(const struct orch_frame_stack *s, int64_t copy)
{
    return s->states + (size_t)(copy * s->frames) * s->frame_bytes;
}

static const uint8_t *row(const struct orch_frame_stack *s, const void *frames, int64_t copy)
{
    return (const uint8_t *)frames + (size_t)copy * s->frame_bytes;
}

/* An episode of a copy begins with a frame. */
static void begin_stack(struct orch_frame_stack *s, int64_t copy, const void *frame)
{
    for (int64_t i = 0; i < s->frames; i++)
        memcpy(state_of(s, copy) + (size_t)i * s->frame_bytes, frame, s->frame_bytes);
}

void orch_frame_stack_begin_all(struct orch_frame_stack *s, const void *frames)
{
    for (int64_t i = 0; i < s->copies; i++)
        begin_stack(s, i, row(s, frames, i));
}

void orch_frame_stack_push(struct orch_frame_stack *s, int64_t copy, const void *frame)
{
    uint8_t *state = state_of(s, copy);
    const size_t older = (size_t)(s->frames - 1) * s->frame_bytes;
    memmove(state, state + s->frame_bytes, older);
    memcpy(state + older, frame, s->frame_bytes);
}

void orch_frame_stack_step(struct orch_frame_stack *s, const void *frames, const uint8_t *ends)
{
    for (int64_t i = 0; i < s->copies; i++)
        if (ends[i])
            begin_stack(s, i, row(s, frames, i));
        else
            orch_frame_stack_push(s, i, row(s, frames, i));
}

void orch_frame_stack_planes(const struct orch_frame_stack *s, int64_t first, int64_t count,
                             float *out)
{
    orch_env_planes(s->kind, state_of(s, first), count * s->frames, out);
}
