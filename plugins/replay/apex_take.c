/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Taking steps from the actors' rings into the buffer. */
#include "plugins/replay/apex_private.h"

#include "lib/base/error.h"

#include <math.h>

enum { DEATHS_EVERY_US = 20000 };

static bool store(struct apex *a, int64_t actor, const struct orch_actor_step *s, GError **error)
{
    const int lane = (int)(actor * a->envs + s->env);
    const uint8_t end = (uint8_t)s->end;
    const struct orch_replay_steps step = {.count = 1,
                                           .frames = a->frame,
                                           .actions = &s->action,
                                           .rewards = &s->reward,
                                           .ends = &end,
                                           .priorities = &s->priority};
    if (!orch_replay_add(a->buffer, lane, &step, error))
        return false;
    if (s->end == ORCH_REPLAY_FINAL)
        return true;
    a->step++;
    orch_learning_curve_lane(&a->curve, a->step, lane, s->reward, end);
    if (s->version >= 0) {
        const double stale = (double)(a->updates - s->version);
        a->stale_steps++;
        a->stale_updates += stale;
        a->largest_stale = fmax(a->largest_stale, stale);
    }
    return true;
}

/* Steps that may have been taken before the next update. */
static int64_t allowed(const struct apex *a)
{
    return MIN(a->p.steps, a->p.learning_starts + a->p.batch + a->p.n_step * a->p.envs +
                               (a->updates + 1) * a->p.train_every);
}

bool orch_apex_take(struct apex *a, int64_t *out_taken, GError **error)
{
    const int64_t before = a->step, most = allowed(a);
    bool is_empty = false;
    struct orch_actor_step step;
    while (!is_empty && a->step < most) {
        is_empty = true;
        for (int64_t i = 0; i < a->p.actors && a->step < most; i++)
            if (orch_actor_share_pop(a->share, i, &step, a->frame)) {
                is_empty = false;
                if (!store(a, i, &step, error))
                    return false;
            }
    }
    *out_taken = a->step - before;
    orch_actor_share_set_frames(a->share, a->step);
    return true;
}

/* Training goes on while one actor lives. */
bool orch_apex_look_for_deaths(struct apex *a, GError **error)
{
    const int64_t now_us = g_get_monotonic_time();
    int64_t actor;
    char *how = NULL;
    if (now_us < a->deaths_at_us)
        return true;
    a->deaths_at_us = now_us + DEATHS_EVERY_US;
    while ((actor = orch_worker_pool_next_death(a->pool, &how)) >= 0) {
        g_autofree char *text =
            g_strdup_printf("actor %" G_GINT64_FORMAT " %s; training goes on with %" G_GINT64_FORMAT
                            " of %" G_GINT64_FORMAT,
                            actor, how, orch_worker_pool_alive(a->pool), a->p.actors);
        a->host->note(a->host, text);
        a->died++;
        g_free(how);
    }
    if (orch_worker_pool_alive(a->pool) > 0)
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, "their output on stderr may show why",
                   "all %" G_GINT64_FORMAT " actors have ended", a->p.actors);
    return false;
}
