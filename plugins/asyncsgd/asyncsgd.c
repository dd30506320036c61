/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asynchronous SGD with parameter servers, over MPI: servers are the first ranks, learners the
 * others. See docs/plugins/asyncsgd.md. */
#include "plugins/asyncsgd/asyncsgd_settings.h"
#include "plugins/asyncsgd/flat_model.h"
#include "plugins/asyncsgd/learner_rank.h"
#include "plugins/asyncsgd/server_rank.h"
#include "plugins/common/no_effect.h"
#include "plugins/common/training/notes.h"

#include "lib/base/error.h"

#include <orch/plugin.h>

#include <mpi.h>

#define MODES ((const char *const[]){"asynchronous", "synchronous", NULL})
#define LR_RULES ((const char *const[]){"constant", "by_staleness", NULL})
#define ROW(member, kind, ...) ORCH_TRAINING_ROW(struct asyncsgd_params, member, kind, __VA_ARGS__)

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct asyncsgd_params, learners, ORCH_INT, .label = "learners", .def = "2",
               .min = "1", .max = "256", .help = "ranks that compute gradients"),
    ORCH_PARAM(struct asyncsgd_params, servers, ORCH_INT, .label = "servers", .def = "1",
               .min = "1", .max = "64",
               .help = "parameter servers; each holds a part of the weights"),
    ORCH_PARAM(struct asyncsgd_params, mode, ORCH_ENUM, .label = "mode", .def = "asynchronous",
               .choices = MODES,
               .help = "synchronous: one update from the mean of a gradient of each learner"),
    ORCH_PARAM(struct asyncsgd_params, lr_rule, ORCH_ENUM, .label = "learning rate rule",
               .def = "constant", .choices = LR_RULES,
               .help = "by_staleness: learning rate / max(1, staleness) (Zhang et al. 2016)"),
    ORCH_PARAM(struct asyncsgd_params, slowdown, ORCH_LIST | ORCH_REAL, .label = "slowdown",
               .def = "[]", .min = "1", .max = "1000",
               .help = "how many times as long each learner computes, e.g. [1, 2]; empty: all 1"),
    ORCH_TRAINING_DATA_PARAMS(struct asyncsgd_params),
    ROW(net, ORCH_STRING, .label = "network", .def = "lenet5",
        .help = "a network of 'orch net ls'"),
    ROW(epochs, ORCH_INT, .label = "epochs", .def = "3", .min = "1", .max = "100000",
        .unit = "epochs", .help = "passes over the training images, of all learners together"),
    ROW(batch, ORCH_INT, .label = "batch", .def = "64", .min = "1", .max = "65536",
        .unit = "images", .help = "batch size of a gradient"),
    ROW(lr, ORCH_REAL, .label = "learning rate", .def = "0.05", .min = "0", .max = "100",
        .help = "learning rate at the start"),
    ROW(momentum, ORCH_REAL, .label = "momentum", .def = "0", .min = "0", .max = "1",
        .help = "momentum, on the server"),
    ROW(weight_decay, ORCH_REAL, .label = "weight decay", .def = "0.0001", .min = "0", .max = "1",
        .help = "L2 penalty"),
    ROW(nesterov, ORCH_BOOL, .label = "Nesterov momentum", .def = "false",
        .help = "Nesterov's momentum"),
    ROW(schedule, ORCH_ENUM, .label = "schedule", .def = "constant",
        .choices = ORCH_TRAINING_SCHEDULE_NAMES, .help = "learning rate schedule"),
    ROW(milestones, ORCH_LIST | ORCH_STRING, .label = "milestones", .def = "[30%, 60%, 90%]",
        .help = "schedule steps: when the rate drops, in epochs or per cent"),
    ROW(gamma, ORCH_REAL, .label = "gamma", .def = "0.1", .min = "0", .max = "1",
        .help = "schedule steps: factor of each drop"),
    ROW(warmup_epochs, ORCH_REAL, .label = "warmup epochs", .def = "0", .min = "0",
        .unit = "epochs", .help = "epochs in which the learning rate rises from 0"),
    ROW(threads, ORCH_INT, .label = "threads", .def = "0", .min = "0", .max = "1024",
        .flags = ORCH_PARAM_NEUTRAL, .help = "threads of a rank; 0: its share of the trial's slot"),
    ROW(loader_threads, ORCH_INT, .label = "loader threads", .def = "0", .min = "0", .max = "64",
        .flags = ORCH_PARAM_NEUTRAL,
        .help = "threads of a learner that make batches; 0: it makes them itself"),
};

