/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/common/comm/reducer.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "plugins/common/comm/mpi_setup.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/** Polls of a barrier: how often at once, then after sleeps of so long. */
enum { POLLS_AT_ONCE = 20, SLEEP_US = 40, SLEEP_SLACK_NS = 1000 };

struct bucket {
    float *data;
    size_t count;
    bool is_awaited; /* by orch_reducer_sum: never compressed, and not delayed until finish */
};

struct orch_reducer {
    const struct orch_comm *comm;
    struct orch_reducer_options options;
    MPI_Op half_sum; /* MPI_OP_NULL without compression */
    /* of the communication thread between submit and finish */
    uint16_t *half;
    float *exact;
    size_t room; /* values of `half` and `exact` */
    double error_sum, exact_sum;
    /* shared */
    GThread *thread;
    GMutex lock;
    GCond changed;
    GQueue buckets; /* struct bucket *; the first one is being reduced */
    bool is_finishing, is_ending;
    int64_t wait_ns; /* when the caller began to wait (finish, sum); 0: it does not */
    struct orch_reducer_clocks clocks;
    GError *error;
};

/* ---- 16 bits -----------------------------------------------------------------------------------
 */

static void add_fp16(void *in, void *sums, int *count, MPI_Datatype *type)
{
    (void)type;
    orch_half_add(ORCH_HALF_FP16, in, sums, (size_t)*count);
}

static void add_bf16(void *in, void *sums, int *count, MPI_Datatype *type)
{
    (void)type;
    orch_half_add(ORCH_HALF_BF16, in, sums, (size_t)*count);
}

static void make_room(struct orch_reducer *r, size_t count)
{
    if (count <= r->room)
        return;
    r->half = g_renew(uint16_t, r->half, count);
    r->exact = g_renew(float, r->exact, count);
    r->room = count;
}

static void add_error(struct orch_reducer *r, const float *sums, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double exact = (double)r->exact[i], difference = (double)sums[i] - exact;
        r->error_sum += difference * difference;
        r->exact_sum += exact * exact;
    }
}

static int reduce_half(struct orch_reducer *r, const struct bucket *b)
{
    make_room(r, b->count);
    if (r->options.measures_error)
        memcpy(r->exact, b->data, b->count * sizeof *b->data);
    orch_half_encode(r->options.compress, b->data, b->count, r->half);
    int code = orch_comm_reduce(r->comm, r->half, b->count, MPI_UINT16_T, r->half_sum);
    orch_half_decode(r->options.compress, r->half, b->count, b->data);
    if (code != MPI_SUCCESS || !r->options.measures_error)
        return code;
    code = orch_comm_reduce(r->comm, r->exact, b->count, MPI_FLOAT, MPI_SUM);
    add_error(r, b->data, b->count);
    return code;
}

/* ---- one bucket --------------------------------------------------------------------------------
 */

static bool is_awaited(struct orch_reducer *r)
{
    g_mutex_lock(&r->lock);
    const bool is = r->wait_ns != 0;
    g_mutex_unlock(&r->lock);
    return is;
}

/* Waits until all workers have come here. While the backward pass runs this thread sleeps. */
static int meet(struct orch_reducer *r)
{
    MPI_Request request;
    int is_done = 0, code = MPI_Ibarrier(r->comm->world, &request);
    for (int poll = 0; code == MPI_SUCCESS && !is_done; poll++) {
        code = MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        if (is_done)
            break;
        if (poll < POLLS_AT_ONCE || is_awaited(r))
            sched_yield();
        else
            usleep(SLEEP_US);
    }
    return code;
}

/* Called with the lock. */
static void count_time(struct orch_reducer *r, const struct bucket *b, int64_t begin, int64_t end)
{
    const bool is_half = r->options.compress && !b->is_awaited;
    const size_t value = is_half ? sizeof(uint16_t) : sizeof(float);
    r->clocks.busy_s += (double)(end - begin) / 1e9;
    if (r->wait_ns && r->wait_ns < end)
        r->clocks.exposed_busy_s += (double)(end - MAX(begin, r->wait_ns)) / 1e9;
    r->clocks.bytes += (int64_t)(b->count * value);
    r->clocks.buckets++;
}

/* Called and returns with the lock, which is released meanwhile. */
static void reduce_first(struct orch_reducer *r)
{
    struct bucket *b = g_queue_peek_head(&r->buckets);
    if (!r->error) {
        g_mutex_unlock(&r->lock);
        GError *error = NULL;
        int code = meet(r);
        const int64_t begin = orch_mono_ns();
        if (code == MPI_SUCCESS)
            code = r->options.compress && !b->is_awaited
                       ? reduce_half(r, b)
                       : orch_comm_reduce(r->comm, b->data, b->count, MPI_FLOAT, MPI_SUM);
        const int64_t end = orch_mono_ns();
        orch_mpi_ok(code, "the all-reduce", &error);
        g_mutex_lock(&r->lock);
        count_time(r, b, begin, end);
        r->error = error;
    }
    g_free(g_queue_pop_head(&r->buckets));
    g_cond_broadcast(&r->changed);
}

