/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a simulated worker does in a step: how long it computes, and when the gradients of each
 * bucket are ready. */
#ifndef ORCH_PLUGINS_SIMCLUSTER_SIM_PLAN_H
#define ORCH_PLUGINS_SIMCLUSTER_SIM_PLAN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_bucket {
    double ready_s; /* after the begin of the step */
    int64_t bytes;
};

struct sim_plan {
    double compute_s; /* forward and backward */
    double update_s;
    int64_t parameter_bytes; /* of all gradients in fp32 */
    GArray *buckets;         /* struct sim_bucket, in the order of the backward pass */
};

struct sim_request {
    const char *net, *input, *gpu, *precision;
    int64_t classes;
    int64_t worker_batch; /* images of a step of one worker */
    double step_s;        /* 0: the analytical model of `gpu`; else the measured time of computing
                             a step on one worker, spread over the layers as the model has them */
    int64_t all_reduce_bytes; /* > 0: no network, one bucket of so many bytes and no computing */
    int64_t gradient_bytes;   /* of a parameter: 4, or 2 where gradients are sent in fp16 or bf16 */
    int64_t first_bucket_bytes, bucket_bytes;
};

/** Plans a step. Times are those of 'orch predict --model transferred' for one worker, by layer.
 * Fails with ORCH_ERROR_RECIPE or ORCH_ERROR_NOT_FOUND, naming the parameter, for an unknown
 * network, GPU or precision, and for a GPU that the model does not cover. */
bool orch_sim_plan_make(const struct sim_request *request, struct sim_plan *out, GError **error);
void orch_sim_plan_clear(struct sim_plan *plan);

#endif
