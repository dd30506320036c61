/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch show` of a running trial: its journal so far, and the remaining time. */
#include "core/cli/show.h"

#include "core/cli/forecast_show.h"
#include "core/forecast/time_left.h"
#include "lib/base/json.h"
#include "lib/wire/journal.h"
#include "store/forecast.h"

#include <math.h>
#include <string.h>

/* The state of a running trial, from its journal. */
struct going {
    json_t *record, *last; /* its description; the last value of each metric */
    int64_t points;
    double done, total; /* progress; total 0: not reported */
    GArray *progress;   /* struct orch_running_point */
    bool is_alive, has_left;
    bool has_forecast, is_longer; /* it has a forecast; it has already run longer than forecast */
    struct orch_forecast_row forecast;
    struct orch_remaining left;
};

/* Estimates the remaining time from the trial's progress, or from its forecast when it reports
 * none. */
static void find_left(struct orch_store *store, const struct orch_active_row *row,
                      struct going *out)
{
    double now_s = (double)(orch_now_ns() - row->started_ns) / 1e9;
    out->has_forecast = orch_store_forecast_of(store, row->key, &out->forecast, NULL);
    if (!out->is_alive)
        return;
    out->has_left = orch_time_left(out->progress, out->total, now_s, &out->left);
    if (out->has_left || !out->has_forecast)
        return;
    const struct orch_forecast_row *f = &out->forecast;
    out->has_left = orch_time_left_of_forecast(f->p5_s, f->p50_s, f->p95_s, now_s, &out->left);
    out->is_longer = !out->has_left;
}

static void read_going(struct orch_store *store, const struct orch_active_row *row,
                       struct going *out)
{
    g_autofree char *path = g_build_filename(row->trial_dir, "journal", NULL);
    struct orch_journal *journal = orch_journal_open(path, NULL);
    struct orch_event event;
    out->record = json_loads(row->record ? row->record : "{}", 0, NULL);
    out->last = json_object();
    out->progress = g_array_new(FALSE, FALSE, sizeof(struct orch_running_point));
    while (journal && orch_journal_next(journal, &event, NULL)) {
        for (size_t i = 0; event.kind == ORCH_EVENT_METRICS && i < event.point_count;
             i++, out->points++)
            json_object_set_new(out->last, event.points[i].name,
                                orch_json_real(event.points[i].value));
        if (event.kind == ORCH_EVENT_PROGRESS) {
            orch_running_add(out->progress, &event, &out->total);
            out->done = event.value;
            out->total = event.total;
        }
        orch_event_clear(&event);
    }
    orch_journal_close(journal);
    out->is_alive = orch_process_is_alive(&row->runner);
    find_left(store, row, out);
}

static void release_going(struct going *going)
{
    json_decref(going->record);
    json_decref(going->last);
    g_array_unref(going->progress);
}

static json_t *remaining_json(const struct going *g)
{
    if (!g->has_left)
        return json_null();
    return json_pack("{s:o s:o s:o s:o s:s s:o}", "seconds", orch_json_finite(g->left.seconds),
                     "low_s", orch_json_finite(g->left.low_s), "high_s",
                     orch_json_finite(g->left.high_s), "tau_s", orch_json_finite(g->left.tau_s),
                     "estimate", g->left.estimate, "drift", orch_json_finite(g->left.drift));
}

static json_t *going_json(const struct orch_active_row *row, const struct going *g,
                          const struct orch_time_left_on_gpu *there)
{
    json_t *json = json_pack("{s:s s:s s:O s:I s:O}", "key", row->key, "state",
                             g->is_alive ? "running" : "interrupted", "last", g->last, "points",
                             (json_int_t)g->points, "record", g->record ? g->record : json_null());
    if (g->total > 0)
        json_object_set_new(json, "progress",
                            json_pack("{s:o s:o}", "done", orch_json_finite(g->done), "total",
                                      orch_json_finite(g->total)));
    json_object_set_new(json, "remaining", remaining_json(g));
    if (g->has_forecast) {
        const struct orch_forecast_row *f = &g->forecast;
        json_object_set_new(json, "forecast",
                            json_pack("{s:o s:o s:o s:b}", "total_s", orch_json_finite(f->p50_s),
                                      "low_s", orch_json_finite(f->p5_s), "high_s",
                                      orch_json_finite(f->p95_s), "longer_than_forecast",
                                      g->is_longer));
    }
    if (there->tier)
        json_object_set_new(json, "elsewhere",
                            json_pack("{s:s s:s s:o s:o s:o s:s}", "gpu", there->gpu, "tier",
                                      there->tier, "seconds", orch_json_finite(there->seconds),
                                      "low_s", orch_json_finite(there->low_s), "high_s",
                                      orch_json_finite(there->high_s), "because", there->why));
    return json;
}

static void print_going(const struct orch_active_row *row, const struct going *g,
                        const struct orch_time_left_on_gpu *there)
{
    g_autofree char *ago = orch_cli_ago(row->started_ns);
    orch_cli_print("run %s: %s, %s", orch_cli_short_key(row->key),
                   orch_json_text(g->record, "experiment", "?"),
                   g->is_alive ? "running" : "interrupted (the next 'orch run' closes it)");
    show_line("key", "%s", row->key);
    show_line("started", "%s", ago);
    if (g->total > 0)
        show_line("progress", "%.4g of %.4g (%d %%)", g->done, g->total,
                  (int)(100 * CLAMP(g->done / g->total, 0, 1)));
    if (g->has_left) {
        g_autofree char *text = cli_span_text(g->left.low_s, g->left.seconds, g->left.high_s);
        show_line("remaining", "%s%s", text,
                  strcmp(g->left.estimate, "forecast") == 0 ? ", by the forecast" : "");
    }
    if (g->is_longer) {
        g_autofree char *whole =
            cli_span_text(g->forecast.p5_s, g->forecast.p50_s, g->forecast.p95_s);
        show_line("remaining", "longer than forecast: that was %s in all", whole);
    }
    if (there->tier) {
        g_autofree char *text = cli_span_text(there->low_s, there->seconds, there->high_s);
        show_line("on that GPU", "%s on %s, %s: %s", text, there->gpu, there->tier, there->why);
    }
    show_line("folder", "%s", row->trial_dir);
    show_line("points", "%" G_GINT64_FORMAT, g->points);
    show_values("last values", g->last, true);
}

int show_active(struct orch_cli *cli, struct orch_store *store, const struct orch_active_row *row,
                const char *on, GError **error)
{
    struct going going = {0};
    struct orch_time_left_on_gpu there = {0};
    read_going(store, row, &going);
    double share = going.total > 0 ? 1 - CLAMP(going.done / going.total, 0, 1) : 1;
    bool ok =
        !on || orch_time_left_on_other_gpu(going.record, on, share,
                                           going.has_left ? &going.left : NULL, &there, error);
    if (ok && cli->json)
        orch_cli_print_json(going_json(row, &going, &there));
    else if (ok)
        print_going(row, &going, &there);
    orch_time_left_on_gpu_release(&there);
    release_going(&going);
    return ok ? ORCH_EXIT_OK : -1;
}
