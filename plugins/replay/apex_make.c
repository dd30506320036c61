/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making and freeing what Ape-X's learner needs. */
#include "plugins/replay/apex_private.h"

#include "lib/base/random.h"
#include "plugins/replay/actor_setup.h"

static bool make_share(struct apex *a, GError **error)
{
    struct orch_actor_setup setup;
    if (!orch_replay_actor_setup(&a->p, a->host, &a->kind, a->envs, &setup, error))
        return false;
    /* a later attempt's actors must not repeat the episodes of the first */
    setup.seed = orch_random_stream(setup.seed, (uint64_t)a->step);
    a->begun_at = a->step;
    const int64_t count = orch_q_net_count(orch_q_learner_net(a->learner));
    const int64_t frame = orch_replay_frame_bytes(&a->kind);
    a->parameters = g_new(float, count);
    a->frame = g_malloc((size_t)frame);
    a->share = orch_actor_share_new(&setup, count, frame, ORCH_REPLAY_RING_ROUNDS * a->envs, error);
    if (a->share)
        orch_actor_share_set_frames(a->share, a->step);
    return a->share != NULL;
}

bool orch_apex_init(struct apex *a, GError **error)
{
    if (!orch_replay_kind(&a->p, a->host, &a->kind, error))
        return false;
    const struct orch_replay_options buffer = orch_replay_settings_buffer(&a->p, &a->kind, a->host);
    const struct orch_q_learner_options learner =
        orch_replay_settings_learner(&a->p, &a->kind, a->host);
    orch_sampled_batch_init(&a->batch, &a->kind, a->p.frame_stack, a->p.batch);
    orch_learning_curve_init(&a->curve, a->host, a->p.envs, a->p.steps,
                             orch_replay_settings_solved(&a->p));
    orch_saved_init(&a->saved, a->host, a->p.checkpoint_every);
    return (a->buffer = orch_replay_new(&buffer, error)) &&
           (a->learner = orch_q_learner_new(&learner, error)) && orch_apex_resume(a, error) &&
           make_share(a, error);
}

void orch_apex_clear(struct apex *a)
{
    orch_actor_pool_free(a->pool, a->share);
    orch_actor_share_free(a->share);
    orch_replay_free(a->buffer);
    orch_q_learner_free(a->learner);
    orch_learning_curve_clear(&a->curve);
    orch_saved_clear(&a->saved);
    orch_sampled_batch_clear(&a->batch);
    g_free(a->parameters);
    g_free(a->frame);
}
