/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The description of the interface, made from the table by which requests are routed. */
#include "features/web/internal.h"

#include <string.h>

static json_t *text_schema(void)
{
    return json_pack("{s:s}", "type", "string");
}

static json_t *parameter(const char *name, const char *in, bool is_required)
{
    return json_pack("{s:s s:s s:b s:o}", "name", name, "in", in, "required", is_required, "schema",
                     text_schema());
}

static json_t *parameters_of(const struct web_route *route, bool is_of_run)
{
    json_t *list = json_array();
    if (is_of_run)
        json_array_append_new(list, parameter("run", "path", true));
    g_auto(GStrv) names = g_strsplit(route->parameters, " ", -1);
    for (char **name = names; *name; name++) {
        bool is_required = g_str_has_suffix(*name, "!");
        if (is_required)
            (*name)[strlen(*name) - 1] = 0;
        if (**name)
            json_array_append_new(list, parameter(*name, "query", is_required));
    }
    return list;
}

static json_t *responses(const char *what, const char *type)
{
    return json_pack("{s:{s:s s:{s:{}}} s:{s:s}}", "200", "description", what, "content", type,
                     "default", "$ref", "#/components/responses/Error");
}

static void add_path(json_t *paths, const struct web_route *route, bool is_of_run)
{
    g_autofree char *path =
        g_strconcat("/api/v1/", is_of_run ? "runs/{run}" : "", route->path, NULL);
    const char *type = strcmp(route->path, "page") == 0        ? "text/html"
                       : strcmp(route->path, "/artifact") == 0 ? "application/octet-stream"
                                                               : "application/json";
    g_autofree char *id = g_strconcat(is_of_run ? "run" : "", route->path, NULL);
    g_strdelimit(id, "/.", '_');
    json_object_set_new(paths, path,
                        json_pack("{s:{s:s s:s s:o s:o}}", "get", "operationId", id, "summary",
                                  route->about, "parameters", parameters_of(route, is_of_run),
                                  "responses", responses(route->about, type)));
}

/* The two addresses that are not in the table: events, and changes. */
static void add_others(json_t *paths)
{
    json_object_set_new(paths, "/api/v1/live",
                        json_pack("{s:{s:s s:s s:[o] s:o}}", "get", "operationId", "live",
                                  "summary", "events of running trials", "parameters",
                                  parameter("points", "query", false), "responses",
                                  responses("server-sent events", "text/event-stream")));
    json_object_set_new(paths, "/api/v1/change",
                        json_pack("{s:{s:s s:s s:{s:b s:{s:{s:{s:s s:[s] s:{s:o}}}}} s:o}}", "post",
                                  "operationId", "change", "summary",
                                  "tags, notes, names, removed runs, views", "requestBody",
                                  "required", 1, "content", "application/json", "schema", "type",
                                  "object", "required", "do", "properties", "do", text_schema(),
                                  "responses", responses("what was done", "application/json")));
}

static json_t *error_response(void)
{
    json_t *error =
        json_pack("{s:s s:[s s s] s:{s:o s:{s:[s s]} s:o}}", "type", "object", "required",
                  "message", "hint", "code", "properties", "message", text_schema(), "hint", "type",
                  "string", "null", "code", text_schema());
    return json_pack("{s:s s:{s:{s:{s:s s:[s] s:{s:o}}}}}", "description", "an error", "content",
                     "application/json", "schema", "type", "object", "required", "error",
                     "properties", "error", error);
}

bool orch_web_api_openapi(struct web_call *call, GError **error)
{
    (void)error;
    json_t *paths = json_object();
    for (const struct web_route *r = ORCH_WEB_ROUTES; r->path; r++)
        add_path(paths, r, false);
    for (const struct web_route *r = ORCH_WEB_RUN_ROUTES; r->path; r++)
        add_path(paths, r, true);
    add_others(paths);
    orch_web_answer_json(
        call,
        json_pack("{s:s s:{s:s s:s} s:o s:{s:{s:o} s:{s:{s:s s:s}}} s:[{} {s:[]}]}", "openapi",
                  "3.1.0", "info", "title", "orch serve", "version", call->web->options.version,
                  "paths", paths, "components", "responses", "Error", error_response(),
                  "securitySchemes", "token", "type", "http", "scheme", "bearer", "security",
                  "token"),
        15);
    return true;
}
