/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `--parallel best`: of all ways to share a training among N devices, those that are the fastest
 * for their memory. */
#ifndef ORCH_FEATURES_PREDICT_PARALLEL_BEST_H
#define ORCH_FEATURES_PREDICT_PARALLEL_BEST_H

#include "features/predict/step_answer.h"

struct orch_parallel_choice {
    struct orch_parallel parallel;
    int64_t batch; /* of a replica; all of them train as many samples a step */
    double step_s, samples_per_s, memory_bytes;
    bool fits;
    bool is_best; /* the fastest that fits; where none does, that of the least memory */
};

/** Tries data, sharded, tensor, pipeline and expert parallelism of `devices` devices, with `batch`
 * samples for each in a step and the fewest micro-batches that fit. `out` gets the front of time
 * and memory, the fastest first. Fails with ORCH_ERROR_USAGE where no way is possible. */
bool orch_parallel_best(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                        const struct orch_candidate *c, int64_t devices, int64_t batch,
                        GArray **out, GError **error);
/** "fsdp=4,tp=2". Caller frees. */
char *orch_parallel_format(const struct orch_parallel *parallel);

#endif
