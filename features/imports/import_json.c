/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in JSON files: the results of benchmark programs, a run for each benchmark with its samples;
 * Sacred's folders and TinyDB file; and the lines of 'python3 -m orch.export_runs', which reads
 * what takes a tracker's own package. A row of FORMATS for each kind of document. */
#include "features/imports/import_runs.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/loggers/log_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20, HEAD_BYTES = 256, DEPTH_MAX = 8, COMBINATIONS_MAX = 10000 };

/** What a reader of a document fills. */
struct reading {
    const char *tool, *experiment; /* the file's name without its end */
    const json_t *root;
    json_t *benchmarks; /* asv: what its other file says of each benchmark; may be NULL */
    GPtrArray *runs;
    GHashTable *by_name; /* Google Benchmark: name -> run, because its samples lie apart */
};

/* ---- values -----------------------------------------------------------------------------------
 */

static bool number_of(const json_t *value, double *out)
{
    if (json_is_string(value))
        return orch_log_number(json_string_value(value), out) && !isfinite(*out);
    *out = json_number_value(value);
    return json_is_number(value);
}

/* The value as text, without the quotes of a JSON string. The caller frees. */
static char *text_of(const json_t *value)
{
    return json_is_string(value) ? g_strdup(json_string_value(value)) : orch_json_canonical(value);
}

static void add_param(struct orch_imported_run *run, const char *name, const json_t *value)
{
    g_autofree char *text = value ? text_of(value) : NULL;
    if (text)
        orch_imported_param(run, name, text);
}

static void add_label(struct orch_imported_run *run, const char *name, const json_t *value)
{
    g_autofree char *text = value && !json_is_null(value) ? text_of(value) : NULL;
    if (text)
        orch_imported_label(run, name, text);
}

static void add_result(struct orch_imported_run *run, const char *name, const json_t *value)
{
    double number;
    if (number_of(value, &number))
        orch_imported_result(run, name, number);
}

typedef void (*add_value)(struct orch_imported_run *run, const char *name, const json_t *value);

/* Adds the members of an object, those of inner objects as "a.b". */
static void add_members(struct orch_imported_run *run, const char *prefix, const json_t *object,
                        int depth, add_value add)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        g_autofree char *name =
            *prefix ? g_strdup_printf("%.*s.%s", ORCH_IMPORTED_LABEL_MAX, prefix, key)
                    : g_strdup(key);
        if (json_object_size(value) && depth < DEPTH_MAX)
            add_members(run, name, value, depth + 1, add);
        else
            add(run, name, value);
    }
}

/* Adds numbers as the points of a metric, behind the `from` that it has. Returns their number. */
static int64_t add_samples(struct orch_imported_run *run, const char *metric, const json_t *samples,
                           int64_t from)
{
    double value;
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(samples); i++)
        if (number_of(json_array_get(samples, i), &value))
            orch_imported_point(run, metric, from + count++, 0, value);
    return count;
}

