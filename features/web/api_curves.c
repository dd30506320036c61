/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for the curves of runs: a metric by step or time, or by another metric of the same run.
 * With `quick` a long curve is sampled by seeking (spark.h), so that many of them are drawn before
 * all of their points are read; the answer says which ones were. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/spark.h"

#include <math.h>
#include <string.h>

enum { BUCKETS_MAX = 20000, RUNS_MAX = 60, LONG_POINTS = 2000 };

struct curve_query {
    const char *metric;
    const char *across; /* the metric on the horizontal axis; NULL: step and time */
    int64_t from, to, buckets;
    bool is_quick, has_time;
};

static bool read_query(const struct web_call *call, struct curve_query *out, GError **error)
{
    *out =
        (struct curve_query){.metric = orch_web_query_text(call, "metric", NULL),
                             .across = orch_web_query_text(call, "x", NULL),
                             .from = G_MININT64,
                             .to = G_MAXINT64,
                             .buckets = 1000,
                             .has_time = strcmp(orch_web_query_text(call, "time", "1"), "0") != 0,
                             .is_quick = orch_web_query_text(call, "quick", NULL)};
    if (!out->metric) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?metric=NAME", "the query has no 'metric'");
        return false;
    }
    return orch_web_query_int(call, "from", G_MININT64, G_MAXINT64, &out->from, error) &&
           orch_web_query_int(call, "to", G_MININT64, G_MAXINT64, &out->to, error) &&
           orch_web_query_int(call, "buckets", 2, BUCKETS_MAX, &out->buckets, error);
}

static void fail_missing(const char *metric, GError **error)
{
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "the run has no metric '%.100s'", metric);
}

/* ---- by step ----------------------------------------------------------------------------------
 */

static struct orch_thin *thin_of(const GArray *points, unsigned buckets)
{
    struct orch_thin *thin = orch_thin_new(buckets);
    for (guint i = 0; i < points->len; i++)
        orch_thin_add(thin, &g_array_index(points, struct orch_thin_point, i));
    return thin;
}

/* Returns a sample of a long curve; NULL when the curve is short, or with an error. */
static struct orch_thin *sampled(struct orch_store *store, const struct orch_run *run,
                                 const struct curve_query *q, GError **error)
{
    if (orch_store_series_is_long(store, run->id, q->metric, LONG_POINTS, error) <= 0)
        return NULL;
    g_autoptr(GArray) points =
        orch_store_spark(store, run->id, q->metric, MAX(2, (unsigned)q->buckets / 2), error);
    return points ? thin_of(points, (unsigned)q->buckets) : NULL;
}

static json_t *by_step(struct orch_store *store, const struct orch_run *run,
                       const struct curve_query *q, GError **error)
{
    GError *problem = NULL;
    g_autofree char *unit = NULL;
    struct orch_thin *thin = q->is_quick ? sampled(store, run, q, &problem) : NULL;
    const bool is_sampled = thin;
    if (!thin && !problem)
        thin = orch_store_thin_series(store, run->id, q->metric, q->from, q->to,
                                      (unsigned)q->buckets, q->has_time, &unit, &problem);
    json_t *o = thin ? orch_web_thin_json(thin) : NULL;
    if (o) {
        if (!q->has_time)
            json_object_del(o, "t_ms");
        json_object_set_new(o, "is_sampled", json_boolean(is_sampled));
        json_object_set_new(o, "unit", orch_json_text_or_null(unit));
    } else if (problem) {
        g_propagate_error(error, problem);
    } else {
        fail_missing(q->metric, error);
    }
    orch_thin_free(thin);
    return o;
}

/* ---- by another metric ------------------------------------------------------------------------
 */

/* Adds each point with the newest value of `across` up to its step. What is thinned has that value
 * in place of the time. */
static struct orch_thin *joined(const struct orch_series *y, const struct orch_series *across,
                                const struct curve_query *q)
{
    struct orch_thin *thin = orch_thin_new((unsigned)q->buckets);
    size_t k = 0;
    double x = NAN;
    for (size_t i = 0; i < y->count; i++) {
        for (; k < across->count && across->step[k] <= y->step[i]; k++)
            x = across->value[k];
        const struct orch_thin_point point = {y->step[i], x, y->value[i]};
        if (!isnan(x) && y->step[i] >= q->from && y->step[i] <= q->to)
            orch_thin_add(thin, &point);
    }
    return thin;
}

static json_t *by_metric(struct orch_store *store, const struct orch_run *run,
                         const struct curve_query *q, GError **error)
{
    GError *problem = NULL;
    struct orch_series *y = orch_store_series(store, run->id, q->metric, &problem);
    struct orch_series *across = y ? orch_store_series(store, run->id, q->across, &problem) : NULL;
    json_t *o = NULL;
    if (across) {
        struct orch_thin *thin = joined(y, across, q);
        o = orch_web_thin_json(thin);
        json_t *x = json_incref(json_object_get(o, "t_ms"));
        json_object_del(o, "t_ms");
        json_object_set_new(o, "x", x);
        json_object_set_new(o, "unit", orch_json_text_or_null(y->unit));
        orch_thin_free(thin);
    } else if (problem) {
        g_propagate_error(error, problem);
    } else {
        fail_missing(y ? q->across : q->metric, error);
    }
    orch_series_free(y);
    orch_series_free(across);
    return o;
}

/* ---- handlers ---------------------------------------------------------------------------------
 */

static json_t *curve_json(struct orch_store *store, const char *key, const struct curve_query *q,
                          GError **error)
{
    struct orch_run *run = orch_store_run(store, key, error);
    json_t *o = !run        ? NULL
                : q->across ? by_metric(store, run, q, error)
                            : by_step(store, run, q, error);
    if (o) {
        json_object_set_new(o, "key", json_string(run->key));
        json_object_set_new(o, "metric", orch_json_text_or_null(q->metric));
    }
    orch_run_free(run);
    return o;
}

bool orch_web_api_series(struct web_call *call, GError **error)
{
    struct curve_query q;
    json_t *o = read_query(call, &q, error) ? curve_json(call->store, call->run, &q, error) : NULL;
    if (o)
        orch_web_answer_json(call, o, 9);
    return o != NULL;
}

/* What is wrong with a curve stands in its place, and the others come all the same. */
static json_t *error_json(const char *key, const GError *why)
{
    g_autofree char *message = NULL, *hint = NULL;
    orch_web_error_split(why, &message, &hint);
    return json_pack("{s:s s:s}", "key", key, "error", message);
}

bool orch_web_api_curves(struct web_call *call, GError **error)
{
    struct curve_query q;
    g_auto(GStrv) keys = orch_web_query_list(call, "runs", "");
    const guint count = g_strv_length(keys);
    if (!read_query(call, &q, error))
        return false;
    if (!count || count > RUNS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?runs=KEY,KEY to the address",
                       "curves need 1 to %d runs", RUNS_MAX);
        return false;
    }
    json_t *list = json_array();
    for (guint i = 0; i < count; i++) {
        g_autoptr(GError) why = NULL;
        json_t *o = curve_json(call->store, keys[i], &q, &why);
        json_array_append_new(list, o ? o : error_json(keys[i], why));
    }
    orch_web_answer_json(call, json_pack("{s:o}", "curves", list), 9);
    return true;
}
