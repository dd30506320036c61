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
    uint64_t random = orch_random_stream(seed, (uint64_t)rank, (uint64_t)index);
    return (float)orch_random_below(&random, NUMBERS);
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
                   "wrong sum: value %zu of %zu is %g, the sum over the %d workers is %g", i, count,
                   (double)values[i], comm->ranks, (double)sum);
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

/* One all-reduce; `*out_s` is that of the slowest worker. */
static int time_one(const struct orch_comm *comm, float *values, size_t count, double *out_s)
{
    int code = MPI_Barrier(comm->world);
    const int64_t begin = orch_mono_ns();
    if (code == MPI_SUCCESS)
        code = orch_comm_reduce(comm, values, count, MPI_FLOAT, MPI_SUM);
    *out_s = (double)(orch_mono_ns() - begin) / 1e9;
    return code == MPI_SUCCESS
               ? MPI_Allreduce(MPI_IN_PLACE, out_s, 1, MPI_DOUBLE, MPI_MAX, comm->world)
               : code;
}

static int agree_cancelled(const struct orch_comm *comm, const struct orch_host *host, bool *out)
{
    int is = host->cancelled(host);
    const int code = MPI_Allreduce(MPI_IN_PLACE, &is, 1, MPI_INT, MPI_MAX, comm->world);
    *out = is;
    return code;
}

/* Fills `times`; all workers see the same ones, so they stop after the same repeat. */
static int time_repeats(const struct orch_comm *comm, const struct orch_host *host, float *values,
                        size_t count, const struct allreduce_rule *rule, GArray *times,
                        bool *out_is_cancelled)
{
    double seconds, total_s = 0;
    int code = MPI_SUCCESS;
    for (int64_t i = 1; code == MPI_SUCCESS && i < rule->warmup && total_s < rule->seconds_max;
         i++) {
        code = time_one(comm, values, count, &seconds);
        total_s += seconds;
    }
    total_s = 0;
    for (int64_t i = 0; code == MPI_SUCCESS && !*out_is_cancelled && i < rule->repeats; i++) {
        if (i >= ALLREDUCE_REPEATS_MIN && total_s > rule->seconds_max)
            break;
        code = time_one(comm, values, count, &seconds);
        g_array_append_val(times, seconds);
        total_s += seconds;
        if (code == MPI_SUCCESS)
            code = agree_cancelled(comm, host, out_is_cancelled);
    }
    return code;
}

bool orch_allreduce_time(const struct orch_comm *comm, const struct orch_host *host, float *values,
                         size_t count, const struct allreduce_rule *rule,
                         struct allreduce_times *out, bool *out_is_cancelled, GError **error)
{
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(double));
    *out_is_cancelled = false;
    fill(comm, rule->seed, values, count);
    if (!orch_mpi_ok(orch_comm_reduce(comm, values, count, MPI_FLOAT, MPI_SUM), "the all-reduce",
                     error) ||
        !check_sums(comm, rule->seed, values, count, error))
        return false;
    memset(values, 0, count * sizeof *values); /* zeros stay zeros */
    if (!orch_mpi_ok(time_repeats(comm, host, values, count, rule, times, out_is_cancelled),
                     "the all-reduce", error))
        return false;
    if (*out_is_cancelled)
        return true;
    double *sorted = (double *)(void *)times->data;
    *out = (struct allreduce_times){.repeats = times->len};
    out->median_s = orch_reals_median(sorted, times->len);
    out->min_s = sorted[0];
    return true;
}
