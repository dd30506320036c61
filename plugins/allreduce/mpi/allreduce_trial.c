/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All sizes of a trial, one after the other, and the fit. */
#include "lib/base/error.h"
#include "plugins/allreduce/allreduce.h"
#include "plugins/allreduce/mpi/time_size.h"
#include "plugins/common/comm/alpha_beta.h"
#include "plugins/common/comm/mpi_setup.h"

/* ---- report ------------------------------------------------------------------------------------
 */

/* Without a formula of the algorithm the fit is of the whole call: t = a + S/B. */
static struct orch_comm_cost cost_of(const struct orch_comm *comm)
{
    return comm->algorithm->cost ? comm->algorithm->cost(comm->shape)
                                 : (struct orch_comm_cost){1, 1};
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

static void report_fit(const struct orch_comm *comm, const struct orch_host *host,
                       const struct orch_alpha_beta_point *points, size_t count)
{
    struct orch_alpha_beta fit;
    host->result(host, "bus_factor", orch_comm_bus_factor(comm->ranks));
    host->result(host, "worker_count", comm->ranks);
    if (!orch_alpha_beta_fit(points, count, &fit)) {
        host->note(host, "latency and bandwidth take all-reduces of two sizes");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const double seconds = orch_alpha_beta_seconds(&fit, &points[i]);
        host->metric(host, "fitted_time", (int64_t)points[i].bytes, seconds);
        host->metric(host, "fit_residual", (int64_t)points[i].bytes,
                     seconds / points[i].seconds - 1);
    }
    host->result(host, "latency", fit.alpha_s);
    if (fit.beta_s > 0)
        host->result(host, "bandwidth", 1e-9 / fit.beta_s);
    host->result(host, "fit_error", fit.error);
    g_autofree char *note = g_strdup_printf(
        "fitted: t = %s%s, n = %d", comm->algorithm->formula ? comm->algorithm->formula : "a + S/B",
        comm->algorithm->formula ? "" : " (of the whole call)", comm->ranks);
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
static bool measure(const struct allreduce_params *p, const struct orch_comm *comm,
                    const struct orch_host *host, const GArray *sizes,
                    struct orch_alpha_beta_point *points, GError **error)
{
    const struct allreduce_rule rule = {.warmup = p->warmup,
                                        .repeats = p->repeats,
                                        .seed = host->derive_seed(host, "numbers"),
                                        .seconds_max = p->time_limit};
    for (guint i = 0; i < sizes->len; i++) {
        const int64_t bytes = g_array_index(sizes, int64_t, i);
        struct allreduce_times times;
        bool is_cancelled;
        g_autofree float *room = g_try_malloc((gsize)bytes);
        if (!room) {
            orch_error_set(error, ORCH_ERROR_TRIAL, "leave out the largest of bytes",
                           "no memory for %" G_GINT64_FORMAT " bytes", bytes);
            return false;
        }
        host->progress(host, i, sizes->len);
        if (!orch_allreduce_time(comm, host, room, (size_t)bytes / sizeof *room, &rule, &times,
                                 &is_cancelled, error) ||
            is_cancelled)
            return false;
        report_size(comm, host, bytes, &times);
        points[i] = (struct orch_alpha_beta_point){cost_of(comm), (double)bytes, times.median_s};
    }
    return true;
}

static int work(const struct allreduce_params *p, const struct orch_comm *comm,
                const struct orch_host *host, GError **error)
{
    g_autoptr(GArray) sizes = sizes_of(p, host);
    g_autofree struct orch_alpha_beta_point *points =
        g_new0(struct orch_alpha_beta_point, sizes->len + 1);
    if (comm->ranks != p->workers)
        orch_error_set(error, ORCH_ERROR_RECIPE, "leave out resources: ranks",
                       "workers: %d, but resources: ranks starts %d", (int)p->workers, comm->ranks);
    else if (measure(p, comm, host, sizes, points, error))
        report_fit(comm, host, points, sizes->len);
    else if (!*error)
        return ORCH_CANCELLED;
    return *error ? ORCH_FAILED : ORCH_OK;
}

/* A worker that failed alone leaves the others in an all-reduce: it does not wait for them. */
int orch_allreduce_run(void *state, const void *params, const struct orch_host *host)
{
    const struct allreduce_params *p = params;
    struct orch_comm comm = {0};
    GError *error = NULL;
    (void)state;
    int status = ORCH_FAILED;
    if (orch_mpi_start(orch_comm_algorithm_find(p->algorithm), (int)p->workers_per_node, &comm,
                       &error))
        status = work(p, &comm, host, &error);
    if (error) {
        host->fail(host, error->message);
        g_error_free(error);
    } else {
        orch_mpi_end(&comm);
    }
    return status;
}