static void *communicate(void *ctx)
{
    struct orch_reducer *r = ctx;
    prctl(PR_SET_TIMERSLACK, SLEEP_SLACK_NS);
    g_mutex_lock(&r->lock);
    while (!r->is_ending) {
        const struct bucket *b = g_queue_peek_head(&r->buckets);
        if (b && (r->options.overlaps || r->is_finishing || b->is_awaited))
            reduce_first(r);
        else
            g_cond_wait(&r->changed, &r->lock);
    }
    g_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- functions ---------------------------------------------------------------------------------
 */

struct orch_reducer *orch_reducer_new(const struct orch_comm *comm,
                                      const struct orch_reducer_options *options)
{
    struct orch_reducer *r = g_new0(struct orch_reducer, 1);
    r->comm = comm;
    r->options = *options;
    r->half_sum = MPI_OP_NULL;
    if (options->compress)
        MPI_Op_create(options->compress == ORCH_HALF_FP16 ? add_fp16 : add_bf16, 1, &r->half_sum);
    g_mutex_init(&r->lock);
    g_cond_init(&r->changed);
    g_queue_init(&r->buckets);
    r->thread = g_thread_new("all-reduce", communicate, r);
    return r;
}

static struct bucket *bucket_new(float *data, size_t count, bool is_awaited)
{
    struct bucket *b = g_new(struct bucket, 1);
    *b = (struct bucket){data, count, is_awaited};
    return b;
}

void orch_reducer_submit(struct orch_reducer *r, float *data, size_t count)
{
    g_mutex_lock(&r->lock);
    g_queue_push_tail(&r->buckets, bucket_new(data, count, false));
    g_cond_broadcast(&r->changed);
    g_mutex_unlock(&r->lock);
}

/* Waits until the queue has no bucket, or none that is awaited. Called with the lock. */
static bool await(struct orch_reducer *r, int64_t begin, bool all, GError **error)
{
    const struct bucket *b;
    r->wait_ns = begin;
    g_cond_broadcast(&r->changed);
    while ((b = g_queue_peek_head(&r->buckets)) && (all || r->options.overlaps || b->is_awaited))
        g_cond_wait(&r->changed, &r->lock);
    r->wait_ns = 0;
    r->clocks.finish_s += (double)(orch_mono_ns() - begin) / 1e9;
    if (r->error)
        g_propagate_error(error, g_error_copy(r->error));
    return !r->error;
}

bool orch_reducer_sum(struct orch_reducer *r, float *data, size_t count, GError **error)
{
    const int64_t begin = orch_mono_ns();
    g_mutex_lock(&r->lock);
    if (r->options.overlaps)
        g_queue_push_tail(&r->buckets, bucket_new(data, count, true));
    else
        g_queue_push_head(&r->buckets, bucket_new(data, count, true));
    const bool ok = await(r, begin, false, error);
    g_mutex_unlock(&r->lock);
    return ok;
}

bool orch_reducer_finish(struct orch_reducer *r, GError **error)
{
    const int64_t begin = orch_mono_ns();
    g_mutex_lock(&r->lock);
    r->is_finishing = true;
    const bool ok = await(r, begin, true, error);
    r->is_finishing = false;
    g_mutex_unlock(&r->lock);
    return ok;
}

struct orch_reducer_clocks orch_reducer_take(struct orch_reducer *r)
{
    g_mutex_lock(&r->lock);
    struct orch_reducer_clocks clocks = r->clocks;
    r->clocks = (struct orch_reducer_clocks){0};
    g_mutex_unlock(&r->lock);
    return clocks;
}

void orch_reducer_measure_error(struct orch_reducer *r, bool is_on)
{
    g_mutex_lock(&r->lock);
    r->options.measures_error = is_on;
    g_mutex_unlock(&r->lock);
}

double orch_reducer_error(const struct orch_reducer *r)
{
    if (!r->options.compress)
        return 0;
    return r->exact_sum > 0 ? sqrt(r->error_sum / r->exact_sum) : (double)NAN;
}

void orch_reducer_free(struct orch_reducer *r)
{
    if (!r)
        return;
    g_mutex_lock(&r->lock);
    r->is_ending = true;
    g_cond_broadcast(&r->changed);
    g_mutex_unlock(&r->lock);
    g_thread_join(r->thread);
    g_queue_clear_full(&r->buckets, g_free);
    if (r->half_sum != MPI_OP_NULL)
        MPI_Op_free(&r->half_sum);
    g_clear_error(&r->error);
    g_mutex_clear(&r->lock);
    g_cond_clear(&r->changed);
    g_free(r->half);
    g_free(r->exact);
    g_free(r);
}
