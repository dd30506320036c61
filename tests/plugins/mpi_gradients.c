/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data-parallel training over MPI ranks against one process: every rank has a shard of the batch
 * and reduces its gradients, bucket by bucket while backward runs; rank 0 also computes the
 * gradients of the whole batch alone and reports how far they differ. Batch norms use their running
 * statistics, for those of a shard are not the batch's. */
#include "lib/base/error.h"
#include "lib/net/net.h"
#include "plugins/common/torch/torch.h"

#include <orch/plugin.h>

#include <math.h>
#include <mpi.h>
#include <string.h>

/* The batch is divisible by 1, 2, 3, 4 and 6 ranks. */
enum { BATCH = 12, CHANNELS = 3, SIDE = 12, CLASSES = 10, STEPS = 3, BUCKETS_MAX = 64 };
enum { PIXELS = CHANNELS * SIDE * SIDE, BUCKET_BYTES = 16 << 10 };

struct params {
    int64_t workers;
    bool reduces;
};

static const struct orch_param PARAMS[] = {
    ORCH_PARAM(struct params, workers, ORCH_INT, .def = "2", .min = "1", .help = "ranks"),
    ORCH_PARAM(struct params, reduces, ORCH_BOOL, .def = "true",
               .help = "false: each rank keeps its own gradients, to see the difference"),
};

static const struct orch_metric METRICS[] = {
    {.name = "difference", .help = "largest difference of a gradient from one process'"},
    {.name = "weight_difference", .help = "likewise of a weight after all steps"},
    {.name = "largest", .help = "largest gradient"},
    {.name = "buckets", .help = "reduced in each step"},
    {.name = "ranks"},
};

static int cost(const void *pointer, struct orch_cost *out)
{
    out->workers = (uint32_t)((const struct params *)pointer)->workers;
    return ORCH_OK;
}

/* A model whose gradients are collected, and reduced where there are several ranks. */
struct worker {
    const struct orch_torch *torch;
    struct orch_torch_model *model;
    int first, count; /* images of the batch */
    bool reduces;
    MPI_Request requests[BUCKETS_MAX];
    struct orch_torch_bucket buckets[BUCKETS_MAX];
    size_t bucket_count;
    GArray *gradients; /* floats, of the last update */
};

static bool on_ready(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    struct worker *w = ctx;
    if (bucket->count > BUCKETS_MAX) {
        orch_error_set(error, ORCH_ERROR_TRIAL, NULL, "%zu buckets", bucket->count);
        return false;
    }
    w->buckets[bucket->index] = *bucket;
    w->bucket_count = bucket->count;
    if (w->reduces)
        MPI_Iallreduce(MPI_IN_PLACE, bucket->data, (int)bucket->elements, MPI_FLOAT, MPI_SUM,
                       MPI_COMM_WORLD, &w->requests[bucket->index]);
    return true;
}

static bool on_finish(void *ctx, void *stream, GError **error)
{
    struct worker *w = ctx;
    (void)stream;
    (void)error;
    if (w->reduces)
        MPI_Waitall((int)w->bucket_count, w->requests, MPI_STATUSES_IGNORE);
    g_array_set_size(w->gradients, 0);
    for (size_t i = 0; i < w->bucket_count; i++)
        g_array_append_vals(w->gradients, w->buckets[i].data, (guint)w->buckets[i].elements);
    return true;
}

static void worker_free(struct worker *w)
{
    if (!w)
        return;
    if (w->model)
        w->torch->model_free(w->model);
    g_array_unref(w->gradients);
    g_free(w);
}

static struct worker *worker_new(const struct orch_torch *torch, const struct orch_net *net,
                                 int first, int count, bool reduces, GError **error)
{
    struct worker *w = g_new0(struct worker, 1);
    struct orch_torch_setup setup = {"cpu", ORCH_TORCH_FP32, true};
    struct orch_torch_optimizer sgd = {.method = ORCH_TORCH_SGD, .momentum = 0.9};
    struct orch_torch_bucket_calls calls = {on_ready, on_finish, w};
    *w = (struct worker){.torch = torch,
                         .model = torch->model_new(net, &setup, error),
                         .first = first,
                         .count = count,
                         .reduces = reduces,
                         .gradients = g_array_new(FALSE, FALSE, sizeof(float))};
    if (!w->model || !orch_torch_init(torch, w->model, net, 7, error) ||
        !torch->optimizer_set(w->model, &sgd, error) ||
        !torch->gradients_watch(w->model, BUCKET_BYTES, &calls, error)) {
        worker_free(w);
        return NULL;
    }
    torch->rate_set(w->model, 0.02);
    return w;
}

/* d mean cross-entropy of the whole batch / d scores. */
static void score_gradients(const float *scores, const int64_t *labels, int count, float *out)
{
    for (int i = 0; i < count; i++, scores += CLASSES, out += CLASSES) {
        double sum = 0;
        for (int c = 0; c < CLASSES; c++)
            sum += exp((double)scores[c]);
        for (int c = 0; c < CLASSES; c++)
            out[c] = (float)((exp((double)scores[c]) / sum - (c == labels[i])) / BATCH);
    }
}

