/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The algorithm of Mnih et al. 2015, for several environments at once: act, store, learn. Equal
 * seeds give equal results, because environments, buffer and learner take turns on one thread. */
#include "plugins/replay/dqn_private.h"

struct orch_dqn *orch_dqn_new(const struct replay_params *params, const struct orch_host *host,
                              GError **error)
{
    struct orch_dqn *d = g_new0(struct orch_dqn, 1);
    d->params = *params;
    d->host = host;
    const struct orch_envs_options envs = orch_replay_settings_envs(params, host);
    d->envs = orch_envs_new(&envs, error);
    if (d->envs) {
        d->kind = orch_envs_kind(d->envs);
        d->exploration = orch_replay_settings_exploration(params);
        d->random = host->derive_seed(host, "actions");
        orch_dqn_stage_init(d);
        orch_sampled_batch_init(&d->batch, d->kind, params->frame_stack, params->batch);
        const struct orch_replay_options buffer =
            orch_replay_settings_buffer(params, d->kind, host);
        const struct orch_q_learner_options learner =
            orch_replay_settings_learner(params, d->kind, host);
        if ((d->buffer = orch_replay_new(&buffer, error)) &&
            (d->learner = orch_q_learner_new(&learner, error)))
            return d;
    }
    orch_dqn_free(d);
    return NULL;
}

void orch_dqn_free(struct orch_dqn *d)
{
    if (!d)
        return;
    orch_envs_free(d->envs);
    orch_replay_free(d->buffer);
    orch_q_learner_free(d->learner);
    orch_learning_curve_clear(&d->curve);
    orch_saved_clear(&d->saved);
    orch_dqn_stage_clear(d);
    orch_sampled_batch_clear(&d->batch);
    g_free(d);
}

static double shown_epsilon(const struct orch_dqn *d)
{
    double sum = 0;
    for (int64_t i = 0; i < d->params.envs; i++)
        sum += d->stage.epsilons[i];
    return sum / (double)d->params.envs;
}

static void report(const struct orch_dqn *d)
{
    orch_learning_curve_finish_learner(&d->curve, d->step,
                                       &(struct orch_learner_counts){
                                           .updates = d->updates,
                                           .batch = d->params.batch,
                                           .learning_us = d->learning_us,
                                           .waiting_us = d->waiting_us,
                                           .buffer_bytes = orch_replay_bytes(d->buffer),
                                       });
}

static int cancel(struct orch_dqn *d)
{
    GError *error = NULL;
    if (!orch_dqn_save(d, &error))
        orch_saved_note_failure(&d->saved, error);
    return ORCH_CANCELLED;
}

int orch_dqn_run(struct orch_dqn *d, GError **error)
{
    const struct orch_host *host = d->host;
    bool diverged = false;
    orch_learning_curve_init(&d->curve, host, d->params.envs, d->params.steps,
                             orch_replay_settings_solved(&d->params));
    orch_saved_init(&d->saved, host, d->params.checkpoint_every);
    if (!orch_dqn_resume(d, error))
        return ORCH_FAILED;
    host->phase(host, "training");
    while (d->step < d->params.steps) {
        if (host->cancelled(host))
            return cancel(d);
        if (orch_saved_is_due(&d->saved) && !orch_dqn_save(d, error))
            return ORCH_FAILED;
        if (!orch_dqn_act(d, error) || !orch_dqn_learn(d, &diverged, error))
            return diverged ? ORCH_DIVERGED : ORCH_FAILED;
        orch_learning_curve_point(&d->curve, d->step, shown_epsilon(d), d->step >= d->params.steps);
        host->progress(host, (double)d->step, (double)d->params.steps);
        if (d->params.stop_when_solved && orch_learning_curve_is_solved(&d->curve))
            break;
    }
    report(d);
    return ORCH_OK;
}
