/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A learner's own replay memory and the steps of its actors, which go into it: the replay memory
 * of one bundle. Learner i of L has the actors i, i + L, i + 2 L, ... */
#ifndef ORCH_PLUGINS_REPLAY_GORILA_GORILA_STEPS_H
#define ORCH_PLUGINS_REPLAY_GORILA_GORILA_STEPS_H

#include "plugins/replay/actor/actor_share.h"
#include "plugins/replay/gorila/gorila_share.h"
#include "plugins/replay/memory/replay.h"

struct orch_gorila_steps;

struct orch_gorila_steps *orch_gorila_steps_new(struct orch_gorila_share *share,
                                                struct orch_actor_share *actors, int64_t learner,
                                                GError **error);
void orch_gorila_steps_free(struct orch_gorila_steps *steps);

/** Takes the steps that are there, up to what `train_every` allows for the learner's gradients so
 * far, and counts them. Returns in `*out_taken` how many. */
bool orch_gorila_steps_take(struct orch_gorila_steps *steps, int64_t *out_taken, GError **error);
/** Whether the steps so far allow one more gradient. */
bool orch_gorila_steps_suffice(const struct orch_gorila_steps *steps);
/** Draws a batch uniformly. `out` is as orch_replay_sample fills it. */
bool orch_gorila_steps_draw(struct orch_gorila_steps *steps, const struct orch_replay_batch *out,
                            GError **error);
int64_t orch_gorila_steps_bytes(const struct orch_gorila_steps *steps);

#endif
