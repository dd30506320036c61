/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/gpu_reducer.h"

#include "lib/base/error.h"
#include "plugins/common/comm/mpi_setup.h"
#include "plugins/common/comm/nccl_api.h"

/* One all-reduce of the current step; its events are used again in the next. */
struct bucket {
    float *data;
    size_t count;
    void *ready, *begin, *end; /* cudaEvent_t: on the stream of backward; around the all-reduce */
};

struct orch_gpu_reducer {
    const struct orch_nccl_api *api;
    bool overlaps;
    void *stream; /* cudaStream_t of the all-reduces */
    /* ncclComm_t: `all` of the workers; or, for the hierarchical sum, those of this node, and on
     * its first worker the first ones of all nodes, where there are several nodes */
    void *all, *node, *leaders;
    void *backward_end; /* cudaEvent_t */
    void *step_stream;  /* of the last finish, borrowed */
    GArray *buckets;    /* struct bucket: as many as a step ever had */
    guint used;         /* of the current step */
};

static bool cuda_ok(const struct orch_gpu_reducer *r, int code, const char *what, GError **error)
{
    if (code)
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "CUDA: %s failed: %s", what,
                       r->api->cudaGetErrorString(code));
    return code == 0;
}

static bool nccl_ok(const struct orch_gpu_reducer *r, int code, const char *what, GError **error)
{
    if (code)
        orch_error_set(error, ORCH_ERROR_TRIAL, "set NCCL_DEBUG=INFO to see more",
                       "NCCL: %s failed: %s", what, r->api->ncclGetErrorString(code));
    return code == 0;
}

/* ---- opening -----------------------------------------------------------------------------------
 */

static bool has_algorithm(const struct orch_comm_algorithm *a, GError **error)
{
    if (!a->nccl && !a->is_hierarchical) {
        orch_error_set(error, ORCH_ERROR_TRIAL,
                       "set algorithm: auto, ring, reduce_broadcast (a tree) or hierarchical",
                       "NCCL does not have algorithm '%s'", a->name);
        return false;
    }
    return true; /* orch_mpi_start has set $NCCL_ALGO */
}

/* NCCL's communicator of the same workers as `group`. */
static bool connect_group(const struct orch_gpu_reducer *r, MPI_Comm group, void **out,
                          GError **error)
{
    struct orch_nccl_id id = {{0}};
    int rank, ranks;
    if (!orch_mpi_ok(MPI_Comm_rank(group, &rank), "connecting the GPUs", error) ||
        !orch_mpi_ok(MPI_Comm_size(group, &ranks), "connecting the GPUs", error))
        return false;
    int code = rank == 0 ? r->api->ncclGetUniqueId(&id) : 0;
    if (!orch_mpi_ok(MPI_Bcast(&code, 1, MPI_INT, 0, group), "connecting the GPUs", error) ||
        !orch_mpi_ok(MPI_Bcast(id.bytes, sizeof id.bytes, MPI_CHAR, 0, group),
                     "connecting the GPUs", error))
        return false;
    return nccl_ok(r, code, "ncclGetUniqueId", error) &&
           nccl_ok(r, r->api->ncclCommInitRank(out, ranks, id, rank), "ncclCommInitRank", error);
}

static bool connect_leaders(struct orch_gpu_reducer *r, MPI_Comm leaders, GError **error)
{
    int count = 0;
    if (leaders == MPI_COMM_NULL)
        return true;
    return orch_mpi_ok(MPI_Comm_size(leaders, &count), "connecting the GPUs", error) &&
           (count == 1 || connect_group(r, leaders, &r->leaders, error));
}

static bool connect_workers(struct orch_gpu_reducer *r, const struct orch_comm *comm,
                            GError **error)
{
    return comm->algorithm->is_hierarchical ? connect_group(r, comm->node, &r->node, error) &&
                                                  connect_leaders(r, comm->leaders, error)
                                            : connect_group(r, comm->world, &r->all, error);
}

struct orch_gpu_reducer *orch_gpu_reducer_new(const struct orch_comm *comm, int device,
                                              bool overlaps, GError **error)
{
    const struct orch_nccl_api *api = orch_nccl_open(error);
    if (!api || !has_algorithm(comm->algorithm, error))
        return NULL;
    struct orch_gpu_reducer *r = g_new0(struct orch_gpu_reducer, 1);
    r->api = api;
    r->overlaps = overlaps;
    r->buckets = g_array_new(FALSE, TRUE, sizeof(struct bucket));
    if (cuda_ok(r, api->cudaSetDevice(device), "cudaSetDevice", error) &&
        cuda_ok(r, api->cudaStreamCreateWithFlags(&r->stream, ORCH_CUDA_STREAM_NON_BLOCKING),
                "making a stream", error) &&
        cuda_ok(r, api->cudaEventCreate(&r->backward_end), "making an event", error) &&
        connect_workers(r, comm, error))
        return r;
    orch_gpu_reducer_free(r);
    return NULL;
}

/* ---- a step ------------------------------------------------------------------------------------
 */

static struct bucket *bucket_at(const struct orch_gpu_reducer *r, guint i)
{
    return &g_array_index(r->buckets, struct bucket, i);
}