static const struct orch_metric METRICS[] = {
    {.name = "val_accuracy",
     .label = "validation accuracy",
     .min = "0",
     .max = "1",
     .step_unit = "update",
     .better = ORCH_BETTER_MAX,
     .help = "share of the validation images that are right"},
    {.name = "val_error",
     .label = "validation error",
     .min = "0",
     .max = "1",
     .step_unit = "update",
     .better = ORCH_BETTER_MIN},
    {.name = "val_loss",
     .label = "validation loss",
     .min = "0",
     .step_unit = "update",
     .better = ORCH_BETTER_MIN},
    {.name = "train_loss",
     .label = "training loss",
     .min = "0",
     .step_unit = "update",
     .better = ORCH_BETTER_MIN,
     .help = "mean cross-entropy of the batches since the previous point"},
    {.name = "train_accuracy",
     .label = "training accuracy",
     .min = "0",
     .max = "1",
     .step_unit = "update",
     .better = ORCH_BETTER_MAX},
    {.name = "timed_accuracy",
     .label = "validation accuracy",
     .min = "0",
     .max = "1",
     .step_unit = "ms",
     .better = ORCH_BETTER_MAX,
     .help = "val_accuracy by milliseconds of training, without validation"},
    {.name = "epoch_accuracy",
     .label = "validation accuracy",
     .min = "0",
     .max = "1",
     .step_unit = "epoch",
     .better = ORCH_BETTER_MAX,
     .help = "val_accuracy by epoch"},
    {.name = "epoch_time",
     .label = "epoch time",
     .min = "0",
     .unit = "s",
     .step_unit = "epoch",
     .better = ORCH_BETTER_MIN,
     .help = "training part of the epoch"},
    {.name = "staleness",
     .label = "staleness",
     .step_unit = "gradient",
     .better = ORCH_BETTER_MIN,
     .help = "updates between the read of the weights and the update"},
    {.name = "learner_staleness",
     .label = "learner staleness",
     .step_unit = "learner",
     .better = ORCH_BETTER_MIN,
     .help = "mean staleness of the gradients of learner 1, 2, ..."},
    {.name = "learner_gradients",
     .label = "learner gradients",
     .step_unit = "learner",
     .help = "gradients of each learner"},
    {.name = "staleness_share",
     .label = "staleness share",
     .min = "0",
     .max = "1",
     .step_unit = "stale_updates",
     .help = "share of the gradients with a staleness of 0, 1, ..."},
    {.name = "mean_staleness",
     .label = "mean staleness",
     .better = ORCH_BETTER_MIN,
     .help = "staleness, mean over all gradients"},
    {.name = "max_staleness", .label = "largest staleness", .better = ORCH_BETTER_MIN},
    {.name = "updates",
     .label = "updates",
     .min = "0",
     .unit = "updates",
     .help = "updates of the weights; a synchronous round has one"},
    {.name = "applied_gradients", .label = "applied gradients", .unit = "gradients"},
    {.name = "updates_per_s",
     .label = "updates per second",
     .min = "0",
     .unit = "updates/s",
     .better = ORCH_BETTER_MAX,
     .help = "steps a second of all learners together, as Optimus counts them"},
    {.name = "gradients_per_s",
     .label = "gradients per second",
     .min = "0",
     .unit = "gradients/s",
     .better = ORCH_BETTER_MAX},
    {.name = "images_per_s",
     .label = "throughput",
     .min = "0",
     .unit = "images/s",
     .better = ORCH_BETTER_MAX,
     .help = "training throughput of all learners together"},
    {.name = "training_time",
     .label = "training time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "from the first pull of weights to the last update, without validation"},
    {.name = "validation_time",
     .label = "validation time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN},
    {.name = "final_accuracy",
     .label = "final accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "val_accuracy after the last epoch"},
    {.name = "final_loss", .label = "final loss", .min = "0", .better = ORCH_BETTER_MIN},
    {.name = "best_accuracy",
     .label = "best accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX},
    {.name = "full_accuracy",
     .label = "full accuracy",
     .min = "0",
     .max = "1",
     .better = ORCH_BETTER_MAX,
     .help = "share of all validation images that are right after the last epoch"},
    {.name = "full_loss", .label = "full loss", .min = "0", .better = ORCH_BETTER_MIN},
    {.name = "channels_last",
     .label = "channels last",
     .help = "memory layout of images: 0, plain"},
};

static const struct orch_artifact ARTIFACTS[] = {
    {.name = "updates",
     .help = "CSV: time, learner, versions, staleness, learning rate and loss of each gradient"},
    {.name = "histogram", .help = "CSV: gradients by staleness"},
    {.name = "weights", .help = "the network after the last epoch, safetensors"},
};

/* The session, and the training that it borrows. */
struct state {
    struct orch_training training;
    struct orch_session *session;
};

/* With one learner both modes apply each gradient at once, and no gradient is stale. In synchronous
 * training none is either. */
static void report_no_effect(const struct asyncsgd_params *p, const struct orch_host *host)
{
    static const char *const alone[] = {"mode", NULL}, *const never_stale[] = {"lr_rule", NULL};
    if (p->learners == 1)
        orch_no_effect(host, alone);
    if (p->learners == 1 || orch_asyncsgd_is_synchronous(p))
        orch_no_effect(host, never_stale);
}

static int check(const void *params, const struct orch_host *host)
{
    const struct asyncsgd_params *p = params;
    report_no_effect(p, host);
    const struct orch_training training = orch_asyncsgd_training(p);
    GError *error = NULL;
    return orch_asyncsgd_check(p, &error) ? orch_training_check(&training, host)
                                          : orch_training_fail(host, error);
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct orch_training training = orch_asyncsgd_training(params);
    const int status = orch_training_cost(&training, out);
    out->workers = (uint32_t)orch_asyncsgd_ranks(params);
    return status;
}

static int start(const void *params, const struct orch_host *host, void **out_state)
{
    struct state *state = g_new0(struct state, 1);
    state->training = orch_asyncsgd_training(params);
    *out_state = state;
    return orch_session_open(&state->training, host, &state->session);
}

/* Every learner needs an image of its own in each batch of all learners. */
static bool has_images(const struct asyncsgd_params *p, const struct orch_session *s,
                       GError **error)
{
    if (s->train->count >= p->learners)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "use fewer learners",
                   "%d learners share only %" G_GINT64_FORMAT " training images", (int)p->learners,
                   s->train->count);
    return false;
}

/* The parameters for `ranks` ranks. Smoke runs of 'orch plugin check' have two, whatever the cost
 * says: there all but the servers learn. */
static bool adapt(struct asyncsgd_params *p, const struct orch_session *session, int ranks,
                  GError **error)
{
    if (session->host->smoke(session->host) && ranks > p->servers) {
        p->learners = ranks - p->servers;
        p->slowdown.count = MIN(p->slowdown.count, (size_t)p->learners);
    }
    if (ranks == orch_asyncsgd_ranks(p))
        return has_images(p, session, error);
    orch_error_set(error, ORCH_ERROR_RECIPE, "leave out 'ranks' of the resources",
                   "%d ranks were started, but %d servers and %d learners need one each", ranks,
                   (int)p->servers, (int)p->learners);
    return false;
}

static int take_part(const struct asyncsgd_params *params, const struct orch_session *session,
                     GError **error)
{
    struct asyncsgd_params p = *params;
    struct orch_flat_model flat = {0};
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (!adapt(&p, session, ranks, error))
        return -1;
    orch_flat_model_init(&flat, session);
    const int status = rank < p.servers
                           ? orch_asyncsgd_serve(&p, &flat, rank, error)
                           : orch_asyncsgd_learn(&p, &flat, rank - (int)p.servers, error);
    orch_flat_model_clear(&flat);
    return status;
}

static int run(void *pointer, const void *params, const struct orch_host *host)
{
    const struct state *state = pointer;
    GError *error = NULL;
    state->session->host = host;
    MPI_Init(NULL, NULL);
    const int status = take_part(params, state->session, &error);
    /* A rank that failed leaves the others waiting for it: orch ends them. */
    if (status < 0)
        return orch_training_fail(host, error);
    MPI_Finalize();
    return status;
}

static void end(void *pointer)
{
    struct state *state = pointer;
    orch_session_close(state->session);
    g_free(state);
}

static const struct orch_plugin PLUGIN = {
    ORCH_TRAINING_PLUGIN(struct asyncsgd_params),
    .name = "asyncsgd",
    .version = "1.0.0",
    .summary = "asynchronous SGD with parameter servers and learners of uneven speed",
    .needs = {.mpi = 1},
    .close = end,
};

ORCH_PLUGIN_EXPORT(PLUGIN)
