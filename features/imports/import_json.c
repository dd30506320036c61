/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs in JSON files: the results of benchmark programs (import_benchmarks.c), Sacred's TinyDB
 * (import_sacred.c), and the lines of 'python3 -m orch.export_runs', which reads what takes a
 * tracker's own package. A row of FORMATS for each kind of document. */
#include "features/imports/import_json.h"

#include "lib/base/file.h"
#include "lib/loggers/log_values.h"

#include <stdio.h>
#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20, HEAD_BYTES = 256 };

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
    const json_t *series = json_object_get(line, "series"), *tags = json_object_get(line, "tags");
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
                                       json_number_value(json_object_get(line, "started")), 1e9);
    run->ended_ns = orch_imported_ns(run, ORCH_BOUNDED_ENDED_NS,
                                     json_number_value(json_object_get(line, "ended")), 1e9);
    orch_import_members(run, "", json_object_get(line, "params"), 0, orch_import_add_param);
    orch_import_members(run, "", json_object_get(line, "results"), 0, orch_import_add_result);
    orch_import_members(run, "", json_object_get(line, "labels"), 0, orch_import_add_label);
    for (size_t i = 0; i < MIN(json_array_size(tags), 100u); i++)
        if (json_is_string(json_array_get(tags, i)))
            g_ptr_array_add(run->tags, g_strdup(json_string_value(json_array_get(tags, i))));
    json_object_foreach((json_t *)(uintptr_t)series, name, one) orch_import_series(run, name, one);
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
            orch_import_warn(warnings, "'%s' was not read to its end: a line is cut off", path);
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
    {"hyperfine", "results", "command", "results", "\"results\"", orch_import_hyperfine},
    {"pyperf", "benchmarks", "runs", "version", "\"benchmarks\"", orch_import_pyperf},
    {"pytest-benchmark", "benchmarks", "stats", "machine_info", "\"machine_info\"",
     orch_import_pytest},
    {"google-benchmark", "benchmarks", "name", "context", "\"context\"", orch_import_google},
    {"asv", "results", NULL, "result_columns", "\"commit_hash\"", orch_import_asv},
    {"sacred", "runs", "experiment", "runs", "\"runs\"", orch_import_tinydb},
};

static const struct json_format *format_of(const json_t *root)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FORMATS); i++) {
        const struct json_format *f = &FORMATS[i];
        json_t *list = json_object_get(root, f->list);
        const json_t *item = json_is_array(list) ? json_array_get(list, 0)
                                                 : json_object_iter_value(json_object_iter(list));
        if (json_object_get(root, f->beside) && item &&
            (!f->mark || json_object_get(item, f->mark)))
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
    if (format->read ==
        orch_import_asv) { /* results/benchmarks.json, results/MACHINE/COMMIT.json */
        g_autofree char *machine = g_path_get_dirname(path), *above = g_path_get_dirname(machine);
        r.benchmarks = orch_import_document(above, "benchmarks.json", warnings);
    }
    read_items(format, &r);
    json_decref(r.benchmarks);
    g_hash_table_unref(r.by_name);
    return true;
}
