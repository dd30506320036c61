/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/live_trial.h"

#include "core/plan/executor.h"

#include "lib/base/json.h"
#include "lib/wire/journal.h"
#include "lib/wire/system_metrics.h"
#include "store/write/forecast.h"

enum { NOTES_MAX = 20 };

static void read_forecast(struct orch_store *store, const char *key, struct orch_live_trial *out)
{
    struct orch_forecast_row row;
    out->has_forecast = orch_store_forecast_of(store, key, &row, NULL);
    if (!out->has_forecast)
        return;
    out->forecast_s = row.time_s;
}

/* Estimates the remaining time from the trial's progress (struct orch_running_point), or from its
 * forecast when it reports none. */
static void find_left(const GArray *progress, double now_s, struct orch_live_trial *out)
{
    if (!out->is_alive)
        return;
    out->has_left = orch_time_left(progress, out->total, now_s, &out->left);
    if (out->has_left || !out->has_forecast)
        return;
    out->has_left = orch_time_left_of_forecast(out->forecast_s, now_s, &out->left);
    out->is_longer = !out->has_left;
}

static void take_event(const struct orch_event *event, GArray *progress,
                       struct orch_live_trial *out)
{
    for (size_t i = 0; event->kind == ORCH_EVENT_METRICS && i < event->point_count; i++) {
        if (orch_metric_is_system(event->points[i].name))
            continue;
        json_object_set_new(out->last, event->points[i].name,
                            orch_json_real(event->points[i].value));
        out->points++;
    }
    if (event->kind == ORCH_EVENT_NOTE && json_array_size(out->notes) < NOTES_MAX)
        json_array_append_new(out->notes, json_string(event->text));
    if (event->kind == ORCH_EVENT_PROGRESS) {
        orch_running_add(progress, event, &out->total);
        out->done = event->value;
        out->total = event->total;
    }
}

void orch_live_trial_read(struct orch_store *store, const struct orch_active_row *row,
                          struct orch_live_trial *out)
{
    g_autofree char *path = g_build_filename(row->trial_dir, "journal", NULL);
    g_autoptr(GArray) progress = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
    struct orch_journal *journal = orch_journal_open(path, NULL);
    struct orch_event event;
    *out = (struct orch_live_trial){.record = json_loads(row->record ? row->record : "{}", 0, NULL),
                                    .last = json_object(),
                                    .notes = json_array()};
    while (journal && orch_journal_next(journal, &event, NULL)) {
        take_event(&event, progress, out);
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    out->is_alive = orch_active_is_alive(row);
    read_forecast(store, row->key, out);
    find_left(progress, (double)(orch_now_ns() - row->started_ns) / 1e9, out);
}

void orch_live_trial_clear(struct orch_live_trial *trial)
{
    json_decref(trial->record);
    json_decref(trial->last);
    json_decref(trial->notes);
    *trial = (struct orch_live_trial){0};
}

bool orch_live_trial_elsewhere(const struct orch_live_trial *trial, const char *gpu,
                               struct orch_time_left_on_gpu *out, GError **error)
{
    double share = trial->total > 0 ? 1 - CLAMP(trial->done / trial->total, 0, 1) : 1;
    return orch_time_left_on_other_gpu(trial->record, gpu, share,
                                       trial->has_left ? &trial->left : NULL, out, error);
}
