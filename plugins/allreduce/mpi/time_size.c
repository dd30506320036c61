/* SPDX-License-Identifier: GPL-3.0-or-later */
/* As the OSU micro-benchmarks and nccl-tests do it: warm-up, then repeats, each after a barrier. */
#include "plugins/allreduce/mpi/time_size.h"

#include "lib/base/error.h"
#include "lib/base/ident.h"
#include "lib/base/reals.h"
#include "plugins/common/comm/mpi_setup.h"
#include "plugins/common/data/random.h"

#include <string.h>

/** Random numbers are below NUMBERS, so that sums of 2^14 workers are exact in a float; about
 * CHECKED sums of each size are checked. */
enum { NUMBERS = 1024, CHECKED = 4096 };

/* ---- right sums --------------------------------------------------------------------------------
 */

static float number_of(uint64_t seed, int rank, size_t index)
{
    uint64_t random = orch_random_stream_of(seed, (uint64_t)rank, (uint64_t)index);
    return (float)orch_random_below_32(&random, NUMBERS);
}

static void fill(const struct orch_comm *comm, uint64_t seed, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = number_of(seed, comm->rank, i);
}

static bool check_sum(const struct orch_comm *comm, uint64_t seed, const float *values,
                      size_t count, size_t i, GError **error)
{
    float sum = 0;
    for (int rank = 0; rank < comm->ranks; rank++)
        sum += number_of(seed, rank, i);
    if (values[i] == sum)
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, NULL,
                   "wrong sum: value %zu of %zu is %g, but the sum over the %d workers is %g", i,
                   count, (double)values[i], comm->ranks, (double)sum);
    return false;
}

/* Each worker knows the numbers of all. Of many values some are looked at, the last one included.
 */
static bool check_sums(const struct orch_comm *comm, uint64_t seed, const float *values,
                       size_t count, GError **error)
{
    const size_t stride = MAX(1, count / CHECKED);
    for (size_t i = 0; i < count; i += stride)
        if (!check_sum(comm, seed, values, count, i, error))
            return false;
    return check_sum(comm, seed, values, count, count - 1, error);
}

/* ---- times -------------------------------------------------------------------------------------
 */

static bool sum_on_cpus(void *ctx, float *values, size_t count, double *out_s, GError **error)
{
    const struct orch_comm *comm = ctx;
    const int64_t begin = orch_mono_ns();
    const int code = orch_comm_reduce(comm, values, count, MPI_FLOAT, MPI_SUM);
    *out_s = (double)(orch_mono_ns() - begin) / 1e9;
    return orch_mpi_ok(code, "the all-reduce", error);
}

struct allreduce_engine orch_allreduce_on_cpus(const struct orch_comm *comm)
{
    return (struct allreduce_engine){
        .comm = comm, .ctx = (void *)(uintptr_t)comm, .sum = sum_on_cpus};
}

/* One all-reduce; `*out_s` is that of the slowest worker. */
static bool time_one(const struct allreduce_engine *e, float *values, size_t count, double *out_s,
                     GError **error)
{
    return orch_mpi_ok(MPI_Barrier(e->comm->world), "a barrier", error) &&
           e->sum(e->ctx, values, count, out_s, error) &&
           orch_mpi_ok(MPI_Allreduce(MPI_IN_PLACE, out_s, 1, MPI_DOUBLE, MPI_MAX, e->comm->world),
                       "comparing the workers' times", error);
}

static bool agree_cancelled(const struct orch_comm *comm, const struct orch_host *host, bool *out,
                            GError **error)
{
    int is = host->cancelled(host);
    const int code = MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MAX, comm->world);
    *out = is;
    return orch_mpi_ok(code, "agreeing on the end", error);
}

/* Fills `times`; all workers see the same ones, so they stop after the same repeat. */
static bool time_repeats(const struct allreduce_engine *e, const struct orch_host *host,
                         float *values, size_t count, const struct allreduce_rule *rule,
                         GArray *times, bool *out_is_cancelled, GError **error)
{
    double seconds, total_s = 0;
    for (int64_t i = 1; i < rule->warmup && total_s < rule->seconds_max; i++) {
        if (!time_one(e, values, count, &seconds, error))
            return false;
        total_s += seconds;
    }
    total_s = 0;
    for (int64_t i = 0; !*out_is_cancelled && i < rule->repeats; i++) {
        if (i >= ALLREDUCE_REPEATS_MIN && total_s > rule->seconds_max)
            break;
        if (!time_one(e, values, count, &seconds, error) ||
            !agree_cancelled(e->comm, host, out_is_cancelled, error))
            return false;
        g_array_append_val(times, seconds);
        total_s += seconds;
    }
    return true;
}

/* The first all-reduce, of random numbers, whose sums are looked at. */
static bool check_first(const struct allreduce_engine *e, float *values, size_t count,
                        uint64_t seed, GError **error)
{
    double seconds;
    fill(e->comm, seed, values, count);
    return (!e->put || e->put(e->ctx, values, count, error)) &&
           e->sum(e->ctx, values, count, &seconds, error) &&
           (!e->get || e->get(e->ctx, values, count, error)) &&
           check_sums(e->comm, seed, values, count, error);
}

bool orch_allreduce_time(const struct allreduce_engine *e, const struct orch_host *host,
                         float *values, size_t count, const struct allreduce_rule *rule,
                         struct allreduce_times *out, bool *out_is_cancelled, GError **error)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
    *out_is_cancelled = false;
    if (!check_first(e, values, count, rule->seed, error))
        return false;
    memset(values, 0, count * sizeof *values); /* zeros stay zeros */
    if ((e->put && !e->put(e->ctx, values, count, error)) ||
        !time_repeats(e, host, values, count, rule, times, out_is_cancelled, error))
        return false;
    if (*out_is_cancelled)
        return true;
    double *sorted = (double *)(void *)times->data;
    *out = (struct allreduce_times){.repeats = times->len};
    out->median_s = orch_reals_median(sorted, times->len);
    out->min_s = sorted[0];
    return true;
}
