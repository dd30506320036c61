/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch that is drawn from the buffer, and its states as a network takes them. */
#ifndef ORCH_PLUGINS_REPLAY_SAMPLED_BATCH_H
#define ORCH_PLUGINS_REPLAY_SAMPLED_BATCH_H

#include "plugins/replay/agent/q_learner.h"
#include "plugins/replay/env/env.h"
#include "plugins/replay/memory/replay.h"

struct orch_sampled_batch {
    int64_t count, frames; /* steps; frames of a state */
    const struct orch_env_kind *kind;
    struct orch_replay_batch raw; /* states as the buffer has them: floats or bytes */
    float *states, *next_states;  /* count x (frames x channels) x height x width; those of `raw`
                                     where both have one layout */
    float *errors;                /* count: of the update that learns from the batch */
};

/** Makes room for `count` steps, whose states have `frames` frames each. `kind` must outlive the
 * batch. */
void orch_sampled_batch_init(struct orch_sampled_batch *batch, const struct orch_env_kind *kind,
                             int64_t frames, int64_t count);
void orch_sampled_batch_clear(struct orch_sampled_batch *batch);

/** Draws a batch and converts its states. Errors as orch_replay_sample. */
bool orch_sampled_batch_draw(struct orch_sampled_batch *batch, struct orch_replay *buffer,
                             double beta, GError **error);
/** The batch as a learner reads it; borrows its arrays. */
struct orch_q_batch orch_sampled_batch_view(const struct orch_sampled_batch *batch);

#endif
