/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers for one run: its description, metrics, logs and files. */
#include "core/plan/executor.h"
#include "features/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "store/read/run_json.h"
#include "store/write/forecast.h"
#include "store/write/trial_record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOG_MAX = 256 * 1024, /* bytes read from the end of a log */
    PICTURE_MAX = 32 << 20,
};

/* ---- running trials ---------------------------------------------------------------------------
 */

/* Finds a running trial. NULL without error when no running trial has that key. The caller frees.
 */
static struct orch_active_row *web_active_find(struct orch_store *store, const char *key,
                                               GError **error)
{
    g_autoptr(GPtrArray) rows = orch_store_actives(store, error);
    for (guint i = 0; rows && i < rows->len; i++) {
        const struct orch_active_row *row = rows->pdata[i];
        if (strcmp(row->key, key) == 0)
            return g_ptr_array_steal_index(rows, i);
    }
    return NULL;
}

static json_t *units_json(const json_t *record)
{
    json_t *units = json_object();
    size_t i;
    json_t *metric;
    json_array_foreach(json_object_get(record, "metrics"), i, metric)
    {
        const char *name = json_string_value(json_array_get(metric, 0));
        const char *unit = json_string_value(json_array_get(metric, 1));
        if (name && unit && *unit)
            json_object_set_new(units, name, json_string(unit));
    }
    return units;
}

static json_t *params_json(const json_t *record)
{
    json_t *params = json_object();
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(record, "params"), i, row)
    {
        const char *name = json_string_value(json_array_get(row, 0));
        const char *text = json_string_value(json_array_get(row, 2));
        json_t *value = text ? orch_json_parse(text, strlen(text), 1 << 20, NULL) : NULL;
        if (name)
            json_object_set_new(params, name, value ? value : json_string(text ? text : ""));
    }
    return params;
}

json_t *orch_web_active_json(const struct orch_active_row *row)
{
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    json_t *coords = json_object_get(json_object_get(record, "facts"), "coords");
    g_autofree char *started = orch_time_format(row->started_ns, true);
    return json_pack(
        "{s:s s:b s:s s:s s:s s:s s:s s:I s:s s:O? s:o s:o}", "key", row->key, "is_alive",
        orch_active_is_alive(row), "experiment", orch_json_text(record, "experiment", "?"),
        "recipe", orch_json_text(record, "recipe", "-"), "plugin",
        orch_json_text(record, "plugin", "?"), "who", orch_json_text(record, "who", "?"),
        "device_key", orch_json_text(record, "device_key", "-"), "repeat",
        (json_int_t)orch_json_int(record, "repeat", 1), "started", started, "setting", coords,
        "units", units_json(record), "params", params_json(record));
}

/* ---- one run ----------------------------------------------------------------------------------
 */

static void put(json_t *object, const char *name, const char *text)
{
    json_object_set_new(object, name, orch_json_text_or_null(text));
}

json_t *orch_web_forecast_json(struct orch_store *store, const char *key)
{
    struct orch_forecast_row f;
    if (!orch_store_forecast_of(store, key, &f, NULL))
        return json_null();
    return json_pack("{s:s? s:s? s:o s:o s:o s:o}", "model", f.model, "tier", f.tier, "p5_s",
                     orch_json_finite(f.time_s.low), "p50_s", orch_json_finite(f.time_s.mid),
                     "p95_s", orch_json_finite(f.time_s.high), "made_ms",
                     orch_json_finite((double)f.made_ns / 1e6));
}

static bool answer_active(struct web_call *call, const struct orch_active_row *row)
{
    json_t *o = orch_web_active_json(row);
    bool is_alive = json_is_true(json_object_get(o, "is_alive"));
    put(o, "state", is_alive ? "running" : "interrupted");
    json_object_set_new(o, "forecast", orch_web_forecast_json(call->store, row->key));
    orch_web_answer_json(call, o, 15);
    return true;
}

bool orch_web_api_run(struct web_call *call, GError **error)
{
    GError *problem = NULL;
    struct orch_active_row *active = web_active_find(call->store, call->run, &problem);
    if (active || problem) {
        bool ok = active && answer_active(call, active);
        if (problem)
            g_propagate_error(error, problem);
        orch_active_row_free(active);
        return ok;
    }
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    g_autoptr(GPtrArray) names = run ? orch_store_metric_names(call->store, run->id, error) : NULL;
    json_t *metrics = names ? orch_web_names_json(call->store, names, error) : NULL;
    json_t *o = metrics ? orch_run_json(call->store, run, error) : NULL;
    if (o) {
        json_object_set(o, "metrics", metrics);
        json_object_set_new(o, "forecast", orch_web_forecast_json(call->store, run->key));
        orch_web_answer_json(call, o, 15);
    }
    json_decref(metrics);
    orch_run_free(run);
    return o != NULL;
}

bool orch_web_api_metrics(struct web_call *call, GError **error)
{
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    g_autoptr(GPtrArray) all = run ? orch_store_summaries(call->store, run->id, error) : NULL;
    g_autoptr(GHashTable) ranks = all ? orch_web_importance_new(call->store, error) : NULL;
    orch_run_free(run);
    if (!ranks)
        return false;
    json_t *list = json_array();
    for (guint i = 0; i < all->len; i++) {
        const struct orch_metric_summary *m = all->pdata[i];
        const struct orch_known_name name = {"metric", m->name, m->unit, m->better};
        json_t *summary = orch_summary_json(m);
        json_object_set_new(summary, "rank", json_integer(orch_web_importance_rank(ranks, &name)));
        json_array_append_new(list, summary);
    }
    orch_web_answer_json(call, json_pack("{s:o}", "metrics", list), 15);
    return true;
}

