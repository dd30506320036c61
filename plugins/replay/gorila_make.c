/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Making, starting and ending what GORILA consists of. */
#include "plugins/replay/gorila_private.h"

#include "lib/base/error.h"
#include "plugins/replay/actor_setup.h"

static bool make_actors(struct gorila *g, int64_t parameters, GError **error)
{
    struct orch_actor_setup setup;
    if (!orch_replay_actor_setup(&g->p, g->host, &g->kind, g->envs, &setup, error))
        return false;
    setup.shards = g->p.server_shards;
    const int64_t frame = orch_replay_frame_bytes(&g->kind);
    g->frame = g_malloc((size_t)frame);
    g->actors =
        orch_actor_share_new(&setup, parameters, frame, ORCH_REPLAY_RING_ROUNDS * g->envs, error);
    return g->actors != NULL;
}

static bool make_learners(struct gorila *g, int64_t parameters, GError **error)
{
    const struct replay_params *p = &g->p;
    const struct orch_q_learner_options q = orch_replay_settings_learner(p, &g->kind, g->host);
    struct orch_gorila_setup setup = {.engine = q.net.engine,
                                      .channels = g->kind.shape[2],
                                      .frames = p->frame_stack,
                                      .height = q.net.height,
                                      .width = q.net.width,
                                      .is_bytes = g->kind.is_bytes,
                                      .actions = q.actions,
                                      .is_double = q.is_double,
                                      .is_dueling = q.is_dueling,
                                      .is_huber = q.is_huber,
                                      .has_target = q.has_target,
                                      .target_period = q.target_period,
                                      .target_blend = q.target_blend,
                                      .value_limit = q.value_limit,
                                      .learners = p->learners,
                                      .actors = p->actors,
                                      .envs = g->envs,
                                      .steps = p->steps,
                                      .is_central = g->is_central,
                                      .capacity = p->capacity,
                                      .n_step = p->n_step,
                                      .batch = p->batch,
                                      .train_every = p->train_every,
                                      .learning_starts = p->learning_starts,
                                      .gamma = p->discount,
                                      .pull_every = p->learner_pull_every,
                                      .deviations = p->loss_deviations,
                                      .seed = g->host->derive_seed(g->host, "sampling")};
    g_strlcpy(setup.net, p->net, sizeof setup.net); /* orch_replay_actor_setup saw that it fits */
    g_strlcpy(setup.device, p->device, sizeof setup.device);
    g->learners =
        orch_gorila_share_new(&setup, parameters, orch_replay_frame_bytes(&g->kind), error);
    return g->learners != NULL;
}

/* The server, with the initial weights of the network; it needs the actors' memory. */
static void make_server(struct gorila *g, const float *parameters, int64_t count)
{
    const struct orch_gorila_server_options options = {.parameters = count,
                                                       .shards = g->p.server_shards,
                                                       .optimizer =
                                                           orch_replay_settings_optimizer(&g->p),
                                                       .stale_most = g->p.gradient_age,
                                                       .share = g->actors};
    g->server = orch_gorila_server_new(&options, parameters);
}

static bool make_all(struct gorila *g, struct orch_q_net *net, GError **error)
{
    const int64_t count = orch_q_net_count(net);
    if (g->p.server_shards > count) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "lower server_shards",
                       "%" G_GINT64_FORMAT " shards are more than the %" G_GINT64_FORMAT
                       " parameters of the network",
                       g->p.server_shards, count);
        return false;
    }
    g_autofree float *parameters = g_new(float, count);
    if (!orch_q_net_get(net, parameters, error) || !make_actors(g, count, error) ||
        !make_learners(g, count, error))
        return false;
    make_server(g, parameters, count);
    return true;
}

bool orch_gorila_init(struct gorila *g, GError **error)
{
    if (!orch_replay_kind(&g->p, g->host, &g->kind, error))
        return false;
    struct orch_q_learner_options options = orch_replay_settings_learner(&g->p, &g->kind, g->host);
    options.has_target = false;
    struct orch_q_learner *q = orch_q_learner_new(&options, error);
    const bool ok = q && make_all(g, orch_q_learner_net(q), error);
    orch_q_learner_free(q);
    if (!ok || !g->is_central)
        return ok;
    const struct orch_replay_options buffer = orch_replay_settings_buffer(&g->p, &g->kind, g->host);
    g->buffer = orch_replay_new(&buffer, error);
    return g->buffer != NULL;
}

bool orch_gorila_start(struct gorila *g, GError **error)
{
    g->learner_pool = orch_gorila_pool_new(g->learners, g->actors, error);
    if (!g->learner_pool)
        return false;
    g->actor_pool = orch_actor_pool_new(g->actors, error);
    return g->actor_pool != NULL;
}

void orch_gorila_stop(struct gorila *g)
{
    if (g->actors)
        orch_actor_share_stop(g->actors);
    orch_worker_pool_free(g->actor_pool);
    orch_worker_pool_free(g->learner_pool);
    g->actor_pool = g->learner_pool = NULL;
}

void orch_gorila_clear(struct gorila *g)
{
    orch_gorila_stop(g);
    orch_gorila_server_free(g->server);
    orch_gorila_share_free(g->learners);
    orch_actor_share_free(g->actors);
    orch_replay_free(g->buffer);
    orch_learning_curve_clear(&g->curve);
    g_free(g->frame);
}
