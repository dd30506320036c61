/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/onnx/export_source.h"

#include "core/results/whole_run.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <string.h>

/* A result that is a size; 0: there is none. */
static int64_t size_of(const struct orch_whole_run *whole, const char *name)
{
    double value = 0;
    const json_t *result = json_object_get(whole->results, name);
    return orch_json_get_real(result, &value) && value >= 1 && value <= 1e9 ? (int64_t)value : 0;
}

/* The network that the run trained, with its input and classes; `given` overrides them. */
static bool net_of_run(const struct orch_whole_run *whole, const struct orch_net_options *given,
                       struct orch_net_options *out, GError **error)
{
    const char *name = orch_json_text(whole->params, "net", NULL);
    if (!name) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "name a run of a plugin that trains, such as 'train'",
                       "run %s has no parameter 'net' (plugin '%s')",
                       orch_run_short_key(whole->run->key), whole->run->plugin);
        return false;
    }
    bool has_input = given->channels || given->height;
    *out = (struct orch_net_options){
        .name = name,
        .channels = has_input ? given->channels : size_of(whole, "image_channels"),
        .height = has_input ? given->height : size_of(whole, "image_height"),
        .width = has_input ? given->width : size_of(whole, "image_width"),
        .classes = given->classes ? given->classes : size_of(whole, "class_count")};
    return true;
}

static char *path_of_weights(struct orch_store *store, const struct orch_whole_run *whole,
                             GError **error)
{
    const char *key = orch_run_short_key(whole->run->key);
    const struct orch_stored_artifact *found = NULL;
    for (guint i = 0; i < whole->artifacts->len && !found; i++) {
        const struct orch_stored_artifact *artifact = whole->artifacts->pdata[i];
        found = strcmp(artifact->name, "weights") == 0 ? artifact : NULL;
    }
    char *path = found && found->here ? orch_store_object_path(store, found->sha256) : NULL;
    if (!found)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "'orch show RUN' lists the artifacts of the run",
                       "run %s has no weights (state %s)", key, whole->run->state);
    else if (!path)
        orch_error_set(
            error, ORCH_ERROR_NOT_FOUND,
            "export the run where it was made, or get its weights: 'orch pull --artifacts all'",
            "the weights of run %s are not on this machine", key);
    return path;
}

/* The names of the classes, one a line, from the first column of the artifact 'classes'; NULL
 * without one. Caller frees. */
static char *class_names(struct orch_store *store, const struct orch_whole_run *whole)
{
    size_t length = 0;
    g_autofree char *text = orch_whole_run_artifact(store, whole, "classes", &length, NULL);
    struct orch_csv *csv = text ? orch_csv_parse("classes", text, length, NULL) : NULL;
    if (!csv)
        return NULL;
    GString *names = g_string_new(NULL);
    for (size_t row = 0; row < orch_csv_rows(csv); row++)
        g_string_append_printf(names, "%s%s", row ? "\n" : "", orch_csv_text(csv, row, 0));
    orch_csv_free(csv);
    return g_string_free(names, FALSE);
}

static void describe_run(struct orch_store *store, const struct orch_whole_run *whole,
                         struct onnx_export_source *s)
{
    g_autofree char *classes = class_names(store, whole);
    g_autofree char *params = orch_json_canonical(whole->params);
    s->weights = g_strdup_printf("run %s", orch_run_short_key(whole->run->key));
    orch_onnx_export_source_describe(s, "weights", s->weights);
    orch_onnx_export_source_describe(s, "run", whole->run->key);
    orch_onnx_export_source_describe(s, "params", params);
    if (whole->run->source_tree)
        orch_onnx_export_source_describe(s, "tree", whole->run->source_tree);
    if (classes)
        orch_onnx_export_source_describe(s, "classes", classes);
}

static bool open_run(struct orch_store *store, const struct orch_whole_run *whole,
                     const struct orch_net_options *given, struct onnx_export_source *out,
                     GError **error)
{
    struct orch_net_options options;
    g_autofree char *what = g_strdup_printf("run %s", orch_run_short_key(whole->run->key));
    g_autofree char *path = NULL;
    if (!net_of_run(whole, given, &options, error) ||
        !(path = path_of_weights(store, whole, error)) ||
        !orch_onnx_export_source_net(&options, out, error) ||
        !orch_onnx_export_source_read(out, path, what, error))
        return false;
    describe_run(store, whole, out);
    return true;
}

bool orch_onnx_export_source_of_run(struct orch_store *store, const struct orch_run *run,
                                    const struct orch_net_options *net,
                                    struct onnx_export_source *out, GError **error)
{
    *out = (struct onnx_export_source){0};
    struct orch_whole_run whole;
    bool ok =
        orch_whole_run_read(store, run, &whole, error) && open_run(store, &whole, net, out, error);
    orch_whole_run_clear(&whole);
    return ok;
}
