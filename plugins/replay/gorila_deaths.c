/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that end too early. A learner with its own replay memory and its actors are a bundle:
 * when the learner is gone, nobody takes the steps of these actors, and they are ended, too. */
#include "plugins/replay/gorila_private.h"

#include "lib/base/error.h"

enum { DEATHS_EVERY_US = 20000 };

static void note(const struct gorila *g, const char *what, int64_t index, const char *how,
                 const struct orch_worker_pool *pool, int64_t of)
{
    g_autofree char *text =
        g_strdup_printf("%s %" G_GINT64_FORMAT " %s; training goes on with %" G_GINT64_FORMAT
                        " of %" G_GINT64_FORMAT "%s",
                        what, index, how, orch_worker_pool_alive(pool), of,
                        pool == g->learner_pool && !g->is_central ? " and without its actors" : "");
    g->host->note(g->host, text);
}

/* Whether a learner that lives gets steps from an actor that lives. */
static bool goes_on(const struct gorila *g)
{
    for (int64_t i = 0; i < g->p.learners; i++) {
        if (!orch_worker_pool_is_alive(g->learner_pool, i))
            continue;
        if (g->is_central)
            return orch_worker_pool_alive(g->actor_pool) > 0;
        for (int64_t actor = i; actor < g->p.actors; actor += g->p.learners)
            if (orch_worker_pool_is_alive(g->actor_pool, actor))
                return true;
    }
    return false;
}

static void end_bundle(struct gorila *g, int64_t learner)
{
    for (int64_t i = learner; !g->is_central && i < g->p.actors; i += g->p.learners)
        orch_worker_pool_kill(g->actor_pool, i);
}

bool orch_gorila_look_for_deaths(struct gorila *g, GError **error)
{
    const int64_t now_us = g_get_monotonic_time();
    int64_t index;
    char *how = NULL;
    if (now_us < g->deaths_at_us)
        return true;
    g->deaths_at_us = now_us + DEATHS_EVERY_US;
    while ((index = orch_worker_pool_next_death(g->actor_pool, &how)) >= 0) {
        note(g, "actor", index, how, g->actor_pool, g->p.actors);
        g->actors_died++;
        g_clear_pointer(&how, g_free);
    }
    while ((index = orch_worker_pool_next_death(g->learner_pool, &how)) >= 0) {
        note(g, "learner", index, how, g->learner_pool, g->p.learners);
        g->learners_died++;
        g_clear_pointer(&how, g_free);
        end_bundle(g, index);
    }
    if (goes_on(g))
        return true;
    orch_error_set(error, ORCH_ERROR_TRIAL, "their output on stderr may show why",
                   "no learner has actors any more: %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT
                   " actors and %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT " learners have ended",
                   g->actors_died, g->p.actors, g->learners_died, g->p.learners);
    return false;
}
