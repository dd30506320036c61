/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters of plugin `scaling`, and the hooks that use MPI (the folder mpi). */
#ifndef ORCH_PLUGINS_SCALING_H
#define ORCH_PLUGINS_SCALING_H

#include "plugins/common/training/training.h"

struct scaling_params {
    struct orch_training t; /* batch: see orch_scaling_batch */
    int64_t workers, workers_per_node;
    const char *scaling, *algorithm, *compression, *batch_norm, *out_of_memory;
    bool overlap;
    int64_t first_bucket_bytes, bucket_bytes;
    int64_t warmup_steps, untimed_epochs;
    double price;
};

/** Images of a step of one worker: the parameter in weak scaling, its share in strong scaling. */
int64_t orch_scaling_batch(const struct scaling_params *params);

/** The hooks of struct orch_plugin. */
int orch_scaling_open(const void *params, const struct orch_host *host, void **out_state);
int orch_scaling_run(void *state, const void *params, const struct orch_host *host);
void orch_scaling_close(void *state);

#endif
