/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/replay_settings.h"

#include "lib/base/error.h"
#include "lib/net/net.h"

#include <math.h>

const char *const ORCH_REPLAY_AGENTS[] = {"dqn", "tabular", NULL};
const char *const ORCH_REPLAY_SAMPLINGS[] = {"uniform", "proportional", "rank", NULL};
const char *const ORCH_REPLAY_ENGINES[] = {"auto", "plain", "torch", NULL};
const char *const ORCH_REPLAY_ARCHITECTURES[] = {"apex", "gorila", NULL};
const char *const ORCH_REPLAY_MEMORIES[] = {"local", "shared", NULL};

/* Gymnasium's reward thresholds (envs/__init__.py of 1.0), over 100 consecutive episodes. */
static const struct {
    const char *environment;
    double value;
} SOLVED[] = {{"cartpole", 475}, {"mountaincar", -110}, {"acrobot", -100}};

/* The place of a value in a list of names that has it. */
static int index_of(const char *const *names, const char *value)
{
    int i = 0;
    while (!g_str_equal(names[i], value))
        i++;
    return i;
}

bool orch_replay_settings_is_tabular(const struct replay_params *p)
{
    return g_str_equal(p->agent, "tabular");
}

bool orch_replay_settings_is_gorila(const struct replay_params *p)
{
    return g_str_equal(p->architecture, "gorila");
}

bool orch_replay_settings_is_central(const struct replay_params *p)
{
    return g_str_equal(p->replay_memory, "shared");
}

enum orch_weight_optimizer orch_replay_settings_optimizer(const struct replay_params *p)
{
    return (enum orch_weight_optimizer)index_of(ORCH_WEIGHT_OPTIMIZERS, p->server_optimizer);
}

static bool refuse(GError **error, const char *hint, const char *what)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "%s", what);
    return false;
}

/* Whether the network takes the environment's observations. */
static bool check_net(const struct replay_params *p, const struct orch_env_kind *kind,
                      GError **error)
{
    const struct orch_net_options options = {.name = p->net,
                                             .channels = p->frame_stack * kind->shape[2],
                                             .height = kind->shape[0],
                                             .width = kind->shape[1],
                                             .classes = kind->actions + (p->dueling ? 1 : 0)};
    struct orch_net *net = orch_net_make(&options, error);
    if (!net)
        return false;
    orch_net_free(net);
    return true;
}

/* What the architecture needs. */
static bool check_architecture(const struct replay_params *p, GError **error)
{
    const bool is_local = !orch_replay_settings_is_central(p);
    if (!orch_replay_settings_is_gorila(p))
        return p->learners == 1 || refuse(error, "use architecture 'gorila'",
                                          "architecture 'apex' has only one learner");
    if (p->actors == 0)
        return refuse(error, "set 'actors' to 1 or more", "architecture 'gorila' needs 'actors'");
    if (!g_str_equal(p->sampling, "uniform"))
        return refuse(error, "use sampling 'uniform'",
                      "architecture 'gorila' needs sampling 'uniform'");
    if (g_str_equal(p->engine, "torch") || !g_str_equal(p->device, "cpu") ||
        !g_str_has_prefix(p->net, "mlp:"))
        return refuse(
            error, "use net 'mlp:...', device 'cpu', and engine 'auto' or 'plain'",
            "architecture 'gorila' computes only networks 'mlp:...' on a CPU, with engine 'plain'");
    if (is_local && p->actors % p->learners != 0)
        return refuse(error, "make 'actors' a multiple of 'learners'",
                      "replay_memory 'local': 'actors' is not a multiple of 'learners'");
    if (is_local && p->batch > p->capacity / p->learners)
        return refuse(error, "raise 'capacity'",
                      "a batch has more steps than a learner's replay buffer holds (batch > "
                      "capacity / learners)");
    return true;
}

bool orch_replay_settings_check(const struct replay_params *p, GError **error)
{
    const struct orch_env_kind *kind = p->program ? NULL : orch_env_find(p->environment, error);
    if (!kind && !p->program)
        return false;
    if (p->actors > 0 && orch_replay_settings_is_tabular(p))
        return refuse(error, "use agent dqn", "agent 'tabular' cannot have actors");
    if (orch_replay_settings_is_tabular(p))
        return (kind && kind->states > 0) ||
               refuse(error, "use agent 'dqn'",
                      "agent 'tabular' needs an environment with numbered states");
    if (!check_architecture(p, error))
        return false;
    if (p->batch > p->capacity)
        return refuse(error, "raise 'capacity'",
                      "a batch has more steps than the replay buffer holds (batch > capacity)");
    if (p->capacity / (p->envs * MAX(p->actors, 1)) <= p->n_step + p->frame_stack + 1)
        return refuse(error, "raise 'capacity'",
                      "capacity / (envs x actors) must be at least n_step + frame_stack + 2");
    if (p->learning_starts > p->capacity || p->learning_starts >= p->steps)
        return refuse(error, "lower learning_starts",
                      "'learning_starts' must be at most 'capacity' and below 'steps'");
    return !kind || check_net(p, kind, error); /* a program is not started by a check */
}

