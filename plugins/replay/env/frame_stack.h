/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last frames of each copy of an environment, which together are the state that an agent acts
 * on (Mnih et al. 2015). Before an episode's first frame that one is repeated, as replay.h does
 * when it puts stored frames together. */
#ifndef ORCH_PLUGINS_REPLAY_ENV_FRAME_STACK_H
#define ORCH_PLUGINS_REPLAY_ENV_FRAME_STACK_H

#include "plugins/replay/env/env.h"

struct orch_frame_stack {
    const struct orch_env_kind *kind;
    int64_t frames, copies;
    size_t frame_bytes;
    uint8_t *states; /* copies x frames x frame_bytes, oldest frame first */
};

/** `kind` must outlive the stack. */
void orch_frame_stack_init(struct orch_frame_stack *stack, const struct orch_env_kind *kind,
                           int64_t frames, int64_t copies);
void orch_frame_stack_clear(struct orch_frame_stack *stack);
/** Bytes of all states, for a checkpoint. */
size_t orch_frame_stack_bytes(const struct orch_frame_stack *stack);

/** Every copy begins with its frame of `frames` (copies x frame). */
void orch_frame_stack_begin_all(struct orch_frame_stack *stack, const void *frames);
/** Adds the newest frame of a copy. */
void orch_frame_stack_push(struct orch_frame_stack *stack, int64_t copy, const void *frame);
/** Adds the frames after a step of all copies: where an episode ended, the next one begins. */
void orch_frame_stack_step(struct orch_frame_stack *stack, const void *frames, const uint8_t *ends);
/** Writes the states of `count` copies from `first` on as a network takes them: (frames x channels)
 * x height x width each. */
void orch_frame_stack_planes(const struct orch_frame_stack *stack, int64_t first, int64_t count,
                             float *out);

#endif
