/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "plugins/onnxrun/model_file.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/text.h"
#include "lib/onnx/onnx_file.h"

#include <string.h>
#include <sys/stat.h>

static const char EXPORT[] = "export the model again";

/* ---- nodes -------------------------------------------------------------------------------- */

/* Every value must be there before a node uses it. Nodes of a valid file are in such an order, and
 * nodes in a cycle have none. */
static bool nodes_are_in_order(const Onnx__GraphProto *graph, const char *path, GError **error)
{
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < graph->n_input; i++)
        g_hash_table_add(known, graph->input[i]->name ? graph->input[i]->name : (char *)"");
    for (size_t i = 0; i < graph->n_initializer; i++)
        if (graph->initializer[i]->name)
            g_hash_table_add(known, graph->initializer[i]->name);
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        for (size_t j = 0; j < node->n_input; j++) {
            if (!*node->input[j] || g_hash_table_contains(known, node->input[j]))
                continue; /* "" is an optional input that is left out */
            g_autofree char *type = orch_onnx_text_clean(node->op_type);
            g_autofree char *value = orch_onnx_text_clean(node->input[j]);
            orch_error_set(error, ORCH_ERROR_RECIPE, EXPORT,
                           "'%s': node %zu (%s) uses '%s', which no earlier node makes", path, i,
                           type, value);
            return false;
        }
        for (size_t j = 0; j < node->n_output; j++)
            g_hash_table_add(known, node->output[j]);
    }
    for (size_t i = 0; i < graph->n_output; i++)
        if (!graph->output[i]->name || !g_hash_table_contains(known, graph->output[i]->name)) {
            g_autofree char *value = orch_onnx_text_clean(graph->output[i]->name);
            orch_error_set(error, ORCH_ERROR_RECIPE, EXPORT, "'%s': no node makes the output '%s'",
                           path, value);
            return false;
        }
    return true;
}

/* ---- inputs and outputs ------------------------------------------------------------------- */

/* The one input that is no weight: old exporters list the weights among the inputs. */
static const Onnx__ValueInfoProto *find_input(const Onnx__GraphProto *graph, const char *path,
                                              GError **error)
{
    const Onnx__ValueInfoProto *found = NULL;
    int count = 0;
    for (size_t i = 0; i < graph->n_input; i++)
        if (!orch_onnx_is_initializer(graph, graph->input[i]->name)) {
            found = graph->input[i];
            count++;
        }
    if (count == 1)
        return found;
    orch_error_set(error, ORCH_ERROR_RECIPE, "onnxrun runs networks with one input",
                   "'%s' has %d inputs", path, count);
    return NULL;
}

static bool set_input(struct onnxrun_file *file, const Onnx__GraphProto *graph, GError **error)
{
    const Onnx__ValueInfoProto *input = find_input(graph, file->path, error);
    if (!input)
        return false;
    const Onnx__TensorTypeProto *type = input->type ? input->type->tensor_type : NULL;
    const Onnx__TensorShapeProto *shape = type ? type->shape : NULL;
    file->input = g_strdup(input->name ? input->name : "");
    if (type && type->elem_type == ONNX_FLOAT && shape && shape->n_dim > 0 &&
        shape->n_dim <= ONNXRUN_RANK_MAX) {
        file->rank = (int)shape->n_dim;
        for (int i = 0; i < file->rank; i++)
            file->shape[i] = MAX(0, shape->dim[i]->dim_value);
        return true;
    }
    g_autofree char *name = orch_onnx_text_clean(input->name);
    orch_error_set(error, ORCH_ERROR_RECIPE, "onnxrun runs networks that take 32-bit floats",
                   "'%s': input '%s' is not an array of floats of 1 to %d axes (type %d)",
                   file->path, name, ONNXRUN_RANK_MAX, type ? type->elem_type : 0);
    return false;
}

static bool set_outputs(struct onnxrun_file *file, const Onnx__GraphProto *graph, GError **error)
{
    if (graph->n_output == 0 || graph->n_output > ONNXRUN_OUTPUTS_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, EXPORT,
                       "'%s' has %zu outputs; 1 to %d are possible", file->path, graph->n_output,
                       ONNXRUN_OUTPUTS_MAX);
        return false;
    }
    file->output_count = (int)graph->n_output;
    for (int i = 0; i < file->output_count; i++)
        file->outputs[i] = g_strdup(graph->output[i]->name);
    return true;
}

static void set_facts(struct onnxrun_file *file, const Onnx__ModelProto *model)
{
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (!model->opset_import[i]->domain || !*model->opset_import[i]->domain)
            file->opset = model->opset_import[i]->version;
    for (size_t i = 0; i < model->n_metadata_props; i++) {
        const Onnx__StringStringEntryProto *entry = model->metadata_props[i];
        if (g_strcmp0(entry->key, "classes") == 0 && entry->value && !file->classes)
            file->classes = g_strsplit(entry->value, "\n", -1);
    }
    file->node_count = (int64_t)model->graph->n_node;
    for (size_t i = 0; i < model->graph->n_initializer; i++)
        file->has_external_data =
            file->has_external_data || model->graph->initializer[i]->data_location == 1;
}

