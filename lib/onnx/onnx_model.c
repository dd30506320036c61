/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * protobuf-c packs a message through a buffer with a function to append to it; here that function
 * writes to the file. The messages are not freed by protobuf-c, because they share the values of
 * initializers with the caller.
 */
#include "lib/onnx/onnx_model.h"

#include "lib/onnx/onnx_file.h"

#include "lib/base/error.h"
#include "lib/base/temporary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((int64_t)G_MAXINT32) /* protobuf's limit for a message */
#define EXTERNAL_MIN ((size_t)1024) /* smaller tensors stay in the model, as of other exporters */
#define EXTERNAL_ALIGN ((int64_t)4096) /* so that engines can map the data */

enum { ATTRIBUTE_FLOAT = 1, ATTRIBUTE_INT = 2, ATTRIBUTE_TENSOR = 4, ATTRIBUTE_INTS = 7 };

/* ---- messages ------------------------------------------------------------------------------ */

static void *own(struct onnx_model *m, void *memory)
{
    g_ptr_array_add(m->owned, memory);
    return memory;
}

static char *own_text(struct onnx_model *m, const char *text)
{
    return own(m, g_strdup(text));
}

/* A zeroed array of `count` pointers. */
static void *own_pointers(struct onnx_model *m, int count)
{
    return own(m, g_new0(void *, (gsize)count + 1));
}

const char *orch_onnx_model_text(struct onnx_model *m, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return own(m, text);
}

void orch_onnx_model_init(struct onnx_model *m, const char *name, int opset)
{
    memset(m, 0, sizeof *m);
    onnx__model_proto__init(&m->proto);
    onnx__graph_proto__init(&m->graph);
    GPtrArray **lists[] = {&m->nodes,   &m->initializers, &m->inputs,
                           &m->outputs, &m->infos,        &m->metadata};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        *lists[i] = g_ptr_array_new();
    m->owned = g_ptr_array_new_with_free_func(g_free);
    m->opset = opset;
    m->graph.name = own_text(m, name);
    m->proto.graph = &m->graph;
}

void orch_onnx_model_clear(struct onnx_model *m)
{
    GPtrArray *lists[] = {m->nodes, m->initializers, m->inputs, m->outputs,
                          m->infos, m->metadata,     m->owned};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        if (lists[i])
            g_ptr_array_unref(lists[i]);
    memset(m, 0, sizeof *m);
}

Onnx__NodeProto *orch_onnx_model_node(struct onnx_model *m, const char *op, const char *name,
                                      const char *const *inputs, int input_count,
                                      const char *const *outputs, int output_count)
{
    Onnx__NodeProto *node = own(m, g_new(Onnx__NodeProto, 1));
    onnx__node_proto__init(node);
    node->op_type = own_text(m, op);
    node->name = own_text(m, name);
    node->n_input = (size_t)input_count;
    node->input = own_pointers(m, input_count);
    for (int i = 0; i < input_count; i++)
        node->input[i] = own_text(m, inputs[i]);
    node->n_output = (size_t)output_count;
    node->output = own_pointers(m, output_count);
    for (int i = 0; i < output_count; i++)
        node->output[i] = own_text(m, outputs[i]);
    g_ptr_array_add(m->nodes, node);
    return node;
}

static Onnx__AttributeProto *add_attribute(struct onnx_model *m, Onnx__NodeProto *node,
                                           const char *name, int type)
{
    enum { ATTRIBUTES_MAX = 8 };
    if (!node->attribute)
        node->attribute = own_pointers(m, ATTRIBUTES_MAX);
    g_assert(node->n_attribute < ATTRIBUTES_MAX);
    Onnx__AttributeProto *a = own(m, g_new(Onnx__AttributeProto, 1));
    onnx__attribute_proto__init(a);
    a->name = own_text(m, name);
    a->has_type = 1;
    a->type = type;
    node->attribute[node->n_attribute++] = a;
    return a;
}

void orch_onnx_model_int(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                         int64_t value)
{
    Onnx__AttributeProto *a = add_attribute(m, node, name, ATTRIBUTE_INT);
    a->has_i = 1;
    a->i = value;
}