json_t *orch_web_thin_json(const struct orch_thin *thin)
{
    g_autoptr(GArray) points = orch_thin_points(thin);
    json_t *step = json_array(), *t_ms = json_array(), *value = json_array();
    for (guint i = 0; i < points->len; i++) {
        const struct orch_thin_point *p = &g_array_index(points, struct orch_thin_point, i);
        json_array_append_new(step, json_integer(p->step));
        json_array_append_new(t_ms, orch_json_finite(p->t_ms));
        json_array_append_new(value, orch_json_finite(p->value));
    }
    return json_pack("{s:o s:o s:o s:I s:I}", "step", step, "t_ms", t_ms, "value", value, "count",
                     (json_int_t)orch_thin_count(thin), "width", (json_int_t)orch_thin_width(thin));
}

/* ---- logs and files ---------------------------------------------------------------------------
 */

/* Reads the end of a file as text, with invalid UTF-8 replaced. NULL when there is no such file. */
static char *read_tail(const char *path, int64_t most, int64_t *out_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    if (fd < 0)
        return NULL;
    char *text = NULL;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        int64_t from = MAX(0, info.st_size - most);
        g_autofree char *bytes = g_malloc((gsize)most + 1);
        ssize_t n = pread(fd, bytes, (size_t)most, from);
        text = n >= 0 ? g_utf8_make_valid(bytes, n) : NULL;
        *out_bytes = info.st_size;
    }
    close(fd);
    return text;
}

static void put_log(json_t *o, const char *name, const char *path)
{
    int64_t bytes = 0;
    g_autofree char *text = path ? read_tail(path, LOG_MAX, &bytes) : NULL;
    if (text)
        json_object_set_new(o, name,
                            json_pack("{s:o s:I s:b}", "text", orch_json_text_or_null(text),
                                      "bytes", (json_int_t)bytes, "is_cut", bytes > LOG_MAX));
}

static void put_active_logs(const struct orch_active_row *row, json_t *o)
{
    static const char *const names[] = {"stdout", "stderr"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(row->trial_dir, names[i], NULL);
        put_log(o, names[i], path);
    }
}

static bool put_ended_logs(struct web_call *call, json_t *o, GError **error)
{
    static const char *const names[] = {"stdout", "stderr", "log", NULL};
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    g_autoptr(GPtrArray) all = run ? orch_store_artifacts(call->store, run->id, error) : NULL;
    for (guint i = 0; all && i < all->len; i++) {
        const struct orch_stored_artifact *a = all->pdata[i];
        g_autofree char *path = orch_store_object_path(call->store, a->sha256);
        if (g_strv_contains(names, a->name))
            put_log(o, a->name, path);
    }
    orch_run_free(run);
    return all != NULL;
}

bool orch_web_api_log(struct web_call *call, GError **error)
{
    GError *problem = NULL;
    struct orch_active_row *active = web_active_find(call->store, call->run, &problem);
    json_t *o = json_object();
    bool ok = !problem;
    if (active)
        put_active_logs(active, o);
    else if (problem)
        g_propagate_error(error, problem);
    else
        ok = put_ended_logs(call, o, error);
    if (ok)
        orch_web_answer_json(call, json_incref(o), 15);
    json_decref(o);
    orch_active_row_free(active);
    return ok;
}

/* Returns the type of a picture that a browser cannot interpret as HTML; NULL for any other file,
 * which is sent as a download. */
static const char *picture_type(const char *bytes, gsize length)
{
    if (length > 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        return "image/png";
    if (length > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        return "image/jpeg";
    return NULL;
}

/* Returns a file name that is safe in a header: only letters, digits, '.', '-' and '_'. */
static char *attachment_of(const char *name)
{
    g_autofree char *plain = g_path_get_basename(name);
    g_strcanon(plain, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-", '_');
    return g_strdup_printf("attachment; filename=\"%.100s\"", plain);
}

static bool send_object(struct web_call *call, const char *path, const char *name, GError **error)
{
    char *bytes;
    gsize length;
    struct stat info;
    if (stat(path, &info) != 0 || info.st_size > PICTURE_MAX) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "'orch show RUN --artifact NAME > FILE' writes the artifact to a file",
                       "artifact '%.100s' is larger than 32 MiB", name);
        return false;
    }
    if (!g_file_get_contents(path, &bytes, &length, error))
        return false;
    call->bytes = g_bytes_new_take(bytes, length);
    call->type = picture_type(bytes, length);
    if (!call->type) {
        call->type = "application/octet-stream";
        call->attachment = attachment_of(name);
    }
    return true;
}

bool orch_web_api_artifact(struct web_call *call, GError **error)
{
    const char *name = orch_web_query_text(call, "name", "");
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    g_autoptr(GPtrArray) all = run ? orch_store_artifacts(call->store, run->id, error) : NULL;
    orch_run_free(run);
    if (!all)
        return false;
    for (guint i = 0; i < all->len; i++) {
        const struct orch_stored_artifact *a = all->pdata[i];
        if (strcmp(a->name, name) != 0)
            continue;
        g_autofree char *path = orch_store_object_path(call->store, a->sha256);
        if (path)
            return send_object(call, path, name, error);
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "the contents of artifact '%.100s' are not on this machine", name);
        return false;
    }
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "the run has no artifact '%.100s'", name);
    return false;
}
