/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of Weights & Biases: the folder that the client writes for a run (wandb/run-DATE-ID,
 * wandb/offline-run-DATE-ID):
 *
 *     files/config.yaml           name: {value: ...}: parameters
 *     files/wandb-summary.json    results
 *     files/wandb-history.jsonl   one line per step (clients before 0.11)
 *     run-ID.wandb                everything, as Protocol Buffers records in LevelDB's log format;
 *                                 the only file of an offline run
 *
 * A number of the history becomes a point under its _step; names that begin with '_' are internal
 * to the client.
 */
#include "features/imports/import_runs.h"
#include "lib/loggers/log_values.h"
#include "lib/loggers/wandb.h"

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/yaml/yaml.h"

#include <string.h>

enum {
    TEXT_BYTES_MAX = 256 << 20,
    CONFIG_BYTES_MAX = 1 << 20,
    VALUE_BYTES_MAX = 1 << 20,
};

int64_t orch_import_utc_ns(struct orch_imported_run *run, const char *text)
{
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, utc);
    double s = time ? (double)g_date_time_to_unix(time) : 0;
    return orch_imported_ns(run, ORCH_BOUNDED_STARTED_NS, s, 1e9);
}

/* ---- the text files ---------------------------------------------------------------------------
 */

static json_t *yaml_json(const struct orch_yaml *node)
{
    if (node->kind == ORCH_YAML_SCALAR)
        return orch_yaml_is_null(node) ? json_null() : json_string(node->text);
    json_t *out = node->kind == ORCH_YAML_LIST ? json_array() : json_object();
    for (guint i = 0; i < node->items->len; i++) {
        json_t *inner = yaml_json(node->items->pdata[i]);
        if (node->kind == ORCH_YAML_LIST)
            json_array_append_new(out, inner);
        else
            json_object_set_new(out, ((const struct orch_yaml *)node->keys->pdata[i])->text, inner);
    }
    return out;
}

static void read_config(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, CONFIG_BYTES_MAX, warnings);
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *tree =
        text ? orch_yaml_parse("config.yaml", text, strlen(text), diags) : NULL;
    if (text && !tree)
        orch_import_warn(warnings, "'%s' is not YAML", path);
    const struct orch_log_sink sink = orch_import_sink(run);
    for (guint i = 0; tree && tree->kind == ORCH_YAML_MAP && i < tree->items->len; i++) {
        const char *name = ((const struct orch_yaml *)tree->keys->pdata[i])->text;
        const struct orch_yaml *value = orch_yaml_get(tree->items->pdata[i], "value");
        if (!value || orch_log_wandb_is_own(name))
            continue;
        g_autoptr(json_t) json = yaml_json(value);
        orch_log_take_setting(&sink, name, json);
    }
    orch_yaml_free(tree);
    orch_diags_free(diags);
}

static void read_summary(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, TEXT_BYTES_MAX, warnings);
    g_autoptr(json_t) summary =
        text ? orch_json_parse(text, strlen(text), TEXT_BYTES_MAX, NULL) : NULL;
    const struct orch_log_sink sink = orch_import_sink(run);
    if (text && !json_is_object(summary))
        orch_import_warn(warnings, "'%s' is not a JSON object", path);
    else if (text)
        orch_log_wandb_summary(&sink, summary);
}

static void read_history(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, TEXT_BYTES_MAX, warnings);
    const struct orch_log_sink sink = orch_import_sink(run);
    int64_t step = 0, bad = 0;
    for (char *line = text, *next; line && *line; line = next, step++) {
        next = line + strcspn(line, "\n");
        if (*next)
            *next++ = 0;
        g_autoptr(json_t) values = orch_json_parse(line, strlen(line), VALUE_BYTES_MAX, NULL);
        if (json_is_object(values))
            orch_log_wandb_line(&sink, values, step);
        else
            bad += *line != 0;
    }
    if (bad)
        orch_import_warn(warnings, "'%s': %" G_GINT64_FORMAT " lines are not JSON objects", path,
                         bad);
}

static void read_metadata(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    g_autofree char *text = orch_import_text(path, CONFIG_BYTES_MAX, warnings);
    g_autoptr(json_t) json =
        text ? orch_json_parse(text, strlen(text), CONFIG_BYTES_MAX, NULL) : NULL;
    int64_t started_ns = orch_import_utc_ns(run, orch_json_text(json, "startedAt", ""));
    if (started_ns)
        run->started_ns = started_ns;
    if (orch_json_text(json, "username", NULL))
        orch_imported_set_text(&run->user, orch_json_text(json, "username", NULL));
}

/* ---- run-ID.wandb -----------------------------------------------------------------------------
 */

static void read_log_file(struct orch_imported_run *run, const char *path, GPtrArray *warnings)
{
    if (g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
        orch_import_warn(warnings, "%s", "the log is a link to another file, so it is not read");
        return;
    }
    run->verdict = ORCH_VERDICT_LOST;
    orch_import_file(run, &ORCH_LOGGER_WANDB, path, warnings);
    orch_imported_set_text(&run->status, !run->status                      ? "not finished"
                                         : run->verdict == ORCH_VERDICT_OK ? "finished"
                                                                           : "failed");
}

/* ---- a folder ---------------------------------------------------------------------------------
 */

void orch_import_wandb_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    g_autofree char *base = g_path_get_basename(folder);
    const char *dash = strrchr(base, '-');
    struct orch_imported_run *run = orch_imported_run_new("wandb", dash ? dash + 1 : base);
    static const struct {
        const char *name;
        void (*read)(struct orch_imported_run *, const char *, GPtrArray *);
    } files[] = {{"config.yaml", read_config},
                 {"wandb-metadata.json", read_metadata},
                 {"wandb-history.jsonl", read_history},
                 {"wandb-summary.json", read_summary}};
    g_autofree char *log = g_strdup_printf("%s/run-%s.wandb", folder, run->id);
    if (g_file_test(log, G_FILE_TEST_EXISTS))
        read_log_file(run, log, warnings);
    bool has_points = run->points->len > 0;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *inner = g_build_filename(folder, "files", files[i].name, NULL);
        g_autofree char *flat = g_build_filename(folder, files[i].name, NULL);
        const char *path = g_file_test(inner, G_FILE_TEST_EXISTS) ? inner : flat;
        if (g_file_test(path, G_FILE_TEST_EXISTS) && !(has_points && files[i].read == read_history))
            files[i].read(run, path, warnings);
    }
    if (json_object_size(run->params) || json_object_size(run->results) || run->points->len) {
        g_ptr_array_add(runs, run);
        return;
    }
    orch_import_warn(warnings, "'%s' holds no run", folder);
    orch_imported_run_free(run);
}
