/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One run: what it was, its metrics, its curves, what it printed, its files. */
#include "core/web/internal.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/forecast.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LOG_MAX = 256 * 1024, /* bytes of a log's tail */
    PICTURE_MAX = 32 << 20,
    BUCKETS_MAX = 20000,
};

/* ---- running trials ---------------------------------------------------------------------------
 */

struct orch_active_row *web_active_find(struct orch_store *store, const char *key, GError **error)
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

json_t *web_active_json(const struct orch_active_row *row)
{
    g_autoptr(json_t) record = row->record ? json_loads(row->record, 0, NULL) : NULL;
    json_t *coords = json_object_get(json_object_get(record, "facts"), "coords");
    return json_pack(
        "{s:s s:b s:s s:s s:s s:s s:s s:I s:o s:O? s:o s:o}", "key", row->key, "is_alive",
        orch_process_is_alive(&row->runner), "experiment",
        orch_json_text(record, "experiment", "?"), "recipe", orch_json_text(record, "recipe", "-"),
        "plugin", orch_json_text(record, "plugin", "?"), "who", orch_json_text(record, "who", "?"),
        "where", orch_json_text(record, "where_key", "-"), "repeat",
        (json_int_t)orch_json_int(record, "repeat", 1), "started_ms",
        orch_json_finite((double)row->started_ns / 1e6), "setting", coords, "units",
        units_json(record), "params", params_json(record));
}

/* ---- one run ----------------------------------------------------------------------------------
 */

static json_t *text_or_null(const char *text)
{
    json_t *json = text ? json_string(text) : NULL;
    return json ? json : json_null();
}

static void put(json_t *object, const char *name, const char *text)
{
    json_object_set_new(object, name, text_or_null(text));
}

static json_t *head_json(const struct orch_run *run)
{
    json_t *o = json_object();
    const struct {
        const char *name, *text;
    } texts[] = {{"key", run->key},
                 {"recipe", run->recipe},
                 {"experiment", run->experiment},
                 {"plugin", run->plugin},
                 {"plugin_version", run->plugin_version},
                 {"state", run->state},
                 {"reason", run->reason},
                 {"who", run->who},
                 {"where", run->where_key},
                 {"fingerprint", run->fingerprint},
                 {"digest", run->digest},
                 {"tree", run->source_tree},
                 {"commit", run->source_commit},
                 {"branch", run->source_branch},
                 {"remote", run->source_remote},
                 {"argv", run->argv}};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        put(o, texts[i].name, texts[i].text);
    json_object_set_new(o, "seed", orch_json_u64(run->seed));
    json_object_set_new(o, "repeat", json_integer(run->repeat));
    json_object_set_new(o, "attempt", json_integer(run->attempt));
    json_object_set_new(o, "exit_code", json_integer(run->exit_code));
    json_object_set_new(o, "signal", json_integer(run->signal));
    json_object_set_new(o, "dirty", json_boolean(run->source_dirty));
    json_object_set_new(o, "hidden", json_boolean(run->hidden));
    json_object_set_new(o, "purged", json_boolean(run->purged));
    json_object_set_new(o, "started_ms", orch_json_finite((double)run->started_ns / 1e6));
    json_object_set_new(o, "ended_ms", orch_json_finite((double)run->ended_ns / 1e6));
    json_object_set_new(o, "wall_s", orch_json_real(run->wall_ms / 1e3));
    return o;
}

static json_t *facts_json(const char *text)
{
    json_t *facts = text ? orch_json_parse(text, strlen(text), 16 << 20, NULL) : NULL;
    return facts ? facts : json_object();
}

