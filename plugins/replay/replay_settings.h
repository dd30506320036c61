/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of plugin replay, and what its parts are made of. */
#ifndef ORCH_PLUGINS_REPLAY_SETTINGS_H
#define ORCH_PLUGINS_REPLAY_SETTINGS_H

#include "plugins/common/shard/weight_shard.h"
#include "plugins/replay/agent/exploration.h"
#include "plugins/replay/agent/q_learner.h"
#include "plugins/replay/env/env.h"
#include "plugins/replay/memory/replay.h"

#include <orch/plugin.h>

struct replay_params {
    const char *agent, *environment;
    const char *program; /* instead of environment: its command; NULL: none */
    int64_t steps, envs;
    int64_t actors, pull_every; /* processes that act, 0: none; steps between pulls */
    double checkpoint_every;    /* seconds */
    /* GORILA */
    const char *architecture, *replay_memory, *server_optimizer;
    int64_t learners, learner_pull_every, server_shards, gradient_age;
    double loss_deviations;
    double sticky, solved_return, discount;
    bool stop_when_solved;
    /* the network and its learning */
    const char *net, *engine, *device;
    int64_t threads, batch, train_every, learning_starts;
    double lr, lr_end, table_rate;
    int64_t lr_steps;
    bool is_double, dueling, huber;
    bool target;
    int64_t target_period;
    double target_blend, value_limit;
    /* the buffer */
    int64_t capacity, n_step, frame_stack;
    const char *sampling;
    double priority_alpha, priority_beta, priority_epsilon;
    /* exploration */
    const char *exploration;
    double epsilon_start, epsilon_end, epsilon_base, epsilon_power;
    int64_t epsilon_steps;
};

extern const char *const ORCH_REPLAY_AGENTS[], *const ORCH_REPLAY_SAMPLINGS[],
                                                   *const ORCH_REPLAY_ENGINES[],
                                                       *const ORCH_REPLAY_ARCHITECTURES[],
                                                           *const ORCH_REPLAY_MEMORIES[];

/** Fails for an unknown environment, and for parameters that contradict each other. */
bool orch_replay_settings_check(const struct replay_params *p, GError **error);
/** The parameters of a smoke run: two updates. */
struct replay_params orch_replay_settings_smoke(const struct replay_params *p);

bool orch_replay_settings_is_tabular(const struct replay_params *p);
bool orch_replay_settings_is_gorila(const struct replay_params *p);
/** GORILA: whether the server has the replay memory of all learners. */
bool orch_replay_settings_is_central(const struct replay_params *p);
enum orch_weight_optimizer orch_replay_settings_optimizer(const struct replay_params *p);
/** The return from which the environment counts as solved; NaN: none is known. */
double orch_replay_settings_solved(const struct replay_params *p);
struct orch_exploration orch_replay_settings_exploration(const struct replay_params *p);
struct orch_envs_options orch_replay_settings_envs(const struct replay_params *p,
                                                   const struct orch_host *host);
struct orch_replay_options orch_replay_settings_buffer(const struct replay_params *p,
                                                       const struct orch_env_kind *kind,
                                                       const struct orch_host *host);
struct orch_q_learner_options orch_replay_settings_learner(const struct replay_params *p,
                                                           const struct orch_env_kind *kind,
                                                           const struct orch_host *host);
/** The exponent of the weights after `step` steps: it rises to 1. */
double orch_replay_settings_beta(const struct replay_params *p, int64_t step);
/** The learning rate after `step` steps: linear from lr to lr x lr_end at lr_steps. */
double orch_replay_settings_rate(const struct replay_params *p, int64_t step);

#endif
