/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Updates of Ape-X's learner. */
#include "plugins/replay/apex_private.h"

static bool update(struct apex *a, bool *out_diverged, GError **error)
{
    struct orch_sampled_batch *b = &a->batch;
    struct orch_q_report report;
    const int64_t start_us = g_get_monotonic_time();
    const double beta = orch_replay_settings_beta(&a->p, MIN(a->step, a->p.steps));
    if (!orch_sampled_batch_draw(b, a->buffer, beta, error))
        return false;
    const struct orch_q_batch view = orch_sampled_batch_view(b);
    a->waiting_us += g_get_monotonic_time() - start_us;
    orch_q_learner_rate_set(a->learner, orch_replay_settings_rate(&a->p, a->step));
    if (!orch_q_learner_train(a->learner, &view, b->errors, &report, out_diverged, error) ||
        !orch_replay_update(a->buffer, b->raw.places, b->errors, b->count, error))
        return false;
    a->learning_us += g_get_monotonic_time() - start_us;
    a->updates++;
    orch_learning_curve_update(&a->curve, report.loss, report.mean_value);
    return true;
}

bool orch_apex_publish(struct apex *a, GError **error)
{
    if (!orch_q_net_get(orch_q_learner_net(a->learner), a->parameters, error))
        return false;
    orch_actor_share_publish(a->share, a->parameters, a->updates);
    return true;
}

bool orch_apex_learn(struct apex *a, bool *out_diverged, GError **error)
{
    const int64_t before = a->updates;
    while (a->step >= a->p.learning_starts + (a->updates + 1) * a->p.train_every &&
           orch_replay_ready(a->buffer) >= a->p.batch)
        if (!update(a, out_diverged, error))
            return false;
    return a->updates == before || orch_apex_publish(a, error);
}
