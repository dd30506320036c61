/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/onnx/export_values.h"

#include "lib/base/error.h"
#include "lib/base/seed.h"
#include "lib/net/initial.h"
#include "lib/onnx/onnx_export.h"
#include "lib/weights/weights.h"

#include <string.h>

enum { DIFFERENCES_MAX = 3 }; /* tensors named in an error */

void orch_onnx_export_source_describe(struct onnx_export_source *s, const char *key,
                                      const char *value)
{
    g_ptr_array_add(s->metadata, g_strdup(key));
    g_ptr_array_add(s->metadata, g_strdup(value));
}

bool orch_onnx_export_source_net(const struct orch_net_options *options,
                                 struct onnx_export_source *s, GError **error)
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
    orch_onnx_export_source_describe(s, "network", s->net->name);
    orch_onnx_export_source_describe(s, "input", input);
    orch_onnx_export_source_describe(s, "class_count", classes);
    return true;
}

bool orch_onnx_export_source_model(const struct onnx_export_source *s, struct onnx_export *e,
                                   struct onnx_model *m, GError **error)
{
    e->net = s->net;
    e->values = s->values;
    if (!orch_onnx_export(e, m, error))
        return false;
    for (guint i = 0; i < s->metadata->len; i += 2)
        orch_onnx_model_metadata(m, s->metadata->pdata[i], s->metadata->pdata[i + 1]);
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

bool orch_onnx_export_source_read(struct onnx_export_source *s, const char *path, const char *what,
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
        if (used[i] && (!weight || !orch_weight_has_shape(weight, tensor->rank, tensor->shape)))
            add_difference(differences, ++count, tensor, weight);
        if (count || !used[i])
            continue;
        s->values[i] = g_new(float, tensor->count);
        orch_weight_to_float(weight, s->values[i]);
    }
    orch_weights_free(weights);
    if (count)
        orch_error_set(
            error, ORCH_ERROR_CHECK, "name the network, input and classes that the training used",
            "the weights of %s are not those of '%s' with %" G_GINT64_FORMAT " classes: %s%s", what,
            s->net->name, s->net->classes, differences->str,
            count > DIFFERENCES_MAX ? ", ..." : "");
    return count == 0;
}

bool orch_onnx_export_source_open(const struct onnx_export_request *request,
                                  struct onnx_export_source *out, GError **error)
{
    *out = (struct onnx_export_source){0};
    if (!orch_onnx_export_source_net(&request->net, out, error))
        return false;
    g_autofree char *what = request->weights ? g_strdup_printf("'%s'", request->weights) : NULL;
    if (!what)
        make_values(out, request->seed);
    else if (!orch_onnx_export_source_read(out, request->weights, what, error))
        return false;
    else
        out->weights = g_path_get_basename(request->weights);
    orch_onnx_export_source_describe(out, "weights", out->weights);
    return true;
}
