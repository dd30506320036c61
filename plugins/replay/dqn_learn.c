/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Learning: a batch from the buffer, an update of the network, new priorities. */
#include "plugins/replay/dqn_private.h"

static bool update(struct orch_dqn *d, bool *out_diverged, GError **error)
{
    struct orch_sampled_batch *b = &d->batch;
    const double beta = orch_replay_settings_beta(&d->params, MIN(d->step, d->params.steps));
    struct orch_q_report report;
    const int64_t start_us = g_get_monotonic_time();
    if (!orch_sampled_batch_draw(b, d->buffer, beta, error))
        return false;
    const struct orch_q_batch view = orch_sampled_batch_view(b);
    d->waiting_us += g_get_monotonic_time() - start_us;
    orch_q_learner_rate_set(d->learner, orch_replay_settings_rate(&d->params, d->step));
    if (!orch_q_learner_train(d->learner, &view, b->errors, &report, out_diverged, error) ||
        !orch_replay_update(d->buffer, b->raw.places, b->errors, b->count, error))
        return false;
    d->learning_us += g_get_monotonic_time() - start_us;
    d->updates++;
    orch_learning_curve_update(&d->curve, report.loss, report.mean_value);
    return true;
}

/* One update for each train_every steps since learning began. */
bool orch_dqn_learn(struct orch_dqn *d, bool *out_diverged, GError **error)
{
    if (d->step < d->params.learning_starts || orch_replay_ready(d->buffer) < d->params.batch) {
        d->updates_due_at = d->step;
        return true;
    }
    for (; d->updates_due_at + d->params.train_every <= d->step;
         d->updates_due_at += d->params.train_every)
        if (!update(d, out_diverged, error))
            return false;
    return true;
}
