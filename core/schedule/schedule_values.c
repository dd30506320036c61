/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the values of running trials for their searches, which may stop them early (struct
 * orch_chooser). Each journal is read once, as it grows. */
#include "core/schedule/schedule_private.h"

/* Events of a journal that are read in one turn of the loop, which has signals and other trials to
 * look after. */
#define EVENTS_A_TURN 4096

static const char *watched_metric(const struct run *run, const struct host *host)
{
    const struct orch_chooser *chooser = run->options->chooser;
    if (!chooser || !chooser->watched || !host->running.item->cell->point)
        return NULL;
    return chooser->watched(chooser->ctx, run->plan, host->job->index);
}

bool orch_schedule_watches_values(const struct run *run)
{
    for (guint i = 0; i < run->hosts->len; i++)
        if (watched_metric(run, run->hosts->pdata[i]))
            return true;
    return false;
}

/* Gives the chooser the values of one event; returns why the trial is stopped, or NULL. */
static char *give(const struct run *run, const struct host *host, const char *metric,
                  const struct orch_event *event)
{
    const struct orch_chooser *chooser = run->options->chooser;
    char *why = NULL;
    for (size_t i = 0; !why && event->kind == ORCH_EVENT_METRICS && i < event->point_count; i++)
        if (strcmp(event->points[i].name, metric) == 0)
            why = chooser->value(chooser->ctx, run->plan, &host->running, event->points[i].step,
                                 event->points[i].value);
    return why;
}

static void watch(struct run *run, struct host *host, const char *metric)
{
    if (!host->values) {
        g_autofree char *path = g_build_filename(host->running.trial_dir, "journal", NULL);
        host->values = orch_journal_open(path, NULL);
    }
    g_autofree char *why = NULL;
    struct orch_event event;
    unsigned count = 0;
    while (!why && host->values && count < EVENTS_A_TURN &&
           orch_journal_next(host->values, &event, NULL)) {
        why = give(run, host, metric, &event);
        orch_event_clear(&event);
        count++;
    }
    run->has_more_values = run->has_more_values || count == EVENTS_A_TURN;
    if (why)
        orch_schedule_prune_host(host, why);
}

void orch_schedule_watch_values(struct run *run)
{
    run->has_more_values = false;
    for (guint i = 0; i < run->hosts->len; i++) {
        struct host *host = run->hosts->pdata[i];
        const char *metric = host->cancelled || host->is_pruned ? NULL : watched_metric(run, host);
        if (metric)
            watch(run, host, metric);
    }
}
