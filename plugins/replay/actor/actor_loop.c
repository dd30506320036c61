/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor/actor_loop.h"

#include "lib/base/error.h"
#include "lib/base/random.h"
#include "plugins/replay/agent/q_learner.h"
#include "plugins/replay/env/frame_stack.h"
#include "plugins/replay/memory/replay.h"

#include <math.h>
#include <string.h>

/* Steps of one copy whose returns are not complete yet: the oldest is at `first`. */
struct pending {
    uint8_t *frames; /* n_step x frame_bytes */
    struct orch_actor_step *steps;
    float *values; /* Q of the action that was taken */
    int64_t first, count;
};

struct actor {
    struct orch_actor_share *share;
    const struct orch_actor_setup *setup;
    const struct orch_env_kind *kind;
    struct orch_envs *envs;
    struct orch_q_learner *learner; /* it only values */
    struct pending *pending;        /* of each copy */
    struct orch_frame_stack stack;
    int64_t index, frame_bytes, version;
    uint64_t random;
    float *parameters, *planes, *values, *rewards;
    uint8_t *observations, *next, *finals, *ends;
    int32_t *actions;
};

static bool make_learner(struct actor *a, GError **error)
{
    const struct orch_actor_setup *setup = a->setup;
    const struct orch_q_learner_options options = {
        .net = {.net = setup->net,
                .channels = setup->frame_stack * a->kind->shape[2],
                .height = a->kind->shape[0],
                .width = a->kind->shape[1],
                .engine = setup->engine,
                .device = "cpu"},
        .actions = a->kind->actions,
        .is_dueling = setup->is_dueling,
        .rate = 1};
    a->learner = orch_q_learner_new(&options, error);
    if (!a->learner)
        return false;
    const int64_t count = orch_q_net_count(orch_q_learner_net(a->learner));
    if (count == orch_actor_share_parameters(a->share) &&
        a->frame_bytes == orch_actor_share_frame_bytes(a->share))
        return true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                   "the learner's network has %" G_GINT64_FORMAT
                   " parameters, but the actor's network has %" G_GINT64_FORMAT,
                   orch_actor_share_parameters(a->share), count);
    return false;
}

static bool make_envs(struct actor *a, GError **error)
{
    const struct orch_actor_setup *setup = a->setup;
    const struct orch_envs_options options = {
        .kind = *setup->program ? NULL : orch_env_find(setup->environment, error),
        .command = *setup->program ? setup->program : NULL,
        .count = setup->envs,
        .seed = orch_random_stream(setup->seed, 2 * (uint64_t)a->index),
        .sticky = setup->sticky};
    if (!options.kind && !options.command)
        return false;
    a->envs = orch_envs_new(&options, error);
    if (!a->envs)
        return false;
    a->kind = orch_envs_kind(a->envs);
    a->frame_bytes = a->kind->observation_values * (a->kind->is_bytes ? 1 : (int64_t)sizeof(float));
    a->random = orch_random_stream(setup->seed, 2 * (uint64_t)a->index + 1);
    return true;
}

static void make_arrays(struct actor *a)
{
    const int64_t n = a->setup->envs, keep = a->setup->n_step;
    a->parameters = g_new(float, orch_actor_share_parameters(a->share));
    orch_frame_stack_init(&a->stack, a->kind, a->setup->frame_stack, n);
    a->planes = g_new(float, n * a->setup->frame_stack * a->kind->observation_values);
    a->values = g_new(float, n * a->kind->actions);
    a->rewards = g_new(float, n);
    a->ends = g_new(uint8_t, n);
    a->actions = g_new(int32_t, n);
    a->observations = g_malloc((size_t)(n * a->frame_bytes));
    a->next = g_malloc((size_t)(n * a->frame_bytes));
    a->finals = g_malloc((size_t)(n * a->frame_bytes));
    a->pending = g_new0(struct pending, n);
    for (int64_t i = 0; i < n; i++)
        a->pending[i] = (struct pending){.frames = g_malloc((size_t)(keep * a->frame_bytes)),
                                         .steps = g_new(struct orch_actor_step, keep),
                                         .values = g_new(float, keep)};
}

static void actor_clear(struct actor *a)
{
    for (int64_t i = 0; a->pending && i < a->setup->envs; i++) {
        g_free(a->pending[i].frames);
        g_free(a->pending[i].steps);
        g_free(a->pending[i].values);
    }
    void *arrays[] = {a->pending, a->parameters, a->planes,       a->values, a->rewards,
                      a->ends,    a->actions,    a->observations, a->next,   a->finals};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    orch_frame_stack_clear(&a->stack);
    orch_q_learner_free(a->learner);
    orch_envs_free(a->envs);
}

/* ---- sending ----------------------------------------------------------------------------------
 */

/* Sends the oldest pending step of a copy. Its return ends with `beyond`, the value of the state
 * after the newest pending step. */
static bool send_oldest(struct actor *a, int64_t env, float beyond)
{
    struct pending *p = &a->pending[env];
    double sum = 0, discount = 1;
    for (int64_t k = 0; k < p->count; k++, discount *= a->setup->gamma)
        sum += discount * (double)p->steps[(p->first + k) % a->setup->n_step].reward;
    sum += discount * (double)beyond;
    if (a->setup->value_limit > 0)
        sum = fmax(-a->setup->value_limit, fmin(sum, a->setup->value_limit));
    struct orch_actor_step *step = &p->steps[p->first];
    step->priority = (float)fabs(sum - (double)p->values[p->first]);
    if (!isfinite(step->priority))
        step->priority = 1; /* the learner finds out that its parameters are not finite */
    const bool ok =
        orch_actor_share_push(a->share, a->index, step, p->frames + p->first * a->frame_bytes);
    p->first = (p->first + 1) % a->setup->n_step;
    p->count--;
    return ok;
}

