/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The learner's side. As many steps are taken from the actors as `train_every` allows for the
 * updates so far, so that runs with few and with many actors learn from the same number of samples
 * a step; actors that are faster wait for room in their rings, and a learner that is faster waits
 * for steps. */
#include "plugins/replay/apex_private.h"

#include "lib/base/error.h"
#include "plugins/replay/actor_setup.h"
#include "plugins/replay/process_report.h"

enum { IDLE_US = 50 };

static void report(const struct apex *a)
{
    const struct orch_host *host = a->host;
    const double time_s =
        orch_learning_curve_finish_learner(&a->curve, a->step,
                                           &(struct orch_learner_counts){
                                               .updates = a->updates,
                                               .batch = a->p.batch,
                                               .learning_us = a->learning_us,
                                               .waiting_us = a->waiting_us,
                                               .buffer_bytes = orch_replay_bytes(a->buffer),
                                           });
    host->result(host, "actors_died", (double)a->died);
    host->result(host, "idle_share", (double)a->idle_us / 1e6 / time_s);
    const struct orch_actor_traffic traffic = orch_actor_share_traffic(a->share);
    const struct orch_process_report all = {
        .frames = a->step,
        .updates = a->updates,
        .learners = 1,
        .samples = a->updates * a->p.batch,
        .time_s = time_s,
        .moved_frames = a->step - a->begun_at,
        .step_bytes = traffic.step_bytes,
        .parameter_bytes = traffic.parameter_bytes,
        .stale_steps = a->stale_steps,
        .stale_sum = a->stale_updates,
        .stale_most = a->largest_stale,
        .gradients = a->updates, /* each is applied to the parameters that it was computed with */
        .epsilons = orch_replay_epsilons(&a->p, a->p.envs, a->step)};
    orch_process_report(&all, host);
}

/* One turn of the learner. Sets `*out_status` where training ends early. */
static bool turn(struct apex *a, int *out_status, GError **error)
{
    int64_t taken;
    bool diverged = false;
    *out_status = ORCH_FAILED;
    if (!orch_apex_take(a, &taken, error))
        return false;
    const int64_t before = a->updates;
    if (!orch_apex_learn(a, &diverged, error)) {
        *out_status = diverged ? ORCH_DIVERGED : ORCH_FAILED;
        return false;
    }
    if (taken == 0 && a->updates == before) {
        g_usleep(IDLE_US);
        a->idle_us += IDLE_US;
    }
    return orch_apex_look_for_deaths(a, error);
}

static int cancel(struct apex *a)
{
    GError *error = NULL;
    if (!orch_apex_save(a, &error))
        orch_saved_note_failure(&a->saved, error);
    return ORCH_CANCELLED;
}

static int train(struct apex *a, GError **error)
{
    int status = ORCH_OK;
    a->host->phase(a->host, "training");
    while (a->step < a->p.steps) {
        if (a->host->cancelled(a->host))
            return cancel(a);
        if (orch_saved_is_due(&a->saved) && !orch_apex_save(a, error))
            return ORCH_FAILED;
        if (!turn(a, &status, error))
            return status;
        orch_learning_curve_point(&a->curve, a->step,
                                  orch_replay_epsilons(&a->p, a->p.envs, a->step).mean,
                                  a->step >= a->p.steps);
        a->host->progress(a->host, (double)a->step, (double)a->p.steps);
        if (a->p.stop_when_solved && orch_learning_curve_is_solved(&a->curve))
            break;
    }
    report(a);
    return ORCH_OK;
}

int orch_apex_run(const struct replay_params *params, const struct orch_host *host, GError **error)
{
    struct apex a = {.p = *params, .host = host, .envs = params->envs};
    int status = ORCH_FAILED;
    a.p.envs *= a.p.actors;
    if (orch_apex_init(&a, error) && orch_apex_publish(&a, error) &&
        (a.pool = orch_actor_pool_new(a.share, error)))
        status = train(&a, error);
    else if (error && g_error_matches(*error, ORCH_ERROR, ORCH_ERROR_PLUGIN))
        status = ORCH_SKIPPED; /* LibTorch or the actors' program is missing */
    orch_apex_clear(&a);
    return status;
}
