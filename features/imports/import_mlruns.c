/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MLflow's file store: mlruns/EXPERIMENT/RUN/meta.yaml, params/NAME and tags/NAME with a text each,
 * metrics/NAME with lines "milliseconds value step". A name with '/' is a path of folders. */
#include "features/imports/import_runs.h"

#include "lib/base/text.h"
#include "lib/yaml/yaml.h"

#include <string.h>

enum { FILE_BYTES_MAX = 256 << 20, META_BYTES_MAX = 1 << 20, DEPTH_MAX = 8 };

static struct orch_yaml *read_meta(const char *folder, GPtrArray *warnings)
{
    g_autofree char *path = g_build_filename(folder, "meta.yaml", NULL);
    g_autofree char *text = orch_import_text(path, META_BYTES_MAX, warnings);
    struct orch_diags *diags = orch_diags_new();
    struct orch_yaml *meta = text ? orch_yaml_parse("meta.yaml", text, strlen(text), diags) : NULL;
    if (text && !meta)
        orch_import_warn(warnings, "'%s' is not YAML", path);
    orch_diags_free(diags);
    return meta;
}

static char *meta_text(const struct orch_yaml *meta, const char *key)
{
    const struct orch_yaml *node = orch_yaml_get(meta, key);
    bool is_text = node && node->kind == ORCH_YAML_SCALAR && !orch_yaml_is_null(node);
    return is_text ? g_strdup(node->text) : NULL;
}

static int64_t meta_ns(struct orch_imported_run *run, enum orch_bounded which,
                       const struct orch_yaml *meta, const char *key)
{
    g_autofree char *text = meta_text(meta, key);
    double ms;
    return text && orch_real_parse(text, &ms) ? orch_imported_ns(run, which, ms, 1e6) : 0;
}

/* The enum RunStatus of MLflow's protocol. */
static void set_status(struct orch_imported_run *run, const struct orch_yaml *meta)
{
    static const struct {
        const char *number, *word;
        enum orch_verdict verdict;
    } rows[] = {{"1", "RUNNING", ORCH_VERDICT_LOST},
                {"2", "SCHEDULED", ORCH_VERDICT_LOST},
                {"3", "FINISHED", ORCH_VERDICT_OK},
                {"4", "FAILED", ORCH_VERDICT_FAILED},
                {"5", "KILLED", ORCH_VERDICT_CANCELLED}};
    g_autofree char *status = meta_text(meta, "status");
    run->verdict = ORCH_VERDICT_LOST;
    orch_imported_set_text(&run->status, status ? status : "unknown");
    for (size_t i = 0; status && i < G_N_ELEMENTS(rows); i++)
        if (strcmp(rows[i].number, status) == 0 || strcmp(rows[i].word, status) == 0) {
            orch_imported_set_text(&run->status, rows[i].word);
            run->verdict = rows[i].verdict;
        }
}

static void add_points(struct orch_imported_run *run, const char *name, const char *text)
{
    const struct orch_log_sink sink = orch_import_sink(run);
    void *reader = ORCH_LOGGER_MLRUNS.open(&sink, name);
    if (!ORCH_LOGGER_MLRUNS.feed(reader, (const uint8_t *)text, strlen(text)))
        ORCH_LOGGER_MLRUNS.feed(reader, (const uint8_t *)"\n", 1); /* a last line without an end */
    ORCH_LOGGER_MLRUNS.close(reader);
}

static void add_param(struct orch_imported_run *run, const char *name, const char *text)
{
    orch_imported_param(run, name, text);
}

static void add_tag(struct orch_imported_run *run, const char *name, const char *text)
{
    orch_imported_label(run, name, text);
}

