/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trial of several workers reports at its end. */
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
    if (s->params->price > 0)
        host->result(host, "cost", s->total_s / 3600 * s->workers.comm.ranks * s->params->price);
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

bool orch_scaling_finish(void *ctx, const struct orch_session *session,
                         const struct orch_torch_totals *val, GError **error)
{
    struct scaling *s = ctx;
    char digest[65];
    (void)val;
    if (!orch_workers_check_weights(&s->workers, session->torch, session->model, digest, error))
        return false;
    if (s->workers.comm.rank > 0)
        return true;
    orch_training_note(session->host, "weights of all workers: SHA-256 %s", digest);
    report_steps(s);
    report_epochs(s);
    report_sizes(s);
    return true;
}