static const json_t *member(const json_t *object, const char *key)
{
    return json_object_get(object, key);
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

static void read_hyperfine(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const json_t *codes = member(item, "exit_codes");
    struct orch_imported_run *run = begin(r, orch_json_text(item, "command", "?"), item);
    add_members(run, "", member(item, "parameters"), 0, add_param);
    add_samples(run, "time_s", member(item, "times"), 0);
    add_members(run, "", item, DEPTH_MAX, add_result);
    for (size_t i = 0; i < json_array_size(codes); i++)
        if (json_integer_value(json_array_get(codes, i)) != 0)
            fail(run, "an exit status that is not 0");
}

/* What pyperf says of a run, its benchmark or the whole file, the nearest first. */
static const char *pyperf_text(const struct reading *r, const json_t *item, const char *key)
{
    const json_t *run = json_array_get(member(item, "runs"), 0);
    const json_t *places[] = {run, item, r->root};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        const char *text = orch_json_text(member(places[i], "metadata"), key, NULL);
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

static void read_pyperf(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const char *name = pyperf_text(r, item, "name"), *unit = pyperf_text(r, item, "unit");
    const char *date = pyperf_text(r, item, "date");
    const json_t *processes = member(item, "runs");
    struct orch_imported_run *run = begin(r, name ? name : "?", item);
    const char *metric = !unit || strcmp(unit, "second") == 0 ? "time_s" : "value";
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(processes); i++)
        count += add_samples(run, metric, member(json_array_get(processes, i), "values"), count);
    add_members(run, "", member(r->root, "metadata"), DEPTH_MAX, add_label);
    add_members(run, "", member(item, "metadata"), DEPTH_MAX, add_label);
    run->started_ns = date ? local_ns(run, date) : 0;
}

static void read_pytest(struct reading *r, const char *key, json_t *item)
{
    (void)key;
    const json_t *stats = member(item, "stats");
    struct orch_imported_run *run = begin(r, orch_json_text(item, "fullname", "?"), item);
    add_members(run, "", member(item, "params"), 0, add_param);
    add_samples(run, "time_s", member(stats, "data"), 0);
    add_members(run, "", stats, DEPTH_MAX, add_result);
    add_members(run, "", member(item, "extra_info"), 0, add_label);
    add_label(run, "group", member(item, "group"));
    add_label(run, "node", member(member(r->root, "machine_info"), "node"));
    add_label(run, "commit", member(member(r->root, "commit_info"), "id"));
    run->started_ns = orch_import_utc_ns(run, orch_json_text(r->root, "datetime", ""));
}

/* Google Benchmark has an entry for each repetition; means and the like are left out. Members that
 * are not its own are the benchmark's counters. */
static void read_google(struct reading *r, const char *key, json_t *item)
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
            json_pack("{s:O, s:O?}", "item", item, "context", member(r->root, "context"));
        run = begin(r, name, content);
        g_hash_table_insert(r->by_name, g_strdup(name), run);
        add_param(run, "threads", member(item, "threads"));
        add_members(run, "", member(r->root, "context"), DEPTH_MAX, add_label);
        const char *date = orch_json_text(member(r->root, "context"), "date", "");
        run->started_ns = orch_import_utc_ns(run, date);
    }
    if (json_is_true(member(item, "error_occurred")))
        fail(run, orch_json_text(item, "error_message", "error"));
    int64_t at = orch_json_int(item, "repetition_index", 0);
    json_object_foreach(item, key, counter)
    {
        bool is_time = strcmp(key, "real_time") == 0, is_cpu = strcmp(key, "cpu_time") == 0;
        if (!json_is_number(counter) || g_strv_contains(own, key) || !number_of(counter, &value))
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
    const json_t *columns = member(r->root, "result_columns");
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

static void read_asv(struct reading *r, const char *key, json_t *item)
{
    const json_t *results = asv_column(r, item, "result"), *params = asv_column(r, item, "params");
    const json_t *samples = asv_column(r, item, "samples");
    const json_t *names = member(member(r->benchmarks, key), "param_names");
    const json_t *started = asv_column(r, item, "started_at");
    size_t count = json_is_array(results) ? json_array_size(results) : 1;
    for (size_t i = 0; i < MIN(count, COMBINATIONS_MAX); i++) {
        const json_t *result = json_array_get(results, i);
        double value;
        if (json_is_array(results) && (!number_of(result, &value) || isnan(value)))
            continue; /* the benchmark does not apply here */
        g_autoptr(json_t) content =
            json_pack("{s:O?, s:O?, s:O?, s:i}", "commit", member(r->root, "commit_hash"),
                      "started", started, "result", result, "at", (int)i);
        struct orch_imported_run *run = begin(r, key, content);
        orch_imported_set_text(&run->experiment, "asv");
        add_combination(run, names, params, i);
        add_label(run, "commit", member(r->root, "commit_hash"));
        add_label(run, "environment", member(r->root, "env_name"));
        add_members(run, "", member(r->root, "params"), DEPTH_MAX, add_label);
        run->started_ns =
            orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, json_number_value(started), 1e6);
        if (!json_is_array(results)) {
            fail(run, "failed");
            continue;
        }
        add_result(run, "result", result);
        add_samples(run, "time_s", json_array_get(samples, i), 0);
    }
}

