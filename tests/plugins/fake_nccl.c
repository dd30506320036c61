/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for NCCL and the CUDA runtime: "device" memory is ordinary memory, work is done when it
 * is queued, and sums are made by MPI. FAKE_NCCL_FAIL=FUNCTION lets that function fail. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct id {
    char bytes[128];
};

static int code_of(const char *function)
{
    const char *failing = getenv("FAKE_NCCL_FAIL");
    return failing && strcmp(failing, function) == 0 ? 3 : 0;
}

int cudaSetDevice(int device);
int cudaSetDevice(int device)
{
    return device < 0 ? 101 : code_of("cudaSetDevice");
}

int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    *stream = malloc(1);
    return flags == 1 ? code_of("cudaStreamCreateWithFlags") : 1;
}

int cudaStreamDestroy(void *stream);
int cudaStreamDestroy(void *stream)
{
    free(stream);
    return 0;
}

int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    (void)stream;
    return event && !flags ? 0 : 1;
}

int cudaStreamSynchronize(void *stream);
int cudaStreamSynchronize(void *stream)
{
    (void)stream;
    return code_of("cudaStreamSynchronize");
}

int cudaEventCreate(void **event);
int cudaEventCreate(void **event)
{
    *event = calloc(1, sizeof(struct timespec));
    return 0;
}

int cudaEventDestroy(void *event);
int cudaEventDestroy(void *event)
{
    free(event);
    return 0;
}

int cudaEventRecord(void *event, void *stream);
int cudaEventRecord(void *event, void *stream)
{
    (void)stream;
    return clock_gettime(CLOCK_MONOTONIC, event);
}

int cudaEventElapsedTime(float *ms, void *start, void *end);
int cudaEventElapsedTime(float *ms, void *start, void *end)
{
    const struct timespec *a = start, *b = end;
    *ms = (float)((double)(b->tv_sec - a->tv_sec) * 1e3 + (double)(b->tv_nsec - a->tv_nsec) / 1e6);
    return 0;
}

const char *cudaGetErrorString(int code);
const char *cudaGetErrorString(int code)
{
    return code ? "invalid on purpose" : "no error";
}

int ncclGetUniqueId(struct id *id);
int ncclGetUniqueId(struct id *id)
{
    memset(id->bytes, 'i', sizeof id->bytes);
    return code_of("ncclGetUniqueId");
}

int ncclCommInitRank(void **comm, int ranks, struct id id, int rank);
int ncclCommInitRank(void **comm, int ranks, struct id id, int rank)
{
    *comm = malloc(1);
    return id.bytes[127] == 'i' && rank < ranks ? code_of("ncclCommInitRank") : 4;
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                  void *stream);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                  void *stream)
{
    if (send != receive || type != 7 || op != 0 || !comm || !stream)
        return 4;
    if (code_of("ncclAllReduce"))
        return 3;
    return MPI_Allreduce(MPI_IN_PLACE, receive, (int)count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
}

int ncclCommAbort(void *comm);
int ncclCommAbort(void *comm)
{
    free(comm);
    return 0;
}

const char *ncclGetErrorString(int code);
const char *ncclGetErrorString(int code)
{
    return code == 3 ? "internal error on purpose" : "invalid argument";
}