/* One step on the worker's images; other images in each step. */
static bool take_step(struct worker *w, int step, GError **error)
{
    g_autofree float *images = g_new(float, w->count *PIXELS);
    int64_t labels[BATCH];
    float gradient[BATCH * CLASSES];
    for (int i = 0; i < w->count; i++) {
        int image = step * BATCH + w->first + i;
        labels[i] = image * 7 % CLASSES;
        for (int j = 0; j < PIXELS; j++)
            images[i * PIXELS + j] = (float)(0.2 * sin(0.37 * j * (image % CLASSES + 1) + image));
    }
    struct orch_torch_batch batch = {.images = images, .count = w->count};
    struct orch_torch_array scores;
    if (!w->torch->forward(w->model, &batch, ORCH_TORCH_FIXED_NORMS, false, &scores, error))
        return false;
    score_gradients(scores.data, labels, w->count, gradient);
    scores.data = gradient;
    return w->torch->backward(w->model, &scores, 1, error) && w->torch->update(w->model, error);
}

static double apart(const float *a, const float *b, int64_t count)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++) {
        double difference = fabs((double)a[i] - (double)b[i]);
        most = difference <= most ? most : difference; /* NaN is kept */
    }
    return most;
}

static double weights_apart(const struct worker *a, const struct worker *b)
{
    double most = 0;
    for (size_t i = 0; i < a->torch->tensor_count(a->model); i++) {
        struct orch_torch_tensor t;
        a->torch->tensor_describe(a->model, i, &t);
        g_autofree float *of_a = g_new(float, t.count), *of_b = g_new(float, t.count);
        if (!a->torch->tensor_get(a->model, i, of_a, NULL) ||
            !b->torch->tensor_get(b->model, i, of_b, NULL))
            return (double)NAN;
        most = fmax(most, apart(of_a, of_b, t.count));
    }
    return most;
}

/* Trains `shard`, and on rank 0 `whole` beside it (else NULL). */
static bool compare(struct worker *shard, struct worker *whole, const struct orch_host *host,
                    GError **error)
{
    double difference = 0, largest = 0;
    for (int step = 0; step < STEPS; step++) {
        if (!take_step(shard, step, error) || (whole && !take_step(whole, step, error)))
            return false;
        if (!whole)
            continue;
        const float *a = (const float *)(const void *)shard->gradients->data,
                    *b = (const float *)(const void *)whole->gradients->data;
        g_autofree float *zero = g_new0(float, whole->gradients->len);
        difference = fmax(difference, apart(a, b, whole->gradients->len));
        largest = fmax(largest, apart(b, zero, whole->gradients->len));
    }
    if (!whole)
        return true;
    host->result(host, "difference", difference);
    host->result(host, "weight_difference", weights_apart(shard, whole));
    host->result(host, "largest", largest);
    host->result(host, "buckets", (double)shard->bucket_count);
    return true;
}

static bool train(const struct params *params, const struct orch_host *host, int rank, int ranks,
                  GError **error)
{
    struct orch_net_options options = {.name = "resnet20",
                                       .channels = CHANNELS,
                                       .height = SIDE,
                                       .width = SIDE,
                                       .classes = CLASSES};
    const struct orch_torch *torch = orch_torch_load(error);
    struct orch_net *net = torch ? orch_net_make(&options, error) : NULL;
    if (!net)
        return false;
    torch->threads_set(1);
    int count = BATCH / ranks;
    struct worker *shard =
        worker_new(torch, net, rank * count, count, params->reduces && ranks > 1, error);
    struct worker *whole =
        shard && rank == 0 ? worker_new(torch, net, 0, BATCH, false, error) : NULL;
    bool ok = shard && (whole || rank > 0) && compare(shard, whole, host, error);
    worker_free(shard);
    worker_free(whole);
    orch_net_free(net);
    return ok;
}

static int run(void *state, const void *params, const struct orch_host *host)
{
    int rank, ranks;
    GError *error = NULL;
    (void)state;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    host->result(host, "ranks", ranks);
    bool ok = train(params, host, rank, ranks, &error);
    if (!ok) {
        host->fail(host, error->message);
        g_error_free(error);
    }
    MPI_Finalize();
    return ok ? ORCH_OK : ORCH_FAILED;
}

static const struct orch_plugin PLUGIN = {
    ORCH_PLUGIN_HEAD,
    .name = "mpi_gradients",
    .version = "1.0.0",
    .summary = "compares reduced gradients with one process'",
    .licence = "GPL-3.0-or-later",
    .needs = {.mpi = 1},
    .params_bytes = sizeof(struct params),
    ORCH_TABLE(params, PARAMS),
    ORCH_TABLE(metrics, METRICS),
    .cost = cost,
    .run = run,
};
ORCH_PLUGIN_EXPORT(PLUGIN)
