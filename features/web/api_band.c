/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Combines the curves of a setting's repeats into one: at each step the centre over the runs and
 * their spread, by the same rule as tables and printed charts (core/stats/spread.h). When there
 * are more steps than the page can draw, neighbouring steps share a bucket, and a run's value in a
 * bucket is the mean of its points. The centre ends where the first run ends
 * (core/stats/curve_end.h); the runs' own values go on. */
#include "features/web/internal.h"

#include "core/stats/curve_end.h"
#include "core/stats/spread.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

enum { RUNS_MAX = 20, BUCKETS_MAX = 2000, POINTS_MAX = 20 * 1000 * 1000 };

struct curve {
    char *key;
    struct orch_series *series;
    double *values; /* one for each bucket; NaN: the run has no point in it */
};

struct band {
    const char *metric;
    int64_t from, to, buckets; /* as requested */
    GPtrArray *curves;         /* struct curve * */
    struct orch_curve_end end; /* of the runs' common mean, in steps */
    int64_t first, width;      /* first step of the buckets, and steps per bucket */
    guint count;               /* number of buckets */
};

static void free_curve(gpointer data)
{
    struct curve *curve = data;
    g_free(curve->key);
    orch_series_free(curve->series);
    g_free(curve->values);
    g_free(curve);
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool add_curve(struct web_call *call, struct band *band, const char *key, GError **error)
{
    struct orch_run *run = orch_store_run(call->store, key, error);
    if (!run)
        return false;
    GError *problem = NULL;
    struct curve *curve = g_new0(struct curve, 1);
    curve->key = g_strdup(run->key);
    curve->series = orch_store_series(call->store, run->id, band->metric, &problem);
    g_ptr_array_add(band->curves, curve);
    orch_run_free(run);
    if (problem)
        g_propagate_error(error, problem);
    else if (!curve->series)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "run %s has no metric '%.100s'", key,
                       band->metric);
    return curve->series;
}

static bool read_curves(struct web_call *call, struct band *band, GError **error)
{
    g_auto(GStrv) keys = orch_web_query_list(call, "runs", "");
    const guint count = g_strv_length(keys);
    size_t points = 0;
    if (!count || count > RUNS_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?runs=KEY,KEY to the address",
                       "a mean curve with its band needs 1 to %d runs", RUNS_MAX);
        return false;
    }
    for (guint i = 0; i < count; i++) {
        if (!add_curve(call, band, keys[i], error))
            return false;
        points += ((struct curve *)band->curves->pdata[i])->series->count;
        if (points > POINTS_MAX) {
            orch_error_set(error, ORCH_ERROR_USAGE, "show the runs separately",
                           "these runs have more than %d points", POINTS_MAX);
            return false;
        }
    }
    return true;
}

/* ---- buckets -----------------------------------------------------------------------------------
 */

static bool is_requested(const struct band *band, int64_t step)
{
    return step >= band->from && step <= band->to;
}

/* Divides the range of steps into buckets, with one step in each bucket if that gives few enough.
 */
static void choose_buckets(struct band *band)
{
    int64_t low = G_MAXINT64, high = G_MININT64;
    for (guint c = 0; c < band->curves->len; c++) {
        const struct orch_series *s = ((struct curve *)band->curves->pdata[c])->series;
        for (size_t i = 0; i < s->count; i++) {
            low = is_requested(band, s->step[i]) ? MIN(low, s->step[i]) : low;
            high = is_requested(band, s->step[i]) ? MAX(high, s->step[i]) : high;
        }
    }
    if (low > high)
        return;
    const uint64_t span = (uint64_t)high - (uint64_t)low; /* unsigned, so that it cannot overflow */
    band->first = low;
    band->width = (int64_t)(span / (uint64_t)band->buckets) + 1;
    band->count = (guint)(span / (uint64_t)band->width) + 1;
}

static void fill_curve(const struct band *band, struct curve *curve)
{
    const struct orch_series *s = curve->series;
    g_autofree guint *counts = g_new0(guint, band->count + 1);
    curve->values = g_new0(double, band->count + 1);
    for (size_t i = 0; i < s->count; i++) {
        if (!is_requested(band, s->step[i]) || !isfinite(s->value[i]))
            continue;
        const uint64_t at = ((uint64_t)s->step[i] - (uint64_t)band->first) / (uint64_t)band->width;
        curve->values[at] += s->value[i];
        counts[at]++;
    }
    for (guint b = 0; b < band->count; b++)
        curve->values[b] = counts[b] ? curve->values[b] / counts[b] : (double)NAN;
}