/* Visits every file below the folder; its name is its relative path. */
static void each_file(struct orch_imported_run *run, const char *folder, const char *prefix,
                      int depth,
                      void (*add)(struct orch_imported_run *, const char *, const char *),
                      GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    for (guint i = 0; i < entries->len; i++) {
        const char *entry = entries->pdata[i];
        g_autofree char *path = g_build_filename(folder, entry, NULL);
        g_autofree char *name = g_strconcat(prefix, entry, NULL);
        if (orch_import_is_folder(path)) {
            g_autofree char *below = g_strconcat(name, "/", NULL);
            if (depth < DEPTH_MAX)
                each_file(run, path, below, depth + 1, add, warnings);
            continue;
        }
        g_autofree char *text = orch_import_text(path, FILE_BYTES_MAX, warnings);
        if (text)
            add(run, name, text);
    }
}

static void read_run(const char *folder, const char *id, const char *experiment, GPtrArray *runs,
                     GPtrArray *warnings)
{
    static const struct {
        const char *folder;
        void (*add)(struct orch_imported_run *, const char *, const char *);
    } parts[] = {{"params", add_param}, {"metrics", add_points}, {"tags", add_tag}};
    struct orch_yaml *meta = read_meta(folder, warnings);
    g_autofree char *stage = meta_text(meta, "lifecycle_stage");
    if (meta && g_strcmp0(stage, "deleted") != 0) {
        struct orch_imported_run *run = orch_imported_run_new("mlflow", id);
        g_autofree char *name = meta_text(meta, "run_name"), *user = meta_text(meta, "user_id");
        orch_imported_set_text(&run->name, name);
        orch_imported_set_text(&run->user, user);
        orch_imported_set_text(&run->experiment, experiment);
        run->started_ns = meta_ns(run, ORCH_BOUNDED_STARTED_NS, meta, "start_time");
        run->ended_ns = meta_ns(run, ORCH_BOUNDED_ENDED_NS, meta, "end_time");
        set_status(run, meta);
        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
            g_autofree char *path = g_build_filename(folder, parts[i].folder, NULL);
            each_file(run, path, "", 0, parts[i].add, warnings);
        }
        g_ptr_array_add(runs, run);
    }
    orch_yaml_free(meta);
}

static void read_experiment(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    struct orch_yaml *meta = read_meta(folder, warnings);
    g_autofree char *name = meta_text(meta, "name");
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    for (guint i = 0; meta && i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        g_autofree char *run = g_build_filename(path, "meta.yaml", NULL);
        if (orch_import_is_folder(path) && g_file_test(run, G_FILE_TEST_EXISTS))
            read_run(path, entries->pdata[i], name, runs, warnings);
    }
    orch_yaml_free(meta);
}

void orch_import_mlruns(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    g_autoptr(GPtrArray) entries = orch_import_entries(folder);
    for (guint i = 0; i < entries->len; i++) {
        g_autofree char *path = g_build_filename(folder, entries->pdata[i], NULL);
        g_autofree char *meta = g_build_filename(path, "meta.yaml", NULL);
        if (((const char *)entries->pdata[i])[0] != '.' && orch_import_is_folder(path) &&
            g_file_test(meta, G_FILE_TEST_EXISTS))
            read_experiment(path, runs, warnings);
    }
}

bool orch_import_mlflow_part(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    struct orch_yaml *meta = read_meta(folder, warnings);
    bool is_run = orch_yaml_get(meta, "run_id") || orch_yaml_get(meta, "run_uuid");
    bool is_experiment = !is_run && orch_yaml_get(meta, "experiment_id");
    orch_yaml_free(meta);
    if (is_run) {
        g_autofree char *above = g_path_get_dirname(folder), *id = g_path_get_basename(folder);
        struct orch_yaml *of_experiment = read_meta(above, warnings);
        g_autofree char *name = meta_text(of_experiment, "name");
        orch_yaml_free(of_experiment);
        read_run(folder, id, name, runs, warnings);
    } else if (is_experiment) {
        read_experiment(folder, runs, warnings);
    }
    return is_run || is_experiment;
}
