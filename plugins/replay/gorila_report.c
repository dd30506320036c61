/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/replay/gorila_private.h"
#include "plugins/replay/process_report.h"

#include <math.h>

/* What all learners have done. */
static struct orch_gorila_counts sum_counts(struct gorila *g)
{
    struct orch_gorila_counts sum = {
        .stale_steps = g->stale_steps, .stale_sum = g->stale_sum, .stale_most = g->stale_most};
    for (int64_t i = 0; i < g->p.learners; i++) {
        const struct orch_gorila_counts *c = orch_gorila_share_counts(g->learners, i);
        sum.gradients += c->gradients;
        sum.losses_dropped += c->losses_dropped;
        sum.follows += c->follows;
        sum.learning_us += c->learning_us;
        sum.waiting_us += c->waiting_us;
        sum.idle_us += c->idle_us;
        sum.stale_steps += c->stale_steps;
        sum.stale_sum += c->stale_sum;
        sum.stale_most = fmax(sum.stale_most, c->stale_most);
        sum.buffer_bytes += c->buffer_bytes;
    }
    sum.buffer_bytes += g->buffer ? orch_replay_bytes(g->buffer) : 0;
    return sum;
}

static void report_histogram(const struct gorila *g, const GArray *by_staleness)
{
    for (guint i = 0; i < by_staleness->len; i++) {
        const int64_t count = g_array_index(by_staleness, int64_t, i);
        if (count > 0)
            g->host->metric(g->host, "gradients_by_staleness", i, (double)count);
    }
}

static void report_processes(const struct gorila *g, const struct orch_gorila_counts *sum,
                             const struct orch_gorila_server_counts *server, double time_s)
{
    const struct orch_actor_traffic traffic = orch_actor_share_traffic(g->actors);
    const int64_t frames = orch_gorila_share_frames(g->learners);
    const struct orch_process_report all = {
        .frames = frames,
        .updates = server->updates,
        .learners = g->p.learners,
        .samples = sum->gradients * g->p.batch,
        .time_s = time_s,
        .moved_frames = frames,
        .step_bytes = traffic.step_bytes,
        .batch_bytes = orch_gorila_share_bytes(g->learners, ORCH_GORILA_BATCHES),
        .gradient_bytes = orch_gorila_share_bytes(g->learners, ORCH_GORILA_GRADIENTS),
        .parameter_bytes = traffic.parameter_bytes,
        .stale_steps = sum->stale_steps,
        .stale_sum = sum->stale_sum,
        .stale_most = sum->stale_most,
        .gradients = server->updates + server->dropped,
        .gradient_stale_sum = server->stale_sum,
        .gradient_stale_most = (double)server->stale_most,
        .epsilons = orch_replay_epsilons(&g->p, g->p.envs, frames)};
    orch_process_report(&all, g->host);
}

void orch_gorila_report(struct gorila *g)
{
    const struct orch_host *host = g->host;
    const struct orch_gorila_counts sum = sum_counts(g);
    const struct orch_gorila_server_counts server = orch_gorila_server_counts(g->server);
    /* learners work at once, so their time is the mean of theirs */
    const double time_s =
        orch_learning_curve_finish_learner(&g->curve, orch_gorila_share_frames(g->learners),
                                           &(struct orch_learner_counts){
                                               .updates = server.updates,
                                               .batch = g->p.batch,
                                               .learning_us = sum.learning_us / g->p.learners,
                                               .waiting_us = sum.waiting_us / g->p.learners,
                                               .buffer_bytes = sum.buffer_bytes,
                                           });
    report_processes(g, &sum, &server, time_s);
    report_histogram(g, server.by_staleness);
    host->result(host, "actors_died", (double)g->actors_died);
    host->result(host, "learners_died", (double)g->learners_died);
    host->result(host, "idle_share", (double)sum.idle_us / 1e6 / time_s / (double)g->p.learners);
    host->result(host, "gradients", (double)sum.gradients);
    host->result(host, "gradients_dropped", (double)server.dropped);
    host->result(host, "losses_dropped", (double)sum.losses_dropped);
    host->result(host, "target_updates", (double)sum.follows / (double)g->p.learners);
}
