/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All-reduce of gradient buckets on GPUs by NCCL, while the backward pass makes them: the same as
 * reducer.h on processors. Nothing waits on the processor: a bucket's all-reduce is queued on a
 * stream of its own behind the work that makes the bucket, and the update behind all of them. Times
 * are those of CUDA events, and an all-reduce includes waiting for slower workers. */
#ifndef ORCH_PLUGINS_COMMON_COMM_GPU_REDUCER_H
#define ORCH_PLUGINS_COMMON_COMM_GPU_REDUCER_H

#include "plugins/common/comm/collective.h"
#include "plugins/common/comm/reducer.h"

struct orch_gpu_reducer;

/** Connects the workers of `comm`, each with CUDA device `device` of its own; collective. NCCL's
 * algorithm is that of comm->algorithm. `overlaps` false: nothing is queued before finish. Fails
 * with NULL without the libraries, for an algorithm that NCCL does not have, and where NCCL cannot
 * connect the workers. Free with orch_gpu_reducer_free. */
struct orch_gpu_reducer *orch_gpu_reducer_new(const struct orch_comm *comm, int device,
                                              bool overlaps, GError **error);
/** Queues the sum of `count` floats at `data`, in the device's memory, behind the earlier work of
 * `stream` (cudaStream_t). */
bool orch_gpu_reducer_submit(struct orch_gpu_reducer *reducer, float *data, size_t count,
                             void *stream, GError **error);
/** Queues all sums ahead of what `stream` does next. */
bool orch_gpu_reducer_finish(struct orch_gpu_reducer *reducer, void *stream, GError **error);
/** Waits until the step on the stream of the last finish is done, and adds its clocks to `inout`.
 */
bool orch_gpu_reducer_take(struct orch_gpu_reducer *reducer, struct orch_reducer_clocks *inout,
                           GError **error);
/** NULL is allowed. */
void orch_gpu_reducer_free(struct orch_gpu_reducer *reducer);

#endif