struct replay_params orch_replay_settings_smoke(const struct replay_params *p)
{
    struct replay_params smoke = *p;
    smoke.batch = MIN(p->batch, 4);
    smoke.learning_starts = smoke.batch;
    smoke.train_every = 1;
    smoke.envs = MIN(p->envs, 2);
    smoke.actors = MIN(p->actors, 1);
    smoke.learners = 1;
    smoke.server_shards = 1;
    smoke.steps = 2 * (smoke.batch + p->n_step);
    smoke.steps += smoke.steps % smoke.envs;
    return smoke;
}

double orch_replay_settings_solved(const struct replay_params *p)
{
    if (p->solved_return != 0) /* exact: 0 is the default */
        return p->solved_return;
    for (size_t i = 0; i < G_N_ELEMENTS(SOLVED); i++)
        if (!p->program && g_str_equal(SOLVED[i].environment, p->environment))
            return SOLVED[i].value;
    return NAN;
}

struct orch_exploration orch_replay_settings_exploration(const struct replay_params *p)
{
    return (struct orch_exploration){
        .kind = (enum orch_exploration_kind)index_of(ORCH_EXPLORATIONS, p->exploration),
        .start = p->epsilon_start,
        .end = p->epsilon_end,
        .steps = p->epsilon_steps,
        .base = p->epsilon_base,
        .power = p->epsilon_power};
}

struct orch_envs_options orch_replay_settings_envs(const struct replay_params *p,
                                                   const struct orch_host *host)
{
    return (struct orch_envs_options){.kind =
                                          p->program ? NULL : orch_env_find(p->environment, NULL),
                                      .command = p->program,
                                      .count = p->envs,
                                      .seed = host->derive_seed(host, "environments"),
                                      .sticky = p->sticky};
}

struct orch_replay_options orch_replay_settings_buffer(const struct replay_params *p,
                                                       const struct orch_env_kind *kind,
                                                       const struct orch_host *host)
{
    return (struct orch_replay_options){
        .capacity = p->capacity,
        .lanes = (int)p->envs,
        .frame_values = kind->observation_values,
        .is_bytes = kind->is_bytes,
        .stack = (int)p->frame_stack,
        .n_step = (int)p->n_step,
        .gamma = p->discount,
        .sampling = (enum orch_replay_sampling)index_of(ORCH_REPLAY_SAMPLINGS, p->sampling),
        .alpha = p->priority_alpha,
        .epsilon = p->priority_epsilon,
        .seed = host->derive_seed(host, "sampling")};
}

/* Threads of an operation of LibTorch. */
static int threads_of(const struct replay_params *p, const struct orch_host *host)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot, .threads = 1};
    if (p->threads == 0 && orch_host_has(host, slot))
        host->slot(host, &slot);
    return p->threads > 0 ? (int)p->threads : (int)slot.threads;
}

struct orch_q_learner_options orch_replay_settings_learner(const struct replay_params *p,
                                                           const struct orch_env_kind *kind,
                                                           const struct orch_host *host)
{
    return (struct orch_q_learner_options){
        .net = {.net = p->net,
                .channels = p->frame_stack * kind->shape[2],
                .height = kind->shape[0],
                .width = kind->shape[1],
                .engine = (enum orch_q_engine)index_of(ORCH_REPLAY_ENGINES, p->engine),
                .device = p->device,
                .threads = threads_of(p, host),
                .seed = host->derive_seed(host, "init")},
        .actions = kind->actions,
        .is_double = p->is_double,
        .is_dueling = p->dueling,
        .is_huber = p->huber,
        .has_target = p->target,
        .target_period = p->target_period,
        .target_blend = p->target_blend,
        .rate = p->lr,
        .value_limit = p->value_limit};
}

double orch_replay_settings_beta(const struct replay_params *p, int64_t step)
{
    return p->priority_beta + (1 - p->priority_beta) * (double)step / (double)p->steps;
}

double orch_replay_settings_rate(const struct replay_params *p, int64_t step)
{
    const double way = fmin((double)step / (double)p->lr_steps, 1);
    return p->lr * (1 + (p->lr_end - 1) * way);
}