void orch_onnx_model_float(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                           double value)
{
    Onnx__AttributeProto *a = add_attribute(m, node, name, ATTRIBUTE_FLOAT);
    a->has_f = 1;
    a->f = (float)value;
}

void orch_onnx_model_ints(struct onnx_model *m, Onnx__NodeProto *node, const char *name,
                          const int64_t *values, int count)
{
    Onnx__AttributeProto *a = add_attribute(m, node, name, ATTRIBUTE_INTS);
    a->n_ints = (size_t)count;
    a->ints = own(m, g_memdup2(values, (gsize)count * sizeof *values));
}

/* A tensor with borrowed values. */
static Onnx__TensorProto *new_tensor(struct onnx_model *m, int type, const void *values,
                                     size_t bytes, int rank, const int64_t *dims)
{
    Onnx__TensorProto *t = own(m, g_new(Onnx__TensorProto, 1));
    onnx__tensor_proto__init(t);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = (size_t)rank;
    t->dims = own(m, g_memdup2(dims, (gsize)rank * sizeof *dims));
    t->has_raw_data = 1;
    t->raw_data.data = (uint8_t *)(uintptr_t)values;
    t->raw_data.len = bytes;
    return t;
}

static int64_t count_of(int rank, const int64_t *dims)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dims[i];
    return count;
}

static void add_constant(struct onnx_model *m, const char *name, int type, const void *values,
                         size_t bytes, int rank, const int64_t *dims)
{
    Onnx__NodeProto *node = orch_onnx_model_node(m, "Constant", name, NULL, 0, &name, 1);
    add_attribute(m, node, "value", ATTRIBUTE_TENSOR)->t =
        new_tensor(m, type, own(m, g_memdup2(values, bytes)), bytes, rank, dims);
}

void orch_onnx_model_constant_ints(struct onnx_model *m, const char *name, const int64_t *values,
                                   int count)
{
    int64_t dims = count;
    add_constant(m, name, ONNX_INT64, values, (size_t)count * sizeof *values, 1, &dims);
}

void orch_onnx_model_constant_int(struct onnx_model *m, const char *name, int64_t value)
{
    add_constant(m, name, ONNX_INT64, &value, sizeof value, 0, NULL);
}

void orch_onnx_model_constant_floats(struct onnx_model *m, const char *name, const float *values,
                                     int rank, const int64_t *dims)
{
    add_constant(m, name, ONNX_FLOAT, values, (size_t)count_of(rank, dims) * sizeof *values, rank,
                 dims);
}

void orch_onnx_model_initializer(struct onnx_model *m, const char *name, const float *values,
                                 int rank, const int64_t *dims)
{
    size_t bytes = (size_t)count_of(rank, dims) * sizeof *values;
    Onnx__TensorProto *t = new_tensor(m, ONNX_FLOAT, values, bytes, rank, dims);
    t->name = own_text(m, name);
    g_ptr_array_add(m->initializers, t);
}

void orch_onnx_model_value(struct onnx_model *m, GPtrArray *list, const char *name, int type,
                           int rank, const int64_t *dims)
{
    Onnx__ValueInfoProto *info = own(m, g_new(Onnx__ValueInfoProto, 1));
    Onnx__TypeProto *outer = own(m, g_new(Onnx__TypeProto, 1));
    Onnx__TensorTypeProto *inner = own(m, g_new(Onnx__TensorTypeProto, 1));
    Onnx__TensorShapeProto *shape = own(m, g_new(Onnx__TensorShapeProto, 1));
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(outer);
    onnx__tensor_type_proto__init(inner);
    onnx__tensor_shape_proto__init(shape);
    info->name = own_text(m, name);
    info->type = outer;
    outer->tensor_type = inner;
    inner->has_elem_type = 1;
    inner->elem_type = type;
    inner->shape = shape;
    shape->n_dim = (size_t)rank;
    shape->dim = own_pointers(m, rank);
    for (int i = 0; i < rank; i++) {
        Onnx__DimensionProto *dim = own(m, g_new(Onnx__DimensionProto, 1));
        onnx__dimension_proto__init(dim);
        if (dims[i] == ONNX_BATCH) {
            dim->dim_param = own_text(m, "batch");
        } else {
            dim->has_dim_value = 1;
            dim->dim_value = dims[i];
        }
        shape->dim[i] = dim;
    }
    g_ptr_array_add(list, info);
}

