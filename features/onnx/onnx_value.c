/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values and attributes of a graph, and looking them up. */
#include "features/onnx/onnx_graph.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

struct onnx_value *orch_onnx_graph_make(struct onnx_graph *g, const char *name)
{
    struct onnx_value *v = g_new0(struct onnx_value, 1);
    v->name = name;
    v->node = -1;
    v->channel = -1;
    v->is_made = true;
    g_ptr_array_add(g->values, v);
    g_hash_table_insert(g->value_of, (void *)(uintptr_t)name, v);
    return v;
}

struct onnx_value *orch_onnx_graph_value(struct onnx_graph *g, const char *name)
{
    struct onnx_value *v = g_hash_table_lookup(g->value_of, name);
    const Onnx__TensorProto *t = v ? NULL : g_hash_table_lookup(g->initializers, name);
    if (!t)
        return v;
    v = orch_onnx_graph_make(g, t->name);
    orch_onnx_value_read(v, t);
    v->weight = t;
    return v;
}

int64_t orch_onnx_value_count(const struct onnx_value *v)
{
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++)
        count *= v->dims[i];
    return count;
}

bool orch_onnx_value_is_constant(const struct onnx_value *v)
{
    return v->node < 0;
}

char *orch_onnx_value_format(const struct onnx_value *v)
{
    GString *text = g_string_new(v->rank ? NULL : "one number");
    for (int i = 0; i < v->rank; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "x" : "", v->dims[i]);
    return g_string_free(text, FALSE);
}

/* The batch is divided out of the first axis that it divides, because layers that cut images into
 * windows fold it into an axis, and transposes move it. */
struct orch_net_shape orch_onnx_value_shape(const struct onnx_graph *g, const struct onnx_value *v)
{
    struct orch_net_shape out = {1, 1, 1};
    bool is_divided = v->rank <= 1 && v->dims[0] != g->batch;
    int places = 0;
    for (int i = 0; i < v->rank; i++) {
        int64_t size = v->dims[i];
        bool is_batch = false;
        if (!is_divided && size % g->batch == 0) {
            is_batch = i == 0 && v->rank > 1 && size == g->batch;
            size /= g->batch;
            is_divided = true;
        }
        if (i == v->channel)
            out.c = size;
        else if (!is_batch && (size > 1 || i > 0))
            *(places++ ? &out.w : &out.h) *= size;
    }
    return out;
}

static double half_to_double(uint16_t bits)
{
    int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (double)(fraction ? NAN : INFINITY)
                   : exponent     ? ldexp(1024 + fraction, exponent - 25)
                                  : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

#define READ(type)                                                                                 \
    {                                                                                              \
        type number;                                                                               \
        memcpy(&number, t->raw_data.data + i * sizeof number, sizeof number);                      \
        return (double)number;                                                                     \
    }

/* Element i of a tensor stored as raw_data (checked by orch_onnx_tensor_check). */
static double read_raw(const Onnx__TensorProto *t, size_t i)
{
    switch (t->data_type) {
    case 1:
        READ(float)
    case 3:
        READ(int8_t)
    case 4:
        READ(uint16_t)
    case 5:
        READ(int16_t)
    case 6:
        READ(int32_t)
    case 7:
        READ(int64_t)
    case 10: {
        uint16_t bits;
        memcpy(&bits, t->raw_data.data + i * sizeof bits, sizeof bits);
        return half_to_double(bits);
    }
    case 11:
        READ(double)
    case 12:
        READ(uint32_t)
    case 13:
        READ(uint64_t)
    default: /* uint8, bool */
        READ(uint8_t)
    }
}

static double read_typed(const Onnx__TensorProto *t, size_t i)
{
    switch (t->data_type) {
    case 1:
        return (double)t->float_data[i];
    case 7:
        return (double)t->int64_data[i];
    case 10:
        return half_to_double((uint16_t)t->int32_data[i]);
    case 11:
        return t->double_data[i];
    case 12:
    case 13:
        return (double)t->uint64_data[i];
    default:
        return t->int32_data[i];
    }
}

/* False for strings, complex numbers, bfloat16 and smaller floats, which shapes never need. */
static bool has_numbers(const Onnx__TensorProto *t)
{
    return t->data_type >= 1 && t->data_type <= 13 && t->data_type != 8 && !t->has_left_bytes &&
           t->data_location != 1;
}

void orch_onnx_value_read(struct onnx_value *out, const Onnx__TensorProto *t)
{
    out->type = t->data_type;
    out->rank = (int)MIN(t->n_dims, ONNX_RANK_MAX);
    int64_t count = 1;
    for (size_t i = 0; i < t->n_dims; i++) { /* excess axes are folded into the last one */
        if (i < ONNX_RANK_MAX)
            out->dims[i] = t->dims[i];
        else
            out->dims[ONNX_RANK_MAX - 1] *= t->dims[i];
        count *= t->dims[i];
    }
    if (count > ONNX_FOLD_MAX || !has_numbers(t))
        return;
    out->numbers = g_new0(double, (gsize)count + 1);
    for (int64_t i = 0; i < count; i++)
        out->numbers[i] = t->has_raw_data ? read_raw(t, (size_t)i) : read_typed(t, (size_t)i);
}

/* ---- attributes ---------------------------------------------------------------------------- */

const Onnx__AttributeProto *orch_onnx_attribute(const struct onnx_step *step, const char *name)
{
    for (size_t i = 0; i < step->proto->n_attribute; i++)
        if (step->proto->attribute[i]->name && strcmp(step->proto->attribute[i]->name, name) == 0)
            return step->proto->attribute[i];
    return NULL;
}

int64_t orch_onnx_attribute_int(const struct onnx_step *step, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(step, name);
    return a && a->has_i ? a->i : otherwise;
}

double orch_onnx_attribute_float(const struct onnx_step *step, const char *name, double otherwise)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(step, name);
    return a && a->has_f ? (double)a->f : otherwise;
}

bool orch_onnx_attribute_is(const struct onnx_step *step, const char *name, const char *text)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(step, name);
    return a && a->has_s && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

/* ---- names --------------------------------------------------------------------------------- */

const char *orch_onnx_text(struct onnx_graph *g, const char *text)
{
    g_autofree char *clean = orch_onnx_text_clean(text);
    return g_string_chunk_insert_const(g->names, clean);
}

int orch_onnx_index_of(GHashTable *table, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(table, name)) - 1;
}

int orch_onnx_graph_maker(const struct onnx_graph *g, const char *value)
{
    return orch_onnx_index_of(g->maker_of, value);
}

int orch_onnx_graph_only_user(const struct onnx_graph *g, const char *value)
{
    int user = orch_onnx_index_of(g->user_of, value);
    return user == G_MAXINT - 1 ? -1 : user;
}

bool orch_onnx_graph_is_output(const struct onnx_graph *g, const char *value)
{
    for (size_t i = 0; i < g->proto->n_output; i++)
        if (g->proto->output[i]->name && strcmp(g->proto->output[i]->name, value) == 0)
            return true;
    return false;
}
