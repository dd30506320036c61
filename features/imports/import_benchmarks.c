/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of benchmark programs in JSON, a run for each benchmark with its samples: hyperfine,
 * pyperf, pytest-benchmark, Google Benchmark, asv. */
#include "features/imports/import_json.h"

#include "lib/base/sha256.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

enum { COMBINATIONS_MAX = 10000 };

/* ---- parts ------------------------------------------------------------------------------------
 */

/* Adds numbers as the points of a metric, behind the `from` that it has. Returns their number. */
static int64_t add_samples(struct orch_imported_run *run, const char *metric, const json_t *samples,
                           int64_t from)
{
    double value;
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (orch_import_number(json_array_get(samples, i), &value))
            orch_imported_point(run, metric, from + count++, 0, value);
    return count;
}

/* A new run of a benchmark. The same results again are the same run: `content` is all that tells
 * them from others. */
static struct orch_imported_run *begin(struct reading *r, const char *name, const json_t *content)
{
    char digest[ORCH_SHA256_CHARS];
    g_autofree char *text = orch_json_canonical(content);
    orch_sha256(text, strlen(text), digest);
    g_autofree char *id = g_strdup_printf("%.100s#%.12s", name, digest);
    struct orch_imported_run *run = orch_imported_run_new(r->tool, id);
    orch_imported_set_text(&run->name, name);
    orch_imported_set_text(&run->experiment, r->experiment);
    orch_imported_param_json(run, "benchmark", json_string(name));
    run->verdict = ORCH_VERDICT_OK;
    g_ptr_array_add(r->runs, run);
    return run;
}

static void fail(struct orch_imported_run *run, const char *status)
{
    orch_imported_set_text(&run->status, status);
    run->verdict = ORCH_VERDICT_FAILED;
}

/* ---- benchmarks -------------------------------------------------------------------------------
 */

void orch_import_hyperfine(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const json_t *codes = json_object_get(item, "exit_codes");
    struct orch_imported_run *run = begin(r, orch_json_text(item, "command", "?"), item);
    orch_import_members(run, "", json_object_get(item, "parameters"), 0, orch_import_add_param);
    add_samples(run, "time_s", json_object_get(item, "times"), 0);
    orch_import_members(run, "", item, ORCH_IMPORT_DEPTH_MAX, orch_import_add_result);
    for (size_t i = 0; i < json_array_size(codes); i++)
        if (json_integer_value(json_array_get(codes, i)) != 0)
            fail(run, "the command ended with an exit status other than 0");
}

/* What pyperf says of a run, its benchmark or the whole file, the nearest first. */
static const char *pyperf_text(const struct reading *r, const json_t *item, const char *key)
{
    const json_t *run = json_array_get(json_object_get(item, "runs"), 0);
    const json_t *places[] = {run, item, r->root};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        const char *text = orch_json_text(json_object_get(places[i], "metadata"), key, NULL);
        if (text)
            return text;
    }
    return NULL;
}

/* A time of this machine's clock, which pyperf writes without a zone. */
static int64_t local_ns(struct orch_imported_run *run, const char *text)
{
    g_autoptr(GTimeZone) here = g_time_zone_new_local();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, here);
    double s = time ? (double)g_date_time_to_unix(time) : 0;
    return orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, s, 1e9);
}

void orch_import_pyperf(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const char *name = pyperf_text(r, item, "name"), *unit = pyperf_text(r, item, "unit");
    const char *date = pyperf_text(r, item, "date");
    const json_t *processes = json_object_get(item, "runs");
    struct orch_imported_run *run = begin(r, name ? name : "?", item);
    const char *metric = !unit || strcmp(unit, "second") == 0 ? "time_s" : "value";
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(processes); i++)
        count += add_samples(run, metric, json_object_get(json_array_get(processes, i), "values"),
                             count);
    orch_import_members(run, "", json_object_get(r->root, "metadata"), ORCH_IMPORT_DEPTH_MAX,
                        orch_import_add_label);
    orch_import_members(run, "", json_object_get(item, "metadata"), ORCH_IMPORT_DEPTH_MAX,
                        orch_import_add_label);
    run->started_ns = date ? local_ns(run, date) : 0;
}

void orch_import_pytest(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const json_t *stats = json_object_get(item, "stats");
    struct orch_imported_run *run = begin(r, orch_json_text(item, "fullname", "?"), item);
    orch_import_members(run, "", json_object_get(item, "params"), 0, orch_import_add_param);
    add_samples(run, "time_s", json_object_get(stats, "data"), 0);
    orch_import_members(run, "", stats, ORCH_IMPORT_DEPTH_MAX, orch_import_add_result);
    orch_import_members(run, "", json_object_get(item, "extra_info"), 0, orch_import_add_label);
    orch_import_add_label(run, "group", json_object_get(item, "group"));
    orch_import_add_label(run, "node",
                          json_object_get(json_object_get(r->root, "machine_info"), "node"));
    orch_import_add_label(run, "commit",
                          json_object_get(json_object_get(r->root, "commit_info"), "id"));
    run->started_ns = orch_import_utc_ns(run, orch_json_text(r->root, "datetime", ""));
}