static Onnx__StringStringEntryProto *new_entry(struct onnx_model *m, const char *key,
                                               const char *value)
{
    Onnx__StringStringEntryProto *entry = own(m, g_new(Onnx__StringStringEntryProto, 1));
    onnx__string_string_entry_proto__init(entry);
    entry->key = own_text(m, key);
    entry->value = own_text(m, value);
    return entry;
}

void orch_onnx_model_metadata(struct onnx_model *m, const char *key, const char *value)
{
    g_ptr_array_add(m->metadata, new_entry(m, key, value));
}

/* ---- writing ------------------------------------------------------------------------------- */

/* The version of the format in which a version of the operators appeared. */
static int ir_version(int opset)
{
    static const struct {
        int opset, ir;
    } versions[] = {{21, 10}, {19, 9}, {15, 8}, {0, 7}};
    int i = 0;
    while (opset < versions[i].opset)
        i++;
    return versions[i].ir;
}

#define HAND_OVER(list, message, member)                                                           \
    ((message).n_##member = (list)->len, (message).member = (void *)(list)->pdata)

static void complete(struct onnx_model *m)
{
    HAND_OVER(m->nodes, m->graph, node);
    HAND_OVER(m->initializers, m->graph, initializer);
    HAND_OVER(m->inputs, m->graph, input);
    HAND_OVER(m->outputs, m->graph, output);
    HAND_OVER(m->infos, m->graph, value_info);
    HAND_OVER(m->metadata, m->proto, metadata_props);
    Onnx__OperatorSetIdProto *opset = own(m, g_new(Onnx__OperatorSetIdProto, 1));
    onnx__operator_set_id_proto__init(opset);
    opset->domain = own_text(m, "");
    opset->has_version = 1;
    opset->version = m->opset;
    m->proto.opset_import = own_pointers(m, 1);
    m->proto.opset_import[m->proto.n_opset_import++] = opset;
    m->proto.has_ir_version = 1;
    m->proto.ir_version = ir_version(m->opset);
    m->proto.producer_name = own_text(m, "orch");
    m->proto.producer_version = own_text(m, ORCH_VERSION);
}

struct file_buffer {
    ProtobufCBuffer base;
    FILE *file;
    bool failed;
};

static void append_to_file(ProtobufCBuffer *buffer, size_t length, const uint8_t *bytes)
{
    struct file_buffer *to = (struct file_buffer *)buffer;
    to->failed = to->failed || fwrite(bytes, 1, length, to->file) != length;
}

/* Closes a file that was written; false with errno when not all of it reached the disk. */
static bool finish_file(FILE *file, bool ok)
{
    int saved = errno;
    ok = ok && fflush(file) == 0 && fsync(fileno(file)) == 0;
    saved = ok ? 0 : errno ? errno : saved;
    if (fclose(file) != 0 && ok) {
        saved = errno;
        ok = false;
    }
    errno = saved;
    return ok;
}

static bool write_model(const struct onnx_model *m, const char *path)
{
    FILE *file = fopen(path, "wbxe");
    if (!file)
        return false;
    struct file_buffer to = {.base = {.append = append_to_file}, .file = file};
    protobuf_c_message_pack_to_buffer(&m->proto.base, &to.base);
    return finish_file(file, !to.failed);
}

static void refer(struct onnx_model *m, Onnx__TensorProto *t, const char *location, int64_t offset)
{
    const char *start = orch_onnx_model_text(m, "%" G_GINT64_FORMAT, offset);
    const char *length = orch_onnx_model_text(m, "%zu", t->raw_data.len);
    t->n_external_data = 3;
    t->external_data = own_pointers(m, 3);
    t->external_data[0] = new_entry(m, "location", location);
    t->external_data[1] = new_entry(m, "offset", start);
    t->external_data[2] = new_entry(m, "length", length);
    t->has_data_location = 1;
    t->data_location = 1;
    t->has_raw_data = 0;
    t->raw_data.len = 0;
}

/* Writes the values of large initializers to a file of their own, which becomes `location` beside
 * the model. */
static bool write_data(struct onnx_model *m, const char *path, const char *location,
                       int64_t *out_bytes)
{
    FILE *file = fopen(path, "wbxe");
    if (!file)
        return false;
    bool ok = true;
    int64_t at = 0;
    for (guint i = 0; ok && i < m->initializers->len; i++) {
        Onnx__TensorProto *t = m->initializers->pdata[i];
        if (t->raw_data.len < EXTERNAL_MIN)
            continue;
        at = (at + EXTERNAL_ALIGN - 1) / EXTERNAL_ALIGN * EXTERNAL_ALIGN;
        ok = fseeko(file, at, SEEK_SET) == 0 &&
             fwrite(t->raw_data.data, 1, t->raw_data.len, file) == t->raw_data.len;
        int64_t bytes = (int64_t)t->raw_data.len;
        refer(m, t, location, at);
        at += bytes;
    }
    *out_bytes = at;
    return finish_file(file, ok);
}

/* Returns whether the model at path names a file of weights. */
static bool names_data(const char *path, const char *data)
{
    g_autofree char *name = g_path_get_basename(data);
    GMappedFile *model = g_mapped_file_new(path, FALSE, NULL);
    bool is_named = model && memmem(g_mapped_file_get_contents(model),
                                    g_mapped_file_get_length(model), name, strlen(name));
    if (model)
        g_mapped_file_unref(model);
    return is_named;
}

/* Gives both files their names. The weights get one that the older model does not name, so that one
 * rename, that of the model, replaces both: there is a whole model at each instant. False with
 * errno; then the older files are as before. */
static bool replace_both(const char *path, const char *data, const char *other,
                         const char *temporary, const char *data_temporary)
{
    if (data && rename(data_temporary, data) != 0)
        return false;
    if (rename(temporary, path) == 0) {
        if (data)
            unlink(other);
        return true;
    }
    int saved = errno;
    if (data)
        unlink(data);
    errno = saved;
    return false;
}

/* Writes to the temporary names and renames; false with errno. */
static bool write_files(struct onnx_model *m, const char *path, const char *data, const char *other,
                        const char *temporary, const char *data_temporary, struct onnx_written *out)
{
    g_autofree char *location = data ? g_path_get_basename(data) : NULL;
    if (g_file_test(path, G_FILE_TEST_IS_DIR) || (data && g_file_test(data, G_FILE_TEST_IS_DIR))) {
        errno = EISDIR;
        return false;
    }
    if (data && !write_data(m, data_temporary, location, &out->data_bytes))
        return false;
    out->bytes = (int64_t)onnx__model_proto__get_packed_size(&m->proto);
    return write_model(m, temporary) && replace_both(path, data, other, temporary, data_temporary);
}

bool orch_onnx_model_write(struct onnx_model *m, const char *path, bool external,
                           struct onnx_written *out, GError **error)
{
    complete(m);
    *out = (struct onnx_written){0};
    external |= onnx__model_proto__get_packed_size(&m->proto) > (size_t)FILE_BYTES_MAX;
    g_autofree char *first = g_strconcat(path, ".data", NULL);
    g_autofree char *second = g_strconcat(path, ".1.data", NULL);
    bool is_first = external && !names_data(path, first);
    const char *data = !external ? NULL : is_first ? first : second;
    g_autofree char *temporary = orch_temporary_name(path);
    g_autofree char *data_temporary = data ? orch_temporary_name(data) : NULL;
    errno = 0;
    if (write_files(m, path, data, is_first ? second : first, temporary, data_temporary, out)) {
        out->data = g_strdup(data);
        return true;
    }
    int saved = errno;
    unlink(temporary);
    if (data_temporary)
        unlink(data_temporary);
    orch_error_set_errno(error, ORCH_ERROR_IO, saved, "cannot write '%s'", path);
    return false;
}
