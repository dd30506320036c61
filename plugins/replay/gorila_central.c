/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The central replay memory: steps come in from all actors, and batches go out to the learners. */
#include "plugins/replay/gorila_private.h"

#include <math.h>

static void count_staleness(struct gorila *g, int64_t version)
{
    if (version < 0)
        return;
    const double stale = (double)(orch_actor_share_updates(g->actors) - version);
    g->stale_steps++;
    g->stale_sum += stale;
    g->stale_most = fmax(g->stale_most, stale);
}

static bool store(struct gorila *g, int64_t actor, const struct orch_actor_step *s, GError **error)
{
    const int lane = (int)(actor * g->envs + s->env);
    const uint8_t end = (uint8_t)s->end;
    const struct orch_replay_steps step = {
        .count = 1, .frames = g->frame, .actions = &s->action, .rewards = &s->reward, .ends = &end};
    if (!orch_replay_add(g->buffer, lane, &step, error))
        return false;
    if (s->end == ORCH_REPLAY_FINAL)
        return true;
    orch_learning_curve_lane(&g->curve, orch_gorila_share_claim(g->learners), lane, s->reward, end);
    count_staleness(g, s->version);
    return true;
}

/* Takes what is there, in turns, up to what the batches so far allow. */
static bool take_steps(struct gorila *g, bool *out_worked, GError **error)
{
    const int64_t most =
        MIN(g->p.steps, g->p.learning_starts + g->p.batch + g->p.n_step * g->p.envs +
                            (g->batches + g->p.learners) * g->p.train_every);
    bool is_empty = false;
    struct orch_actor_step step;
    while (!is_empty && orch_gorila_share_frames(g->learners) < most) {
        is_empty = true;
        for (int64_t i = 0; i < g->p.actors && orch_gorila_share_frames(g->learners) < most; i++)
            if (orch_actor_share_pop(g->actors, i, &step, g->frame)) {
                is_empty = false;
                *out_worked = true;
                if (!store(g, i, &step, error))
                    return false;
            }
    }
    return true;
}

static bool may_draw(const struct gorila *g)
{
    return orch_gorila_share_frames(g->learners) >=
               g->p.learning_starts + (g->batches + 1) * g->p.train_every &&
           orch_replay_ready(g->buffer) >= g->p.batch;
}

bool orch_gorila_serve_batches(struct gorila *g, bool *out_worked, GError **error)
{
    if (!take_steps(g, out_worked, error))
        return false;
    for (int64_t i = 0; i < g->p.learners; i++) {
        void *entry;
        if (!orch_worker_pool_is_alive(g->learner_pool, i) || !may_draw(g) ||
            !(entry = orch_gorila_share_reserve(g->learners, ORCH_GORILA_BATCHES, i)))
            continue;
        const struct orch_gorila_batch b = orch_gorila_share_batch(g->learners, entry);
        const struct orch_replay_batch raw = {.states = b.states,
                                              .next_states = b.next_states,
                                              .actions = b.actions,
                                              .returns = b.returns,
                                              .discounts = b.discounts};
        if (!orch_replay_sample(g->buffer, g->p.batch, 0, &raw, error))
            return false;
        orch_gorila_share_commit(g->learners, ORCH_GORILA_BATCHES, i);
        g->batches++;
        *out_worked = true;
    }
    return true;
}
