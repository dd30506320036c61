/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env.h"
#include "plugins/replay/env/env_copies.h"

#include "lib/base/error.h"
#include "lib/base/random.h"

#include <string.h>

enum { MOST_COPIES = 1 << 20 };

static const double TIMEOUT_S = 10;

struct orch_envs {
    const struct orch_env_kind *kind;
    int64_t count;
    int step_limit;
    double sticky;
    bool is_reset;
    size_t observation_bytes;
    uint8_t *states;
    struct orch_env_copies *programs; /* instead of states; NULL for an environment of orch's own */
    uint64_t *randoms;
    int32_t *steps;        /* of the running episode */
    int32_t *last_actions; /* NULL without sticky actions */
};

static bool options_are_good(const struct orch_envs_options *o, GError **error)
{
    const char *name = o->command ? o->command : o->kind->name;
    if (o->count < 1 || o->count > MOST_COPIES)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "environment '%s' cannot have %" G_GINT64_FORMAT
                       " copies; 1 to %d are possible",
                       name, o->count, MOST_COPIES);
    else if (!(o->sticky >= 0 && o->sticky < 1))
        orch_error_set(
            error, ORCH_ERROR_RECIPE, NULL,
            "environment '%s': the probability %g of repeating an action is not in [0, 1)", name,
            o->sticky);
    else if (o->step_limit < 0)
        orch_error_set(error, ORCH_ERROR_RECIPE, "0 means the environment's own limit",
                       "environment '%s' cannot have a step limit of %d", name, o->step_limit);
    else if (!(o->timeout_s >= 0 && o->timeout_s <= 86400))
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "environment '%s': a time limit of %g s is not in 0 to 86400", name,
                       o->timeout_s);
    else
        return true;
    return false;
}

static void make_arrays(struct orch_envs *e, uint64_t seed)
{
    e->observation_bytes =
        (size_t)e->kind->observation_values * (e->kind->is_bytes ? 1 : sizeof(float));
    e->states = g_malloc0_n((size_t)e->count, e->kind->state_bytes);
    e->randoms = g_new(uint64_t, e->count);
    e->steps = g_new0(int32_t, e->count);
    if (e->sticky > 0)
        e->last_actions = g_new0(int32_t, e->count);
    for (int64_t i = 0; i < e->count; i++)
        e->randoms[i] = orch_random_stream(seed, (uint64_t)i);
}

struct orch_envs *orch_envs_new(const struct orch_envs_options *options, GError **error)
{
    struct orch_env_copies *programs = NULL;
    if (!options_are_good(options, error))
        return NULL;
    if (options->command) {
        programs =
            orch_env_copies_new(options->command, options->count,
                                options->timeout_s > 0 ? options->timeout_s : TIMEOUT_S, error);
        if (!programs)
            return NULL;
    }
    struct orch_envs *e = g_new0(struct orch_envs, 1);
    e->programs = programs;
    e->kind = programs ? orch_env_copies_kind(programs) : options->kind;
    e->count = options->count;
    e->step_limit = options->step_limit ? options->step_limit : e->kind->step_limit;
    e->sticky = options->sticky;
    make_arrays(e, options->seed);
    return e;
}

void orch_envs_free(struct orch_envs *envs)
{
    if (!envs)
        return;
    orch_env_copies_free(envs->programs);
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

/** Starts an episode of copy `i`. Only programs can fail. */
static bool begin(struct orch_envs *e, int64_t i, void *observation, GError **error)
{
    e->steps[i] = 0;
    if (e->programs) /* 53 bits: exact in every JSON reader */
        return orch_env_copies_reset(e->programs, i, orch_random_next(&e->randoms[i]) >> 11,
                                     observation, error);
    e->kind->reset(state_at(e, i), &e->randoms[i]);
    e->kind->observe(state_at(e, i), 1, observation);
    return true;
}

bool orch_envs_reset(struct orch_envs *envs, void *observations, GError **error)
{
    envs->is_reset = false;
    for (int64_t i = 0; i < envs->count; i++)
        if (!begin(envs, i, row(envs, observations, i), error))
            return false;
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

static bool step_is_allowed(const struct orch_envs *e, const int32_t *actions, GError **error)
{
    if (e->is_reset)
        return actions_are_good(e, actions, error);
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "environment '%s' was stepped before its first reset, or after it failed",
                   e->kind->name);
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

static bool advance(struct orch_envs *e, const int32_t *actions,
                    const struct orch_envs_result *result, GError **error)
{
    if (e->programs)
        return orch_env_copies_step(e->programs, actions, result, error);
    e->kind->step(e->states, e->count, actions, result->rewards, result->ends);
    e->kind->observe(e->states, e->count, result->observations);
    return true;
}

/** Keeps the last observation of an episode and starts the next one. */
static bool turn_over(struct orch_envs *e, int64_t i, const struct orch_envs_result *result,
                      GError **error)
{
    void *observation = row(e, result->observations, i);
    if (result->finals)
        memcpy(row(e, result->finals, i), observation, e->observation_bytes);
    return begin(e, i, observation, error);
}

bool orch_envs_step(struct orch_envs *envs, const int32_t *actions,
                    const struct orch_envs_result *result, GError **error)
{
    if (!step_is_allowed(envs, actions, error))
        return false;
    envs->is_reset = advance(envs, taken(envs, actions), result, error);
    for (int64_t i = 0; envs->is_reset && i < envs->count; i++) {
        if (++envs->steps[i] == envs->step_limit && !result->ends[i])
            result->ends[i] = ORCH_ENV_TRUNCATED;
        if (result->ends[i])
            envs->is_reset = turn_over(envs, i, result, error);
    }
    return envs->is_reset;
}

/* ---- the state --------------------------------------------------------------------------------
 */

enum { PARTS = 4 };

struct part {
    void *data;
    size_t bytes;
};

static void parts_of(const struct orch_envs *e, struct part out[PARTS])
{
    const size_t n = (size_t)e->count;
    out[0] = (struct part){e->randoms, n * sizeof *e->randoms};
    out[1] = (struct part){e->states, n * e->kind->state_bytes};
    out[2] = (struct part){e->steps, n * sizeof *e->steps};
    out[3] = (struct part){e->last_actions, e->last_actions ? n * sizeof *e->last_actions : 0};
}

size_t orch_envs_state_bytes(const struct orch_envs *envs)
{
    struct part parts[PARTS];
    size_t bytes = 1; /* is_reset */
    parts_of(envs, parts);
    for (int i = 0; i < PARTS; i++)
        bytes += parts[i].bytes;
    return bytes;
}

void orch_envs_state_get(const struct orch_envs *envs, void *out)
{
    struct part parts[PARTS];
    uint8_t *to = out;
    parts_of(envs, parts);
    *to++ = envs->is_reset && !envs->programs;
    for (int i = 0; i < PARTS; to += parts[i++].bytes)
        if (parts[i].bytes > 0)
            memcpy(to, parts[i].data, parts[i].bytes);
}

void orch_envs_state_set(struct orch_envs *envs, const void *state)
{
    struct part parts[PARTS];
    const uint8_t *from = state;
    parts_of(envs, parts);
    envs->is_reset = *from++;
    for (int i = 0; i < PARTS; from += parts[i++].bytes)
        if (parts[i].bytes > 0)
            memcpy(parts[i].data, from, parts[i].bytes);
}

bool orch_envs_are_programs(const struct orch_envs *envs)
{
    return envs->programs;
}
