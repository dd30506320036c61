/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Q-learning with a replay buffer. See docs/plugins/replay.md. */
#include "lib/base/error.h"
#include "plugins/replay/apex_run.h"
#include "plugins/replay/dqn_run.h"
#include "plugins/replay/gorila_run.h"
#include "plugins/replay/replay_settings.h"
#include "plugins/replay/table_run.h"

#define ROW(member, kind, ...) ORCH_PARAM(struct replay_params, member, kind, __VA_ARGS__)

static const struct orch_param PARAMS[] = {
    ROW(environment, ORCH_STRING, .label = "environment", .def = "cartpole",
        .help = "an environment of 'orch help environments'"),
    ROW(program, ORCH_STRING, .label = "program", .flags = ORCH_PARAM_OPTIONAL,
        .help = "instead of environment: the command of a program that is an environment"),
    ROW(agent, ORCH_ENUM, .label = "agent", .def = "dqn", .choices = ORCH_REPLAY_AGENTS,
        .help = "dqn: a network values actions; tabular: a table does, for few states"),
    ROW(steps, ORCH_INT, .label = "steps", .def = "100000", .min = "1", .max = "1000000000",
        .unit = "steps", .help = "steps of all environments together"),
    ROW(envs, ORCH_INT, .label = "environments", .def = "8", .min = "1", .max = "4096",
        .help = "copies of the environment that are stepped together"),
    ROW(actors, ORCH_INT, .label = "actors", .def = "0", .min = "0", .max = "64",
        .help = "processes that act, each in envs copies; 0: the learner acts itself"),
    ROW(pull_every, ORCH_INT, .label = "steps between pulls", .def = "20", .min = "1",
        .max = "1000000000", .unit = "steps",
        .help = "actors: steps between two pulls of the learner's parameters"),
    ROW(architecture, ORCH_ENUM, .label = "architecture", .def = "apex",
        .choices = ORCH_REPLAY_ARCHITECTURES,
        .help = "apex: one learner; gorila: several learners send gradients to a server"),
    ROW(learners, ORCH_INT, .label = "learners", .def = "1", .min = "1", .max = "64",
        .help = "gorila: processes that compute gradients"),
    ROW(replay_memory, ORCH_ENUM, .label = "replay memory", .def = "local",
        .choices = ORCH_REPLAY_MEMORIES,
        .help = "gorila; local: each learner has its own memory and actors; shared: one memory"),
    ROW(learner_pull_every, ORCH_INT, .label = "gradients between pulls", .def = "1", .min = "1",
        .max = "1000000", .unit = "gradients",
        .help = "gorila: gradients between two pulls of the parameters"),
    ROW(server_shards, ORCH_INT, .label = "server shards", .def = "2", .min = "1", .max = "256",
        .help = "gorila: parts into which the server splits the parameters"),
    ROW(server_optimizer, ORCH_ENUM, .label = "server optimizer", .def = "adam",
        .choices = ORCH_WEIGHT_OPTIMIZERS,
        .help = "gorila: update rule of the server; the paper uses adagrad"),
    ROW(gradient_age, ORCH_INT, .label = "gradient age", .def = "100", .min = "0",
        .max = "1000000000", .unit = "updates",
        .help = "gorila: drop gradients that are older than this; 0: keep all"),
    ROW(loss_deviations, ORCH_REAL, .label = "loss deviations", .def = "4", .min = "0",
        .max = "1000",
        .help = "gorila: drop gradients whose loss is this many standard deviations above the "
                "mean; 0: keep all"),
    ROW(sticky, ORCH_REAL, .label = "sticky actions", .def = "0", .min = "0", .max = "0.99",
        .help = "probability that an environment repeats its last action"),
    ROW(discount, ORCH_REAL, .label = "discount", .def = "0.99", .min = "0", .max = "1",
        .help = "gamma: what a reward is worth a step later"),
    ROW(solved_return, ORCH_REAL, .label = "solved return", .def = "0",
        .help = "mean return of 100 consecutive episodes that counts as solved; 0: Gymnasium's "
                "threshold"),
    ROW(stop_when_solved, ORCH_BOOL, .label = "stop when solved", .def = "false",
        .help = "stop when the environment is solved; false: run all steps"),
    ROW(checkpoint_every, ORCH_DURATION, .label = "time between checkpoints", .def = "30s",
        .min = "0", .flags = ORCH_PARAM_NEUTRAL,
        .help = "shortest time between checkpoints; 0: after each step"),
    ROW(net, ORCH_STRING, .label = "network", .def = "mlp:64,64",
        .help = "a network of 'orch net ls'"),
    ROW(engine, ORCH_ENUM, .label = "engine", .def = "auto", .choices = ORCH_REPLAY_ENGINES,
        .help = "plain: C loops, for mlp; torch: LibTorch; auto: plain for mlp on a CPU"),
    ROW(device, ORCH_STRING, .label = "device", .def = "cpu", .help = "cpu, cuda, cuda:N"),
    ROW(threads, ORCH_INT, .label = "threads", .def = "1", .min = "0", .max = "1024",
        .flags = ORCH_PARAM_NEUTRAL,
        .help = "threads of an operation, with engine torch; 0: as many as the trial's slot has"),
    ROW(batch, ORCH_INT, .label = "batch", .def = "64", .min = "1", .max = "65536", .unit = "steps",
        .help = "sampled steps of an update"),
    ROW(train_every, ORCH_INT, .label = "steps per update", .def = "2", .min = "1",
        .max = "1000000", .unit = "steps", .help = "steps for each update"),
    ROW(learning_starts, ORCH_INT, .label = "learning starts", .def = "1000", .min = "0",
        .max = "1000000000", .unit = "steps",
        .help = "steps with random actions before the first update"),
    ROW(lr, ORCH_REAL, .label = "learning rate", .def = "0.001", .min = "0", .max = "10",
        .help = "learning rate of Adam"),
    ROW(lr_end, ORCH_REAL, .label = "share of the learning rate at the end", .def = "0.4",
        .min = "0", .max = "1", .help = "the rate falls linearly to this share of lr"),
    ROW(lr_steps, ORCH_INT, .label = "learning rate steps", .def = "100000", .min = "1",
        .max = "1000000000", .unit = "steps", .help = "steps in which the learning rate falls"),
    ROW(table_rate, ORCH_REAL, .label = "table rate", .def = "0.5", .min = "0", .max = "1",
        .help = "tabular: share of the error that a step corrects"),
    {.name = "double",
     .label = "double Q-learning",
     .type = ORCH_BOOL,
     .offset = offsetof(struct replay_params, is_double),
     .def = "true",
     .help = "double Q-learning: choose the next action by the online network"},
    ROW(dueling, ORCH_BOOL, .label = "dueling", .def = "false",
        .help = "split the network into a state's value and the actions' advantages"),
    ROW(huber, ORCH_BOOL, .label = "Huber loss", .def = "true",
        .help = "Huber loss with threshold 1; false: the square"),
    ROW(target, ORCH_BOOL, .label = "target network", .def = "true",
        .help = "value the next states by a target network"),
    ROW(target_period, ORCH_INT, .label = "target period", .def = "100", .min = "1",
        .max = "1000000000", .unit = "updates",
        .help = "updates between changes of the target network"),
    ROW(target_blend, ORCH_REAL, .label = "target blend", .def = "1", .min = "0.000001", .max = "1",
        .help = "share of the online network in each change; 1: a copy"),
    ROW(value_limit, ORCH_REAL, .label = "value limit", .def = "0", .min = "0", .max = "1e9",
        .help = "keep targets between minus and plus this value; 0: no limit"),
    ROW(capacity, ORCH_INT, .label = "capacity", .def = "100000", .min = "2", .max = "2000000000",
        .unit = "steps", .help = "steps that the buffer keeps"),
    ROW(n_step, ORCH_INT, .label = "n of n-step returns", .def = "3", .min = "1", .max = "64",
        .unit = "steps", .help = "rewards in a return before the network's value"),
    ROW(frame_stack, ORCH_INT, .label = "frame stack", .def = "1", .min = "1", .max = "64",
        .unit = "frames", .help = "consecutive frames that make up a state"),
    ROW(sampling, ORCH_ENUM, .label = "sampling", .def = "uniform",
        .choices = ORCH_REPLAY_SAMPLINGS,
        .help = "how steps are drawn: uniformly, by |error|, or by the rank of |error|"),
    ROW(priority_alpha, ORCH_REAL, .label = "priority alpha", .def = "0.6", .min = "0", .max = "4",
        .help = "exponent of priorities; 0: uniform"),
    ROW(priority_beta, ORCH_REAL, .label = "priority beta", .def = "0.4", .min = "0", .max = "1",
        .help = "exponent of the importance weights at the start; it rises to 1"),
    ROW(priority_epsilon, ORCH_REAL, .label = "priority epsilon", .def = "0.01", .min = "0",
        .max = "1000", .help = "constant that is added to |error| in a step's priority"),
    ROW(exploration, ORCH_ENUM, .label = "exploration", .def = "linear",
        .choices = ORCH_EXPLORATIONS,
        .help = "course of epsilon; per_actor: one for each environment, as Ape-X"),
    ROW(epsilon_start, ORCH_REAL, .label = "epsilon start", .def = "1", .min = "0", .max = "1",
        .help = "linear: epsilon at step 0"),
    ROW(epsilon_end, ORCH_REAL, .label = "epsilon end", .def = "0.01", .min = "0", .max = "1",
        .help = "fixed: epsilon of all steps; linear: from epsilon_steps on"),
    ROW(epsilon_steps, ORCH_INT, .label = "epsilon steps", .def = "6000", .min = "1",
        .max = "1000000000", .unit = "steps", .help = "linear: steps until epsilon_end"),
    ROW(epsilon_base, ORCH_REAL, .label = "epsilon base", .def = "0.4", .min = "0", .max = "1",
        .help = "per_actor: base^(1 + i power / (envs - 1))"),
    ROW(epsilon_power, ORCH_REAL, .label = "epsilon power", .def = "7", .min = "0", .max = "100",
        .help = "per_actor: see epsilon_base"),
};

