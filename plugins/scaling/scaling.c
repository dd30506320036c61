/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synchronous data-parallel training by several workers, MPI's ranks: strong and weak scaling. See
 * docs/plugins/scaling.md. */
#include "plugins/scaling/scaling.h"

#include "lib/base/error.h"
#include "plugins/common/comm/algorithms.h"
#include "plugins/common/comm/needs_mpi.h"
#include "plugins/common/comm/scaling_metrics.h"
#include "plugins/common/no_effect.h"
#include "plugins/common/training/notes.h"

#include <orch/plugin.h>

#include <string.h>

static const char *const SCALINGS[] = {"strong", "weak", NULL};
static const char *const COMPRESSIONS[] = {"none", "fp16", "bf16", NULL};
static const char *const BATCH_NORMS[] = {"local", "synchronised", NULL};

static const char *const MEMORY_ENDS[] = {"fail", "skip", NULL};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct scaling_params, workers, ORCH_INT, .label = "workers", .def = "2", .min = "1",
               .max = "4096",
               .help = "processes that train together, each with its shard of a batch"),
    ORCH_PARAM(struct scaling_params, scaling, ORCH_ENUM, .label = "scaling", .def = "strong",
               .choices = SCALINGS,
               .help = "strong: the workers share a batch; weak: each has a batch"),
    ORCH_PARAM(struct scaling_params, algorithm, ORCH_ENUM, .label = "algorithm", .def = "auto",
               .choices = orch_comm_algorithm_names,
               .help = "algorithm of the all-reduce; auto: MPI's own choice"),
    ORCH_PARAM(struct scaling_params, workers_per_node, ORCH_INT, .label = "workers per node",
               .def = "0", .min = "0", .max = "4096",
               .help = "algorithm hierarchical: workers that count as one machine; 0: all workers "
                       "of a machine"),
    ORCH_PARAM(struct scaling_params, overlap, ORCH_BOOL, .label = "overlap", .def = "true",
               .help = "all-reduce gradients while the backward pass runs"),
    ORCH_PARAM(struct scaling_params, first_bucket_bytes, ORCH_BYTES, .label = "first bucket",
               .def = "1MiB", .min = "1",
               .help = "size of the bucket of gradients that is reduced first"),
    ORCH_PARAM(struct scaling_params, bucket_bytes, ORCH_BYTES, .label = "bucket size",
               .def = "25MiB", .min = "1",
               .help = "size of a bucket: gradients that are reduced together"),
    ORCH_PARAM(struct scaling_params, compression, ORCH_ENUM, .label = "compression", .def = "none",
               .choices = COMPRESSIONS, .help = "gradients are rounded to 16 bits before the sum"),
    ORCH_PARAM(
        struct scaling_params, batch_norm, ORCH_ENUM, .label = "batch norm", .def = "local",
        .choices = BATCH_NORMS,
        .help = "local: statistics of a worker's own images; synchronised: of all workers' images"),
    ORCH_PARAM(struct scaling_params, warmup_steps, ORCH_INT, .label = "warmup steps", .def = "5",
               .min = "0", .unit = "steps", .help = "first steps that are not timed; at most half"),
    ORCH_PARAM(struct scaling_params, untimed_epochs, ORCH_INT, .label = "untimed epochs",
               .def = "0", .min = "0", .unit = "epochs", .help = "first epochs that are not timed"),
    ORCH_PARAM(struct scaling_params, out_of_memory, ORCH_ENUM, .label = "out of memory",
               .def = "fail", .choices = MEMORY_ENDS,
               .help = "skip: a trial that runs out of memory ends as skipped"),
    ORCH_PARAM(struct scaling_params, price, ORCH_MONEY, .label = "price", .def = "0", .min = "0",
               .unit = "USD/h",
               .help = "price of one worker for an hour; 0: the known price of its GPU or machine"),
    ORCH_TRAINING_DATA_PARAMS(struct scaling_params),
    ORCH_TRAINING_NET_PARAMS(struct scaling_params),
    ORCH_TRAINING_PLACE_PARAMS(struct scaling_params),
};
static const struct orch_metric METRICS[] = {
    ORCH_SCALING_METRICS,
    {.name = "peer_wait_time",
     .label = "peer wait time",
     .min = "0",
     .unit = "s",
     .better = ORCH_BETTER_MIN,
     .help = "part of exposed_communication_time in which a worker waits for the others"},
    {.name = "reduced_bytes",
     .label = "reduced bytes",
     .min = "0",
     .unit = "bytes",
     .help = "bytes that a worker passes to the all-reduces of a step"},
    {.name = "epoch_reduced_bytes",
     .label = "reduced bytes of an epoch",
     .min = "0",
     .unit = "bytes",
     .help = "gradients in fp32 that a worker reduces in an epoch: parameter_bytes x steps"},
    {.name = "buckets", .label = "buckets", .help = "all-reduces of a step"},
    {.name = "timed_steps",
     .label = "timed steps",
     .min = "0",
     .unit = "steps",
     .help = "steps whose times are reported"},
    {.name = "compression_error",
     .label = "compression error",
     .better = ORCH_BETTER_MIN,
     .help = "relative error of the summed gradients by compression, over the warm-up steps"},
    {.name = "usd_per_hour",
     .label = "price per hour",
     .unit = "USD/h",
     .help = "price of all workers together"},
    {.name = "oversubscribed",
     .label = "oversubscribed",
     .help = "1: the workers have more threads than the machine has processors"},
    ORCH_TRAINING_METRICS,
};
static const struct orch_artifact ARTIFACTS[] = {ORCH_TRAINING_ARTIFACTS};

