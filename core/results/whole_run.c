/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/results/whole_run.h"

#include "lib/base/error.h"
#include "lib/wire/foreign_cpu_fact.h"
#include "lib/wire/trial.h"
#include "store/read/run_json.h"

#include <string.h>

static json_t *object_of(const char *text)
{
    return text ? json_loads(text, 0, NULL) : NULL;
}

static bool read_hidden(struct orch_store *store, struct orch_whole_run *out, GError **error)
{
    if (!out->run->hidden)
        return true;
    out->hidden = orch_store_hidden(store, out->run->key, error);
    out->is_hidden_by_user = out->hidden && (!out->hidden->is_public ||
                                             orch_who_is_same(out->hidden->who, orch_user_name()));
    return out->hidden != NULL;
}

bool orch_whole_run_read(struct orch_store *store, const struct orch_run *run,
                         struct orch_whole_run *out, GError **error)
{
    int64_t id = run->id;
    *out = (struct orch_whole_run){.run = run,
                                   .facts = object_of(run->facts),
                                   .machine = object_of(run->machine_facts),
                                   .seed31 = orch_trial_seed31(run->seed),
                                   .foreign_cpu = orch_facts_foreign_cpu(run->facts),
                                   .is_disturbed = orch_facts_are_disturbed(run->facts)};
    out->params = orch_store_params(store, id, error);
    out->results = out->params ? orch_store_results(store, id, error) : NULL;
    out->inputs = out->results ? orch_store_inputs(store, id, error) : NULL;
    out->artifacts = out->inputs ? orch_store_artifacts(store, id, error) : NULL;
    out->notes = out->artifacts ? orch_store_notes(store, run->key, error) : NULL;
    out->tags = out->notes ? orch_store_tags(store, run->key, error) : NULL;
    out->name = out->tags ? orch_store_name(store, run->key, NULL) : NULL;
    out->summaries = out->tags ? orch_store_own_summaries(store, id, error) : NULL;
    orch_left_look(store, run->key, &out->left);
    out->system = out->summaries ? orch_store_system_summaries(store, id, error) : NULL;
    return out->system && read_hidden(store, out, error);
}

void orch_whole_run_clear(struct orch_whole_run *whole)
{
    orch_hidden_free(whole->hidden);
    orch_left_clear(&whole->left);
    json_decref(whole->params);
    json_decref(whole->results);
    json_decref(whole->facts);
    json_decref(whole->machine);
    GPtrArray *arrays[] = {whole->inputs,    whole->artifacts, whole->notes,
                           whole->summaries, whole->system,    whole->tags};
    g_free(whole->name);
    for (unsigned i = 0; i < G_N_ELEMENTS(arrays); i++)
        if (arrays[i])
            g_ptr_array_unref(arrays[i]);
    *whole = (struct orch_whole_run){0};
}

static json_t *summaries_json(const GPtrArray *summaries)
{
    json_t *list = json_array();
    for (guint i = 0; i < summaries->len; i++)
        json_array_append_new(list, orch_summary_json(summaries->pdata[i]));
    return list;
}

static json_t *left_json(const struct orch_left *left)
{
    json_t *files = json_array();
    for (guint i = 0; i < left->files->len; i++) {
        const struct orch_left_file *file = left->files->pdata[i];
        g_autofree char *path = g_utf8_make_valid(file->path, -1);
        g_autofree char *link = file->link ? g_utf8_make_valid(file->link, -1) : NULL;
        json_array_append_new(files, json_pack("{s:s s:I s:s?}", "path", path, "bytes",
                                               (json_int_t)file->bytes, "link", link));
    }
    g_autofree char *folder = left->folder ? g_utf8_make_valid(left->folder, -1) : NULL;
    return json_pack("{s:s? s:I s:I s:o}", "folder", folder, "count", (json_int_t)left->count,
                     "bytes", (json_int_t)left->bytes, "files", files);
}

json_t *orch_whole_run_json(struct orch_store *store, const struct orch_whole_run *whole,
                            GError **error)
{
    json_t *json = orch_run_json(store, whole->run, error);
    if (!json)
        return NULL;
    json_object_set_new(json, "metrics", summaries_json(whole->summaries));
    json_object_set_new(json, "system", summaries_json(whole->system));
    json_object_set_new(json, "left", left_json(&whole->left));
    return json;
}

bool orch_run_visit_series(struct orch_store *store, const struct orch_run *run,
                           const char *const *names, orch_series_fn visit, void *ctx,
                           GError **error)
{
    for (int i = 0; names[i]; i++) {
        GError *problem = NULL;
        struct orch_series *series = orch_store_series(store, run->id, names[i], &problem);
        if (!series && !problem)
            orch_error_set(&problem, ORCH_ERROR_NOT_FOUND, "'orch show RUN' lists its metrics",
                           "run %s has no metric '%s'", orch_run_short_key(run->key), names[i]);
        if (!series) {
            g_propagate_error(error, problem);
            return false;
        }
        visit(ctx, series);
        orch_series_free(series);
    }
    return true;
}

/* Sets the error for an artifact that the run does not have, with those that it has. */
static void no_artifact(const struct orch_whole_run *whole, const char *name, GError **error)
{
    g_autoptr(GString) list = g_string_new(NULL);
    for (guint i = 0; i < whole->artifacts->len; i++)
        g_string_append_printf(
            list, "%s%s", i ? ", " : "",
            ((const struct orch_stored_artifact *)whole->artifacts->pdata[i])->name);
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, list->len ? list->str : "the run has no artifacts",
                   "the run has no artifact '%s'", name);
}

char *orch_whole_run_artifact(struct orch_store *store, const struct orch_whole_run *whole,
                              const char *name, size_t *out_length, GError **error)
{
    const struct orch_stored_artifact *found = NULL;
    for (guint i = 0; i < whole->artifacts->len; i++) {
        const struct orch_stored_artifact *artifact = whole->artifacts->pdata[i];
        found = strcmp(artifact->name, name) == 0 ? artifact : found;
    }
    g_autofree char *path = found ? orch_store_object_path(store, found->sha256) : NULL;
    char *bytes = NULL;
    gsize length = 0;
    if (!found)
        no_artifact(whole, name, error);
    else if (!path)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, NULL,
                       "the contents of artifact '%s' are not on this machine", name);
    else if (g_file_get_contents(path, &bytes, &length, error))
        *out_length = length;
    return bytes;
}

GHashTable *orch_run_last_values(struct orch_store *store, const char *key)
{
    GHashTable *last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    struct orch_run *run = orch_store_run(store, key, NULL);
    g_autoptr(GPtrArray) summaries = run ? orch_store_own_summaries(store, run->id, NULL) : NULL;
    for (guint i = 0; summaries && i < summaries->len; i++) {
        const struct orch_metric_summary *summary = summaries->pdata[i];
        double *value = g_new(double, 1);
        *value = summary->last;
        g_hash_table_insert(last, g_strdup(summary->name), value);
    }
    orch_run_free(run);
    return last;
}