static const struct orch_metric METRICS[] = {
    {.name = "episode_return",
     .label = "episode return",
     .step_unit = "episode",
     .better = ORCH_BETTER_MAX,
     .help = "sum of an episode's rewards, while exploring"},
    {.name = "mean_return",
     .label = "mean return",
     .step_unit = "step",
     .better = ORCH_BETTER_MAX,
     .help = "mean return of the last 100 episodes"},
    {.name = "timed_return",
     .label = "mean return",
     .step_unit = "ms",
     .better = ORCH_BETTER_MAX,
     .help = "mean_return by milliseconds of training"},
    {.name = "loss",
     .label = "loss",
     .step_unit = "step",
     .better = ORCH_BETTER_MIN,
     .help = "loss, mean over the updates since the previous point"},
    {.name = "mean_value",
     .label = "mean value",
     .step_unit = "step",
     .help = "Q of the sampled states and actions"},
    {.name = "epsilon",
     .label = "epsilon",
     .min = "0",
     .max = "1",
     .step_unit = "step",
     .help = "epsilon, mean over the environments"},
    {.name = "final_return",
     .label = "final return",
     .better = ORCH_BETTER_MAX,
     .help = "mean return of the last 100 episodes of the training"},
    {.name = "best_return",
     .label = "best return",
     .better = ORCH_BETTER_MAX,
     .help = "largest mean return of 100 consecutive episodes"},
    {.name = "solved",
     .label = "solved",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "1: 100 consecutive episodes had a mean return of solved_return; 0: none had"},
    {.name = "steps_to_solve",
     .label = "steps to solve",
     .min = "0",
     .unit = "steps",
     .better = ORCH_BETTER_MIN,
     .help = "steps until the environment was solved"},
    {.name = "time_to_solve",
     .label = "time to solve",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN},
    {.name = "episodes", .label = "episodes", .help = "episodes that ended"},
    {.name = "frames",
     .label = "frames",
     .min = "0",
     .unit = "steps",
     .help = "frames of all environments"},
    {.name = "updates", .label = "updates", .min = "0", .unit = "updates"},
    {.name = "training_time",
     .label = "training time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN},
    {.name = "frames_per_s",
     .label = "frames per second",
     .min = "0",
     .unit = "steps/s",
     .better = ORCH_BETTER_MAX,
     .help = "steps of all environments in a second of training"},
    {.name = "samples_per_s",
     .label = "samples per second",
     .min = "0",
     .unit = "samples/s",
     .better = ORCH_BETTER_MAX,
     .help = "batch x updates in a second of learning"},
    {.name = "waiting_share",
     .label = "waiting share",
     .min = "0",
     .max = "1",
     .unit = "s/s",
     .better = ORCH_BETTER_MIN,
     .help = "share of the learner's time in which it waits for a batch"},
    {.name = "idle_share",
     .label = "idle share",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MIN,
     .help = "actors: share of the learner's time in which it waits for their steps"},
    {.name = "mean_staleness",
     .label = "mean staleness",
     .min = "0",
     .unit = "updates",
     .better = ORCH_BETTER_MIN,
     .help =
         "actors: updates between the parameters that chose an action and the arrival of its step"},
    {.name = "max_staleness",
     .label = "largest staleness",
     .min = "0",
     .unit = "updates",
     .better = ORCH_BETTER_MIN},
    {.name = "actors_died",
     .label = "actors died",
     .better = ORCH_BETTER_MIN,
     .help = "actors: processes that ended too early"},
    {.name = "updates_per_s",
     .label = "updates per second",
     .min = "0",
     .unit = "updates/s",
     .better = ORCH_BETTER_MAX,
     .help = "actors: updates of the parameters in a second of training"},
    {.name = "learners", .label = "learners", .help = "actors: processes that compute gradients"},
    {.name = "draws_per_step",
     .label = "draws per step",
     .help = "actors: how often a step is drawn from a replay memory, on average"},
    {.name = "epsilon_range",
     .label = "epsilon range",
     .help = "actors: difference between the epsilons of the first and last copy at the end"},
    {.name = "step_bytes",
     .label = "bytes of steps",
     .unit = "bytes/step",
     .better = ORCH_BETTER_MIN,
     .help = "actors: bytes from actors to replay memories, for each step of the environment"},
    {.name = "batch_bytes",
     .label = "bytes of batches",
     .unit = "bytes/step",
     .better = ORCH_BETTER_MIN,
     .help = "actors: bytes of batches from a shared replay memory to learners' processes"},
    {.name = "gradient_bytes",
     .label = "bytes of gradients",
     .unit = "bytes/step",
     .better = ORCH_BETTER_MIN,
     .help = "actors: bytes of gradients from learners' processes"},
    {.name = "parameter_bytes",
     .label = "bytes of parameters",
     .unit = "bytes/step",
     .better = ORCH_BETTER_MIN,
     .help = "actors: bytes of parameters that processes pulled"},
    {.name = "moved_bytes",
     .label = "bytes moved",
     .unit = "bytes/step",
     .better = ORCH_BETTER_MIN,
     .help = "actors: bytes of all four kinds that moved between processes"},
    {.name = "mean_gradient_staleness",
     .label = "mean gradient staleness",
     .min = "0",
     .unit = "updates",
     .better = ORCH_BETTER_MIN,
     .help = "actors: updates between the parameters of a gradient and its use"},
    {.name = "max_gradient_staleness",
     .label = "largest gradient staleness",
     .min = "0",
     .unit = "updates",
     .better = ORCH_BETTER_MIN},
    {.name = "gradient_staleness",
     .label = "gradient staleness",
     .step_unit = "gradient",
     .better = ORCH_BETTER_MIN,
     .help = "gorila: staleness of the first 1,000 gradients"},
    {.name = "gradients_by_staleness",
     .label = "gradients by staleness",
     .step_unit = "staleness",
     .help = "gorila: gradients by staleness"},
    {.name = "gradients", .label = "gradients", .help = "gorila: gradients that learners computed"},
    {.name = "gradients_dropped",
     .label = "gradients dropped",
     .better = ORCH_BETTER_MIN,
     .help = "gorila: gradients that the server dropped because of their age"},
    {.name = "losses_dropped",
     .label = "losses dropped",
     .better = ORCH_BETTER_MIN,
     .help = "gorila: gradients that learners dropped because of their loss"},
    {.name = "target_updates",
     .label = "target updates",
     .help = "gorila: updates of a learner's target network, mean over learners"},
    {.name = "learners_died",
     .label = "learners died",
     .better = ORCH_BETTER_MIN,
     .help = "gorila: learners that ended too early"},
    {.name = "buffer_bytes",
     .label = "replay buffer",
     .min = "0",
     .unit = "bytes",
     .help = "memory of the replay buffer"},
};

static int fail(const struct orch_host *host, GError *error, int status)
{
    host->fail(host, error->message);
    g_error_free(error);
    return status;
}

static int check(const void *params, const struct orch_host *host)
{
    GError *error = NULL;
    return orch_replay_settings_check(params, &error) ? ORCH_OK : fail(host, error, ORCH_FAILED);
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct replay_params *p = params;
    out->workers =
        (uint32_t)(1 + p->actors + (orch_replay_settings_is_gorila(p) ? p->learners : 0));
    out->network = orch_replay_settings_is_tabular(p) ? NULL : p->net;
    out->batch = p->batch;
    out->training = 1;
    if (orch_cost_has(out, steps)) {
        out->unit = "samples";
        out->samples = p->batch;
        out->steps = MAX(p->steps - p->learning_starts, 0) / p->train_every;
    }
    return ORCH_OK;
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    const struct replay_params *given = params;
    const struct replay_params p = host->smoke(host) ? orch_replay_settings_smoke(given) : *given;
    GError *error = NULL;
    if (orch_replay_settings_is_tabular(&p) || p.actors > 0)
        return ORCH_OK;
    *out_state = orch_dqn_new(&p, host, &error);
    if (*out_state)
        return ORCH_OK;
    /* without LibTorch a network that needs it cannot run here */
    const bool is_missing = g_error_matches(error, ORCH_ERROR, ORCH_ERROR_PLUGIN);
    return fail(host, error, is_missing ? ORCH_SKIPPED : ORCH_FAILED);
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    const struct replay_params *given = params;
    const struct replay_params p = host->smoke(host) ? orch_replay_settings_smoke(given) : *given;
    GError *error = NULL;
    const int status = state                                ? orch_dqn_run(state, &error)
                       : p.actors == 0                      ? orch_table_run(&p, host, &error)
                       : orch_replay_settings_is_gorila(&p) ? orch_gorila_run(&p, host, &error)
                                                            : orch_apex_run(&p, host, &error);
    return error ? fail(host, error, status) : status;
}

static void end(void *state)
{
    orch_dqn_free(state);
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "replay",
    .version = "1.0.0",
    .summary = "deep Q-learning with a replay buffer",
    .licence = "GPL-3.0-or-later",
    .params_bytes = sizeof(struct replay_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .check = check,
    .cost = cost,
    .open = start,
    .run = run,
    .close = end,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