static bool read_model(struct onnxrun_file *file, const Onnx__ModelProto *model, GError **error)
{
    set_facts(file, model);
    return set_input(file, model->graph, error) && set_outputs(file, model->graph, error) &&
           nodes_are_in_order(model->graph, file->path, error);
}

/* ---- the file ----------------------------------------------------------------------------- */

bool orch_onnxrun_file_size_check(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) != 0 || status.st_size < ONNXRUN_FILE_BYTES_MAX)
        return true;
    g_autofree char *size = orch_bytes_format(status.st_size);
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "export the model with its weights in a file of their own (external data)",
                   "'%s' has %s, but a protobuf file has at most 2 GiB", path, size);
    return false;
}

static Onnx__ModelProto *decode(const char *path, GError **error)
{
    GMappedFile *mapped =
        orch_onnxrun_file_size_check(path, error) ? orch_file_map(path, error) : NULL;
    if (!mapped)
        return NULL;
    const char *bytes = g_mapped_file_get_contents(mapped);
    Onnx__ModelProto *model =
        orch_onnx_file_decode(bytes ? bytes : "", g_mapped_file_get_length(mapped), path, error);
    g_mapped_file_unref(mapped);
    return model;
}

GPtrArray *orch_onnxrun_data_files(const char *path)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    Onnx__ModelProto *model = decode(path, NULL);
    g_autoptr(GPtrArray) names = model ? orch_onnx_data_files(model) : g_ptr_array_new();
    g_autofree char *folder = g_path_get_dirname(path);
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_add(paths, g_build_filename(folder, names->pdata[i], NULL));
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    return paths;
}

struct onnxrun_file *orch_onnxrun_file_read(const char *path, GError **error)
{
    Onnx__ModelProto *model = decode(path, error);
    if (!model)
        return NULL;
    struct onnxrun_file *file = g_new0(struct onnxrun_file, 1);
    struct stat status;
    file->path = g_strdup(path);
    file->bytes = stat(path, &status) == 0 ? status.st_size : 0;
    if (!read_model(file, model, error))
        g_clear_pointer(&file, orch_onnxrun_file_free);
    onnx__model_proto__free_unpacked(model, NULL);
    return file;
}

void orch_onnxrun_file_free(struct onnxrun_file *file)
{
    if (!file)
        return;
    for (int i = 0; i < file->output_count; i++)
        g_free(file->outputs[i]);
    g_strfreev(file->classes);
    g_free(file->input);
    g_free(file->path);
    g_free(file);
}

/* ---- the shape of a batch ----------------------------------------------------------------- */

/* "3x224x224" as numbers; their count, or -1. */
static int parse_shape(const char *text, int64_t out[ONNXRUN_RANK_MAX])
{
    g_auto(GStrv) words = g_strsplit(text ? text : "", "x", -1);
    int count = 0;
    for (; words[count] && *text; count++)
        if (count == ONNXRUN_RANK_MAX || !orch_int_parse(words[count], &out[count]) ||
            out[count] < 1)
            return -1;
    return count;
}

/* "Nx3x?x?" of the file's input. Caller frees. */
static char *format_input(const struct onnxrun_file *file)
{
    GString *text = g_string_new(NULL);
    for (int i = 0; i < file->rank; i++)
        if (file->shape[i])
            g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "x" : "", file->shape[i]);
        else
            g_string_append(text, i ? "x?" : "N");
    return g_string_free(text, FALSE);
}

static bool misfit(const struct onnxrun_file *file, const char *hint, const char *what,
                   GError **error)
{
    g_autofree char *takes = format_input(file);
    orch_error_set(error, ORCH_ERROR_RECIPE, hint, "'%s': input '%s' is %s: %s", file->path,
                   file->input, takes, what);
    return false;
}

bool orch_onnxrun_file_input(const struct onnxrun_file *file, const char *shape, int64_t batch,
                             struct onnxrun_array *out, GError **error)
{
    int64_t given[ONNXRUN_RANK_MAX];
    const int count = parse_shape(shape, given);
    struct onnxrun_array array = {.rank = file->rank, .count = 1};
    if (count < 0 || (count > 0 && count != file->rank - 1))
        return misfit(file, "input is the shape of one image, such as 3x224x224",
                      "parameter input has another number of axes", error);
    if (file->shape[0] && file->shape[0] != batch) {
        g_autofree char *what =
            g_strdup_printf("a batch of %" G_GINT64_FORMAT " does not fit", batch);
        return misfit(file, "set batch", what, error);
    }
    for (int i = 0; i < file->rank; i++) {
        const int64_t wanted = i == 0 ? batch : count ? given[i - 1] : file->shape[i];
        if (wanted == 0)
            return misfit(file, "say the shape of one image with input, such as 3x224x224",
                          "its size is open", error);
        if (file->shape[i] && file->shape[i] != wanted)
            return misfit(file, "leave input out", "parameter input does not fit", error);
        array.shape[i] = wanted;
        if (__builtin_mul_overflow(array.count, wanted, &array.count) ||
            array.count > ONNXRUN_COUNT_MAX)
            return misfit(file, "choose a smaller batch", "a batch has over 2^31 values", error);
    }
    *out = array;
    return true;
}
