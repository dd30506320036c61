/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Acting and storing: one step of all environments. */
#include "plugins/replay/dqn_private.h"

static size_t observation_bytes(const struct orch_dqn *d)
{
    return (size_t)d->kind->observation_values * (d->kind->is_bytes ? 1 : sizeof(float));
}

size_t orch_dqn_stage_bytes(const struct orch_dqn *d)
{
    return (size_t)d->params.envs * observation_bytes(d);
}

void orch_dqn_stage_init(struct orch_dqn *d)
{
    const size_t n = (size_t)d->params.envs;
    struct dqn_stage *s = &d->stage;
    s->observations = g_malloc(n * observation_bytes(d));
    s->next = g_malloc(n * observation_bytes(d));
    s->finals = g_malloc(n * observation_bytes(d));
    orch_frame_stack_init(&d->frames, d->kind, d->params.frame_stack, d->params.envs);
    s->states = g_new(float, n *(size_t)(d->params.frame_stack * d->kind->observation_values));
    s->rewards = g_new(float, n);
    s->ends = g_new(uint8_t, n);
    s->actions = g_new(int32_t, n);
    s->epsilons = g_new(double, n);
}

void orch_dqn_stage_clear(struct orch_dqn *d)
{
    struct dqn_stage *s = &d->stage;
    g_free(s->observations);
    g_free(s->next);
    g_free(s->finals);
    g_free(s->states);
    g_free(s->rewards);
    g_free(s->ends);
    g_free(s->actions);
    g_free(s->epsilons);
    orch_frame_stack_clear(&d->frames);
}

/* Stores one step of each environment, and the last frame of an episode that was cut off. */
static bool store(struct orch_dqn *d, GError **error)
{
    const struct dqn_stage *s = &d->stage;
    const size_t bytes = observation_bytes(d);
    const int32_t no_action = 0;
    const float no_reward = 0;
    const uint8_t final = ORCH_REPLAY_FINAL;
    for (int64_t i = 0; i < d->params.envs; i++) {
        const struct orch_replay_steps step = {.count = 1,
                                               .frames =
                                                   (char *)s->observations + (size_t)i * bytes,
                                               .actions = s->actions + i,
                                               .rewards = s->rewards + i,
                                               .ends = s->ends + i};
        if (!orch_replay_add(d->buffer, (int)i, &step, error))
            return false;
        if (s->ends[i] != ORCH_ENV_TRUNCATED)
            continue;
        const struct orch_replay_steps last = {.count = 1,
                                               .frames = (char *)s->finals + (size_t)i * bytes,
                                               .actions = &no_action,
                                               .rewards = &no_reward,
                                               .ends = &final};
        if (!orch_replay_add(d->buffer, (int)i, &last, error))
            return false;
    }
    return true;
}

bool orch_dqn_act(struct orch_dqn *d, GError **error)
{
    struct dqn_stage *s = &d->stage;
    const int64_t n = d->params.envs;
    for (int64_t i = 0; i < n; i++)
        s->epsilons[i] = d->step < d->params.learning_starts
                             ? 1
                             : orch_exploration_epsilon(&d->exploration, d->step, i, n);
    orch_frame_stack_planes(&d->frames, 0, n, s->states);
    const struct orch_envs_result result = {
        .rewards = s->rewards, .ends = s->ends, .observations = s->next, .finals = s->finals};
    if (!orch_q_learner_act(d->learner, s->states, n, s->epsilons, &d->random, s->actions, error) ||
        !orch_envs_step(d->envs, s->actions, &result, error) || !store(d, error))
        return false;
    orch_frame_stack_step(&d->frames, s->next, s->ends);
    void *swap = s->observations;
    s->observations = s->next;
    s->next = swap;
    d->step += n;
    orch_learning_curve_step(&d->curve, d->step, s->rewards, s->ends);
    return true;
}