static void keep_step(struct actor *a, int64_t env)
{
    struct pending *p = &a->pending[env];
    const int64_t at = (p->first + p->count++) % a->setup->n_step;
    memcpy(p->frames + at * a->frame_bytes, a->observations + env * a->frame_bytes,
           (size_t)a->frame_bytes);
    p->values[at] = a->values[env * a->kind->actions + a->actions[env]];
    p->steps[at] = (struct orch_actor_step){.version = a->version,
                                            .env = (int32_t)env,
                                            .action = a->actions[env],
                                            .reward = a->rewards[env],
                                            .end = a->ends[env]};
}

static float largest(const float *values, int64_t count)
{
    float most = values[0];
    for (int64_t i = 1; i < count; i++)
        most = fmaxf(most, values[i]);
    return most;
}

/* The episode of a copy is over: sends all of its steps, and the last frame where it was cut off.
 */
static bool send_rest(struct actor *a, int64_t env, GError **error)
{
    const uint8_t *frame = a->finals + env * a->frame_bytes;
    const bool is_cut = a->ends[env] == ORCH_ENV_TRUNCATED;
    float *values = a->values + env * a->kind->actions, beyond = 0;
    if (is_cut) {
        orch_frame_stack_push(&a->stack, env, frame);
        orch_frame_stack_planes(&a->stack, env, 1, a->planes);
        if (!orch_q_learner_values(a->learner, a->planes, 1, values, error))
            return false;
        beyond = largest(values, a->kind->actions);
    }
    while (a->pending[env].count > 0)
        if (!send_oldest(a, env, beyond))
            return true; /* the loop sees that it is to end */
    const struct orch_actor_step last = {.env = (int32_t)env, .end = ORCH_REPLAY_FINAL};
    if (is_cut)
        orch_actor_share_push(a->share, a->index, &last, frame);
    return true;
}

/* ---- acting -----------------------------------------------------------------------------------
 */

static bool pull(struct actor *a, GError **error)
{
    const int64_t version = orch_actor_share_pull(a->share, a->parameters);
    if (version < 0 || version == a->version)
        return true;
    a->version = version;
    return orch_q_net_set(orch_q_learner_net(a->learner), a->parameters, error);
}

static void choose(struct actor *a)
{
    const struct orch_actor_setup *setup = a->setup;
    const int64_t frames = orch_actor_share_frames(a->share);
    const size_t actions = (size_t)a->kind->actions;
    for (int64_t i = 0; i < setup->envs; i++) {
        const double epsilon =
            frames < setup->learning_starts
                ? 1
                : orch_exploration_epsilon(&setup->exploration, frames, a->index * setup->envs + i,
                                           setup->actors * setup->envs);
        const float *values = a->values + (size_t)i * actions;
        size_t best = 0;
        for (size_t k = 1; k < actions; k++)
            best = values[k] > values[best] ? k : best;
        a->actions[i] = (int32_t)(orch_random_unit(&a->random) < epsilon
                                      ? orch_random_below(&a->random, actions)
                                      : best);
    }
}

static bool act(struct actor *a, GError **error)
{
    const int64_t n = a->setup->envs, actions = a->kind->actions;
    orch_frame_stack_planes(&a->stack, 0, n, a->planes);
    if (!orch_q_learner_values(a->learner, a->planes, n, a->values, error))
        return false;
    for (int64_t i = 0; i < n; i++)
        if (a->pending[i].count == a->setup->n_step)
            send_oldest(a, i, largest(a->values + i * actions, actions));
    choose(a);
    const struct orch_envs_result result = {a->rewards, a->ends, a->next, a->finals};
    if (!orch_envs_step(a->envs, a->actions, &result, error))
        return false;
    for (int64_t i = 0; i < n; i++) {
        keep_step(a, i);
        if (a->ends[i] && !send_rest(a, i, error))
            return false;
    }
    orch_frame_stack_step(&a->stack, a->next, a->ends);
    uint8_t *swap = a->observations;
    a->observations = a->next;
    a->next = swap;
    return true;
}

static bool act_until_stopped(struct actor *a, GError **error)
{
    if (!orch_envs_reset(a->envs, a->observations, error))
        return false;
    orch_frame_stack_begin_all(&a->stack, a->observations);
    for (int64_t step = 0; !orch_actor_share_is_stopped(a->share); step++) {
        if (step % a->setup->pull_every == 0 && !pull(a, error))
            return false;
        if (!act(a, error))
            return false;
    }
    return true;
}

bool orch_actor_loop(struct orch_actor_share *share, int64_t index, GError **error)
{
    struct actor a = {
        .share = share, .setup = orch_actor_share_setup(share), .index = index, .version = -1};
    bool ok = make_envs(&a, error) && make_learner(&a, error);
    if (ok) {
        make_arrays(&a);
        ok = act_until_stopped(&a, error);
    }
    actor_clear(&a);
    return ok;
}
