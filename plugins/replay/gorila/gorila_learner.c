/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila/gorila_learner.h"

#include "lib/base/error.h"
#include "plugins/replay/env/env.h"
#include "plugins/replay/gorila/gorila_rules.h"
#include "plugins/replay/gorila/gorila_steps.h"

#include <math.h>
#include <string.h>

enum { IDLE_US = 50 };

struct learner {
    struct orch_gorila_share *share;
    struct orch_actor_share *actors; /* the parameters, and whether to end */
    const struct orch_gorila_setup *setup;
    struct orch_gorila_counts *counts;
    int64_t index;
    struct orch_env_kind kind;       /* the shape of observations */
    struct orch_gorila_steps *steps; /* NULL: batches come from the server */
    struct orch_q_learner *q;
    struct orch_gorila_losses losses;
    int64_t version, followed; /* of the parameters; of those that the target network has */
    int64_t until_pull;        /* gradients */
    float *parameters, *states, *next_states, *errors;
    struct orch_replay_batch raw;
};

static bool make_q(struct learner *l, GError **error)
{
    const struct orch_gorila_setup *s = l->setup;
    const struct orch_q_learner_options options = {.net = {.net = s->net,
                                                           .channels = s->frames * s->channels,
                                                           .height = s->height,
                                                           .width = s->width,
                                                           .engine = s->engine,
                                                           .device = s->device,
                                                           .threads = 1},
                                                   .actions = s->actions,
                                                   .is_double = s->is_double,
                                                   .is_dueling = s->is_dueling,
                                                   .is_huber = s->is_huber,
                                                   .has_target = s->has_target,
                                                   .rate = 1,
                                                   .value_limit = s->value_limit};
    l->q = orch_q_learner_new(&options, error);
    if (!l->q)
        return false;
    const int64_t count = orch_q_net_count(orch_q_learner_net(l->q));
    if (count == orch_actor_share_parameters(l->actors))
        return true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                   "the server's network has %" G_GINT64_FORMAT
                   " parameters, but the learner's network has %" G_GINT64_FORMAT,
                   orch_actor_share_parameters(l->actors), count);
    return false;
}

static bool learner_init(struct learner *l, GError **error)
{
    const struct orch_gorila_setup *s = l->setup;
    const int64_t values = s->channels * s->height * s->width;
    const size_t n = (size_t)s->batch, states = n * (size_t)s->frames;
    const size_t frame = (size_t)orch_actor_share_frame_bytes(l->actors);
    l->kind = (struct orch_env_kind){.shape = {(int)s->height, (int)s->width, (int)s->channels},
                                     .observation_values = (int)values,
                                     .is_bytes = s->is_bytes};
    l->parameters = g_new(float, orch_actor_share_parameters(l->actors));
    l->states = g_new(float, states *(size_t)values);
    l->next_states = g_new(float, states *(size_t)values);
    l->errors = g_new(float, n);
    l->raw = (struct orch_replay_batch){.states = g_malloc(states * frame),
                                        .next_states = g_malloc(states * frame),
                                        .actions = g_new(int32_t, n),
                                        .returns = g_new(float, n),
                                        .discounts = g_new(float, n)};
    if (!s->is_central) {
        l->steps = orch_gorila_steps_new(l->share, l->actors, l->index, error);
        if (!l->steps)
            return false;
        l->counts->buffer_bytes = orch_gorila_steps_bytes(l->steps);
    }
    return make_q(l, error);
}

static void learner_clear(struct learner *l)
{
    void *arrays[] = {l->parameters,  l->states,      l->next_states,
                      l->errors,      l->raw.states,  l->raw.next_states,
                      l->raw.actions, l->raw.returns, l->raw.discounts};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    orch_gorila_steps_free(l->steps);
    orch_q_learner_free(l->q);
}

/* ---- parameters -------------------------------------------------------------------------------
 */

/* Pulls the parameters when it is time; the target network follows by the server's count. */
static bool pull(struct learner *l, GError **error)
{
    if (l->until_pull-- > 0)
        return true;
    l->until_pull = l->setup->pull_every - 1;
    const int64_t version = orch_actor_share_pull(l->actors, l->parameters);
    if (version < 0 || version == l->version)
        return true;
    if (!orch_q_net_set(orch_q_learner_net(l->q), l->parameters, error))
        return false;
    l->version = version;
    if (!l->setup->has_target ||
        !orch_gorila_target_is_due(l->followed, version, l->setup->target_period))
        return true;
    const double share = l->followed < 0 ? 1 : l->setup->target_blend;
    l->counts->follows += l->followed >= 0;
    l->followed = version;
    return orch_q_learner_follow(l->q, share, error);
}

/* ---- a gradient -------------------------------------------------------------------------------
 */

