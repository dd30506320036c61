/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All sizes of a trial, one after the other, and the fit. */
#include "lib/base/error.h"
#include "plugins/allreduce/allreduce.h"
#include "plugins/allreduce/mpi/gpu_sums.h"
#include "plugins/common/comm/alpha_beta.h"
#include "plugins/common/comm/mpi_setup.h"

#include <string.h>

/* A trial: where its numbers are summed. */
struct trial {
    const struct allreduce_params *p;
    const struct orch_host *host;
    struct orch_comm comm;
    bool is_on_gpus;
    struct allreduce_engine engine;
    struct gpu_sums *gpu; /* NULL: on processors */
};

/* ---- report ------------------------------------------------------------------------------------
 */

/* The model of the algorithm there: coefficients and text. Without one the fit is of the whole
 * call: t = a + S/B. */
static struct orch_comm_cost cost_of(const struct trial *t)
{
    const struct orch_comm_algorithm *a = t->comm.algorithm;
    if (t->is_on_gpus && a->nccl_cost)
        return a->nccl_cost(t->comm.shape);
    return a->cost ? a->cost(t->comm.shape) : (struct orch_comm_cost){1, 1};
}

static const char *formula_of(const struct trial *t)
{
    const struct orch_comm_algorithm *a = t->comm.algorithm;
    if (t->is_on_gpus && a->nccl_formula)
        return a->nccl_formula;
    return a->formula ? a->formula : "a + S/B (of the whole call)";
}

static void report_size(const struct orch_comm *comm, const struct orch_host *host, int64_t bytes,
                        const struct allreduce_times *times)
{
    const double bandwidth = (double)bytes / times->median_s / 1e9;
    host->metric(host, "time", bytes, times->median_s);
    host->metric(host, "min_time", bytes, times->min_s);
    host->metric(host, "algorithm_bandwidth", bytes, bandwidth);
    host->metric(host, "bus_bandwidth", bytes, orch_comm_bus_factor(comm->ranks) * bandwidth);
    host->metric(host, "timed_repeats", bytes, (double)times->repeats);
}

/* Reports the bandwidth of a link from the largest size alone, which exists even if the fit has no
 * slope, as on a busy machine. */
static void report_largest(const struct orch_host *host, const struct orch_alpha_beta_point *points,
                           size_t count)
{
    const struct orch_alpha_beta_point *largest = points;
    for (size_t i = 1; i < count; i++)
        if (points[i].bytes > largest->bytes)
            largest = &points[i];
    if (largest->cost.volume > 0)
        host->result(host, "largest_bandwidth",
                     largest->cost.volume * largest->bytes / largest->seconds / 1e9);
}

/* Latency and bandwidth of a link, unless the times do not follow the formula. */
static void report_link(const struct orch_host *host, const struct orch_alpha_beta *fit)
{
    if (!orch_alpha_beta_has_latency(fit)) {
        g_autofree char *note =
            g_strdup_printf("no latency and no bandwidth: the fit is off by %.0f %% on average, "
                            "and at most %.0f %% is accepted",
                            100 * fit->error, 100 * ORCH_ALPHA_BETA_ERROR_MOST);
        host->note(host, note);
        return;
    }
    host->result(host, "latency", fit->alpha_s);
    if (fit->beta_s > 0)
        host->result(host, "bandwidth", 1e-9 / fit->beta_s);
    else
        host->note(host, "bandwidth unknown: larger all-reduces took no longer than smaller ones");
}

static void report_fit(const struct trial *t, const struct orch_alpha_beta_point *points,
                       size_t count)
{
    const struct orch_host *host = t->host;
    struct orch_alpha_beta fit;
    host->result(host, "bus_factor", orch_comm_bus_factor(t->comm.ranks));
    host->result(host, "worker_count", t->comm.ranks);
    if (strcmp(t->p->algorithm, "auto") == 0)
        host->note(
            host, t->is_on_gpus
                      ? "algorithm auto: NCCL does not report which algorithm it chose"
                      : "algorithm auto: the MPI library does not report which algorithm it chose");
    report_largest(host, points, count);
    if (!orch_alpha_beta_fit(points, count, &fit)) {
        host->note(host, "latency and bandwidth cannot be computed from all-reduces of one size");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const double seconds = orch_alpha_beta_seconds(&fit, &points[i]);
        host->metric(host, "fitted_time", (int64_t)points[i].bytes, seconds);
        host->metric(host, "fit_residual", (int64_t)points[i].bytes,
                     seconds / points[i].seconds - 1);
    }
    report_link(host, &fit);
    host->result(host, "fit_error", fit.error);
    g_autofree char *note = g_strdup_printf("fitted: t = %s, n = %d", formula_of(t), t->comm.ranks);
    host->note(host, note);
}

/* ---- work --------------------------------------------------------------------------------------
 */

/* Sizes in a smoke run: the first and the last one, no more than this. */
enum { SMOKE_BYTES = 1 << 20 };

static GArray *sizes_of(const struct allreduce_params *p, const struct orch_host *host)
{
    GArray *sizes = g_array_new(FALSE, FALSE, sizeof(int64_t));
    const int64_t *all = p->bytes.items;
    for (size_t i = 0; i < p->bytes.count; i++) {
        const int64_t bytes = all[i] / 4 * 4;
        if (!host->smoke(host) || i == 0 || (all[i] <= SMOKE_BYTES && sizes->len < 3))
            g_array_append_val(sizes, bytes);
    }
    return sizes;
}

