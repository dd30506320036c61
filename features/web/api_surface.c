/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handler for the surface of a number over two parameters: at a grid. */
#include "features/web/run_points.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "predictors/search/space_surface.h"

#include <math.h>
#include <string.h>

enum { RUNS_MAX = 200, RUNS_LEAST = 6 };

static json_t *reals_json(const double *values)
{
    json_t *out = json_array();
    for (int k = 0; k < ORCH_SURFACE_SIDE * ORCH_SURFACE_SIDE; k++)
        json_array_append_new(out, orch_json_finite(values[k]));
    return out;
}

static json_t *grid_json(const struct orch_surface *surface)
{
    return json_pack("{s:i s:o s:o s:o}", "side", ORCH_SURFACE_SIDE, "mean",
                     reals_json(surface->mean), "low", reals_json(surface->low), "high",
                     reals_json(surface->high));
}

/* Of the two parameters alone. */
static char *range_of(const struct run_points *runs, guint param)
{
    const struct orch_observed observed = orch_web_run_points_observed(runs, 2);
    return orch_observed_range(&observed, param);
}

static json_t *axis_json(const struct run_points *runs, guint param)
{
    double low = INFINITY, high = -INFINITY, value;
    g_autofree char *range = range_of(runs, param);
    for (guint i = 0; i < runs->rows->len; i++)
        if (orch_real_parse(((char **)runs->rows->pdata[i])[param], &value)) {
            low = fmin(low, value);
            high = fmax(high, value);
        }
    return json_pack("{s:o s:o s:b s:b}", "low", orch_json_finite(low), "high",
                     orch_json_finite(high), "is_log", g_str_has_prefix(range, "log"),
                     "is_conditional", runs->is_conditional[param]);
}

/* Why there is no surface; NULL: there is one. */
static const char *why_none(const struct run_points *runs)
{
    g_autofree char *x = range_of(runs, 0), *y = range_of(runs, 1);
    const double *v = (const double *)(const void *)runs->values->data;
    bool varies = false;
    for (guint i = 1; i < runs->values->len; i++)
        varies |= v[i] != v[0];
    return runs->values->len < RUNS_LEAST
               ? "it needs at least 6 runs that ended ok and have all three values"
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

/* Runs that lack one of the two parameters, or in which it does not exist, are left out. */
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

/* The coordinates of the two parameters, whose order in the space goes by their names. */
static double *units_of(const struct orch_observed_space *made, size_t count)
{
    double *units = g_new(double, 2 * count + 1);
    for (size_t i = 0; i < count; i++)
        for (unsigned p = 0; p < 2; p++)
            units[2 * i + made->columns[p]] = made->units[2 * i + p];
    return units;
}

static struct orch_surface *fit(const struct run_points *runs)
{
    const struct orch_observed observed = orch_web_run_points_observed(runs, 2);
    struct orch_observed_space *made = orch_observed_space_new(&observed);
    struct orch_space *space = orch_space_new();
    g_autofree double *units = units_of(made, observed.count);
    const bool ok = orch_space_add(space, "x", "uniform(0, 1)", NULL, NULL) &&
                    orch_space_add(space, "y", "uniform(0, 1)", NULL, NULL);
    struct orch_surface *surface =
        ok ? orch_surface_fit(space, units, (const double *)(const void *)runs->values->data,
                              runs->values->len)
           : NULL;
    orch_space_free(space);
    orch_observed_space_free(made);
    return surface;
}

static void answer_surface(struct web_call *call, struct run_points *runs)
{
    keep_whole(runs);
    const char *why = why_none(runs);
    g_autofree struct orch_surface *surface = why ? NULL : fit(runs);
    if (!surface) {
        answer_none(call, runs, why ? why : "no surface fits these values");
        return;
    }
    orch_web_answer_json(call,
                         json_pack("{s:I s:b s:o s:o s:b s:o s:o}", "runs",
                                   (json_int_t)runs->values->len, "is_cut", (int)runs->is_cut, "x",
                                   axis_json(runs, 0), "y", axis_json(runs, 1), "is_log",
                                   surface->is_log, "noise", orch_json_finite(surface->noise),
                                   "grid", grid_json(surface)),
                         6);
}

/* The two parameters, and the others that vary, by which it is decided whether they exist. */
static GPtrArray *params_of(struct web_call *call, const GArray *ids, const char *x, const char *y,
                            GError **error)
{
    g_autoptr(GPtrArray) varied = orch_web_varied_params(call, ids, error);
    GPtrArray *params = varied ? g_ptr_array_new_with_free_func(g_free) : NULL;
    if (!params)
        return NULL;
    g_ptr_array_add(params, g_strdup(x));
    g_ptr_array_add(params, g_strdup(y));
    for (guint i = 0; i < varied->len; i++)
        if (strcmp(varied->pdata[i], x) != 0 && strcmp(varied->pdata[i], y) != 0)
            g_ptr_array_add(params, g_strdup(varied->pdata[i]));
    return params;
}

bool orch_web_api_surface(struct web_call *call, GError **error)
{
    const char *number = orch_web_query_text(call, "number", NULL);
    const char *x = orch_web_query_text(call, "x", NULL), *y = orch_web_query_text(call, "y", NULL);
    if (!number || !x || !y || strcmp(x, y) == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?number=METRIC&x=PARAM&y=PARAM to the address",
                       "the query needs 'number' and two parameters");
        return false;
    }
    g_autoptr(GArray) ids = orch_web_listing(call, NULL, error);
    GPtrArray *params = ids ? params_of(call, ids, x, y, error) : NULL;
    struct run_points runs;
    const bool ok =
        orch_web_run_points_read(call, ids, RUNS_MAX, number, params, false, &runs, error);
    if (ok)
        answer_surface(call, &runs);
    orch_web_run_points_clear(&runs);
    return ok;
}