static bool put_lists(struct orch_store *store, const struct orch_run *run, json_t *o,
                      GError **error)
{
    g_autoptr(GPtrArray) results = orch_store_result_rows(store, run->id, error);
    g_autoptr(GPtrArray) artifacts = results ? orch_store_artifacts(store, run->id, error) : NULL;
    g_autoptr(GPtrArray) inputs = artifacts ? orch_store_inputs(store, run->id, error) : NULL;
    g_autoptr(GPtrArray) notes = inputs ? orch_store_notes(store, run->key, error) : NULL;
    g_autoptr(GPtrArray) metrics = notes ? orch_store_metric_names(store, run->id, error) : NULL;
    json_t *list = metrics ? web_names_json(store, metrics, error) : NULL;
    if (!list)
        return false;
    json_object_set_new(o, "metrics", list);
    list = json_array();
    for (guint i = 0; i < results->len; i++) {
        const struct orch_stored_result *r = results->pdata[i];
        json_array_append_new(list,
                              json_pack("{s:s s:s s:s s:o}", "name", r->name, "unit", r->unit,
                                        "better", r->better, "value", orch_json_real(r->value)));
    }
    json_object_set_new(o, "results", list);
    list = json_array();
    for (guint i = 0; i < artifacts->len; i++) {
        const struct orch_stored_artifact *a = artifacts->pdata[i];
        json_array_append_new(list,
                              json_pack("{s:s s:s s:I s:b}", "name", a->name, "sha256", a->sha256,
                                        "bytes", (json_int_t)a->bytes, "here", a->here));
    }
    json_object_set_new(o, "artifacts", list);
    list = json_array();
    for (guint i = 0; i < inputs->len; i++) {
        const struct orch_stored_input *in = inputs->pdata[i];
        json_array_append_new(list, json_pack("{s:s s:s? s:s?}", "name", in->name, "run",
                                              in->from_key, "sha256", in->sha256));
    }
    json_object_set_new(o, "inputs", list);
    list = json_array();
    for (guint i = 0; i < notes->len; i++) {
        const struct orch_stored_note *n = notes->pdata[i];
        if (strcmp(n->kind, "note") == 0)
            json_array_append_new(list, json_pack("{s:s s:s?}", "kind", n->kind, "text", n->text));
    }
    json_object_set_new(o, "notes", list);
    g_autoptr(GPtrArray) tags = orch_store_tags(store, run->key, error);
    g_autofree char *name = tags ? orch_store_name(store, run->key, NULL) : NULL;
    if (!tags)
        return false;
    list = json_array();
    for (guint i = 0; i < tags->len; i++)
        json_array_append_new(list, json_string(tags->pdata[i]));
    json_object_set_new(o, "tags", list);
    json_object_set_new(o, "name", name ? json_string(name) : json_null());
    return true;
}

json_t *web_forecast_json(struct orch_store *store, const char *key)
{
    struct orch_forecast_row f;
    if (!orch_store_forecast_of(store, key, &f, NULL))
        return json_null();
    return json_pack("{s:s? s:s? s:o s:o s:o s:o}", "model", f.model, "tier", f.tier, "p5_s",
                     orch_json_finite(f.p5_s), "p50_s", orch_json_finite(f.p50_s), "p95_s",
                     orch_json_finite(f.p95_s), "made_ms",
                     orch_json_finite((double)f.made_ns / 1e6));
}

static bool answer_active(struct web_call *call, const struct orch_active_row *row)
{
    json_t *o = web_active_json(row);
    bool is_alive = json_is_true(json_object_get(o, "is_alive"));
    put(o, "state", is_alive ? "running" : "interrupted");
    json_object_set_new(o, "forecast", web_forecast_json(call->store, row->key));
    web_answer_json(call, o, 15);
    return true;
}

bool web_api_run(struct web_call *call, GError **error)
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
    json_t *params = run ? orch_store_params(call->store, run->id, error) : NULL;
    json_t *o = params ? head_json(run) : NULL;
    bool ok = o && put_lists(call->store, run, o, error);
    if (ok) {
        json_object_set(o, "params", params);
        json_object_set_new(o, "forecast", web_forecast_json(call->store, run->key));
        json_object_set_new(o, "facts", facts_json(run->facts));
        json_object_set_new(o, "machine", facts_json(run->machine_facts));
        web_answer_json(call, json_incref(o), 15);
    }
    json_decref(o);
    json_decref(params);
    orch_run_free(run);
    return ok;
}

