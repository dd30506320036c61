/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the surface of a number over two parameters: a Gaussian process, the model that a
 * search chooses its points by (predictors/space_process.h), fitted to the runs, at a grid. */
#include "features/web/run_points.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/space_process.h"

#include <math.h>
#include <string.h>

enum { RUNS_MAX = 200, RUNS_LEAST = 6, GRID = 41 };
static const double LOG_VALUES = 50; /* values above 0 that span more are fitted by logarithms */
static const double FAR = 0.2;       /* no data: no run within this share of both ranges */
static const double VAGUE = 0.5;     /* no data: deviation above this share of that of the values */

/* Values with mean 0 and variance 1, as the process takes them. */
struct scaled {
    double *values;
    double mean, deviation;
    bool is_log;
};

static struct scaled scale_values(const GArray *raw)
{
    const double *v = (const double *)(const void *)raw->data;
    struct scaled s = {.values = g_new(double, raw->len + 1)};
    double low = INFINITY, high = -INFINITY, sum = 0;
    for (guint i = 0; i < raw->len; i++) {
        low = fmin(low, v[i]);
        high = fmax(high, v[i]);
    }
    s.is_log = low > 0 && high / low >= LOG_VALUES;
    for (guint i = 0; i < raw->len; i++)
        s.mean += (s.values[i] = s.is_log ? log(v[i]) : v[i]) / raw->len;
    for (guint i = 0; i < raw->len; i++)
        sum += (s.values[i] - s.mean) * (s.values[i] - s.mean);
    s.deviation = sqrt(sum / raw->len);
    for (guint i = 0; i < raw->len; i++)
        s.values[i] = (s.values[i] - s.mean) / s.deviation;
    return s;
}

static double unscaled(const struct scaled *s, double value)
{
    const double v = s->mean + s->deviation * value;
    return s->is_log ? exp(v) : v;
}

static bool is_far(const double *units, guint count, const double point[2])
{
    for (guint i = 0; i < count; i++)
        if (fabs(units[2 * i] - point[0]) <= FAR && fabs(units[2 * i + 1] - point[1]) <= FAR)
            return false;
    return true;
}

/* The grid, row by row from below: means with the interval of one deviation, null where there is no
 * data. */
static json_t *grid_json(const struct orch_space_process *process, const struct scaled *scaled,
                         const double *units, guint count)
{
    json_t *mean = json_array(), *low = json_array(), *high = json_array();
    for (int k = 0; k < GRID * GRID; k++) {
        const double point[2] = {(double)(k % GRID) / (GRID - 1), (double)(k / GRID) / (GRID - 1)};
        double m = NAN, d = NAN;
        orch_space_process_at(process, point, &m, &d, NULL, NULL);
        const bool is_known = !is_far(units, count, point) && d <= VAGUE;
        json_array_append_new(mean, is_known ? orch_json_finite(unscaled(scaled, m)) : json_null());
        json_array_append_new(low,
                              is_known ? orch_json_finite(unscaled(scaled, m - d)) : json_null());
        json_array_append_new(high,
                              is_known ? orch_json_finite(unscaled(scaled, m + d)) : json_null());
    }
    return json_pack("{s:i s:o s:o s:o}", "side", GRID, "mean", mean, "low", low, "high", high);
}

static json_t *axis_json(const struct run_points *runs, guint param)
{
    double low = INFINITY, high = -INFINITY, value;
    g_autofree char *range = orch_web_run_points_range(runs, param);
    for (guint i = 0; i < runs->rows->len; i++)
        if (orch_real_parse(((char **)runs->rows->pdata[i])[param], &value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    return json_pack("{s:o s:o s:b}", "low", orch_json_finite(low), "high", orch_json_finite(high),
                     "is_log", g_str_has_prefix(range, "log"));
}

/* Why there is no surface; NULL: there is one. */
static const char *why_none(const struct run_points *runs)
{
    g_autofree char *x = orch_web_run_points_range(runs, 0),
                    *y = orch_web_run_points_range(runs, 1);
    const double *v = (const double *)(const void *)runs->values->data;
    bool varies = false;
    for (guint i = 1; i < runs->values->len; i++)
        varies |= v[i] != v[0];
    return runs->values->len < RUNS_LEAST
               ? "it takes at least 6 runs that ended ok and have all three"
           : !x || !y ? "both parameters must vary among the runs"
           : strcmp(x, "words") == 0 || strcmp(y, "words") == 0
               ? "both parameters must be numbers; a scatter marks runs by words"
           : !varies ? "all values are equal"
                     : NULL;
}

static void answer_none(struct web_call *call, const struct run_points *runs, const char *why)
{
    orch_web_answer_json(
        call, json_pack("{s:I s:s}", "runs", (json_int_t)runs->values->len, "why_none", why), 6);
}

/* Runs that lack one of the two parameters are left out. */
static void keep_whole(struct run_points *runs)
{
    for (guint i = runs->rows->len; i-- > 0;) {
        char **row = runs->rows->pdata[i];
        if (!*row[0] || !*row[1]) {
            g_ptr_array_remove_index(runs->rows, i);
            g_array_remove_index(runs->values, i);
        }
    }
}

static bool answer_surface(struct web_call *call, struct run_points *runs, GError **error)
{
    keep_whole(runs);
    const char *why = why_none(runs);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autofree double *units = NULL;
    struct orch_space *space = why ? NULL : orch_web_run_points_space(runs, names, &units, error);
    if (!space) {
        if (why)
            answer_none(call, runs, why);
        return why != NULL;
    }
    const struct scaled scaled = scale_values(runs->values);
    struct orch_space_process *process =
        orch_space_process_fit(space, units, scaled.values, runs->values->len);
    if (process)
        orch_web_answer_json(call,
                             json_pack("{s:I s:b s:o s:o s:b s:o s:o}", "runs",
                                       (json_int_t)runs->values->len, "is_cut", (int)runs->is_cut,
                                       "x", axis_json(runs, 0), "y", axis_json(runs, 1), "is_log",
                                       scaled.is_log, "noise",
                                       orch_json_finite(orch_space_process_noise(process)), "grid",
                                       grid_json(process, &scaled, units, runs->values->len)),
                             6);
    else
        answer_none(call, runs, "no surface fits these values");
    orch_space_process_free(process);
    orch_space_free(space);
    g_free(scaled.values);
    return true;
}

bool orch_web_api_surface(struct web_call *call, GError **error)
{
    const char *number = orch_web_query_text(call, "number", NULL);
    const char *x = orch_web_query_text(call, "x", NULL), *y = orch_web_query_text(call, "y", NULL);
    if (!number || !x || !y || strcmp(x, y) == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?number=METRIC&x=PARAM&y=PARAM",
                       "the query has no number, or not two parameters");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    GPtrArray *params = ids ? g_ptr_array_new_with_free_func(g_free) : NULL;
    if (params) {
        g_ptr_array_add(params, g_strconcat("param.", x, NULL));
        g_ptr_array_add(params, g_strconcat("param.", y, NULL));
    }
    struct run_points runs;
    const bool ok = orch_web_run_points_read(call, ids, RUNS_MAX, number, params, &runs, error) &&
                    answer_surface(call, &runs, error);
    orch_web_run_points_clear(&runs);
    return ok;
}