/* Google Benchmark has an entry for each repetition; means and the like are left out. Members that
 * are not its own are the benchmark's counters. */
void orch_import_google(struct reading *r, const char *key, json_t *item)
{
    static const char *const own[] = {"family_index",
                                      "per_family_instance_index",
                                      "repetitions",
                                      "repetition_index",
                                      "threads",
                                      "iterations",
                                      NULL};
    const char *name = orch_json_text(item, "run_name", orch_json_text(item, "name", "?"));
    double scale = orch_unit_in_seconds(orch_json_text(item, "time_unit", "ns"));
    struct orch_imported_run *run = g_hash_table_lookup(r->by_name, name);
    double value;
    json_t *counter;
    if (strcmp(orch_json_text(item, "run_type", ""), "aggregate") == 0)
        return;
    if (!run) {
        g_autoptr(json_t) content =
            json_pack("{s:O, s:O?}", "item", item, "context", json_object_get(r->root, "context"));
        run = begin(r, name, content);
        g_hash_table_insert(r->by_name, g_strdup(name), run);
        orch_import_add_param(run, "threads", json_object_get(item, "threads"));
        orch_import_members(run, "", json_object_get(r->root, "context"), ORCH_IMPORT_DEPTH_MAX,
                            orch_import_add_label);
        const char *date = orch_json_text(json_object_get(r->root, "context"), "date", "");
        run->started_ns = orch_import_utc_ns(run, date);
    }
    if (json_is_true(json_object_get(item, "error_occurred")))
        fail(run, orch_json_text(item, "error_message", "error"));
    int64_t at = orch_json_int(item, "repetition_index", 0);
    json_object_foreach(item, key, counter)
    {
        bool is_time = strcmp(key, "real_time") == 0, is_cpu = strcmp(key, "cpu_time") == 0;
        if (!json_is_number(counter) || g_strv_contains(own, key) ||
            !orch_import_number(counter, &value))
            continue;
        orch_imported_point(run,
                            is_time  ? "time_s"
                            : is_cpu ? "cpu_time_s"
                                     : key,
                            at, 0, is_time || is_cpu ? value * scale : value);
    }
}

/* The column of an asv result, which is a list of results by columns. */
static const json_t *asv_column(const struct reading *r, const json_t *item, const char *name)
{
    const json_t *columns = json_object_get(r->root, "result_columns");
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (g_strcmp0(json_string_value(json_array_get(columns, i)), name) == 0)
            return json_array_get(item, i);
    return NULL;
}

/* Adds the parameters of the combination `at`, in the order of a product: the last one varies
 * fastest. asv writes texts as Python does, in quotes. */
static void add_combination(struct orch_imported_run *run, const json_t *names,
                            const json_t *params, size_t at)
{
    for (size_t i = json_array_size(params); i-- > 0;) {
        const json_t *values = json_array_get(params, i);
        size_t count = MAX(json_array_size(values), 1);
        const char *value = json_string_value(json_array_get(values, at % count));
        const char *own = json_string_value(json_array_get(names, i));
        g_autofree char *name = own ? g_strdup(own) : g_strdup_printf("param%zu", i + 1);
        g_autofree char *text = g_strdup(value ? value : "?");
        size_t length = strlen(text);
        if (length > 1 && *text == '\'' && text[length - 1] == '\'') {
            text[length - 1] = '\0';
            memmove(text, text + 1, length - 1);
        }
        orch_imported_param(run, name, text);
        at /= count;
    }
}

void orch_import_asv(struct reading *r, const char *key, json_t *item)
{
    const json_t *results = asv_column(r, item, "result"), *params = asv_column(r, item, "params");
    const json_t *samples = asv_column(r, item, "samples");
    const json_t *names = json_object_get(json_object_get(r->benchmarks, key), "param_names");
    const json_t *started = asv_column(r, item, "started_at");
    size_t count = json_is_array(results) ? json_array_size(results) : 1;
    for (size_t i = 0; i < MIN(count, COMBINATIONS_MAX); i++) {
        const json_t *result = json_array_get(results, i);
        double value;
        if (json_is_array(results) && (!orch_import_number(result, &value) || isnan(value)))
            continue; /* the benchmark does not apply here */
        g_autoptr(json_t) content =
            json_pack("{s:O?, s:O?, s:O?, s:i}", "commit", json_object_get(r->root, "commit_hash"),
                      "started", started, "result", result, "at", (int)i);
        struct orch_imported_run *run = begin(r, key, content);
        orch_imported_set_text(&run->experiment, "asv");
        add_combination(run, names, params, i);
        orch_import_add_label(run, "commit", json_object_get(r->root, "commit_hash"));
        orch_import_add_label(run, "environment", json_object_get(r->root, "env_name"));
        orch_import_members(run, "", json_object_get(r->root, "params"), ORCH_IMPORT_DEPTH_MAX,
                            orch_import_add_label);
        run->started_ns =
            orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, json_number_value(started), 1e6);
        if (!json_is_array(results)) {
            fail(run, "failed");
            continue;
        }
        orch_import_add_result(run, "result", result);
        add_samples(run, "time_s", json_array_get(samples, i), 0);
    }
}
