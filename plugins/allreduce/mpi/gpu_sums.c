/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reducer of gradients with a single bucket: what is measured is what trainings do. */
#include "plugins/allreduce/mpi/gpu_sums.h"

#include "lib/base/error.h"
#include "plugins/common/comm/gpu_reducer.h"
#include "plugins/common/comm/nccl_api.h"

struct gpu_sums {
    const struct orch_nccl_api *api;
    struct orch_gpu_reducer *reducer;
    void *stream; /* cudaStream_t that waits for the sums */
    void *memory; /* of the GPU */
};

static bool cuda_ok(const struct gpu_sums *s, int code, const char *what, GError **error)
{
    if (code)
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "CUDA: %s failed: %s", what,
                       s->api->cudaGetErrorString(code));
    return code == 0;
}

char *orch_gpu_sums_lack(const struct orch_comm *comm)
{
    g_autoptr(GError) error = NULL;
    const struct orch_nccl_api *api = orch_nccl_open(&error);
    int count = 0;
    if (!api)
        return g_strdup(error->message);
    const int code = api->cudaGetDeviceCount(&count);
    if (code)
        return g_strdup_printf("there is no GPU: %s", api->cudaGetErrorString(code));
    return count >= comm->local ? NULL
                                : g_strdup_printf("%d workers on a machine need a GPU each, but "
                                                  "the trial has %d: set resources: { gpus: %d }",
                                                  comm->local, count, comm->local);
}

struct gpu_sums *orch_gpu_sums_new(const struct orch_comm *comm, int device, size_t bytes,
                                   GError **error)
{
    const struct orch_nccl_api *api = orch_nccl_open(error);
    if (!api)
        return NULL;
    struct gpu_sums *s = g_new0(struct gpu_sums, 1);
    s->api = api;
    s->reducer = orch_gpu_reducer_new(comm, device, true, error);
    if (s->reducer &&
        cuda_ok(s, api->cudaStreamCreateWithFlags(&s->stream, ORCH_CUDA_STREAM_NON_BLOCKING),
                "making a stream", error) &&
        cuda_ok(s, api->cudaMalloc(&s->memory, bytes), "allocating the largest of bytes", error))
        return s;
    orch_gpu_sums_free(s);
    return NULL;
}

void orch_gpu_sums_free(struct gpu_sums *s)
{
    if (!s)
        return;
    orch_gpu_reducer_free(s->reducer);
    if (s->memory)
        s->api->cudaFree(s->memory);
    if (s->stream)
        s->api->cudaStreamDestroy(s->stream);
    g_free(s);
}

static bool put(void *ctx, const float *values, size_t count, GError **error)
{
    struct gpu_sums *s = ctx;
    return cuda_ok(
        s, s->api->cudaMemcpy(s->memory, values, count * sizeof *values, ORCH_CUDA_TO_DEVICE),
        "copying to the GPU", error);
}

static bool get(void *ctx, float *values, size_t count, GError **error)
{
    struct gpu_sums *s = ctx;
    return cuda_ok(s,
                   s->api->cudaMemcpy(values, s->memory, count * sizeof *values, ORCH_CUDA_TO_HOST),
                   "copying from the GPU", error);
}

static bool sum(void *ctx, float *values, size_t count, double *out_s, GError **error)
{
    struct gpu_sums *s = ctx;
    struct orch_reducer_clocks clocks = {0};
    (void)values;
    const bool ok = orch_gpu_reducer_submit(s->reducer, s->memory, count, s->stream, error) &&
                    orch_gpu_reducer_finish(s->reducer, s->stream, error) &&
                    orch_gpu_reducer_take(s->reducer, &clocks, error);
    *out_s = clocks.busy_s;
    return ok;
}

struct allreduce_engine orch_gpu_sums_engine(struct gpu_sums *sums, const struct orch_comm *comm)
{
    return (struct allreduce_engine){.comm = comm, .ctx = sums, .put = put, .get = get, .sum = sum};
}
