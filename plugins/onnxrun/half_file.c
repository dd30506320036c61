/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages are decoded whole, unlike in lib/onnx: protobuf-c keeps fields that onnx.proto does not
 * have, and writes them again. orch_onnx_file_decode has checked the same bytes before, but for the
 * fields in which it notes what it left out; a file that has these is refused. */
#include "plugins/onnxrun/half_file.h"

#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/onnx/onnx_file.h"
#include "plugins/common/comm/half.h"

#include <stdlib.h>
#include <string.h>

/* ONNX's AttributeProto.AttributeType. */
enum { TYPE_INT = 2 };
static const char SUFFIX[] = "/half";

struct conversion {
    Onnx__GraphProto *graph;
    const char *path;
    GHashTable *kept; /* names of values that stay floats of 32 bits; borrowed */
};

static bool refuse(const struct conversion *c, const char *what, const char *name, GError **error)
{
    g_autofree char *clean = orch_onnx_text_clean(name);
    orch_error_set(error, ORCH_ERROR_RECIPE, "run the model with precision: fp32",
                   "'%s' cannot be converted to fp16: %s ('%s')", c->path, what, clean);
    return false;
}

/* ---- what stays, and what cannot be converted --------------------------------------------- */

/* Inputs `from` and following of an operator are scales and sizes. */
static const struct {
    const char *op;
    size_t from;
} KEEPERS[] = {{"Resize", 1}, {"Upsample", 1}};

static void keep_scales(struct conversion *c)
{
    for (size_t i = 0; i < c->graph->n_node; i++) {
        const Onnx__NodeProto *node = c->graph->node[i];
        for (unsigned k = 0; k < G_N_ELEMENTS(KEEPERS); k++)
            for (size_t j = KEEPERS[k].from;
                 g_strcmp0(node->op_type, KEEPERS[k].op) == 0 && j < node->n_input; j++)
                g_hash_table_add(c->kept, node->input[j]);
    }
}

static bool nodes_are_plain(const struct conversion *c, GError **error)
{
    static const char *const nested[] = {"If", "Loop", "Scan", NULL};
    for (size_t i = 0; i < c->graph->n_node; i++) {
        const Onnx__NodeProto *node = c->graph->node[i];
        if (node->op_type && g_strv_contains(nested, node->op_type))
            return refuse(c, "an operator has a subgraph", node->op_type, error);
        for (size_t j = 0; j < node->n_attribute; j++)
            if (g_strcmp0(node->op_type, "Constant") == 0 && !node->attribute[j]->t &&
                (node->attribute[j]->has_f || node->attribute[j]->n_floats))
                return refuse(c, "a constant is not a tensor", node->attribute[j]->name, error);
    }
    return true;
}

static bool has_name(const struct conversion *c, const char *name, GError **error)
{
    return (name && *name) || refuse(c, "a value has no name", "", error);
}

/* The format allows values without a name; what follows looks values up by their names. */
static bool values_have_names(const struct conversion *c, GError **error)
{
    const Onnx__GraphProto *graph = c->graph;
    bool ok = true;
    for (size_t i = 0; ok && i < graph->n_input; i++)
        ok = has_name(c, graph->input[i]->name, error);
    for (size_t i = 0; ok && i < graph->n_output; i++)
        ok = has_name(c, graph->output[i]->name, error);
    for (size_t i = 0; ok && i < graph->n_value_info; i++)
        ok = has_name(c, graph->value_info[i]->name, error);
    for (size_t i = 0; ok && i < graph->n_initializer; i++)
        ok = has_name(c, graph->initializer[i]->name, error);
    return ok;
}

/* ---- tensors ------------------------------------------------------------------------------ */

static bool convert_tensor(const struct conversion *c, Onnx__TensorProto *tensor, GError **error)
{
    int64_t count;
    if (tensor->data_type != ONNX_FLOAT)
        return true;
    if (tensor->data_location == 1)
        return refuse(c, "weights are in another file", tensor->name, error);
    if (tensor->has_left_bytes)
        return refuse(c, "a tensor has a field that ONNX does not define", tensor->name, error);
    if (!orch_onnx_tensor_check(tensor, c->path, &count, error))
        return false;
    uint16_t *halves = malloc((size_t)MAX(count, 1) * sizeof *halves);
    g_autofree float *floats = g_new(float, MAX(count, 1));
    memcpy(floats, tensor->has_raw_data ? (const void *)tensor->raw_data.data : tensor->float_data,
           (size_t)count * sizeof *floats);
    orch_half_encode(ORCH_HALF_FP16, floats, (size_t)count, halves);
    free(tensor->float_data);
    tensor->float_data = NULL;
    tensor->n_float_data = 0;
    if (tensor->has_raw_data)
        free(tensor->raw_data.data);
    tensor->has_raw_data = true;
    tensor->raw_data = (ProtobufCBinaryData){(size_t)count * sizeof *halves, (uint8_t *)halves};
    tensor->data_type = ONNX_FLOAT16;
    return true;
}

static void convert_type(const struct conversion *c, Onnx__ValueInfoProto *value)
{
    Onnx__TensorTypeProto *type = value->type ? value->type->tensor_type : NULL;
    if (type && type->elem_type == ONNX_FLOAT && !g_hash_table_contains(c->kept, value->name))
        type->elem_type = ONNX_FLOAT16;
}

static bool convert_weights(struct conversion *c, GError **error)
{
    for (size_t i = 0; i < c->graph->n_initializer; i++) {
        Onnx__TensorProto *tensor = c->graph->initializer[i];
        if (g_hash_table_contains(c->kept, tensor->name))
            continue;
        if (!convert_tensor(c, tensor, error))
            return false;
        for (size_t j = 0; j < c->graph->n_input; j++) /* old exporters list weights there */
            if (g_strcmp0(c->graph->input[j]->name, tensor->name) == 0)
                convert_type(c, c->graph->input[j]);
    }
    for (size_t i = 0; i < c->graph->n_value_info; i++)
        convert_type(c, c->graph->value_info[i]);
    return true;
}

