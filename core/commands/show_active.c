/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `orch show` of a running trial: its journal so far, and the remaining time. */
#include "core/commands/show.h"

#include "core/cli/forecast_show.h"
#include "core/results/live_trial.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

static json_t *remaining_json(const struct orch_live_trial *g)
{
    if (!g->has_left)
        return json_null();
    return json_pack("{s:o s:o s:o s:o s:s s:o}", "seconds", orch_json_finite(g->left.left_s.mid),
                     "low_s", orch_json_finite(g->left.left_s.low), "high_s",
                     orch_json_finite(g->left.left_s.high), "tau_s",
                     orch_json_finite(g->left.tau_s), "estimate", g->left.estimate, "drift",
                     orch_json_finite(g->left.drift));
}

static json_t *going_json(const struct orch_active_row *row, const struct orch_live_trial *g,
                          const struct orch_time_left_on_gpu *there)
{
    json_t *json =
        json_pack("{s:s s:s s:O s:O s:I s:O}", "key", row->key, "state",
                  g->is_alive ? "running" : "interrupted", "last", g->last, "notes", g->notes,
                  "points", (json_int_t)g->points, "record", g->record ? g->record : json_null());
    if (g->total > 0)
        json_object_set_new(json, "progress",
                            json_pack("{s:o s:o}", "done", orch_json_finite(g->done), "total",
                                      orch_json_finite(g->total)));
    json_object_set_new(json, "remaining", remaining_json(g));
    if (g->has_forecast) {
        json_object_set_new(
            json, "forecast",
            json_pack("{s:o s:o s:o s:b}", "total_s", orch_json_finite(g->forecast_s.mid), "low_s",
                      orch_json_finite(g->forecast_s.low), "high_s",
                      orch_json_finite(g->forecast_s.high), "longer_than_forecast", g->is_longer));
    }
    if (there->tier)
        json_object_set_new(json, "elsewhere",
                            json_pack("{s:s s:s s:o s:o s:o s:s}", "gpu", there->gpu, "tier",
                                      there->tier, "seconds", orch_json_finite(there->left_s.mid),
                                      "low_s", orch_json_finite(there->left_s.low), "high_s",
                                      orch_json_finite(there->left_s.high), "because", there->why));
    return json;
}

static void print_going(const struct orch_active_row *row, const struct orch_live_trial *g,
                        const struct orch_time_left_on_gpu *there)
{
    g_autofree char *ago = orch_ago_format(row->started_ns);
    orch_cli_print("run %s: %s, %s", orch_run_short_key(row->key),
                   orch_json_text(g->record, "experiment", "?"),
                   g->is_alive ? "running" : "interrupted (the next 'orch run' records its end)");
    orch_cli_show_line("key", "%s", row->key);
    orch_cli_show_line("started", "%s", ago);
    if (g->total > 0)
        orch_cli_show_line("progress", "%.4g of %.4g (%d %%)", g->done, g->total,
                           (int)(100 * CLAMP(g->done / g->total, 0, 1)));
    if (g->has_left) {
        g_autofree char *text = orch_cli_span_text(g->left.left_s);
        orch_cli_show_line("remaining", "%s%s", text,
                           strcmp(g->left.estimate, "forecast") == 0 ? ", by the forecast" : "");
    }
    if (g->is_longer) {
        g_autofree char *whole = orch_cli_span_text(g->forecast_s);
        orch_cli_show_line("remaining", "longer than forecast: the forecast was %s in all", whole);
    }
    if (there->tier) {
        g_autofree char *text = orch_cli_span_text(there->left_s);
        orch_cli_show_line("on that GPU", "%s on %s, %s: %s", text, there->gpu, there->tier,
                           there->why);
    }
    for (size_t i = 0; i < json_array_size(g->notes); i++)
        orch_cli_show_line("note", "%s", json_string_value(json_array_get(g->notes, i)));
    orch_cli_show_line("folder", "%s", row->trial_dir);
    orch_cli_show_line("points", "%" G_GINT64_FORMAT, g->points);
    orch_cli_show_values("last values", g->last, true);
}

int orch_cli_show_active(struct orch_cli *cli, struct orch_store *store,
                         const struct orch_active_row *row, const char *on, GError **error)
{
    struct orch_live_trial trial;
    struct orch_time_left_on_gpu there = {0};
    orch_live_trial_read(store, row, &trial);
    bool ok = !on || orch_live_trial_elsewhere(&trial, on, &there, error);
    if (ok && cli->json)
        orch_cli_print_json(going_json(row, &trial, &there));
    else if (ok)
        print_going(row, &trial, &there);
    orch_time_left_on_gpu_release(&there);
    orch_live_trial_clear(&trial);
    return ok ? ORCH_EXIT_OK : -1;
}
