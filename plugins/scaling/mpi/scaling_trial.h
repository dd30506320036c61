/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial of plugin `scaling` with MPI: its workers, and the clocks of its steps. */
#ifndef ORCH_PLUGINS_SCALING_TRIAL_H
#define ORCH_PLUGINS_SCALING_TRIAL_H

#include "plugins/common/comm/gpu_reducer.h"
#include "plugins/common/comm/reducer.h"
#include "plugins/common/training/epochs.h"
#include "plugins/scaling/mpi/mpi_workers.h"
#include "plugins/scaling/scaling.h"

/** Sums over timed steps and epochs, in seconds. */
struct step_clocks {
    int64_t steps, epochs;
    double data_s, learn_s; /* of the steps: waiting for images; forward to update */
    double epoch_s, epoch_data_s;
    struct orch_reducer_clocks reduce;
};

struct scaling {
    const struct scaling_params *params;
    struct orch_training training; /* the parameters' with the batch of a worker, and its device */
    struct workers workers;
    struct orch_session *session;
    struct orch_reducer *reducer;         /* NULL: one worker, or on GPUs */
    struct orch_gpu_reducer *gpu_reducer; /* NULL: one worker, or on processors */
    char *gpu; /* this worker's device, "cuda:1"; NULL: the parameter's */
    bool is_on_gpu;
    int status;      /* what the trial returns */
    bool has_layout; /* worker 0 has said in which memory layout images lie */
    int64_t batch;   /* images of a step of one worker */
    /* steps */
    struct orch_feed *shard;
    struct orch_step *inner;
    int64_t step, warmup_steps;     /* taken; not timed */
    int64_t epoch, first_epoch;     /* current; first that is timed */
    int64_t batches;                /* steps of an epoch */
    struct orch_torch_totals taken; /* on a GPU: of the steps since the last take */
    double wait_s, epoch_wait_s;    /* for the images of the current step; of the epoch */
    double total_s;                 /* training of all epochs */
    struct step_clocks clocks;
};

/** The parts of the training that differ (epochs.h): shards of the images, gradients summed over
 * the workers, clocks. ctx is the struct scaling. */
struct orch_feed *orch_scaling_feed(void *ctx, const struct orch_session *session, GError **error);
struct orch_step *orch_scaling_step(void *ctx, const struct orch_session *session, GError **error);
bool orch_scaling_after_epoch(void *ctx, const struct orch_moment *moment, GError **error);
/** Checks that all workers have the same weights, and reports. */
int orch_scaling_finish(void *ctx, const struct orch_session *session,
                        const struct orch_torch_totals *val, GError **error);

#endif