bool web_api_metrics(struct web_call *call, GError **error)
{
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    g_autoptr(GPtrArray) all = run ? orch_store_summaries(call->store, run->id, error) : NULL;
    g_autoptr(GHashTable) ranks = all ? web_importance_new(call->store, error) : NULL;
    orch_run_free(run);
    if (!ranks)
        return false;
    json_t *list = json_array();
    for (guint i = 0; i < all->len; i++) {
        const struct orch_metric_summary *m = all->pdata[i];
        const struct orch_known_name name = {"metric", m->name, m->unit, m->better};
        json_array_append_new(
            list,
            json_pack("{s:s s:s? s:s? s:i s:I s:o s:o s:o s:o s:o s:I s:I s:I}", "name", m->name,
                      "unit", m->unit, "better", m->better, "rank",
                      web_importance_rank(ranks, &name), "points", (json_int_t)m->count, "first",
                      orch_json_real(m->first), "last", orch_json_real(m->last), "min",
                      orch_json_real(m->min), "max", orch_json_real(m->max), "mean",
                      orch_json_real(m->mean), "last_step", (json_int_t)m->last_step, "min_step",
                      (json_int_t)m->min_step, "max_step", (json_int_t)m->max_step));
    }
    web_answer_json(call, json_pack("{s:o}", "metrics", list), 15);
    return true;
}

/* ---- curves -----------------------------------------------------------------------------------
 */

json_t *web_thin_json(const struct orch_thin *thin)
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

bool web_api_series(struct web_call *call, GError **error)
{
    int64_t from = G_MININT64, to = G_MAXINT64, buckets = 1000;
    const char *name = web_query_text(call, "metric", NULL);
    if (!name) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add ?metric=NAME", "of which metric?");
        return false;
    }
    if (!web_query_int(call, "from", G_MININT64, G_MAXINT64, &from, error) ||
        !web_query_int(call, "to", G_MININT64, G_MAXINT64, &to, error) ||
        !web_query_int(call, "buckets", 2, BUCKETS_MAX, &buckets, error))
        return false;
    struct orch_run *run = orch_store_run(call->store, call->run, error);
    if (!run)
        return false;
    GError *problem = NULL;
    g_autofree char *unit = NULL;
    struct orch_thin *thin = orch_store_thin_series(call->store, run->id, name, from, to,
                                                    (unsigned)buckets, &unit, &problem);
    if (thin) {
        json_t *o = web_thin_json(thin);
        put(o, "key", run->key);
        put(o, "metric", name);
        put(o, "unit", unit);
        web_answer_json(call, o, 9);
    } else if (problem) {
        g_propagate_error(error, problem);
    } else {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "the run has no metric '%.100s'", name);
    }
    orch_thin_free(thin);
    orch_run_free(run);
    return thin != NULL;
}

/* ---- logs and files ---------------------------------------------------------------------------
 */

/* The end of a file as text: broken UTF-8 is replaced. NULL: it is not there. */
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
                            json_pack("{s:o s:I s:b}", "text", text_or_null(text), "bytes",
                                      (json_int_t)bytes, "is_cut", bytes > LOG_MAX));
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

bool web_api_log(struct web_call *call, GError **error)
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
        web_answer_json(call, json_incref(o), 15);
    json_decref(o);
    orch_active_row_free(active);
    return ok;
}

/* Pictures that a browser cannot mistake for a page; anything else is for saving. */
static const char *picture_type(const char *bytes, gsize length)
{
    if (length > 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0)
        return "image/png";
    if (length > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0)
        return "image/jpeg";
    return NULL;
}

/* Letters, digits, '.', '-' and '_' alone: a header's value. */
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
        orch_error_set(error, ORCH_ERROR_USAGE, "'orch show RUN --artifact NAME > FILE' writes it",
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

bool web_api_artifact(struct web_call *call, GError **error)
{
    const char *name = web_query_text(call, "name", "");
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
                       "artifact '%.100s' is not on this machine", name);
        return false;
    }
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL, "the run has no artifact '%.100s'", name);
    return false;
}
