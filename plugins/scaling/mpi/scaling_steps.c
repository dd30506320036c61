/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of a worker: its shard of the batch, gradients that are summed while backward runs, and
 * clocks around both. The losses of a shard are divided by the images of the whole batch, so sums
 * of gradients are those of the batch's mean. */
#include "plugins/scaling/mpi/scaling_trial.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "plugins/common/comm/mpi_setup.h"
#include "plugins/common/training/step_points.h"
#include "plugins/common/training/work.h"

/* ---- feed --------------------------------------------------------------------------------------
 */

static void start_epoch(void *ctx, int64_t epoch)
{
    struct scaling *s = ctx;
    s->epoch = epoch;
    s->epoch_wait_s = 0;
    s->shard->start(s->shard->ctx, epoch);
}

/* At the end of an epoch the running statistics of batch norms become the same in all workers, so
 * that all validate with the same network. */
static bool next_batch(void *ctx, struct orch_feed_batch *out, GError **error)
{
    struct scaling *s = ctx;
    GError *problem = NULL;
    const int64_t begin = orch_mono_ns();
    const bool is_batch = s->shard->next(s->shard->ctx, out, &problem);
    s->wait_s = (double)(orch_mono_ns() - begin) / 1e9;
    s->epoch_wait_s += s->wait_s;
    if (problem)
        g_propagate_error(error, problem);
    else if (!is_batch)
        orch_workers_average_norms(&s->workers, s->session->torch, s->session->model, error);
    return is_batch;
}

static void free_shard(void *ctx)
{
    struct scaling *s = ctx;
    orch_feed_free(s->shard);
    s->shard = NULL;
}

struct orch_feed *orch_scaling_feed(void *ctx, const struct orch_session *session, GError **error)
{
    struct scaling *s = ctx;
    const struct orch_training *t = session->training;
    const struct orch_comm *comm = &s->workers.comm;
    struct orch_loader_options options = {
        .batch = (int)s->batch,
        .threads = (int)t->loader_threads,
        .shuffle = true,
        .drop_last = true,
        .shard = comm->rank,
        .shards = comm->ranks,
        .seed = session->host->derive_seed(session->host, "shuffle"),
    };
    if (!orch_work_transforms(t, &options.transforms, error))
        return NULL;
    const int64_t whole = options.batch * (int64_t)comm->ranks;
    if (session->train->count < whole) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "use a smaller 'batch'",
                       "a step of all workers takes %d images, but there are only %d", (int)whole,
                       (int)session->train->count);
        return NULL;
    }
    s->shard = orch_feed_session_images(session, session->train, &options, error);
    if (!s->shard)
        return NULL;
    s->batches = s->shard->batches;
    s->warmup_steps = MIN(s->params->warmup_steps, s->batches * session->epochs / 2);
    s->first_epoch = MIN(s->params->untimed_epochs, session->epochs - 1);
    struct orch_feed *feed = g_new0(struct orch_feed, 1);
    *feed = (struct orch_feed){.ctx = s,
                               .batches = s->shard->batches,
                               .samples = s->shard->samples,
                               .start = start_epoch,
                               .next = next_batch,
                               .free = free_shard};
    return feed;
}

/* ---- step --------------------------------------------------------------------------------------
 */

static bool on_ready(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    struct scaling *s = ctx;
    (void)error;
    orch_reducer_submit(s->reducer, bucket->data, (size_t)bucket->elements);
    return true;
}

static bool on_finish(void *ctx, void *stream, GError **error)
{
    struct scaling *s = ctx;
    (void)stream;
    return orch_reducer_finish(s->reducer, error);
}

static void add_reduction(struct orch_reducer_clocks *sum, const struct orch_reducer_clocks *part)
{
    sum->busy_s += part->busy_s;
    sum->exposed_busy_s += part->exposed_busy_s;
    sum->finish_s += part->finish_s;
    sum->bytes += part->bytes;
    sum->buckets += part->buckets;
}

static bool on_gpu_ready(void *ctx, const struct orch_torch_bucket *bucket, GError **error)
{
    struct scaling *s = ctx;
    return orch_gpu_reducer_submit(s->gpu_reducer, bucket->data, (size_t)bucket->elements,
                                   bucket->stream, error);
}

static bool on_gpu_finish(void *ctx, void *stream, GError **error)
{
    struct scaling *s = ctx;
    return orch_gpu_reducer_finish(s->gpu_reducer, stream, error);
}

/* The clocks of the all-reduces of a step. The error of compression is measured in the warm-up,
 * which is not timed. */
static bool take_reduction(struct scaling *s, struct orch_reducer_clocks *out, GError **error)
{
    *out = (struct orch_reducer_clocks){0};
    if (s->gpu_reducer)
        return orch_gpu_reducer_take(s->gpu_reducer, out, error);
    if (s->reducer) {
        *out = orch_reducer_take(s->reducer);
        orch_reducer_measure_error(s->reducer, s->step + 1 < s->warmup_steps);
    }
    return true;
}

