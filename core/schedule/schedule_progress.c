/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the progress of running trials and estimates the remaining time of the run. */
#include "core/schedule/schedule_private.h"

#include "lib/base/reals.h"
#include "lib/wire/journal.h"
#include "lib/wire/system_metrics.h"

#include <math.h>

/* Maximum number of progress points; beyond it every other point is dropped. */
#define POINTS_MAX 4096

void orch_running_add(GArray *points, const struct orch_event *event, double *inout_total)
{
    struct orch_running_point point = {event->t_ms / 1e3, event->value};
    const struct orch_running_point *last =
        points->len ? &g_array_index(points, struct orch_running_point, points->len - 1) : NULL;
    if (!isfinite(point.t_s) || !isfinite(point.done) || (last && point.t_s <= last->t_s))
        return;
    if (last &&
        (point.done < last->done || event->total < *inout_total || event->total > *inout_total))
        g_array_set_size(points, 0);
    *inout_total = event->total;
    if (points->len >= POINTS_MAX) {
        for (guint i = 0; i < points->len / 2; i++)
            g_array_index(points, struct orch_running_point, i) =
                g_array_index(points, struct orch_running_point, 2 * i + 1);
        g_array_set_size(points, points->len / 2);
    }
    g_array_append_val(points, point);
}

static void look_at(struct orch_running *running, const struct orch_expansion *expansion)
{
    g_autofree char *path = g_build_filename(running->trial_dir, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, NULL);
    if (!journal)
        return;
    orch_journal_seek_tail(journal, 32768);
    struct orch_event event;
    while (orch_journal_next(journal, &event, NULL)) {
        if (event.kind == ORCH_EVENT_PROGRESS) {
            if (!running->points)
                running->points = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
            running->done = event.value;
            orch_running_add(running->points, &event, &running->total);
            running->total = event.total;
        } else if (event.kind == ORCH_EVENT_PHASE) {
            g_strlcpy(running->phase, event.name, sizeof running->phase);
        } else if (event.kind == ORCH_EVENT_METRICS && event.point_count &&
                   !orch_metric_is_system(event.points[0].name)) {
            for (size_t i = 0; i < event.point_count; i++)
                orch_running_show(running, expansion, event.points[i].name, event.points[i].value);
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
}

bool orch_schedule_forecast(const struct run *run, const struct orch_plan_item *item,
                            struct orch_forecast *out)
{
    const struct orch_forecaster *forecaster = run->options->forecaster;
    return forecaster && forecaster->forecast(forecaster->ctx, item, out);
}

/* Expected seconds of a trial of the experiment: the median of ended trials, else extrapolated from
 * a running trial's progress; NAN when nothing is known. */
static double expected_s(struct run *run, const struct orch_experiment *experiment)
{
    GArray *walls = g_hash_table_lookup(run->wall_by_experiment, experiment);
    if (walls && walls->len)
        return orch_reals_median((double *)(void *)walls->data, walls->len);
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
        if (running->item->cell->experiment == experiment && running->total > 0 &&
            running->done > 0)
            return elapsed * running->total / running->done;
    }
    return NAN;
}

/* Remaining seconds of a running trial: from its own pace, else its forecast, else the times of its
 * experiment's other trials. */
static double left_of(struct run *run, const struct orch_running *running)
{
    double elapsed = (double)(orch_mono_ns() - running->started_mono_ns) / 1e9;
    const GArray *points = running->points;
    if (points && points->len > 1 && running->total > running->done) {
        const struct orch_running_point *first =
            &g_array_index(points, struct orch_running_point, 0);
        const struct orch_running_point *last = first + points->len - 1;
        if (last->done > first->done)
            return (running->total - last->done) * (last->t_s - first->t_s) /
                       (last->done - first->done) -
                   (elapsed - last->t_s);
    }
    if (running->has_forecast)
        return running->forecast_s.mid - elapsed;
    return expected_s(run, running->item->cell->experiment) - elapsed;
}

static double estimate(struct run *run)
{
    double total = 0;
    for (unsigned i = 0; i < run->order_count; i++) {
        const struct job *job = &run->jobs[run->order[i]];
        const struct orch_plan_item *item = &run->plan->items[job->index];
        struct orch_forecast forecast;
        if (job->status == JOB_TODO)
            total += orch_schedule_forecast(run, item, &forecast)
                         ? forecast.time_s.mid
                         : expected_s(run, item->cell->experiment);
    }
    total /= run->options->slots;
    double longest = 0;
    for (guint i = 0; i < run->hosts->len; i++) {
        const struct orch_running *running = run->hosts->pdata[i];
        double left = left_of(run, running);
        if (isnan(left))
            return NAN;
        longest = MAX(longest, left);
    }
    return total + longest / (run->options->slots > 1 ? 2 : 1);
}

void orch_schedule_tick(struct run *run)
{
    int64_t now = orch_mono_ns();
    if (!run->options->live || !run->listener->tick || run->asked->len ||
        now - run->last_tick_ns < 100000000)
        return;
    run->last_tick_ns = now;
    for (guint i = 0; i < run->hosts->len; i++)
        look_at(run->hosts->pdata[i], run->plan->expansion);
    run->totals.eta_s = estimate(run);
    run->totals.held = orch_schedule_away(run);
    run->totals.saved_share = orch_schedule_saved_share(run);
    run->listener->tick(run->listener->ctx, (const struct orch_running *const *)run->hosts->pdata,
                        run->hosts->len, &run->totals);
}

void orch_schedule_emit(struct run *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (run->listener->message)
        run->listener->message(run->listener->ctx, text);
}
