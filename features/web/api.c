/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The routes of the interface, helpers for its handlers, and the short handlers. */
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- small parts ------------------------------------------------------------------------------
 */

static bool about(struct web_call *call, GError **error)
{
    g_autofree char *version = orch_store_version(call->store, error);
    if (!version)
        return false;
    const struct orch_web_options *o = &call->web->options;
    const char *no_change = call->web->guard.no_change;
    const char *why = no_change          ? no_change
                      : call->may_change ? NULL
                                         : "this page only reads: open the whole address that "
                                           "'orch serve' printed to change something";
    orch_web_answer_json(call,
                         json_pack("{s:s s:s s:s? s:s s:b s:b s:b s:{s:b s:s?}}", "program",
                                   o->version, "path", o->store_path, "who", o->who, "version",
                                   version, "has_group", o->group != NULL, "has_forecast",
                                   o->forecast != NULL, "has_reports", o->reports != NULL,
                                   "changes", "allowed", call->may_change, "why", why),
                         15);
    return true;
}

static bool web_api_coverage(struct web_call *call, GError **error)
{
    g_autoptr(GPtrArray) shares = orch_store_shares(call->store, error);
    if (!shares)
        return false;
    json_t *rows = json_array();
    for (guint i = 0; i < shares->len; i++) {
        const struct orch_share *s = shares->pdata[i];
        json_array_append_new(rows, json_pack("{s:s? s:s? s:s? s:b s:I s:I s:I s:o s:o}", "recipe",
                                              s->recipe, "experiment", s->experiment, "who", s->who,
                                              "is_mine",
                                              s->who && call->web->options.who &&
                                                  orch_who_is_same(s->who, call->web->options.who),
                                              "runs", (json_int_t)s->runs, "ok", (json_int_t)s->ok,
                                              "trials", (json_int_t)s->trials, "ended_ms",
                                              orch_json_finite((double)s->ended_ns / 1e6), "wall_s",
                                              orch_json_finite(s->wall_s)));
    }
    orch_web_answer_json(
        call, json_pack("{s:o s:s?}", "shares", rows, "who", call->web->options.who), 15);
    return true;
}

static bool call_back(struct web_call *call, json_t *(*callback)(void *, GHashTable *, GError **),
                      const char *what, GError **error)
{
    if (!callback) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "this server has no %s", what);
        return false;
    }
    struct orch_web *web = call->web;
    g_mutex_lock(&web->callback_lock);
    json_t *json = callback(web->options.ctx, call->query, error);
    g_mutex_unlock(&web->callback_lock);
    if (json)
        orch_web_answer_json(call, json, 15);
    return json != NULL;
}

/* Outside of the lock of other callbacks, since a remote may answer slowly. */
static bool group(struct web_call *call, GError **error)
{
    const struct orch_web_options *o = &call->web->options;
    if (!o->group) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "start the server with 'orch serve --group'",
                       "this server shows no group");
        return false;
    }
    json_t *json = o->group(o->group_ctx, error);
    if (json)
        orch_web_answer_json(call, json, 15);
    return json != NULL;
}

static bool forecast(struct web_call *call, GError **error)
{
    return call_back(call, call->web->options.forecast, "forecasts", error);
}

static bool reports(struct web_call *call, GError **error)
{
    return call_back(call, call->web->options.reports, "reports", error);
}

static bool report(struct web_call *call, GError **error)
{
    return call_back(call, call->web->options.report, "reports", error);
}

static bool page(struct web_call *call, GError **error)
{
    struct orch_web *web = call->web;
    if (!web->options.page) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "this server has no reports");
        return false;
    }
    g_mutex_lock(&web->callback_lock);
    char *html = web->options.page(web->options.ctx, call->query, error);
    g_mutex_unlock(&web->callback_lock);
    if (!html)
        return false;
    call->type = "text/html; charset=utf-8";
    call->stands_alone = true;
    call->bytes = g_bytes_new_take(html, strlen(html));
    return true;
}

/* ---- addresses --------------------------------------------------------------------------------
 */

const struct web_route ORCH_WEB_ROUTES[] = {
    {"about", about, "the program, the store, the user, and whether this request may change it",
     ""},
    {"names", orch_web_api_names, "columns, parameters, results and metrics, with their units", ""},
    {"fields", orch_web_api_fields, "names that some runs have", "where runs"},
    {"values", orch_web_api_values, "values of a parameter among the newest runs", "name! where"},
    {"coverage", web_api_coverage, "the trials that each person has run", ""},
    {"group", group, "what the group's remote has more and less", ""},
    {"views", orch_web_api_views, "saved views of the page", ""},
    {"runs", orch_web_api_runs, "rows of values", "where runs columns sort order offset limit"},
    {"lines", orch_web_api_lines, "the table of the page: runs, and lines that fold them",
     "where runs columns sort order offset limit open fold whole"},
    {"groups", orch_web_api_groups, "groups of runs, with intervals", "where by values"},
    {"reruns", orch_web_api_reruns, "the commands that run settings again", "runs!"},
    {"curves", orch_web_api_curves, "thinned curves of several runs",
     "runs! metric! x buckets from to quick time"},
    {"band", orch_web_api_band, "the runs of a setting as one curve",
     "runs! metric! buckets from to"},
    {"sparks", orch_web_api_sparks, "small curves of runs", "runs! metrics"},
    {"importance", orch_web_api_importance, "how much each parameter explains", "number! where"},
    {"surface", orch_web_api_surface, "a number over two parameters", "number! x! y! where"},
    {"forecast", forecast, "a forecast; without net the networks and GPUs",
     "net gpu batch epochs dataset"},
    {"reports", reports, "the recipes with a report", ""},
    {"report", report, "a report", "recipe! profile"},
    {"page", page, "a report as a page", "recipe! profile"},
    {"openapi.json", orch_web_api_openapi, "this description", ""},
    {0}};
const struct web_route ORCH_WEB_RUN_ROUTES[] = {
    {"", orch_web_api_run, "a run, ended or running", ""},
    {"/changes", orch_web_api_changes, "what differs from another run", "with"},
    {"/metrics", orch_web_api_metrics, "first, last, lowest, highest and mean of each metric", ""},
    {"/series", orch_web_api_series, "a thinned curve", "metric! buckets from to"},
    {"/log", orch_web_api_log, "the end of stdout, stderr and log", ""},
    {"/artifact", orch_web_api_artifact, "a file", "name!"},
    {0}};

static web_handler find_in(const struct web_route *routes, const char *path)
{
    while (routes->path && strcmp(routes->path, path) != 0)
        routes++;
    return routes->handler;
}

static web_handler find_of_run(const char *rest, char **out_run)
{
    const char *slash = strchr(rest, '/');
    size_t length = slash ? (size_t)(slash - rest) : strlen(rest);
    const char *part = slash ? slash : "";
    web_handler handler = length && length <= 64 ? find_in(ORCH_WEB_RUN_ROUTES, part) : NULL;
    if (handler)
        *out_run = g_strndup(rest, length);
    return handler;
}

web_handler orch_web_route_find(const char *path, char **out_run)
{
    static const char head[] = "/api/v1/", run_head[] = "/api/v1/runs/";
    *out_run = NULL;
    if (g_str_has_prefix(path, run_head))
        return find_of_run(path + strlen(run_head), out_run);
    return g_str_has_prefix(path, head) ? find_in(ORCH_WEB_ROUTES, path + strlen(head)) : NULL;
}
