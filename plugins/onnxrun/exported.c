/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/exported.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "lib/onnx/export_values.h"
#include "lib/onnx/onnx_export.h"
#include "plugins/common/data/image_set.h"
#include "plugins/common/samples/class_names.h"

static const char EXPORTED_FILE[] = "network.onnx";

/* Takes input size and classes from the metadata of the weights. */
static void ask_weights(struct onnxrun_trial *t, struct orch_net_options *options)
{
    const char *side = g_hash_table_lookup(t->weights->metadata, "image_size");
    int64_t pixels = 0;
    if (side && orch_int_parse(side, &pixels) && pixels > 0)
        options->height = options->width = pixels;
    if (!t->classes)
        t->classes = orch_weights_class_names(t->weights);
    if (t->classes)
        options->classes = g_strv_length(t->classes);
}

static bool describe(struct onnxrun_trial *t, struct orch_net_options *out, GError **error)
{
    const struct onnxrun_params *p = t->p;
    const struct orch_image_set_facts *facts = p->images ? orch_image_set_find(p->images) : NULL;
    *out = (struct orch_net_options){.name = p->net};
    if (facts) {
        out->channels = facts->channels;
        out->height = facts->height;
        out->width = facts->width;
        out->classes = facts->classes;
    }
    if (t->weights)
        ask_weights(t, out);
    if (p->classes)
        out->classes = p->classes;
    if (!p->input || orch_net_input_parse(p->input, out))
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE, "for example 3x224x224",
                   "parameter 'input' is not the shape of an image: '%s'", p->input);
    return false;
}

/* The values that were exported, by name. */
static bool keep_values(struct onnxrun_trial *t, const struct onnx_export_source *source,
                        GError **error)
{
    t->weights = orch_weights_new();
    for (guint i = 0; i < source->net->tensors->len; i++) {
        const struct orch_net_tensor *tensor = orch_net_tensor(source->net, (int)i);
        if (source->values[i] &&
            !orch_weights_add(t->weights, tensor->name, ORCH_DTYPE_FLOAT32, tensor->rank,
                              tensor->shape, source->values[i], error))
            return false;
    }
    return true;
}

static bool write_file(struct onnxrun_trial *t, struct onnx_export_source *source, GError **error)
{
    struct onnx_export e = {.opset = (int)t->p->opset, .folds_norms = t->p->fold_norms};
    struct onnx_model model = {0};
    struct onnx_written written;
    g_autofree char *classes = t->classes ? g_strjoinv("\n", t->classes) : NULL;
    bool ok = orch_onnx_export_source_model(source, &e, &model, error);
    if (ok && classes)
        orch_onnx_model_metadata(&model, "classes", classes);
    ok = ok && orch_onnx_model_write(&model, EXPORTED_FILE, false, &written, error);
    orch_onnx_model_clear(&model);
    return ok;
}

bool orch_onnxrun_export(struct onnxrun_trial *t, GError **error)
{
    struct onnx_export_request request = {.weights = t->p->weights,
                                          .seed = t->host->derive_seed(t->host, "weights")};
    struct onnx_export_source source = {0};
    t->host->phase(t->host, "exporting the network");
    bool ok = describe(t, &request.net, error) &&
              orch_onnx_export_source_open(&request, &source, error) &&
              (t->weights || keep_values(t, &source, error)) && write_file(t, &source, error);
    orch_onnx_export_source_clear(&source);
    t->path = EXPORTED_FILE;
    return ok;
}
