/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sacred's runs: the folders of its FileStorageObserver and the items of its TinyDB. */
#include "features/imports/import_json.h"

#include <string.h>

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
    const json_t *result = json_object_get(document, "result");
    const char *experiment =
        orch_json_text(json_object_get(document, "experiment"), "name", "sacred");
    g_autofree char *id = g_strdup_printf("%s/%s", key, sacred_time(document, "start_time"));
    g_autofree char *name = g_strdup_printf("%s/%s", experiment, key);
    struct orch_imported_run *run = orch_imported_run_new("sacred", id);
    orch_imported_set_text(&run->name, name);
    orch_imported_set_text(&run->experiment, experiment);
    set_sacred_status(run, orch_json_text(document, "status", "unknown"));
    run->started_ns = orch_import_utc_ns(run, sacred_time(document, "start_time"));
    run->ended_ns = orch_import_utc_ns(run, sacred_time(document, "stop_time"));
    orch_import_members(run, "", config, 0, orch_import_add_param);
    orch_import_members(run, "", info, 0, orch_import_add_result);
    if (json_is_object(result))
        orch_import_members(run, "", result, 0, orch_import_add_result);
    else
        orch_import_add_result(run, "result", result);
    orch_import_add_label(run, "comment",
                          json_object_get(json_object_get(document, "meta"), "comment"));
    orch_import_add_label(run, "host",
                          json_object_get(json_object_get(document, "host"), "hostname"));
    g_ptr_array_add(r->runs, run);
    return run;
}

void orch_import_tinydb(struct reading *r, const char *key, json_t *item)
{
    g_autofree char *id = g_strdup_printf("tinydb-%s", orch_json_text(item, "_id", key));
    add_sacred(r, id, item, json_object_get(item, "config"), json_object_get(item, "info"));
}

bool orch_import_sacred_folder(const char *folder, GPtrArray *runs, GPtrArray *warnings)
{
    g_autofree char *document_path = g_build_filename(folder, "run.json", NULL);
    g_autofree char *config_path = g_build_filename(folder, "config.json", NULL);
    if (!g_file_test(document_path, G_FILE_TEST_EXISTS) ||
        !g_file_test(config_path, G_FILE_TEST_EXISTS))
        return false;
    g_autoptr(json_t) document = orch_import_document(folder, "run.json", warnings);
    if (!json_is_string(json_object_get(document, "status")) ||
        !json_object_get(document, "experiment"))
        return false;
    g_autoptr(json_t) config = orch_import_document(folder, "config.json", warnings);
    g_autoptr(json_t) info = orch_import_document(folder, "info.json", warnings);
    g_autoptr(json_t) metrics = orch_import_document(folder, "metrics.json", warnings);
    g_autofree char *key = g_path_get_basename(folder);
    struct reading r = {.runs = runs};
    struct orch_imported_run *run = add_sacred(&r, key, document, config, info);
    const char *name;
    json_t *series;
    json_object_foreach(metrics, name, series) orch_import_series(run, name, series);
    return true;
}
