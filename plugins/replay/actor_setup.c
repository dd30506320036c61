/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/actor_setup.h"

#include "lib/base/error.h"

bool orch_replay_kind(const struct replay_params *p, const struct orch_host *host,
                      struct orch_env_kind *out, GError **error)
{
    struct orch_envs_options options = orch_replay_settings_envs(p, host);
    options.count = 1;
    struct orch_envs *envs = orch_envs_new(&options, error);
    if (!envs)
        return false;
    *out = *orch_envs_kind(envs);
    out->name = out->summary = out->source = NULL; /* the program's go with it */
    orch_envs_free(envs);
    return true;
}

int64_t orch_replay_frame_bytes(const struct orch_env_kind *kind)
{
    return kind->observation_values * (kind->is_bytes ? 1 : (int64_t)sizeof(float));
}

bool orch_replay_actor_setup(const struct replay_params *p, const struct orch_host *host,
                             const struct orch_env_kind *kind, int64_t envs,
                             struct orch_actor_setup *out, GError **error)
{
    *out =
        (struct orch_actor_setup){.engine = orch_replay_settings_learner(p, kind, host).net.engine,
                                  .is_dueling = p->dueling,
                                  .actors = p->actors,
                                  .envs = envs,
                                  .n_step = p->n_step,
                                  .frame_stack = p->frame_stack,
                                  .learning_starts = p->learning_starts,
                                  .pull_every = p->pull_every,
                                  .gamma = p->discount,
                                  .value_limit = p->value_limit,
                                  .sticky = p->sticky,
                                  .exploration = orch_replay_settings_exploration(p),
                                  .seed = host->derive_seed(host, "actors")};
    const char *program = p->program ? p->program : "";
    if (g_strlcpy(out->environment, p->environment, sizeof out->environment) <
            sizeof out->environment &&
        g_strlcpy(out->program, program, sizeof out->program) < sizeof out->program &&
        g_strlcpy(out->net, p->net, sizeof out->net) < sizeof out->net)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, NULL,
                   "with actors, 'program' may have at most %zu bytes, and 'net' at most %zu",
                   sizeof out->program - 1, sizeof out->net - 1);
    return false;
}

struct orch_epsilons orch_replay_epsilons(const struct replay_params *p, int64_t copies,
                                          int64_t step)
{
    const struct orch_exploration e = orch_replay_settings_exploration(p);
    struct orch_epsilons all = {.first = orch_exploration_epsilon(&e, step, 0, copies),
                                .last = orch_exploration_epsilon(&e, step, copies - 1, copies)};
    for (int64_t i = 0; i < copies; i++)
        all.mean += orch_exploration_epsilon(&e, step, i, copies) / (double)copies;
    return all;
}
