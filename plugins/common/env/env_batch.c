/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/env/env.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <string.h>

enum { MOST_COPIES = 1 << 20 };

struct orch_envs {
    const struct orch_env_kind *kind;
    int64_t count;
    int step_limit;
    double sticky;
    bool is_reset;
    size_t observation_bytes;
    uint8_t *states;
    uint64_t *randoms;
    int32_t *steps;        /* of the running episode */
    int32_t *last_actions; /* NULL without sticky actions */
};

static bool options_are_good(const struct orch_envs_options *o, GError **error)
{
    if (o->count < 1 || o->count > MOST_COPIES)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "environment '%s': %" G_GINT64_FORMAT " copies; 1 to %d are possible",
                       o->kind->name, o->count, MOST_COPIES);
    else if (!(o->sticky >= 0 && o->sticky < 1))
        orch_error_set(
            error, ORCH_ERROR_RECIPE, NULL,
            "environment '%s': the probability %g of repeating an action is not in [0, 1)",
            o->kind->name, o->sticky);
    else if (o->step_limit < 0)
        orch_error_set(error, ORCH_ERROR_RECIPE, "0 stands for the environment's own limit",
                       "environment '%s': a step limit of %d", o->kind->name, o->step_limit);
    else
        return true;
    return false;
}

struct orch_envs *orch_envs_new(const struct orch_envs_options *options, GError **error)
{
    if (!options_are_good(options, error))
        return NULL;
    struct orch_envs *e = g_new0(struct orch_envs, 1);
    e->kind = options->kind;
    e->count = options->count;
    e->step_limit = options->step_limit ? options->step_limit : e->kind->step_limit;
    e->sticky = options->sticky;
    e->observation_bytes =
        (size_t)e->kind->observation_values * (e->kind->is_bytes ? 1 : sizeof(float));
    e->states = g_malloc0_n((size_t)e->count, e->kind->state_bytes);
    e->randoms = g_new(uint64_t, e->count);
    e->steps = g_new0(int32_t, e->count);
    if (e->sticky > 0)
        e->last_actions = g_new0(int32_t, e->count);
    for (int64_t i = 0; i < e->count; i++)
        e->randoms[i] = orch_random_stream(options->seed, (uint64_t)i);
    return e;
}

void orch_envs_free(struct orch_envs *envs)
{
    if (!envs)
        return;
    g_free(envs->states);
    g_free(envs->randoms);
    g_free(envs->steps);
    g_free(envs->last_actions);
    g_free(envs);
}

const struct orch_env_kind *orch_envs_kind(const struct orch_envs *envs)
{
    return envs->kind;
}

int64_t orch_envs_count(const struct orch_envs *envs)
{
    return envs->count;
}

const void *orch_envs_states(const struct orch_envs *envs)
{
    return envs->states;
}

static void *state_at(struct orch_envs *e, int64_t i)
{
    return e->states + (size_t)i * e->kind->state_bytes;
}

static void *row(const struct orch_envs *e, void *rows, int64_t i)
{
    return (uint8_t *)rows + (size_t)i * e->observation_bytes;
}

bool orch_envs_reset(struct orch_envs *envs, void *observations, GError **error)
{
    (void)error;
    for (int64_t i = 0; i < envs->count; i++)
        envs->kind->reset(state_at(envs, i), &envs->randoms[i]);
    envs->kind->observe(envs->states, envs->count, observations);
    memset(envs->steps, 0, (size_t)envs->count * sizeof *envs->steps);
    envs->is_reset = true;
    return true;
}

static bool actions_are_good(const struct orch_envs *e, const int32_t *actions, GError **error)
{
    const uint32_t below = (uint32_t)e->kind->actions;
    uint32_t bad = 0;
    for (int64_t i = 0; i < e->count; i++)
        bad |= (uint32_t)actions[i] >= below;
    if (!bad)
        return true;
    int64_t i = 0;
    while ((uint32_t)actions[i] < below)
        i++;
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "environment '%s': action %d of copy %" G_GINT64_FORMAT " is not in 0 .. %d",
                   e->kind->name, actions[i], i, e->kind->actions - 1);
    return false;
}

/** The actions that are taken: with sticky actions some are the copies' last ones. */
static const int32_t *taken(struct orch_envs *e, const int32_t *actions)
{
    if (!e->last_actions)
        return actions;
    for (int64_t i = 0; i < e->count; i++)
        if (orch_random_unit(&e->randoms[i]) >= e->sticky)
            e->last_actions[i] = actions[i];
    return e->last_actions;
}

/** Keeps the last observation of an episode and starts the next one. */
static void turn_over(struct orch_envs *e, int64_t i, const struct orch_envs_result *result)
{
    void *observation = row(e, result->observations, i);
    if (result->finals)
        memcpy(row(e, result->finals, i), observation, e->observation_bytes);
    e->kind->reset(state_at(e, i), &e->randoms[i]);
    e->kind->observe(state_at(e, i), 1, observation);
    e->steps[i] = 0;
}

bool orch_envs_step(struct orch_envs *envs, const int32_t *actions,
                    const struct orch_envs_result *result, GError **error)
{
    if (!envs->is_reset) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                       "environment '%s' was stepped before its first reset", envs->kind->name);
        return false;
    }
    if (!actions_are_good(envs, actions, error))
        return false;
    envs->kind->step(envs->states, envs->count, taken(envs, actions), result->rewards,
                     result->ends);
    envs->kind->observe(envs->states, envs->count, result->observations);
    for (int64_t i = 0; i < envs->count; i++) {
        if (++envs->steps[i] == envs->step_limit && !result->ends[i])
            result->ends[i] = ORCH_ENV_TRUNCATED;
        if (result->ends[i])
            turn_over(envs, i, result);
    }
    return true;
}
