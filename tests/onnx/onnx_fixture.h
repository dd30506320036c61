/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ONNX models written with the messages that the reader reads, and loading them. */
#ifndef ORCH_TESTS_ONNX_FIXTURE_H
#define ORCH_TESTS_ONNX_FIXTURE_H

#include "features/onnx/onnx.h"
#include "lib/base/error.h"
#include "lib/onnx/onnx_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

/* ---- writing models ------------------------------------------------------------------------ */

/* Lists grow by one; the whole is freed as protobuf-c frees what it decoded (its allocator is
 * malloc, as GLib's). */
#define APPEND(list, count, item)                                                                  \
    ((list) = g_realloc((list), ((count) + 1) * sizeof *(list)), (list)[(count)++] = (item))

typedef Onnx__GraphProto graph;

static inline Onnx__ModelProto *model_new(void)
{
    Onnx__ModelProto *m = g_new(Onnx__ModelProto, 1);
    onnx__model_proto__init(m);
    m->graph = g_new(graph, 1);
    onnx__graph_proto__init(m->graph);
    return m;
}

/* "1 3 8 8"; "?": open. */
static inline Onnx__ValueInfoProto *value_info(const char *name, const char *dims)
{
    Onnx__ValueInfoProto *v = g_new(Onnx__ValueInfoProto, 1);
    onnx__value_info_proto__init(v);
    v->name = g_strdup(name);
    v->type = g_new(Onnx__TypeProto, 1);
    onnx__type_proto__init(v->type);
    Onnx__TensorTypeProto *t = v->type->tensor_type = g_new(Onnx__TensorTypeProto, 1);
    onnx__tensor_type_proto__init(t);
    t->has_elem_type = 1;
    t->elem_type = 1;
    if (!dims)
        return v;
    t->shape = g_new(Onnx__TensorShapeProto, 1);
    onnx__tensor_shape_proto__init(t->shape);
    g_auto(GStrv) words = g_strsplit(dims, " ", 0);
    for (int i = 0; words[i] && words[i][0]; i++) {
        Onnx__DimensionProto *d = g_new(Onnx__DimensionProto, 1);
        onnx__dimension_proto__init(d);
        d->has_dim_value = words[i][0] != '?';
        d->dim_value = g_ascii_strtoll(words[i], NULL, 10);
        APPEND(t->shape->dim, t->shape->n_dim, d);
    }
    return v;
}

static inline void input(graph *g, const char *name, const char *dims)
{
    APPEND(g->input, g->n_input, value_info(name, dims));
}

static inline void output(graph *g, const char *name)
{
    APPEND(g->output, g->n_output, value_info(name, NULL));
}

static inline Onnx__TensorProto *tensor(const char *name, const char *dims, int type)
{
    Onnx__TensorProto *t = g_new(Onnx__TensorProto, 1);
    onnx__tensor_proto__init(t);
    t->name = g_strdup(name);
    t->has_data_type = 1;
    t->data_type = type;
    g_auto(GStrv) words = g_strsplit(dims, " ", 0);
    size_t count = 1;
    for (int i = 0; words[i] && words[i][0]; i++) {
        int64_t size = g_ascii_strtoll(words[i], NULL, 10);
        APPEND(t->dims, t->n_dims, size);
        count *= (size_t)size;
    }
    t->has_raw_data = 1;
    t->raw_data.len = count < 1000000 ? count * (size_t)orch_onnx_type_bytes(type) : 0;
    t->raw_data.data = g_malloc0(t->raw_data.len + 1);
    return t;
}

static inline Onnx__TensorProto *weight(graph *g, const char *name, const char *dims)
{
    Onnx__TensorProto *t = tensor(name, dims, 1);
    APPEND(g->initializer, g->n_initializer, t);
    return t;
}

static inline void fill(Onnx__TensorProto *t, const char *numbers)
{
    g_auto(GStrv) words = g_strsplit(numbers, " ", 0);
    for (int i = 0; words[i]; i++) {
        int64_t whole = g_ascii_strtoll(words[i], NULL, 10);
        float real = (float)g_ascii_strtod(words[i], NULL);
        if (t->data_type == 7)
            memcpy(t->raw_data.data + (size_t)i * 8, &whole, 8);
        else
            memcpy(t->raw_data.data + (size_t)i * 4, &real, 4);
    }
}

static inline void whole_numbers(graph *g, const char *name, const char *numbers)
{
    g_auto(GStrv) words = g_strsplit(numbers, " ", 0);
    g_autofree char *dims = g_strdup_printf("%u", g_strv_length(words));
    Onnx__TensorProto *t = tensor(name, dims, 7);
    fill(t, numbers);
    APPEND(g->initializer, g->n_initializer, t);
}

static inline void real_number(graph *g, const char *name, const char *number)
{
    fill(weight(g, name, ""), number);
}