/* ---- Sacred -----------------------------------------------------------------------------------
 */

/* The text of a time, which Sacred writes in UTC; TinyDB's have a mark before them. */
static const char *sacred_time(const json_t *document, const char *key)
{
    const char *text = orch_json_text(document, key, "");
    return g_str_has_prefix(text, "{TinyDate}:") ? strchr(text, ':') + 1 : text;
}

static void set_sacred_status(struct orch_imported_run *run, const char *status)
{
    static const struct {
        const char *word;
        enum orch_verdict verdict;
    } rows[] = {{"COMPLETED", ORCH_VERDICT_OK},
                {"FAILED", ORCH_VERDICT_FAILED},
                {"INTERRUPTED", ORCH_VERDICT_CANCELLED},
                {"TIMEOUT", ORCH_VERDICT_TIMEOUT},
                {"DIED", ORCH_VERDICT_CRASHED}};
    orch_imported_set_text(&run->status, status);
    run->verdict = ORCH_VERDICT_LOST;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].word, status) == 0)
            run->verdict = rows[i].verdict;
}

static struct orch_imported_run *add_sacred(struct reading *r, const char *key,
                                            const json_t *document, const json_t *config,
                                            const json_t *info)
{
    const json_t *result = member(document, "result");
    const char *experiment = orch_json_text(member(document, "experiment"), "name", "sacred");
    g_autofree char *id = g_strdup_printf("%s/%s", key, sacred_time(document, "start_time"));
    g_autofree char *name = g_strdup_printf("%s/%s", experiment, key);
    struct orch_imported_run *run = orch_imported_run_new("sacred", id);
    orch_imported_set_text(&run->name, name);
    orch_imported_set_text(&run->experiment, experiment);
    set_sacred_status(run, orch_json_text(document, "status", "unknown"));
    run->started_ns = orch_import_utc_ns(run, sacred_time(document, "start_time"));
    run->ended_ns = orch_import_utc_ns(run, sacred_time(document, "stop_time"));
    add_members(run, "", config, 0, add_param);
    add_members(run, "", info, 0, add_result);
    if (json_is_object(result))
        add_members(run, "", result, 0, add_result);
    else
        add_result(run, "result", result);
    add_label(run, "comment", member(member(document, "meta"), "comment"));
    add_label(run, "host", member(member(document, "host"), "hostname"));
    g_ptr_array_add(r->runs, run);
    return run;
}

static void read_tinydb(struct reading *r, const char *key, json_t *item)
{
    g_autofree char *id = g_strdup_printf("tinydb-%s", orch_json_text(item, "_id", key));
    add_sacred(r, id, item, member(item, "config"), member(item, "info"));
}

/* The points of {"steps": [...], "values": [...], "times": [seconds, ...]}; times may be absent. */
static void add_series(struct orch_imported_run *run, const char *name, const json_t *series)
{
    const json_t *steps = member(series, "steps"), *values = member(series, "values");
    const json_t *times = member(series, "times");
    for (size_t i = 0; i < MIN(json_array_size(steps), json_array_size(values)); i++) {
        const json_t *time = json_array_get(times, i), *step = json_array_get(steps, i);
        double value, at = json_number_value(step);
        if (!number_of(json_array_get(values, i), &value) || !json_is_number(step) ||
            !(fabs(at) < 1e15))
            continue;
        int64_t time_ns = json_is_number(time) ? orch_imported_ns(run, ORCH_BOUNDED_TIME_NS,
                                                                  json_number_value(time), 1e9)
                                               : 0;
        orch_imported_point(run, name, (int64_t)floor(at), time_ns, value);
    }
}