static void count_step(struct scaling *s, double learn_s, const struct orch_reducer_clocks *reduced)
{
    const bool is_timed = s->step >= s->warmup_steps && s->epoch >= s->first_epoch;
    s->step++;
    if (!is_timed)
        return;
    s->clocks.steps++;
    s->clocks.data_s += s->wait_s;
    s->clocks.learn_s += learn_s;
    add_reduction(&s->clocks.reduce, reduced);
}

/* A GPU works while the processor goes on: taking the step's sums waits for it, so that each step
 * is timed whole. */
static bool await_gpu(struct scaling *s, const struct orch_session *session, GError **error)
{
    struct orch_torch_totals step;
    if (!s->is_on_gpu)
        return true;
    if (!s->inner->take(s->inner->ctx, session, &step, error))
        return false;
    orch_totals_add(&s->taken, &step);
    return true;
}

static bool learn(void *ctx, const struct orch_session *session,
                  const struct orch_torch_batch *batch, GError **error)
{
    struct scaling *s = ctx;
    const int64_t begin = orch_mono_ns();
    struct orch_reducer_clocks reduced;
    if (!s->inner->learn(s->inner->ctx, session, batch, error) || !await_gpu(s, session, error))
        return false;
    const double learn_s = (double)(orch_mono_ns() - begin) / 1e9;
    if (!take_reduction(s, &reduced, error))
        return false;
    count_step(s, learn_s, &reduced);
    return true;
}

/* The sums of all workers. */
static bool take(void *ctx, const struct orch_session *session, struct orch_torch_totals *out,
                 GError **error)
{
    struct scaling *s = ctx;
    if (!s->inner->take(s->inner->ctx, session, out, error))
        return false;
    orch_totals_add(out, &s->taken);
    s->taken = (struct orch_torch_totals){0};
    double sums[] = {(double)out->images, (double)out->correct, out->loss};
    if (!orch_mpi_ok(
            MPI_Allreduce(MPI_IN_PLACE, sums, 3, MPI_DOUBLE, MPI_SUM, s->workers.comm.world),
            "the sum of the losses", error))
        return false;
    *out = (struct orch_torch_totals){(int64_t)sums[0], (int64_t)sums[1], sums[2]};
    return true;
}

static void free_inner(void *ctx)
{
    struct scaling *s = ctx;
    orch_step_free(s->inner);
    s->inner = NULL;
}

static struct orch_step *gpu_step(struct scaling *s, GError **error)
{
    const struct orch_torch_bucket_calls calls = {on_gpu_ready, on_gpu_finish, s};
    s->gpu_reducer = orch_gpu_reducer_new(&s->workers.comm, (int)s->workers.slot.local_rank,
                                          s->params->overlap, error);
    return s->gpu_reducer ? orch_step_reduced(orch_step_classify(), s->session,
                                              (size_t)s->params->first_bucket_bytes,
                                              (size_t)s->params->bucket_bytes, &calls, error)
                          : NULL;
}

static bool on_norm_sum(void *ctx, float *values, size_t count, GError **error)
{
    struct scaling *s = ctx;
    return orch_reducer_sum(s->reducer, values, count, error);
}

static bool share_norms(struct scaling *s, GError **error)
{
    const struct orch_torch_norm_calls calls = {on_norm_sum, s, s->workers.comm.rank,
                                                s->workers.comm.ranks};
    return g_str_equal(s->params->batch_norm, "local") ||
           s->session->torch->norms_share(s->session->model, &calls, error);
}

static struct orch_step *inner_step(struct scaling *s, GError **error)
{
    static const struct {
        const char *name;
        enum orch_half format;
    } formats[] = {{"none", ORCH_HALF_NONE}, {"fp16", ORCH_HALF_FP16}, {"bf16", ORCH_HALF_BF16}};
    struct orch_reducer_options options = {.overlaps = s->params->overlap,
                                           .measures_error = s->warmup_steps > 0};
    const struct orch_torch_bucket_calls calls = {on_ready, on_finish, s};
    if (s->workers.comm.ranks == 1)
        return orch_step_classify();
    if (s->is_on_gpu)
        return gpu_step(s, error);
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        if (g_str_equal(formats[i].name, s->params->compression))
            options.compress = formats[i].format;
    s->reducer = orch_reducer_new(&s->workers.comm, &options);
    if (!share_norms(s, error))
        return NULL;
    return orch_step_reduced(orch_step_classify(), s->session,
                             (size_t)s->params->first_bucket_bytes, (size_t)s->params->bucket_bytes,
                             &calls, error);
}

struct orch_step *orch_scaling_step(void *ctx, const struct orch_session *session, GError **error)
{
    struct scaling *s = ctx;
    (void)session;
    s->inner = inner_step(s, error);
    if (!s->inner)
        return NULL;
    struct orch_step *step = g_new0(struct orch_step, 1);
    *step = (struct orch_step){.ctx = s, .learn = learn, .take = take, .free = free_inner};
    return step;
}

bool orch_scaling_after_epoch(void *ctx, const struct orch_moment *moment, GError **error)
{
    struct scaling *s = ctx;
    (void)error;
    s->total_s += moment->training_s;
    if (moment->epoch < s->first_epoch)
        return true;
    s->clocks.epochs++;
    s->clocks.epoch_s += moment->training_s;
    s->clocks.epoch_data_s += s->epoch_wait_s;
    return true;
}