/* ---- what the parameters say -------------------------------------------------------------------
 */

static bool is_weak(const struct scaling_params *p)
{
    return strcmp(p->scaling, "weak") == 0;
}

int64_t orch_scaling_batch(const struct scaling_params *p)
{
    return is_weak(p) ? p->t.batch : p->t.batch / p->workers;
}

static bool check_batch(const struct scaling_params *p, GError **error)
{
    if (is_weak(p) || p->t.batch % p->workers == 0)
        return true;
    orch_error_set(
        error, ORCH_ERROR_RECIPE, "make 'batch' a multiple of 'workers'",
        "strong scaling: a batch of %d images cannot be divided equally among %d workers",
        (int)p->t.batch, (int)p->workers);
    return false;
}

static bool check_epochs(const struct scaling_params *p, GError **error)
{
    if (p->untimed_epochs < p->t.epochs)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "set more 'epochs'",
                   "untimed_epochs: %d leaves none of the %d epochs to be timed",
                   (int)p->untimed_epochs, (int)p->t.epochs);
    return false;
}

/* With one worker nothing is reduced, and the batch of a worker is the whole batch. */
static const char *const ALONE[] = {"scaling",      "algorithm",   "workers_per_node",
                                    "overlap",      "compression", "first_bucket_bytes",
                                    "bucket_bytes", "batch_norm",  NULL};

static int check(const void *params, const struct orch_host *host)
{
    const struct scaling_params *p = params;
    GError *error = NULL;
    if (p->workers == 1)
        orch_no_effect(host, ALONE);
    return check_batch(p, &error) && check_epochs(p, &error) ? orch_training_check(&p->t, host)
                                                             : orch_training_fail(host, error);
}

static int cost(const void *params, struct orch_cost *out)
{
    const struct scaling_params *p = params;
    const int status = orch_training_cost(&p->t, out);
    out->workers = (uint32_t)p->workers;
    out->batch = orch_scaling_batch(p);
    return status;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "scaling",
    .version = "1.0.0",
    .summary = "data-parallel training by several workers: strong and weak scaling",
    .licence = "GPL-3.0-or-later",
    .flags = ORCH_PLUGIN_TIMING,
    .needs = {.mpi = ORCH_COMM_NEEDS_MPI},
    .params_bytes = sizeof(struct scaling_params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    ORCH_TABLE(artifacts, ARTIFACTS),
    .check = check,
    .cost = cost,
    .open = orch_scaling_open,
    .run = orch_scaling_run,
    .close = orch_scaling_close,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
