/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All-reduces of numbers in GPU memory by NCCL, timed by CUDA events. */
#ifndef ORCH_PLUGINS_ALLREDUCE_GPU_SUMS_H
#define ORCH_PLUGINS_ALLREDUCE_GPU_SUMS_H

#include "plugins/allreduce/mpi/time_size.h"

struct gpu_sums;

/** Returns why the workers cannot have a GPU each: a library is missing, or there are fewer GPUs
 * than workers on this machine. NULL: they can. The caller frees. */
char *orch_gpu_sums_lack(const struct orch_comm *comm);
/** Connects the workers, each with GPU `device` of its own and room for `bytes`; collective. NULL
 * with an error, for example for an algorithm that NCCL does not have. Free with
 * orch_gpu_sums_free. */
struct gpu_sums *orch_gpu_sums_new(const struct orch_comm *comm, int device, size_t bytes,
                                   GError **error);
/** The engine; valid as long as `sums`. */
struct allreduce_engine orch_gpu_sums_engine(struct gpu_sums *sums, const struct orch_comm *comm);
/** NULL is allowed. */
void orch_gpu_sums_free(struct gpu_sums *sums);

#endif