static json_t *read_document(const char *folder, const char *name, GPtrArray *warnings)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree char *text = orch_import_text(path, FILE_BYTES_MAX, warnings);
    json_t *json = text ? orch_log_json(text, strlen(text), FILE_BYTES_MAX) : NULL;
    if (text && !json)
        orch_import_warn(warnings, "'%s' is not JSON, or cut off", path);
    return json;
}

bool orch_import_sacred_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    g_autofree char *document_path = g_build_filename(folder, "run.json", NULL);
    g_autofree char *config_path = g_build_filename(folder, "config.json", NULL);
    if (!g_file_test(document_path, G_FILE_TEST_EXISTS) ||
        !g_file_test(config_path, G_FILE_TEST_EXISTS))
        return false;
    g_autoptr(json_t) document = read_document(folder, "run.json", warnings);
    if (!json_is_string(member(document, "status")) || !member(document, "experiment"))
        return false;
    g_autoptr(json_t) config = read_document(folder, "config.json", warnings);
    g_autoptr(json_t) info = read_document(folder, "info.json", warnings);
    g_autoptr(json_t) metrics = read_document(folder, "metrics.json", warnings);
    g_autofree char *key = g_path_get_basename(folder);
    struct reading r = {.runs = runs};
    struct orch_imported_run *run = add_sacred(&r, key, document, config, info);
    const char *name;
    json_t *series;
    json_object_foreach(metrics, name, series) add_series(run, name, series);
    return true;
}

/* ---- lines of orch.export_runs ----------------------------------------------------------------
 */

static const char *exported_tool(const json_t *line)
{
    static const char *const tools[] = {"aim", "clearml", "neptune", NULL};
    const char *tool = orch_json_text(line, "tool", "");
    for (size_t i = 0; tools[i]; i++)
        if (strcmp(tools[i], tool) == 0)
            return tools[i];
    return NULL;
}

static void read_line(const json_t *line, GPtrArray *runs)
{
    const json_t *series = member(line, "series"), *tags = member(line, "tags");
    const char *tool = exported_tool(line), *id = orch_json_text(line, "id", NULL), *name;
    json_t *one;
    if (!tool || !id)
        return;
    struct orch_imported_run *run = orch_imported_run_new(tool, id);
    orch_imported_set_text(&run->name, orch_json_text(line, "name", NULL));
    orch_imported_set_text(&run->experiment, orch_json_text(line, "experiment", NULL));
    orch_imported_set_text(&run->user, orch_json_text(line, "user", NULL));
    orch_imported_set_text(&run->status, orch_json_text(line, "status", NULL));
    run->verdict = orch_verdict_parse(orch_json_text(line, "state", "lost"));
    run->started_ns = orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS,
                                       json_number_value(member(line, "started")), 1e9);
    run->ended_ns =
        orch_imported_ns(run, ORCH_BOUNDED_ENDED_NS, json_number_value(member(line, "ended")), 1e9);
    add_members(run, "", member(line, "params"), 0, add_param);
    add_members(run, "", member(line, "results"), 0, add_result);
    add_members(run, "", member(line, "labels"), 0, add_label);
    for (size_t i = 0; i < MIN(json_array_size(tags), 100u); i++)
        if (json_is_string(json_array_get(tags, i)))
            g_ptr_array_add(run->tags, g_strdup(json_string_value(json_array_get(tags, i))));
    json_object_foreach((json_t *)(uintptr_t)series, name, one) add_series(run, name, one);
    g_ptr_array_add(runs, run);
}

/* Reads a line for each run, behind a first line that names the format. False: it is another one.
 */
