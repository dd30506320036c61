/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameter server's side. It takes the learners' gradients in turns, applies them and
 * publishes the parameters, until the actors have made all steps of the training. Each replay
 * memory takes as many steps as `train_every` allows for its gradients so far, so trials with few
 * and with many learners learn from the same number of samples a step. */
#include "plugins/replay/gorila_private.h"

#include "lib/base/error.h"
#include "plugins/replay/actor_setup.h"

#include <math.h>

enum { IDLE_US = 50, STALENESS_POINTS = 1000 };

/* Takes the gradients of one learner. Sets `*out_diverged` for a loss that is not finite. */
static bool take_gradients(struct gorila *g, int64_t learner, bool *out_diverged, GError **error)
{
    const int64_t frames = orch_gorila_share_frames(g->learners);
    const struct orch_gorila_gradient *gradient =
        orch_gorila_share_peek(g->learners, ORCH_GORILA_GRADIENTS, learner);
    if (!gradient)
        return true;
    *out_diverged = !isfinite(gradient->loss);
    if (*out_diverged) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "try a smaller 'lr'",
                       "a loss of learner %" G_GINT64_FORMAT " is not finite", learner);
        return false;
    }
    const int64_t updates = orch_gorila_server_counts(g->server).updates;
    if (g->points++ < STALENESS_POINTS)
        g->host->metric(g->host, "gradient_staleness", g->points,
                        (double)(updates - gradient->version));
    if (orch_gorila_server_take(g->server, (const float *)(const void *)(gradient + 1),
                                gradient->version, orch_replay_settings_rate(&g->p, frames)))
        orch_learning_curve_update(&g->curve, gradient->loss, gradient->mean_value);
    orch_gorila_share_drop(g->learners, ORCH_GORILA_GRADIENTS, learner);
    return true;
}

static void take_episodes(struct gorila *g, int64_t learner)
{
    const struct orch_gorila_episode *e;
    while ((e = orch_gorila_share_peek(g->learners, ORCH_GORILA_EPISODES, learner))) {
        orch_learning_curve_lane(&g->curve, e->step, 0, (float)e->value, ORCH_ENV_TERMINATED);
        orch_gorila_share_drop(g->learners, ORCH_GORILA_EPISODES, learner);
    }
}

/* One turn of the server. Sets `*out_status` where training ends early. */
static bool turn(struct gorila *g, int *out_status, GError **error)
{
    const int64_t points = g->points, frames = orch_gorila_share_frames(g->learners);
    bool diverged = false, worked = false;
    *out_status = ORCH_FAILED;
    for (int64_t i = 0; i < g->p.learners; i++) {
        take_episodes(g, i);
        if (!take_gradients(g, i, &diverged, error)) {
            *out_status = ORCH_DIVERGED;
            return false;
        }
    }
    if (g->is_central && !orch_gorila_serve_batches(g, &worked, error))
        return false;
    orch_actor_share_set_frames(g->actors, orch_gorila_share_frames(g->learners));
    if (!worked && g->points == points && orch_gorila_share_frames(g->learners) == frames)
        g_usleep(IDLE_US);
    return orch_gorila_look_for_deaths(g, error);
}

static bool is_over(const struct gorila *g)
{
    return orch_gorila_share_frames(g->learners) >= g->p.steps ||
           (g->p.stop_when_solved && orch_learning_curve_is_solved(&g->curve));
}

/* A point of the series: during the training when it is time, and one at its end. */
static void point(struct gorila *g, bool is_last)
{
    const int64_t frames = orch_gorila_share_frames(g->learners);
    if (is_last || frames < g->p.steps)
        orch_learning_curve_point(&g->curve, frames,
                                  orch_replay_epsilons(&g->p, g->p.envs, frames).mean, is_last);
}

static int train(struct gorila *g, GError **error)
{
    int status = ORCH_OK;
    orch_learning_curve_init(&g->curve, g->host, g->p.envs, g->p.steps,
                             orch_replay_settings_solved(&g->p));
    g->host->phase(g->host, "training");
    while (!is_over(g)) {
        if (g->host->cancelled(g->host))
            return ORCH_CANCELLED;
        if (!turn(g, &status, error))
            return status;
        point(g, false);
        g->host->progress(g->host, (double)orch_gorila_share_frames(g->learners),
                          (double)g->p.steps);
    }
    orch_gorila_stop(g);
    for (int64_t i = 0; i < g->p.learners; i++)
        take_episodes(g, i);
    point(g, true);
    orch_gorila_report(g);
    return ORCH_OK;
}

int orch_gorila_run(const struct replay_params *params, const struct orch_host *host,
                    GError **error)
{
    struct gorila g = {.p = *params,
                       .host = host,
                       .envs = params->envs,
                       .is_central = orch_replay_settings_is_central(params)};
    int status = ORCH_FAILED;
    g.p.envs *= g.p.actors;
    if (orch_gorila_init(&g, error) && orch_gorila_start(&g, error))
        status = train(&g, error);
    else if (error && g_error_matches(*error, ORCH_ERROR, ORCH_ERROR_PLUGIN))
        status = ORCH_SKIPPED; /* LibTorch or a program is missing */
    orch_gorila_clear(&g);
    return status;
}
