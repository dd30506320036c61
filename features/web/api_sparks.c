/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the small curves in the table: of each run a few points at steps spread evenly, which
 * are found by seeking, so that a curve of a million points costs no more than one of a hundred. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/spark.h"

enum { RUNS_MAX = 120, METRICS_MAX = 4, POINTS = 32 };

static json_t *values_json(const GArray *points)
{
    json_t *values = json_array();
    for (guint i = 0; i < points->len; i++)
        json_array_append_new(
            values, orch_json_finite(g_array_index(points, struct orch_thin_point, i).value));
    return values;
}

/* Appends the curve of the first of the metrics that the run has; false with an error. */
static bool put_curve(struct web_call *call, const char *key, char **metrics, json_t *all,
                      GError **error)
{
    struct orch_run *run = *key ? orch_store_run(call->store, key, NULL) : NULL;
    bool ok = true;
    for (int m = 0; run && ok && metrics[m] && !json_object_get(all, key); m++) {
        g_autoptr(GArray) points =
            orch_store_spark(call->store, run->id, metrics[m], POINTS, error);
        ok = points != NULL;
        if (ok && points->len > 1)
            json_object_set_new(
                all, key,
                json_pack("{s:s s:o}", "metric", metrics[m], "values", values_json(points)));
    }
    orch_run_free(run);
    return ok;
}

bool orch_web_api_sparks(struct web_call *call, GError **error)
{
    g_auto(GStrv) keys = orch_web_query_list(call, "runs", "");
    g_auto(GStrv) metrics = orch_web_query_list(call, "metrics", "");
    if (!metrics[0] || g_strv_length(metrics) > METRICS_MAX || g_strv_length(keys) > RUNS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?metrics=NAME&runs=KEY,KEY to the address",
                       "'sparks' takes 1 to %d metrics and at most %d runs", METRICS_MAX, RUNS_MAX);
        return false;
    }
    json_t *all = json_object();
    bool ok = true;
    for (int i = 0; ok && keys[i]; i++)
        ok = put_curve(call, keys[i], metrics, all, error);
    if (ok)
        orch_web_answer_json(call, json_pack("{s:O}", "curves", all), 5);
    json_decref(all);
    return ok;
}
