/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial of several workers reports at its end. */
#include "lib/base/text.h"
#include "plugins/common/training/notes.h"
#include "plugins/scaling/mpi/scaling_trial.h"

static int64_t parameter_bytes(const struct orch_session *session)
{
    int64_t count = 0;
    for (size_t i = 0; i < session->torch->tensor_count(session->model); i++) {
        struct orch_torch_tensor t;
        session->torch->tensor_describe(session->model, i, &t);
        count += t.is_parameter ? t.count : 0;
    }
    return count * (int64_t)sizeof(float);
}

/* ---- cost --------------------------------------------------------------------------------------
 */

/* Price of all workers for an hour: the parameter's for each worker, else that of each worker's
 * GPU, or of each machine, as the host knows it. 0: not known. Notes where it is from. */
static double usd_per_hour(const struct scaling *s)
{
    const struct orch_slot *slot = &s->workers.slot;
    const int ranks = s->workers.comm.ranks, local = s->workers.comm.local;
    const int devices = s->is_on_gpu ? ranks : (ranks + local - 1) / local;
    const char *device = s->is_on_gpu ? "GPU" : "machine";
    if (s->params->price > 0)
        return ranks * s->params->price;
    if (slot->usd_per_hour <= 0 || s->is_on_gpu != (slot->gpus > 0)) {
        orch_training_note(s->session->host, "no cost: no price of this %s is known; set 'price'",
                           device);
        return 0;
    }
    orch_training_note(s->session->host, "cost: %d %s%s at $%.4g an hour each (%s)", devices,
                       device, orch_plural(devices), slot->usd_per_hour,
                       slot->price_from ? slot->price_from : "of unknown source");
    return devices * slot->usd_per_hour;
}

static void report_cost(const struct scaling *s)
{
    const struct orch_host *host = s->workers.real;
    const double usd = usd_per_hour(s);
    if (usd <= 0)
        return;
    host->result(host, "usd_per_hour", usd);
    host->result(host, "cost", s->total_s / 3600 * usd);
}

/* ---- times -------------------------------------------------------------------------------------
 */

/* Means over the timed steps. */
static void report_steps(const struct scaling *s)
{
    const struct orch_host *host = s->workers.real;
    const struct step_clocks *c = &s->clocks;
    const double steps = (double)c->steps, all_s = c->data_s + c->learn_s;
    const double whole = (double)(s->batch * s->workers.comm.ranks);
    host->result(host, "throughput", whole * steps / all_s);
    host->result(host, "step_time", all_s / steps);
    host->result(host, "data_time", c->data_s / steps);
    host->result(host, "compute_time", (c->learn_s - c->reduce.finish_s) / steps);
    host->result(host, "communication_time", c->reduce.busy_s / steps);
    host->result(host, "exposed_communication_time", c->reduce.finish_s / steps);
    host->result(host, "peer_wait_time", (c->reduce.finish_s - c->reduce.exposed_busy_s) / steps);
    if (c->reduce.busy_s > 0)
        host->result(host, "overlap", 1 - c->reduce.exposed_busy_s / c->reduce.busy_s);
    host->result(host, "reduced_bytes", (double)c->reduce.bytes / steps);
    host->result(host, "buckets", (double)c->reduce.buckets / steps);
    host->result(host, "timed_steps", steps);
}

static void report_epochs(const struct scaling *s)
{
    const struct orch_host *host = s->workers.real;
    const struct step_clocks *c = &s->clocks;
    host->result(host, "epoch_reduced_bytes",
                 (double)parameter_bytes(s->session) * (double)s->batches);
    host->result(host, "timed_epoch_time", c->epoch_s / (double)c->epochs);
    host->result(host, "timed_epoch_time_without_data",
                 (c->epoch_s - c->epoch_data_s) / (double)c->epochs);
    host->result(host, "total_time", s->total_s);
}

static void report_sizes(const struct scaling *s)
{
    const struct orch_host *host = s->workers.real;
    const int ranks = s->workers.comm.ranks;
    host->result(host, "effective_batch", (double)(s->batch * ranks));
    host->result(host, "worker_batch", (double)s->batch);
    host->result(host, "worker_count", ranks);
    host->result(host, "parameter_bytes", (double)parameter_bytes(s->session));
    if (s->reducer && !g_str_equal(s->params->compression, "none"))
        host->result(host, "compression_error", orch_reducer_error(s->reducer));
}

int orch_scaling_finish(void *ctx, const struct orch_session *session,
                        const struct orch_torch_totals *val, GError **error)
{
    struct scaling *s = ctx;
    char digest[65];
    (void)val;
    if (!orch_workers_check_weights(&s->workers, session->torch, session->model, digest, error))
        return -1;
    if (s->workers.comm.rank > 0)
        return ORCH_OK;
    orch_training_note(session->host, "weights of all workers: SHA-256 %s", digest);
    report_steps(s);
    report_epochs(s);
    report_cost(s);
    report_sizes(s);
    return ORCH_OK;
}