static inline Onnx__AttributeProto *attribute(Onnx__NodeProto *n, const char *name)
{
    Onnx__AttributeProto *a = g_new(Onnx__AttributeProto, 1);
    onnx__attribute_proto__init(a);
    a->name = g_strdup(name);
    APPEND(n->attribute, n->n_attribute, a);
    return a;
}

/* "axis=1 kernel_shape=3,3 auto_pad=SAME_UPPER": with a comma a list, a final one alone too. */
static inline void attributes(Onnx__NodeProto *n, const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", 0);
    for (int i = 0; words[i] && words[i][0]; i++) {
        g_auto(GStrv) pair = g_strsplit(words[i], "=", 2);
        Onnx__AttributeProto *a = attribute(n, pair[0]);
        if (g_ascii_isupper(pair[1][0])) {
            a->has_s = 1;
            a->s.len = strlen(pair[1]);
            a->s.data = (uint8_t *)g_strdup(pair[1]);
        } else if (strchr(pair[1], ',')) {
            g_auto(GStrv) numbers = g_strsplit(pair[1], ",", 0);
            for (int j = 0; numbers[j]; j++)
                if (numbers[j][0]) {
                    int64_t number = g_ascii_strtoll(numbers[j], NULL, 10);
                    APPEND(a->ints, a->n_ints, number);
                }
        } else {
            a->has_i = 1;
            a->i = g_ascii_strtoll(pair[1], NULL, 10);
        }
    }
}

/* node(g, "Conv", "x w b", "y", "group=2"); "-" in place of an input: left out. */
static inline void node(graph *g, const char *op, const char *inputs, const char *outputs,
                        const char *attribute_text)
{
    Onnx__NodeProto *n = g_new(Onnx__NodeProto, 1);
    onnx__node_proto__init(n);
    n->op_type = g_strdup(op);
    n->name = g_strdup_printf("%s_%zu", op, g->n_node);
    g_auto(GStrv) in = g_strsplit(inputs, " ", 0), out = g_strsplit(outputs, " ", 0);
    for (int i = 0; in[i] && in[i][0]; i++)
        APPEND(n->input, n->n_input, g_strdup(strcmp(in[i], "-") ? in[i] : ""));
    for (int i = 0; out[i]; i++)
        APPEND(n->output, n->n_output, g_strdup(out[i]));
    attributes(n, attribute_text);
    APPEND(g->node, g->n_node, n);
}

/* Frees the model. */
static inline GBytes *encode(Onnx__ModelProto *m)
{
    size_t length = onnx__model_proto__get_packed_size(m);
    uint8_t *bytes = g_malloc(length + 1);
    onnx__model_proto__pack(m, bytes);
    onnx__model_proto__free_unpacked(m, NULL);
    return g_bytes_new_take(bytes, length);
}

static inline struct orch_net *read_bytes(GBytes *bytes, struct orch_net_shape input_shape,
                                          struct orch_onnx_notes *notes, GError **error)
{
    size_t length;
    const void *data = g_bytes_get_data(bytes, &length);
    return orch_onnx_load_bytes(data, length, "test.onnx", input_shape, notes, error);
}

static inline struct orch_net *load_noted(Onnx__ModelProto *m, struct orch_onnx_notes *notes)
{
    GError *error = NULL;
    g_autoptr(GBytes) bytes = encode(m);
    struct orch_net *net = read_bytes(bytes, (struct orch_net_shape){0}, notes, &error);
    if (!net)
        fail_msg("%s", error->message);
    return net;
}

/* A model of which nothing is counted as zero. */
static inline struct orch_net *load(Onnx__ModelProto *m)
{
    struct orch_onnx_notes notes = {0};
    struct orch_net *net = load_noted(m, &notes);
    if (notes.items)
        fail_msg("counted as zero: %s", ((struct orch_onnx_note *)notes.items->pdata[0])->op);
    return net;
}

static inline void load_fails(Onnx__ModelProto *m, const char *text, const char *hint)
{
    GError *error = NULL;
    g_autoptr(GBytes) bytes = encode(m);
    struct orch_onnx_notes notes = {0};
    assert_null(read_bytes(bytes, (struct orch_net_shape){0}, &notes, &error));
    assert_null(notes.items);
    assert_true(g_error_matches(error, ORCH_ERROR, ORCH_ERROR_RECIPE));
    if (!strstr(error->message, "test.onnx") || !strstr(error->message, text) ||
        !strstr(error->message, hint))
        fail_msg("%s", error->message);
    g_error_free(error);
}

static inline const struct orch_net_node *last(const struct orch_net *net)
{
    return orch_net_node(net, (int)net->nodes->len - 1);
}

static inline void assert_shape(const struct orch_net_node *n, int64_t c, int64_t h, int64_t w)
{
    if (n->out.c != c || n->out.h != h || n->out.w != w)
        fail_msg("'%s' is %dx%dx%d", n->name, (int)n->out.c, (int)n->out.h, (int)n->out.w);
}

#endif