static bool make_events(const struct orch_gpu_reducer *r, struct bucket *b, GError **error)
{
    void **events[] = {&b->ready, &b->begin, &b->end};
    for (size_t i = 0; i < G_N_ELEMENTS(events); i++)
        if (!*events[i] &&
            !cuda_ok(r, r->api->cudaEventCreate(events[i]), "making an event", error))
            return false;
    return true;
}

static int sum_over(const struct orch_gpu_reducer *r, const struct bucket *b, void *comm)
{
    return r->api->ncclAllReduce(b->data, b->data, b->count, ORCH_NCCL_FLOAT32, ORCH_NCCL_SUM, comm,
                                 r->stream);
}

/* To the first GPU of each node, among these, and back. */
static int sum_by_nodes(const struct orch_gpu_reducer *r, const struct bucket *b)
{
    int code = r->api->ncclReduce(b->data, b->data, b->count, ORCH_NCCL_FLOAT32, ORCH_NCCL_SUM, 0,
                                  r->node, r->stream);
    if (code == 0 && r->leaders)
        code = sum_over(r, b, r->leaders);
    return code ? code
                : r->api->ncclBroadcast(b->data, b->data, b->count, ORCH_NCCL_FLOAT32, 0, r->node,
                                        r->stream);
}

static bool queue_sum(const struct orch_gpu_reducer *r, const struct bucket *b, void *stream,
                      GError **error)
{
    const struct orch_nccl_api *api = r->api;
    return cuda_ok(r, api->cudaEventRecord(b->ready, stream), "recording an event", error) &&
           cuda_ok(r, api->cudaStreamWaitEvent(r->stream, b->ready, 0), "waiting for a bucket",
                   error) &&
           cuda_ok(r, api->cudaEventRecord(b->begin, r->stream), "recording an event", error) &&
           nccl_ok(r, r->node ? sum_by_nodes(r, b) : sum_over(r, b, r->all),
                   "the all-reduce of gradients", error) &&
           cuda_ok(r, api->cudaEventRecord(b->end, r->stream), "recording an event", error);
}

bool orch_gpu_reducer_submit(struct orch_gpu_reducer *r, float *data, size_t count, void *stream,
                             GError **error)
{
    if (r->used == r->buckets->len)
        g_array_set_size(r->buckets, r->used + 1);
    struct bucket *b = bucket_at(r, r->used);
    b->data = data;
    b->count = count;
    if (!make_events(r, b, error))
        return false;
    r->used++;
    return !r->overlaps || queue_sum(r, b, stream, error);
}

bool orch_gpu_reducer_finish(struct orch_gpu_reducer *r, void *stream, GError **error)
{
    r->step_stream = stream;
    if (!cuda_ok(r, r->api->cudaEventRecord(r->backward_end, stream), "recording an event", error))
        return false;
    for (guint i = 0; !r->overlaps && i < r->used; i++)
        if (!queue_sum(r, bucket_at(r, i), stream, error))
            return false;
    return !r->used ||
           cuda_ok(r, r->api->cudaStreamWaitEvent(stream, bucket_at(r, r->used - 1)->end, 0),
                   "waiting for the sums", error);
}

/* Seconds from one event to another; negative where `end` came first. */
static bool elapsed(const struct orch_gpu_reducer *r, void *begin, void *end, double *out_s,
                    GError **error)
{
    float ms = 0;
    bool ok = cuda_ok(r, r->api->cudaEventElapsedTime(&ms, begin, end), "reading an event", error);
    *out_s = (double)ms / 1e3;
    return ok;
}

bool orch_gpu_reducer_take(struct orch_gpu_reducer *r, struct orch_reducer_clocks *inout,
                           GError **error)
{
    double begin_s, end_s, all_s = 0;
    if (!cuda_ok(r, r->api->cudaStreamSynchronize(r->step_stream), "the step", error))
        return false;
    for (guint i = 0; i < r->used; i++) {
        const struct bucket *b = bucket_at(r, i);
        if (!elapsed(r, r->backward_end, b->begin, &begin_s, error) ||
            !elapsed(r, r->backward_end, b->end, &end_s, error))
            return false;
        inout->busy_s += end_s - begin_s;
        inout->exposed_busy_s += MAX(end_s, 0) - MAX(begin_s, 0);
        inout->bytes += (int64_t)(b->count * sizeof(float));
        inout->buckets++;
        all_s = MAX(all_s, end_s);
    }
    inout->finish_s += all_s;
    r->used = 0;
    return true;
}

/* ---- the end -----------------------------------------------------------------------------------
 */

void orch_gpu_reducer_free(struct orch_gpu_reducer *r)
{
    if (!r)
        return;
    for (guint i = 0; i < r->buckets->len; i++) {
        const struct bucket *b = bucket_at(r, i);
        void *const events[] = {b->ready, b->begin, b->end};
        for (size_t j = 0; j < G_N_ELEMENTS(events); j++)
            if (events[j])
                r->api->cudaEventDestroy(events[j]);
    }
    g_array_unref(r->buckets);
    void *const comms[] = {r->leaders, r->node, r->all};
    for (size_t i = 0; i < G_N_ELEMENTS(comms); i++)
        if (comms[i]) /* does not wait for workers that are gone; take has waited for all sums */
            r->api->ncclCommAbort(comms[i]);
    if (r->backward_end)
        r->api->cudaEventDestroy(r->backward_end);
    if (r->stream)
        r->api->cudaStreamDestroy(r->stream);
    g_free(r);
}
