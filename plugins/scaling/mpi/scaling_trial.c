/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opening a trial with all its workers, running and closing it. */
#include "plugins/scaling/mpi/scaling_trial.h"

#include "lib/base/error.h"
#include "plugins/common/comm/mpi_setup.h"
#include "plugins/common/training/notes.h"

#include <string.h>

/* ---- opening -----------------------------------------------------------------------------------
 */

static bool is_on_gpu(const struct scaling *s)
{
    const char *device = s->params->t.device;
    return strcmp(device, "auto") == 0 ? s->workers.slot.gpus > 0 : strcmp(device, "cpu") != 0;
}

/* Worker 0 says which memory layout it chose by measurement; buckets of two layouts differ. */
static bool tell_layout(struct scaling *s, int layout, int *out_layout, GError **error)
{
    s->has_layout = true;
    *out_layout = layout;
    return orch_mpi_ok(MPI_Bcast(out_layout, 1, MPI_INT, 0, s->workers.comm.world),
                       "agreeing on the memory layout", error);
}

static bool await_layout(void *ctx, struct orch_session *session, GError **error)
{
    struct scaling *s = ctx;
    int layout;
    (void)session;
    if (s->workers.comm.rank == 0)
        return true;
    if (!tell_layout(s, 0, &layout, error))
        return false;
    s->training.layout = layout ? "channels_last" : "plain";
    return true;
}

/* A sweep of batches until memory is full ends with trials that cannot run, which is no fault:
 * what LibTorch says of the memory of a GPU, and of a processor. */
static int end_of(struct scaling *s, int status)
{
    static const char *const texts[] = {"out of memory", "can't allocate memory"};
    const char *reason = s->workers.fail_text;
    if (status != ORCH_FAILED || !reason || strcmp(s->params->out_of_memory, "skip") != 0)
        return status;
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (!strstr(reason, texts[i]))
            continue;
        g_autofree char *why = g_strdup_printf("memory is full at %d images a worker: %s",
                                               (int)s->training.batch, reason);
        s->workers.host.fail(&s->workers.host, why);
        return ORCH_SKIPPED;
    }
    return status;
}

static int open_session(struct scaling *s)
{
    int layout;
    int status =
        orch_session_open_with(&s->training, &s->workers.host, await_layout, s, &s->session);
    const bool is_channels_last = status == ORCH_OK && s->session->channels_last;
    if (!s->has_layout && !tell_layout(s, is_channels_last, &layout, NULL))
        status = ORCH_FAILED;
    return orch_workers_agree(&s->workers, end_of(s, status));
}

/* The two steps of a smoke run have few images, which the workers share. */
static int64_t batch_of(const struct scaling *s)
{
    const bool is_smoke = s->workers.host.smoke(&s->workers.host);
    return is_smoke ? MAX(1, s->session->batch / s->params->workers) : s->session->batch;
}

static void note_oversubscription(const struct scaling *s)
{
    const struct orch_host *host = s->workers.real;
    const int64_t threads = s->training.threads > 0 ? s->training.threads : s->workers.slot.threads;
    const int64_t busy = threads * s->workers.comm.local;
    const bool is_oversubscribed = busy > s->workers.cpus;
    host->result(host, "oversubscribed", is_oversubscribed);
    if (is_oversubscribed && s->workers.comm.rank == 0)
        orch_training_note(host,
                           "too few CPUs: %d workers with %d threads each share %d CPUs, so the "
                           "times say nothing about scaling",
                           s->workers.comm.local, (int)threads, s->workers.cpus);
}

/* Each worker of a machine has the GPU of its number there. */
static bool choose_gpu(struct scaling *s, GError **error)
{
    const int needed = s->workers.comm.local, there = (int)s->workers.slot.gpus;
    if (strchr(s->params->t.device, ':')) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write device: cuda",
                       "device: '%s' is one GPU, but each of the %d workers needs its own",
                       s->params->t.device, (int)s->params->workers);
        return false;
    }
    if (there > 0 && there < needed) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "set resources: { gpus: WORKERS }",
                       "%d workers on a machine need a GPU each, but the trial has %d", needed,
                       there);
        return false;
    }
    if (!g_str_equal(s->params->compression, "none")) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write compression: none",
                       "compression: '%s' works only with workers on CPUs", s->params->compression);
        return false;
    }
    if (!g_str_equal(s->params->batch_norm, "local")) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "write batch_norm: local",
                       "batch_norm: '%s' works only with workers on CPUs", s->params->batch_norm);
        return false;
    }
    s->gpu = g_strdup_printf("cuda:%d", (int)s->workers.slot.local_rank);
    s->training.device = s->gpu;
    return true;
}

static int open_workers(struct scaling *s, const struct orch_host *host)
{
    const int status =
        orch_workers_open(&s->workers, host, orch_comm_algorithm_find(s->params->algorithm),
                          (int)s->params->workers_per_node);
    if (status != ORCH_OK)
        return status;
    if (s->workers.comm.ranks != s->params->workers) {
        orch_training_fail(host,
                           g_error_new(ORCH_ERROR, ORCH_ERROR_RECIPE,
                                       "workers: %d, but the experiment's resources have ranks: %d",
                                       (int)s->params->workers, s->workers.comm.ranks));
        return ORCH_FAILED;
    }
    s->is_on_gpu = is_on_gpu(s);
    GError *error = NULL;
    return s->workers.comm.ranks == 1 || !s->is_on_gpu || choose_gpu(s, &error)
               ? ORCH_OK
               : orch_training_fail(host, error);
}

void orch_scaling_close(void *state)
{
    struct scaling *s = state;
    orch_session_close(s->session);
    orch_reducer_free(s->reducer);
    orch_gpu_reducer_free(s->gpu_reducer);
    orch_workers_close(&s->workers, s->status);
    g_free(s->gpu);
    g_free(s);
}

int orch_scaling_open(const void *params, const struct orch_host *host, void **out_state)
{
    struct scaling *s = g_new0(struct scaling, 1);
    s->params = params;
    s->training = s->params->t;
    s->training.batch = orch_scaling_batch(s->params);
    s->status = open_workers(s, host);
    if (s->status == ORCH_OK)
        s->status = open_session(s);
    if (s->status == ORCH_OK) {
        s->batch = batch_of(s);
        note_oversubscription(s);
        *out_state = s;
        return ORCH_OK;
    }
    const int status = s->status;
    s->status = ORCH_OK; /* all workers end together */
    orch_scaling_close(s);
    return status;
}

int orch_scaling_run(void *state, const void *params, const struct orch_host *host)
{
    struct scaling *s = state;
    (void)params;
    (void)host;
    const struct orch_training_parts parts = {.ctx = s,
                                              .feed = orch_scaling_feed,
                                              .step = orch_scaling_step,
                                              .takes_gpu_batches = true,
                                              .after_epoch = orch_scaling_after_epoch,
                                              .after_training = orch_scaling_finish};
    s->status = end_of(s, orch_training_run_with(s->session, &s->workers.host, &parts));
    return s->status;
}
