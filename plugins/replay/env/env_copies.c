/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/env/env_copies.h"

#include "lib/base/error.h"

#include <string.h>

enum { MOST_PROGRAMS = 1024 };

struct orch_env_copies {
    int64_t count;
    struct orch_env_program **programs;
    struct orch_env_kind kind;
    size_t observation_bytes;
};

static void describe(struct orch_env_copies *c, const char *command)
{
    const struct orch_env_description *about = orch_env_program_description(c->programs[0]);
    c->kind = (struct orch_env_kind){.name = about->name,
                                     .summary = "run a program that is an environment",
                                     .source = command,
                                     .observation_values = about->observation_values,
                                     .is_bytes = about->is_bytes,
                                     .actions = about->actions,
                                     .step_limit = about->step_limit};
    memcpy(c->kind.shape, about->shape, sizeof c->kind.shape);
    c->observation_bytes =
        (size_t)about->observation_values * (about->is_bytes ? 1 : sizeof(float));
}

static bool descriptions_agree(const struct orch_env_copies *c, int64_t i, GError **error)
{
    const struct orch_env_description *first = orch_env_program_description(c->programs[0]);
    const struct orch_env_description *other = orch_env_program_description(c->programs[i]);
    if (first->actions == other->actions && first->is_bytes == other->is_bytes &&
        memcmp(first->shape, other->shape, sizeof first->shape) == 0)
        return true;
    orch_error_set(error, ORCH_ERROR_PROTOCOL, NULL,
                   "environment program '%s': copy %" G_GINT64_FORMAT
                   " describes another shape, type or number of actions than copy 0",
                   c->kind.source, i);
    return false;
}

/** Starts the programs, which then begin at the same time. */
static bool start_all(struct orch_env_copies *c, const char *command, double timeout_s,
                      GError **error)
{
    for (int64_t i = 0; i < c->count; i++)
        if (!(c->programs[i] = orch_env_program_start(command, i, timeout_s, error)))
            return false;
    for (int64_t i = 0; i < c->count; i++) {
        if (!orch_env_program_meet(c->programs[i], error))
            return false;
        if (i == 0)
            describe(c, command);
        else if (!descriptions_agree(c, i, error))
            return false;
    }
    return true;
}

struct orch_env_copies *orch_env_copies_new(const char *command, int64_t count, double timeout_s,
                                            GError **error)
{
    if (count > MOST_PROGRAMS) {
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                       "environment program '%s': %" G_GINT64_FORMAT
                       " copies need as many processes, but only %d are possible",
                       command, count, MOST_PROGRAMS);
        return NULL;
    }
    struct orch_env_copies *c = g_new0(struct orch_env_copies, 1);
    c->count = count;
    c->programs = g_new0(struct orch_env_program *, count);
    if (start_all(c, command, timeout_s, error))
        return c;
    orch_env_copies_free(c);
    return NULL;
}

void orch_env_copies_free(struct orch_env_copies *copies)
{
    if (!copies)
        return;
    for (int64_t i = 0; i < copies->count; i++)
        orch_env_program_hang_up(copies->programs[i]);
    for (int64_t i = 0; i < copies->count; i++)
        orch_env_program_close(copies->programs[i]);
    g_free(copies->programs);
    g_free(copies);
}

const struct orch_env_kind *orch_env_copies_kind(const struct orch_env_copies *copies)
{
    return &copies->kind;
}

bool orch_env_copies_reset(struct orch_env_copies *copies, int64_t i, uint64_t seed,
                           void *observation, GError **error)
{
    struct orch_env_reply reply;
    return orch_env_program_ask_reset(copies->programs[i], seed, error) &&
           orch_env_program_reply(copies->programs[i], observation, &reply, error);
}

bool orch_env_copies_step(struct orch_env_copies *copies, const int32_t *actions,
                          const struct orch_envs_result *result, GError **error)
{
    for (int64_t i = 0; i < copies->count; i++)
        if (!orch_env_program_ask_step(copies->programs[i], actions[i], error))
            return false;
    for (int64_t i = 0; i < copies->count; i++) {
        struct orch_env_reply reply;
        uint8_t *observation =
            (uint8_t *)result->observations + (size_t)i * copies->observation_bytes;
        if (!orch_env_program_reply(copies->programs[i], observation, &reply, error))
            return false;
        result->rewards[i] = reply.reward;
        result->ends[i] = reply.end;
    }
    return true;
}
