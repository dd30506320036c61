/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making and freeing what Ape-X's learner needs. */
#include "plugins/replay/apex_private.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

enum { RING_ROUNDS = 8 };

/* The environment's shape: a program is asked for it by starting it once. */
static bool learn_kind(struct apex *a, GError **error)
{
    struct orch_envs_options options = orch_replay_settings_envs(&a->p, a->host);
    options.count = 1;
    struct orch_envs *envs = orch_envs_new(&options, error);
    if (!envs)
        return false;
    a->kind = *orch_envs_kind(envs);
    a->kind.name = a->kind.summary = a->kind.source = NULL; /* the program's go with it */
    orch_envs_free(envs);
    return true;
}

static bool make_share(struct apex *a, int64_t actors, GError **error)
{
    const struct replay_params *p = &a->p;
    struct orch_actor_setup setup = {
        .engine = orch_replay_settings_learner(p, &a->kind, a->host).net.engine,
        .is_dueling = p->dueling,
        .actors = actors,
        .envs = a->envs,
        .n_step = p->n_step,
        .frame_stack = p->frame_stack,
        .learning_starts = p->learning_starts,
        .pull_every = p->pull_every,
        .gamma = p->discount,
        .value_limit = p->value_limit,
        .sticky = p->sticky,
        .exploration = orch_replay_settings_exploration(p),
        /* a later attempt's actors must not repeat the episodes of the first */
        .seed = orch_random_stream(a->host->derive_seed(a->host, "actors"), (uint64_t)a->step)};
    if (g_strlcpy(setup.environment, p->environment, sizeof setup.environment) >=
            sizeof setup.environment ||
        g_strlcpy(setup.program, p->program ? p->program : "", sizeof setup.program) >=
            sizeof setup.program ||
        g_strlcpy(setup.net, p->net, sizeof setup.net) >= sizeof setup.net) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "with actors, a program has at most %zu and a network %zu bytes",
                       sizeof setup.program - 1, sizeof setup.net - 1);
        return false;
    }
    const int64_t count = orch_q_net_count(orch_q_learner_net(a->learner));
    const int64_t frame = a->kind.observation_values * (a->kind.is_bytes ? 1 : 4);
    a->parameters = g_new(float, count);
    a->frame = g_malloc((size_t)frame);
    a->share = orch_actor_share_new(&setup, count, frame, RING_ROUNDS * a->envs, error);
    if (a->share)
        orch_actor_share_set_frames(a->share, a->step);
    return a->share != NULL;
}

bool orch_apex_init(struct apex *a, GError **error)
{
    if (!learn_kind(a, error))
        return false;
    const struct orch_replay_options buffer = orch_replay_settings_buffer(&a->p, &a->kind, a->host);
    const struct orch_q_learner_options learner =
        orch_replay_settings_learner(&a->p, &a->kind, a->host);
    orch_sampled_batch_init(&a->batch, &a->kind, a->p.frame_stack, a->p.batch);
    orch_curve_init(&a->curve, a->host, a->p.envs, a->p.steps, orch_replay_settings_solved(&a->p));
    orch_saved_init(&a->saved, a->host, a->p.checkpoint_every);
    return (a->buffer = orch_replay_new(&buffer, error)) &&
           (a->learner = orch_q_learner_new(&learner, error)) && orch_apex_resume(a, error) &&
           make_share(a, a->p.actors, error);
}

void orch_apex_clear(struct apex *a)
{
    orch_actor_pool_free(a->pool, a->share);
    orch_actor_share_free(a->share);
    orch_replay_free(a->buffer);
    orch_q_learner_free(a->learner);
    orch_curve_clear(&a->curve);
    orch_saved_clear(&a->saved);
    orch_sampled_batch_clear(&a->batch);
    g_free(a->parameters);
    g_free(a->frame);
}
