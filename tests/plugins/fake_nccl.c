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

/* FAKE_CUDA_DEVICES: how many GPUs there are (8). */
int cudaGetDeviceCount(int *count);
int cudaGetDeviceCount(int *count)
{
    const char *devices = getenv("FAKE_CUDA_DEVICES");
    *count = devices ? atoi(devices) : 8;
    return code_of("cudaGetDeviceCount");
}

int cudaMalloc(void **memory, size_t bytes);
int cudaMalloc(void **memory, size_t bytes)
{
    *memory = malloc(bytes);
    return code_of("cudaMalloc");
}

int cudaFree(void *memory);
int cudaFree(void *memory)
{
    free(memory);
    return 0;
}

int cudaMemcpy(void *to, const void *from, size_t bytes, int direction);
int cudaMemcpy(void *to, const void *from, size_t bytes, int direction)
{
    memcpy(to, from, bytes);
    return direction == 1 || direction == 2 ? code_of("cudaMemcpy") : 21;
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

enum { MARK = 127, TAG = 4711 }; /* the id: the first worker of the group, and a mark */

int ncclGetUniqueId(struct id *id);
int ncclGetUniqueId(struct id *id)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memcpy(id->bytes, &rank, sizeof rank);
    id->bytes[MARK] = 'i';
    return code_of("ncclGetUniqueId");
}

/* Tells all workers of a group, whose first one is `root`, who they are. */
static void gather_members(int *members, int ranks, int rank, int root)
{
    int own;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    members[rank] = own;
    if (rank > 0) {
        const int place[] = {rank, own};
        MPI_Send(place, 2, MPI_INT, root, TAG, MPI_COMM_WORLD);
        MPI_Recv(members, ranks, MPI_INT, root, TAG + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return;
    }
    for (int i = 1; i < ranks; i++) {
        int place[2];
        MPI_Recv(place, 2, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        members[place[0]] = place[1];
    }
    for (int i = 1; i < ranks; i++)
        MPI_Send(members, ranks, MPI_INT, members[i], TAG + 1, MPI_COMM_WORLD);
}

int ncclCommInitRank(void **comm, int ranks, struct id id, int rank);
int ncclCommInitRank(void **comm, int ranks, struct id id, int rank)
{
    enum { RANKS_MAX = 64 };
    int members[RANKS_MAX], root;
    MPI_Group world, group;
    MPI_Comm *made = malloc(sizeof *made);
    *comm = made;
    *made = MPI_COMM_NULL;
    if (id.bytes[MARK] != 'i' || rank >= ranks || ranks > RANKS_MAX)
        return 4;
    if (code_of("ncclCommInitRank"))
        return 3;
    memcpy(&root, id.bytes, sizeof root);
    gather_members(members, ranks, rank, root);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, ranks, members, &group);
    const int code = MPI_Comm_create_group(MPI_COMM_WORLD, group, TAG, made);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    return code;
}

static int check_call(const char *function, const void *send, const void *receive, int type,
                      const void *comm, const void *stream)
{
    return send != receive || type != 7 || !comm || !stream ? 4 : code_of(function);
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                  void *stream);
int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op, void *comm,
                  void *stream)
{
    const int code = check_call("ncclAllReduce", send, receive, type, comm, stream);
    if (code || op)
        return code ? code : 4;
    return MPI_Allreduce(MPI_IN_PLACE, receive, (int)count, MPI_FLOAT, MPI_SUM, *(MPI_Comm *)comm);
}

int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root,
               void *comm, void *stream);
int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root,
               void *comm, void *stream)
{
    int rank;
    const int code = check_call("ncclReduce", send, receive, type, comm, stream);
    if (code || op)
        return code ? code : 4;
    MPI_Comm_rank(*(MPI_Comm *)comm, &rank);
    return MPI_Reduce(rank == root ? MPI_IN_PLACE : send, receive, (int)count, MPI_FLOAT, MPI_SUM,
                      root, *(MPI_Comm *)comm);
}

int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm,
                  void *stream);
int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root, void *comm,
                  void *stream)
{
    const int code = check_call("ncclBroadcast", send, receive, type, comm, stream);
    return code ? code : MPI_Bcast(receive, (int)count, MPI_FLOAT, root, *(MPI_Comm *)comm);
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
