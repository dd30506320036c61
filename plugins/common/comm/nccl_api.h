/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NCCL and the CUDA runtime, opened at run time: those that LibTorch has already mapped, else those
 * on the loader's path. So nothing is needed to build, and one build serves every version. The
 * declarations are those of CUDA 11 to 13 and NCCL 2, with handles as pointers (test
 * unit.nccl_api holds them against the headers where these are installed). */
#ifndef ORCH_PLUGINS_COMMON_COMM_NCCL_API_H
#define ORCH_PLUGINS_COMMON_COMM_NCCL_API_H

#include <glib.h>
#include <stddef.h>

/** ncclUniqueId: what rank 0 tells the others, as bytes. */
struct orch_nccl_id {
    char bytes[128];
};
/** Values of the libraries' enums. */
enum {
    ORCH_CUDA_STREAM_NON_BLOCKING = 1, /* cudaStreamNonBlocking */
    ORCH_CUDA_TO_DEVICE = 1,           /* cudaMemcpyHostToDevice */
    ORCH_CUDA_TO_HOST = 2,             /* cudaMemcpyDeviceToHost */
    ORCH_NCCL_FLOAT32 = 7,             /* ncclFloat32 */
    ORCH_NCCL_SUM = 0,                 /* ncclSum */
};

/** Functions by the libraries' names; all but the texts return 0 on success. */
struct orch_nccl_api {
    int (*cudaGetDeviceCount)(int *count);
    int (*cudaSetDevice)(int device);
    int (*cudaMalloc)(void **memory, size_t bytes);
    int (*cudaFree)(void *memory);
    int (*cudaMemcpy)(void *to, const void *from, size_t bytes, int direction);
    int (*cudaStreamCreateWithFlags)(void **stream, unsigned flags);
    int (*cudaStreamDestroy)(void *stream);
    int (*cudaStreamWaitEvent)(void *stream, void *event, unsigned flags);
    int (*cudaStreamSynchronize)(void *stream);
    int (*cudaEventCreate)(void **event);
    int (*cudaEventDestroy)(void *event);
    int (*cudaEventRecord)(void *event, void *stream);
    int (*cudaEventElapsedTime)(float *ms, void *start, void *end);
    const char *(*cudaGetErrorString)(int code);
    int (*ncclGetUniqueId)(struct orch_nccl_id *id);
    int (*ncclCommInitRank)(void **comm, int ranks, struct orch_nccl_id id, int rank);
    int (*ncclAllReduce)(const void *send, void *receive, size_t count, int type, int op,
                         void *comm, void *stream);
    int (*ncclReduce)(const void *send, void *receive, size_t count, int type, int op, int root,
                      void *comm, void *stream);
    int (*ncclBroadcast)(const void *send, void *receive, size_t count, int type, int root,
                         void *comm, void *stream);
    int (*ncclCommAbort)(void *comm);
    const char *(*ncclGetErrorString)(int code);
};

/** Opens both libraries once. Borrowed, valid until the process ends; NULL with an error that names
 * what is missing. $ORCH_CUDART and $ORCH_NCCL name other files. One thread at a time. */
const struct orch_nccl_api *orch_nccl_open(GError **error);

#endif
