/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/onnx/export_source.h"

#include "core/results/whole_run.h"
#include "features/onnx/onnx_export.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/seed.h"
#include "lib/net/initial.h"
#include "lib/weights/weights.h"

#include <string.h>

enum { DIFFERENCES_MAX = 3 }; /* tensors named in an error */

static void add_metadata(struct onnx_export_source *s, const char *key, const char *value)
{
    g_ptr_array_add(s->metadata, g_strdup(key));
    g_ptr_array_add(s->metadata, g_strdup(value));
}

static bool open_net(const struct orch_net_options *options, struct onnx_export_source *s,
                     GError **error)
{
    s->metadata = g_ptr_array_new_with_free_func(g_free);
    s->net = orch_net_make(options, error);
    if (!s->net)
        return false;
    s->values = g_new0(float *, s->net->tensors->len);
    const struct orch_net_shape *in = &s->net->input;
    g_autofree char *input = g_strdup_printf(
        "%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT, in->c, in->h, in->w);
    g_autofree char *classes = g_strdup_printf("%" G_GINT64_FORMAT, s->net->classes);
    add_metadata(s, "network", s->net->name);
    add_metadata(s, "input", input);
    add_metadata(s, "class_count", classes);
    return true;
}

void orch_onnx_export_source_clear(struct onnx_export_source *s)
{
    for (guint i = 0; s->values && i < s->net->tensors->len; i++)
        g_free(s->values[i]);
    g_free(s->values);
    orch_net_free(s->net);
    g_clear_pointer(&s->metadata, g_ptr_array_unref);
    g_free(s->weights);
    *s = (struct onnx_export_source){0};
}

/* ---- values -------------------------------------------------------------------------------- */

static void make_values(struct onnx_export_source *s, uint64_t seed)
{
    g_autofree bool *used = orch_onnx_export_tensors(s->net);
    uint64_t init = orch_seed_derive(seed, "init");
    for (guint i = 0; i < s->net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(s->net, (int)i);
        if (!used[i])
            continue;
        s->values[i] = g_new(float, tensor->count);
        orch_net_initial_values(tensor, init, s->values[i]);
    }
    s->weights = g_strdup_printf("initial values, seed %" G_GUINT64_FORMAT, seed);
}

static bool has_shape(const struct orch_weight *weight, const struct orch_net_tensor *tensor)
{
    return weight->rank == tensor->rank &&
           memcmp(weight->shape, tensor->shape, (size_t)tensor->rank * sizeof *tensor->shape) == 0;
}

/* Adds what is wrong with a tensor's weight (NULL: missing) to the error's text. */
static void add_difference(GString *text, int count, const struct orch_net_tensor *tensor,
                           const struct orch_weight *weight)
{
    if (count > DIFFERENCES_MAX)
        return;
    g_string_append(text, count > 1 ? ", " : "");
    if (!weight) {
        g_string_append_printf(text, "missing %s", tensor->name);
        return;
    }
    g_autofree char *theirs = orch_weight_shape_format(weight->rank, weight->shape);
    g_autofree char *ours = orch_weight_shape_format(tensor->rank, tensor->shape);
    g_string_append_printf(text, "%s: %s for %s", tensor->name, theirs, ours);
}

static bool read_values(struct onnx_export_source *s, const char *path, const char *what,
                        GError **error)
{
    struct orch_weights *weights = orch_weights_load(path, error);
    if (!weights)
        return false;
    g_autofree bool *used = orch_onnx_export_tensors(s->net);
    g_autoptr(GString) differences = g_string_new(NULL);
    int count = 0;
    for (guint i = 0; i < s->net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(s->net, (int)i);
        const struct orch_weight *weight =
            used[i] ? orch_weights_find(weights, tensor->name) : NULL;
        if (used[i] && (!weight || !has_shape(weight, tensor)))
            add_difference(differences, ++count, tensor, weight);
        if (count || !used[i])
            continue;
        s->values[i] = g_new(float, tensor->count);
        orch_weight_to_float(weight, s->values[i]);
    }
    orch_weights_free(weights);
    if (count)
        orch_error_set(error, ORCH_ERROR_CHECK,
                       "give the network, input and classes that they were trained with",
                       "the weights of %s are not those of '%s' with %" G_GINT64_FORMAT
                       " classes: %s%s",
                       what, s->net->name, s->net->classes, differences->str,
                       count > DIFFERENCES_MAX ? ", ..." : "");
    return count == 0;
}

bool orch_onnx_export_source_open(const struct onnx_export_request *request,
                                  struct onnx_export_source *out, GError **error)
{
    *out = (struct onnx_export_source){0};
    if (!open_net(&request->net, out, error))
        return false;
    g_autofree char *what = request->weights ? g_strdup_printf("'%s'", request->weights) : NULL;
    if (!what)
        make_values(out, request->seed);
    else if (!read_values(out, request->weights, what, error))
        return false;
    else
        out->weights = g_path_get_basename(request->weights);
    add_metadata(out, "weights", out->weights);
    return true;
}

/* ---- runs ---------------------------------------------------------------------------------- */

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
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch show RUN' lists what it kept",
                       "run %s has no artifact 'weights' (state %s)", key, whole->run->state);
    else if (!path)
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "export it where it ran, or pull the artifacts ('orch pull')",
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
    add_metadata(s, "weights", s->weights);
    add_metadata(s, "run", whole->run->key);
    add_metadata(s, "params", params);
    if (whole->run->source_tree)
        add_metadata(s, "tree", whole->run->source_tree);
    if (classes)
        add_metadata(s, "classes", classes);
}

static bool open_run(struct orch_store *store, const struct orch_whole_run *whole,
                     const struct orch_net_options *given, struct onnx_export_source *out,
                     GError **error)
{
    struct orch_net_options options;
    g_autofree char *what = g_strdup_printf("run %s", orch_run_short_key(whole->run->key));
    g_autofree char *path = NULL;
    if (!net_of_run(whole, given, &options, error) ||
        !(path = path_of_weights(store, whole, error)) || !open_net(&options, out, error) ||
        !read_values(out, path, what, error))
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