/* Constants, and the types that Cast and its like name. */
static bool convert_node(struct conversion *c, Onnx__NodeProto *node, GError **error)
{
    if (node->n_output && g_hash_table_contains(c->kept, node->output[0]))
        return true;
    for (size_t i = 0; i < node->n_attribute; i++) {
        Onnx__AttributeProto *attribute = node->attribute[i];
        const bool names_type =
            g_strcmp0(attribute->name, "to") == 0 || g_strcmp0(attribute->name, "dtype") == 0;
        if (names_type && attribute->i == ONNX_FLOAT)
            attribute->i = ONNX_FLOAT16;
        if (attribute->t && !convert_tensor(c, attribute->t, error))
            return false;
    }
    return true;
}

/* ---- conversions at the border ------------------------------------------------------------ */

static void rename_value(char **name, const char *value)
{
    if (strcmp(*name, value) != 0)
        return;
    g_autofree char *renamed = g_strconcat(value, SUFFIX, NULL);
    free(*name);
    *name = strdup(renamed);
}

/* A node Cast from `from` to `to`. */
static Onnx__NodeProto *cast_new(const char *from, const char *to, int type)
{
    Onnx__NodeProto *node = malloc(sizeof *node);
    Onnx__AttributeProto *attribute = malloc(sizeof *attribute);
    onnx__node_proto__init(node);
    onnx__attribute_proto__init(attribute);
    attribute->name = strdup("to");
    attribute->has_i = true;
    attribute->i = type;
    attribute->has_type = true;
    attribute->type = TYPE_INT;
    node->op_type = strdup("Cast");
    node->n_input = node->n_output = node->n_attribute = 1;
    node->input = malloc(sizeof *node->input);
    node->output = malloc(sizeof *node->output);
    node->attribute = malloc(sizeof *node->attribute);
    node->input[0] = strdup(from);
    node->output[0] = strdup(to);
    node->attribute[0] = attribute;
    return node;
}

static bool is_float(const Onnx__ValueInfoProto *value)
{
    return value->type && value->type->tensor_type &&
           value->type->tensor_type->elem_type == ONNX_FLOAT;
}

/* The nodes of the graph use and make the value under another name. */
static void rename_in_nodes(Onnx__GraphProto *graph, const char *value)
{
    for (size_t i = 0; i < graph->n_node; i++) {
        for (size_t j = 0; j < graph->node[i]->n_input; j++)
            rename_value(&graph->node[i]->input[j], value);
        for (size_t j = 0; j < graph->node[i]->n_output; j++)
            rename_value(&graph->node[i]->output[j], value);
    }
}

/* Conversions of the inputs come before all nodes, those of the outputs after them. */
static void add_casts(Onnx__GraphProto *graph)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new(), last = g_ptr_array_new();
    for (size_t i = 0; i < graph->n_input; i++) {
        const char *name = graph->input[i]->name;
        g_autofree char *renamed = g_strconcat(name, SUFFIX, NULL);
        if (orch_onnx_is_initializer(graph, name) || !is_float(graph->input[i]))
            continue;
        rename_in_nodes(graph, name);
        g_ptr_array_add(nodes, cast_new(name, renamed, ONNX_FLOAT16));
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name;
        g_autofree char *renamed = g_strconcat(name, SUFFIX, NULL);
        if (!is_float(graph->output[i]))
            continue;
        rename_in_nodes(graph, name);
        g_ptr_array_add(last, cast_new(renamed, name, ONNX_FLOAT));
    }
    for (size_t i = 0; i < graph->n_node; i++)
        g_ptr_array_add(nodes, graph->node[i]);
    g_ptr_array_extend(nodes, last, NULL, NULL);
    graph->node = realloc(graph->node, sizeof *graph->node * nodes->len);
    graph->n_node = nodes->len;
    memcpy(graph->node, nodes->pdata, sizeof *graph->node * nodes->len);
}

/* ---- the file ----------------------------------------------------------------------------- */

static bool convert(Onnx__GraphProto *graph, const char *path, GError **error)
{
    g_autoptr(GHashTable) kept = g_hash_table_new(g_str_hash, g_str_equal);
    struct conversion c = {graph, path, kept};
    keep_scales(&c);
    bool ok =
        values_have_names(&c, error) && nodes_are_plain(&c, error) && convert_weights(&c, error);
    for (size_t i = 0; ok && i < graph->n_node; i++)
        ok = convert_node(&c, graph->node[i], error);
    if (ok)
        add_casts(graph);
    return ok;
}

bool orch_onnxrun_half_file_write(const char *from, const char *to, GError **error)
{
    GMappedFile *mapped = orch_file_map(from, error);
    if (!mapped)
        return false;
    Onnx__ModelProto *model =
        onnx__model_proto__unpack(NULL, g_mapped_file_get_length(mapped),
                                  (const uint8_t *)g_mapped_file_get_contents(mapped));
    g_mapped_file_unref(mapped);
    bool ok = model && model->graph;
    if (!ok)
        orch_error_set(error, ORCH_ERROR_RECIPE, NULL, "'%s' cannot be decoded", from);
    ok = ok && convert(model->graph, from, error);
    if (ok) {
        g_autofree uint8_t *bytes = g_malloc(onnx__model_proto__get_packed_size(model));
        ok = orch_file_write(to, bytes, onnx__model_proto__pack(model, bytes), false, error);
    }
    if (model)
        onnx__model_proto__free_unpacked(model, NULL);
    return ok;
}