/* Copies a batch that the server drew. */
static void copy_batch(struct learner *l, const void *entry)
{
    const size_t n = (size_t)l->setup->batch;
    const size_t frame = (size_t)orch_actor_share_frame_bytes(l->actors);
    const size_t bytes = n * (size_t)l->setup->frames * frame;
    const struct orch_gorila_batch b = orch_gorila_share_batch(l->share, (void *)(uintptr_t)entry);
    memcpy(l->raw.states, b.states, bytes);
    memcpy(l->raw.next_states, b.next_states, bytes);
    memcpy(l->raw.actions, b.actions, n * sizeof *b.actions);
    memcpy(l->raw.returns, b.returns, n * sizeof *b.returns);
    memcpy(l->raw.discounts, b.discounts, n * sizeof *b.discounts);
}

/* Gets a batch if there may be one. */
static bool get_batch(struct learner *l, bool *out_has, GError **error)
{
    if (l->steps) {
        *out_has = orch_gorila_steps_suffice(l->steps);
        return !*out_has || orch_gorila_steps_draw(l->steps, &l->raw, error);
    }
    const void *entry = orch_gorila_share_peek(l->share, ORCH_GORILA_BATCHES, l->index);
    *out_has = entry != NULL;
    if (entry) {
        copy_batch(l, entry);
        orch_gorila_share_drop(l->share, ORCH_GORILA_BATCHES, l->index);
    }
    return true;
}

/* Computes the gradient of the batch into the entry `out`. A loss that is not finite is sent, too:
 * the server ends the training. */
static bool compute(struct learner *l, struct orch_gorila_gradient *out, GError **error)
{
    const int64_t n = l->setup->batch;
    struct orch_q_report report;
    bool diverged;
    orch_env_planes(&l->kind, l->raw.states, n * l->setup->frames, l->states);
    orch_env_planes(&l->kind, l->raw.next_states, n * l->setup->frames, l->next_states);
    const struct orch_q_batch batch = {.count = n,
                                       .states = l->states,
                                       .next_states = l->next_states,
                                       .actions = l->raw.actions,
                                       .returns = l->raw.returns,
                                       .discounts = l->raw.discounts};
    float *gradients = (float *)(void *)(out + 1);
    GError *problem = NULL;
    *out = (struct orch_gorila_gradient){.version = l->version, .loss = (double)NAN};
    if (orch_q_learner_gradients(l->q, &batch, l->errors, gradients, &report, &diverged,
                                 &problem)) {
        out->loss = report.loss;
        out->mean_value = report.mean_value;
    } else if (!diverged) {
        g_propagate_error(error, problem);
        return false;
    }
    g_clear_error(&problem);
    return true;
}

/* One gradient, if there is room for it and a batch. */
static bool learn(struct learner *l, bool *out_learned, GError **error)
{
    struct orch_gorila_counts *c = l->counts;
    const int64_t start_us = g_get_monotonic_time();
    struct orch_gorila_gradient *out =
        orch_gorila_share_reserve(l->share, ORCH_GORILA_GRADIENTS, l->index);
    *out_learned = false;
    if (!out)
        return true;
    if (!get_batch(l, out_learned, error))
        return false;
    if (!*out_learned)
        return true;
    c->waiting_us += g_get_monotonic_time() - start_us;
    if (!pull(l, error) || !compute(l, out, error))
        return false;
    c->gradients++;
    if (!isfinite(out->loss) || orch_gorila_losses_accept(&l->losses, out->loss))
        orch_gorila_share_commit(l->share, ORCH_GORILA_GRADIENTS, l->index);
    else
        c->losses_dropped++;
    c->learning_us += g_get_monotonic_time() - start_us;
    return true;
}

static bool learn_until_stopped(struct learner *l, GError **error)
{
    while (!orch_actor_share_is_stopped(l->actors)) {
        int64_t taken = 0;
        bool learned;
        if (l->steps && !orch_gorila_steps_take(l->steps, &taken, error))
            return false;
        if (!learn(l, &learned, error))
            return false;
        if (taken > 0 || learned)
            continue;
        g_usleep(IDLE_US);
        l->counts->idle_us += IDLE_US;
    }
    return true;
}

bool orch_gorila_learn(struct orch_gorila_share *share, struct orch_actor_share *actors,
                       int64_t index, GError **error)
{
    struct learner l = {.share = share,
                        .actors = actors,
                        .setup = orch_gorila_share_setup(share),
                        .counts = orch_gorila_share_counts(share, index),
                        .index = index,
                        .version = -1,
                        .followed = -1};
    l.losses.deviations = l.setup->deviations;
    const bool ok = learner_init(&l, error) && learn_until_stopped(&l, error);
    learner_clear(&l);
    return ok;
}