/* Finds the common end from the whole curves, not only from the requested steps. */
static void find_end(struct band *band)
{
    double last[RUNS_MAX];
    for (guint c = 0; c < band->curves->len; c++) {
        const struct orch_series *s = ((const struct curve *)band->curves->pdata[c])->series;
        last[c] = NAN;
        for (size_t i = 0; i < s->count; i++)
            if (isfinite(s->value[i]))
                last[c] = fmax(last[c], (double)s->step[i]);
    }
    band->end = orch_curve_end_of(last, band->curves->len);
}

/* Returns whether the bucket begins at a step that all runs have reached. */
static bool is_common(const struct band *band, guint bucket)
{
    return (double)band->first + (double)bucket * (double)band->width <= band->end.end;
}

/* ---- the answer --------------------------------------------------------------------------------
 */

static void add_bucket(const struct band *band, guint bucket, const char *unit, json_t *lists[5])
{
    double values[RUNS_MAX];
    for (guint c = 0; c < band->curves->len; c++)
        values[c] = is_common(band, bucket)
                        ? ((const struct curve *)band->curves->pdata[c])->values[bucket]
                        : (double)NAN;
    struct orch_spread spread = orch_spread_of(values, band->curves->len, band->metric, unit);
    const char *form = orch_spread_form_name(spread.form);
    json_array_append_new(lists[0], json_integer(band->first + (int64_t)bucket * band->width));
    json_array_append_new(lists[1], orch_json_finite(spread.centre));
    json_array_append_new(lists[2], orch_json_finite(spread.low));
    json_array_append_new(lists[3], orch_json_finite(spread.high));
    json_array_append_new(lists[4], orch_json_text_or_null(form));
}

/* Returns whether any run has a point in the bucket. */
static bool is_there(const struct band *band, guint bucket)
{
    for (guint c = 0; c < band->curves->len; c++)
        if (!isnan(((const struct curve *)band->curves->pdata[c])->values[bucket]))
            return true;
    return false;
}

static json_t *runs_json(const struct band *band)
{
    json_t *runs = json_array();
    for (guint c = 0; c < band->curves->len; c++) {
        const struct curve *curve = band->curves->pdata[c];
        json_t *values = json_array();
        for (guint b = 0; b < band->count; b++)
            if (is_there(band, b))
                json_array_append_new(values, orch_json_finite(curve->values[b]));
        json_array_append_new(runs, json_pack("{s:s s:o}", "key", curve->key, "value", values));
    }
    return runs;
}

static json_t *band_json(const struct band *band)
{
    const struct curve *first = band->curves->pdata[0];
    json_t *lists[5];
    g_autofree char *ended = orch_curve_end_text(&band->end, "step");
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        lists[i] = json_array();
    for (guint b = 0; b < band->count; b++)
        if (is_there(band, b))
            add_bucket(band, b, first->series->unit, lists);
    return json_pack("{s:s s:s? s:I s:o s:s? s:o s:o s:o s:o s:o s:o}", "metric", band->metric,
                     "unit", first->series->unit, "width", (json_int_t)band->width, "end",
                     orch_json_finite(band->end.end), "ended", ended, "step", lists[0], "centre",
                     lists[1], "low", lists[2], "high", lists[3], "form", lists[4], "runs",
                     runs_json(band));
}

bool orch_web_api_band(struct web_call *call, GError **error)
{
    struct band band = {.metric = orch_web_query_text(call, "metric", NULL),
                        .from = G_MININT64,
                        .to = G_MAXINT64,
                        .buckets = 1000};
    if (!band.metric) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?metric=NAME", "the query has no 'metric'");
        return false;
    }
    if (!orch_web_query_int(call, "from", G_MININT64, G_MAXINT64, &band.from, error) ||
        !orch_web_query_int(call, "to", G_MININT64, G_MAXINT64, &band.to, error) ||
        !orch_web_query_int(call, "buckets", 2, BUCKETS_MAX, &band.buckets, error))
        return false;
    band.curves = g_ptr_array_new_with_free_func(free_curve);
    bool ok = read_curves(call, &band, error);
    if (ok) {
        choose_buckets(&band);
        find_end(&band);
        for (guint c = 0; c < band.curves->len; c++)
            fill_curve(&band, band.curves->pdata[c]);
        orch_web_answer_json(call, band_json(&band), 9);
    }
    g_ptr_array_unref(band.curves);
    return ok;
}