/* Returns false with `error` set, or without one where the trial is cancelled. */
static bool measure(const struct trial *t, const GArray *sizes,
                    struct orch_alpha_beta_point *points, GError **error)
{
    const struct orch_host *host = t->host;
    const struct allreduce_rule rule = {.warmup = t->p->warmup,
                                        .repeats = t->p->repeats,
                                        .seed = host->derive_seed(host, "numbers"),
                                        .seconds_max = t->p->time_limit};
    for (guint i = 0; i < sizes->len; i++) {
        const int64_t bytes = g_array_index(sizes, int64_t, i);
        struct allreduce_times times;
        bool is_cancelled;
        g_autofree float *room = g_try_malloc((gsize)bytes);
        if (!room) {
            orch_error_set(error, ORCH_ERROR_TRIAL, "leave out the largest value of 'bytes'",
                           "there is no memory for %" G_GINT64_FORMAT " bytes", bytes);
            return false;
        }
        host->progress(host, i, sizes->len);
        if (!orch_allreduce_time(&t->engine, host, room, (size_t)bytes / sizeof *room, &rule,
                                 &times, &is_cancelled, error) ||
            is_cancelled)
            return false;
        report_size(&t->comm, host, bytes, &times);
        points[i] = (struct orch_alpha_beta_point){cost_of(t), (double)bytes, times.median_s};
    }
    return true;
}

/* ---- where the numbers lie ---------------------------------------------------------------------
 */

static int64_t largest(const GArray *sizes)
{
    int64_t bytes = 0;
    for (guint i = 0; i < sizes->len; i++)
        bytes = MAX(bytes, g_array_index(sizes, int64_t, i));
    return bytes;
}

static bool open_engine(struct trial *t, const GArray *sizes, GError **error)
{
    struct orch_slot slot = {.struct_bytes = sizeof slot};
    t->engine = orch_allreduce_on_cpus(&t->comm);
    if (!t->is_on_gpus)
        return true;
    if (orch_host_has(t->host, slot))
        t->host->slot(t->host, &slot);
    t->gpu = orch_gpu_sums_new(&t->comm, (int)slot.local_rank, (size_t)largest(sizes), error);
    if (t->gpu)
        t->engine = orch_gpu_sums_engine(t->gpu, &t->comm);
    return t->gpu != NULL;
}

/* All workers end together where one of them has no GPU, each with its reason or none. */
static bool lack_gpus(const struct trial *t)
{
    g_autofree char *lack = t->is_on_gpus ? orch_gpu_sums_lack(&t->comm) : NULL;
    int some = lack != NULL;
    MPI_Allreduce(MPI_IN_PLACE, &some, 1, MPI_INT, MPI_MAX, t->comm.world);
    if (some)
        t->host->fail(t->host, lack ? lack : "another worker has no GPU");
    return some;
}

/* ---- the trial ---------------------------------------------------------------------------------
 */

static int work(struct trial *t, GError **error)
{
    const struct allreduce_params *p = t->p;
    g_autoptr(GArray) sizes = sizes_of(p, t->host);
    g_autofree struct orch_alpha_beta_point *points =
        g_new0(struct orch_alpha_beta_point, sizes->len + 1);
    if (t->comm.ranks != p->workers)
        orch_error_set(error, ORCH_ERROR_RECIPE, "leave out 'ranks' of the experiment's resources",
                       "workers: %d, but the experiment's resources have ranks: %d",
                       (int)p->workers, t->comm.ranks);
    else if (lack_gpus(t))
        return ORCH_SKIPPED;
    else if (open_engine(t, sizes, error) && measure(t, sizes, points, error))
        report_fit(t, points, sizes->len);
    else if (!*error)
        return ORCH_CANCELLED;
    return *error ? ORCH_FAILED : ORCH_OK;
}

/* On GPUs MPI only connects the workers: its own choice of algorithm does. NCCL is told by the
 * reducer. */
static bool start(struct trial *t, GError **error)
{
    const struct orch_comm_algorithm *algorithm = orch_comm_algorithm_find(t->p->algorithm);
    const struct orch_comm_algorithm *mpi =
        t->is_on_gpus ? orch_comm_algorithm_find("auto") : algorithm;
    const bool ok = orch_mpi_start(mpi, (int)t->p->workers_per_node, &t->comm, error);
    t->comm.algorithm = algorithm;
    return ok;
}

/* A worker that failed alone leaves the others in an all-reduce: it does not wait for them. */
int orch_allreduce_run(void *state, const void *params, const struct orch_host *host)
{
    struct trial t = {.p = params, .host = host};
    GError *error = NULL;
    (void)state;
    t.is_on_gpus = g_str_equal(t.p->device, "cuda");
    const int status = start(&t, &error) ? work(&t, &error) : ORCH_FAILED;
    orch_gpu_sums_free(t.gpu);
    if (error) {
        host->fail(host, error->message);
        g_error_free(error);
    } else {
        orch_mpi_end(&t.comm);
    }
    return status;
}