static bool read_lines(const char *path, const char *text, GPtrArray *runs, GPtrArray *warnings)
{
    size_t length = strcspn(text, "\n");
    g_autofree char *head = g_strndup(text, MIN(length, HEAD_BYTES));
    g_autoptr(json_t) first = orch_log_json(head, strlen(head), FILE_BYTES_MAX);
    if (strcmp(orch_json_text(first, "format", ""), "orch runs") != 0)
        return false;
    for (const char *at = text + length; *at;) {
        at++;
        length = strcspn(at, "\n");
        g_autofree char *line = g_strndup(at, length);
        g_autoptr(json_t) json = orch_log_json(line, length, FILE_BYTES_MAX);
        if (json)
            read_line(json, runs);
        else if (length)
            orch_import_warn(warnings, "'%s' is not read to its end: a line is cut off", path);
        at += length;
    }
    return true;
}

/* ---- files ------------------------------------------------------------------------------------
 */

static const struct json_format {
    const char *tool;
    const char *list, *mark; /* the root's list or object of items, and a member of each item */
    const char *beside;      /* another member of the root */
    const char *first;       /* a text near the file's beginning */
    void (*read)(struct reading *r, const char *key, json_t *item);
} FORMATS[] = {
    {"hyperfine", "results", "command", "results", "\"results\"", read_hyperfine},
    {"pyperf", "benchmarks", "runs", "version", "\"benchmarks\"", read_pyperf},
    {"pytest-benchmark", "benchmarks", "stats", "machine_info", "\"machine_info\"", read_pytest},
    {"google-benchmark", "benchmarks", "name", "context", "\"context\"", read_google},
    {"asv", "results", NULL, "result_columns", "\"commit_hash\"", read_asv},
    {"sacred", "runs", "experiment", "runs", "\"runs\"", read_tinydb},
};

static const struct json_format *format_of(const json_t *root)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FORMATS); i++) {
        const struct json_format *f = &FORMATS[i];
        json_t *list = json_object_get(root, f->list);
        const json_t *item = json_is_array(list) ? json_array_get(list, 0)
                                                 : json_object_iter_value(json_object_iter(list));
        if (member(root, f->beside) && item && (!f->mark || member(item, f->mark)))
            return f;
    }
    return NULL;
}

static void read_items(const struct json_format *format, struct reading *r)
{
    json_t *list = json_object_get(r->root, format->list), *item;
    const char *key;
    size_t i;
    if (json_is_array(list)) {
        json_array_foreach(list, i, item) if (json_is_object(item)) format->read(r, NULL, item);
    } else {
        json_object_foreach(list, key, item) format->read(r, key, item);
    }
}

bool orch_import_json_may_know(const char *path)
{
    char head[HEAD_BYTES + 1] = "";
    FILE *file = g_str_has_suffix(path, ".json") ? orch_file_open_stream(path, NULL) : NULL;
    size_t length = file ? fread(head, 1, HEAD_BYTES, file) : 0;
    if (file)
        fclose(file);
    for (size_t i = 0; length && i < G_N_ELEMENTS(FORMATS); i++)
        if (strstr(head, FORMATS[i].first))
            return true;
    return false;
}

bool orch_import_json(const char *path, GPtrArray *runs, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, FILE_BYTES_MAX, warnings);
    if (!text || read_lines(path, text, runs, warnings))
        return text != NULL;
    g_autoptr(json_t) root = orch_log_json(text, strlen(text), FILE_BYTES_MAX);
    const struct json_format *format = format_of(root);
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.');
    if (dot && dot > base)
        *dot = '\0';
    if (!format)
        return false;
    struct reading r = {.tool = format->tool,
                        .experiment = base,
                        .root = root,
                        .runs = runs,
                        .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (format->read == read_asv) { /* results/benchmarks.json, results/MACHINE/COMMIT.json */
        g_autofree char *machine = g_path_get_dirname(path), *above = g_path_get_dirname(machine);
        r.benchmarks = read_document(above, "benchmarks.json", warnings);
    }
    read_items(format, &r);
    json_decref(r.benchmarks);
    g_hash_table_unref(r.by_name);
    return true;
}
