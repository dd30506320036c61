/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/onnx/onnx_graph.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

#define NUMBERS_MAX 8000000 /* of all constants together */

/* ---- values -------------------------------------------------------------------------------- */

static void value_free(void *pointer)
{
    struct onnx_value *v = pointer;
    g_free(v->numbers);
    g_free(v);
}

struct onnx_value *onnx_graph_make(struct onnx_graph *g, const char *name)
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

struct onnx_value *onnx_graph_value(struct onnx_graph *g, const char *name)
{
    struct onnx_value *v = g_hash_table_lookup(g->value_of, name);
    const Onnx__TensorProto *t = v ? NULL : g_hash_table_lookup(g->initializers, name);
    if (!t)
        return v;
    v = onnx_graph_make(g, t->name);
    onnx_value_read(v, t);
    v->weight = t;
    return v;
}

int64_t onnx_value_count(const struct onnx_value *v)
{
    int64_t count = 1;
    for (int i = 0; i < v->rank; i++)
        count *= v->dims[i];
    return count;
}

bool onnx_value_is_constant(const struct onnx_value *v)
{
    return v->node < 0;
}

char *onnx_value_format(const struct onnx_value *v)
{
    GString *text = g_string_new(v->rank ? NULL : "one number");
    for (int i = 0; i < v->rank; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? "x" : "", v->dims[i]);
    return g_string_free(text, FALSE);
}

/* The batch is the first axis that it divides: layers that cut an image into windows fold it into
 * one, transposes move it. */
struct orch_net_shape onnx_value_shape(const struct onnx_graph *g, const struct onnx_value *v)
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

/* Element i of a tensor that the file holds (onnx_tensor_check). */
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

/* Strings, complex numbers, bfloat16 and smaller floats: no numbers that a shape could need. */
static bool has_numbers(const Onnx__TensorProto *t)
{
    return t->data_type >= 1 && t->data_type <= 13 && t->data_type != 8 && !t->has_left_bytes &&
           t->data_location != 1;
}

void onnx_value_read(struct onnx_value *out, const Onnx__TensorProto *t)
{
    out->type = t->data_type;
    out->rank = (int)MIN(t->n_dims, ONNX_RANK_MAX);
    int64_t count = 1;
    for (size_t i = 0; i < t->n_dims; i++) { /* axes too many are folded into the last */
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

const Onnx__AttributeProto *onnx_attribute(const struct onnx_step *step, const char *name)
{
    for (size_t i = 0; i < step->proto->n_attribute; i++)
        if (step->proto->attribute[i]->name && strcmp(step->proto->attribute[i]->name, name) == 0)
            return step->proto->attribute[i];
    return NULL;
}

int64_t onnx_attribute_int(const struct onnx_step *step, const char *name, int64_t otherwise)
{
    const Onnx__AttributeProto *a = onnx_attribute(step, name);
    return a && a->has_i ? a->i : otherwise;
}

double onnx_attribute_float(const struct onnx_step *step, const char *name, double otherwise)
{
    const Onnx__AttributeProto *a = onnx_attribute(step, name);
    return a && a->has_f ? (double)a->f : otherwise;
}

bool onnx_attribute_is(const struct onnx_step *step, const char *name, const char *text)
{
    const Onnx__AttributeProto *a = onnx_attribute(step, name);
    return a && a->has_s && a->s.len == strlen(text) && memcmp(a->s.data, text, a->s.len) == 0;
}

/* ---- names --------------------------------------------------------------------------------- */

const char *onnx_text(struct onnx_graph *g, const char *text)
{
    g_autofree char *clean = onnx_text_clean(text);
    return g_string_chunk_insert_const(g->names, clean);
}

static int look(GHashTable *table, const char *name)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(table, name)) - 1;
}

int onnx_graph_maker(const struct onnx_graph *g, const char *value)
{
    return look(g->maker_of, value);
}

int onnx_graph_only_user(const struct onnx_graph *g, const char *value)
{
    int user = look(g->user_of, value);
    return user == G_MAXINT - 1 ? -1 : user;
}

bool onnx_graph_is_output(const struct onnx_graph *g, const char *value)
{
    for (size_t i = 0; i < g->proto->n_output; i++)
        if (g->proto->output[i]->name && strcmp(g->proto->output[i]->name, value) == 0)
            return true;
    return false;
}

/* ---- steps --------------------------------------------------------------------------------- */

static const char *first_output(const Onnx__NodeProto *proto)
{
    for (size_t i = 0; i < proto->n_output; i++)
        if (proto->output[i][0])
            return proto->output[i];
    return "";
}

static void add_step(struct onnx_graph *g, const Onnx__NodeProto *proto)
{
    const char *op = proto->op_type ? proto->op_type : "";
    bool is_own = !proto->domain || !proto->domain[0] || strcmp(proto->domain, "ai.onnx") == 0;
    g_autofree char *full = is_own ? g_strdup(op) : g_strdup_printf("%s::%s", proto->domain, op);
    struct onnx_step step = {.proto = proto, .op = onnx_text(g, full)};
    step.output = first_output(proto);
    step.name = onnx_text(g, proto->name && proto->name[0] ? proto->name : step.output);
    step.input_count = (int)proto->n_input;
    step.inputs = g_new0(const char *, proto->n_input + 1);
    for (size_t i = 0; i < proto->n_input; i++)
        step.inputs[i] = proto->input[i];
    g_array_append_val(g->steps, step);
}

static bool defined_twice(struct onnx_graph *g, const char *name, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                   "'%s': the value '%s' is made twice", g->file, onnx_text(g, name));
    return false;
}

static bool index_steps(struct onnx_graph *g, GError **error)
{
    for (int i = 0; i < (int)g->steps->len; i++) {
        const struct onnx_step *step = onnx_step_at(g, i);
        for (size_t j = 0; j < step->proto->n_output; j++) {
            char *name = step->proto->output[j];
            if (name[0] && (g_hash_table_contains(g->initializers, name) ||
                            !g_hash_table_insert(g->maker_of, name, GINT_TO_POINTER(i + 1))))
                return defined_twice(g, name, error);
        }
        for (size_t j = 0; j < step->proto->n_input; j++) {
            char *name = step->proto->input[j];
            int user = look(g->user_of, name);
            int now = user >= 0 && user != i ? G_MAXINT : i + 1;
            g_hash_table_insert(g->user_of, name, GINT_TO_POINTER(now));
        }
    }
    return true;
}

static bool index_initializers(struct onnx_graph *g, GError **error)
{
    for (size_t i = 0; i < g->proto->n_initializer; i++) {
        Onnx__TensorProto *t = g->proto->initializer[i];
        int64_t count;
        if (!onnx_tensor_check(t, g->file, &count, error))
            return false;
        if (t->name && !g_hash_table_insert(g->initializers, t->name, t))
            return defined_twice(g, t->name, error);
    }
    return true;
}

static void index_declared(struct onnx_graph *g, Onnx__ValueInfoProto **infos, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (infos[i]->name)
            g_hash_table_insert(g->declared, infos[i]->name, infos[i]);
}

/* ---- order --------------------------------------------------------------------------------- */

/* Steps that the outputs need; walked with a stack of our own, a file may chain millions. */
static void mark_wanted(struct onnx_graph *g)
{
    GArray *stack = g_array_new(FALSE, FALSE, sizeof(int));
    for (size_t i = 0; i < g->proto->n_output; i++) {
        int maker = g->proto->output[i]->name ? look(g->maker_of, g->proto->output[i]->name) : -1;
        if (maker >= 0)
            g_array_append_val(stack, maker);
    }
    while (stack->len) {
        struct onnx_step *step = onnx_step_at(g, g_array_index(stack, int, stack->len - 1));
        g_array_set_size(stack, stack->len - 1);
        if (step->is_wanted)
            continue;
        step->is_wanted = true;
        for (int i = 0; i < step->input_count; i++) {
            int maker = look(g->maker_of, step->inputs[i]);
            if (maker >= 0)
                g_array_append_val(stack, maker);
        }
    }
    g_array_unref(stack);
}

/* Steps behind each step, in rows: of step i they are users[first[i]] to users[first[i + 1] - 1].
 */
static void list_users(const struct onnx_graph *g, int *first, GArray *users)
{
    int count = (int)g->steps->len;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            const struct onnx_step *step = onnx_step_at(g, i);
            for (int j = 0; step->is_wanted && j < step->input_count; j++) {
                int maker = look(g->maker_of, step->inputs[j]);
                if (maker < 0)
                    continue;
                if (pass)
                    g_array_index(users, int, first[maker]++) = i;
                else
                    first[maker + 1]++;
            }
        }
        for (int i = 0; i < count && !pass; i++)
            first[i + 1] += first[i];
        if (!pass)
            g_array_set_size(users, (guint)first[count]);
    }
    memmove(first + 1, first, (size_t)count * sizeof *first); /* the second pass moved them on */
    first[0] = 0;
}

static bool is_cyclic(struct onnx_graph *g, const int *waits, GError **error)
{
    for (int i = 0; i < (int)g->steps->len; i++) {
        const struct onnx_step *step = onnx_step_at(g, i);
        if (step->is_wanted && waits[i] > 0) {
            orch_error_set(error, ORCH_ERROR_RECIPE,
                           "a network that can be counted has no loop: export the model again",
                           "'%s': node '%s' (%s) depends on its own output", g->file, step->name,
                           step->op);
            return true;
        }
    }
    return false;
}

/* The step that makes the first output goes last, as lib/net wants it, where nobody reads it. */
static void output_last(struct onnx_graph *g, const int *first)
{
    const char *name = g->proto->output[0]->name;
    int maker = name ? look(g->maker_of, name) : -1;
    if (maker < 0 || first[maker] != first[maker + 1])
        return;
    for (guint i = 0; i < g->order->len; i++)
        if (g_array_index(g->order, int, i) == maker) {
            g_array_remove_index(g->order, i);
            g_array_append_val(g->order, maker);
            return;
        }
}

/* ONNX asks for it; not every file keeps to it. */
static bool is_in_order(const struct onnx_graph *g)
{
    for (int i = 0; i < (int)g->steps->len; i++) {
        const struct onnx_step *step = onnx_step_at(g, i);
        for (int j = 0; step->is_wanted && j < step->input_count; j++)
            if (look(g->maker_of, step->inputs[j]) >= i)
                return false;
    }
    return true;
}

/* Kahn 1962. */
static bool sort_steps(struct onnx_graph *g, const int *first, const GArray *users, GError **error)
{
    int count = (int)g->steps->len, wanted = 0;
    g_autofree int *waits = g_new0(int, (gsize)count + 1);
    for (guint i = 0; i < users->len; i++)
        waits[g_array_index(users, int, i)]++;
    GArray *ready = g_array_new(FALSE, FALSE, sizeof(int));
    for (int i = count - 1; i >= 0; i--) {
        wanted += onnx_step_at(g, i)->is_wanted;
        if (onnx_step_at(g, i)->is_wanted && !waits[i])
            g_array_append_val(ready, i);
    }
    while (ready->len) {
        int i = g_array_index(ready, int, ready->len - 1);
        g_array_set_size(ready, ready->len - 1);
        g_array_append_val(g->order, i);
        for (int j = first[i + 1] - 1; j >= first[i]; j--) {
            int user = g_array_index(users, int, j);
            if (--waits[user] == 0)
                g_array_append_val(ready, user);
        }
    }
    g_array_unref(ready);
    return (int)g->order->len == wanted || !is_cyclic(g, waits, error);
}

static bool order_steps(struct onnx_graph *g, GError **error)
{
    int count = (int)g->steps->len;
    g_autofree int *first = g_new0(int, (gsize)count + 2);
    g_autoptr(GArray) users = g_array_new(FALSE, TRUE, sizeof(int));
    list_users(g, first, users);
    if (!is_in_order(g)) {
        if (!sort_steps(g, first, users, error))
            return false;
    } else {
        for (int i = 0; i < count; i++)
            if (onnx_step_at(g, i)->is_wanted)
                g_array_append_val(g->order, i);
    }
    output_last(g, first);
    return true;
}

/* ---- the graph ----------------------------------------------------------------------------- */

static void step_clear(void *pointer)
{
    g_free(((struct onnx_step *)pointer)->inputs);
}

bool onnx_graph_init(struct onnx_graph *g, GError **error)
{
    g->steps = g_array_new(FALSE, TRUE, sizeof(struct onnx_step));
    g_array_set_clear_func(g->steps, step_clear);
    g->order = g_array_new(FALSE, FALSE, sizeof(int));
    g->values = g_ptr_array_new_with_free_func(value_free);
    g->value_of = g_hash_table_new(g_str_hash, g_str_equal);
    g->maker_of = g_hash_table_new(g_str_hash, g_str_equal);
    g->user_of = g_hash_table_new(g_str_hash, g_str_equal);
    g->declared = g_hash_table_new(g_str_hash, g_str_equal);
    g->initializers = g_hash_table_new(g_str_hash, g_str_equal);
    g->counted = g_hash_table_new(NULL, NULL);
    g->names = g_string_chunk_new(1024);
    g->batch = 1;
    g->numbers_left = NUMBERS_MAX;
    for (size_t i = 0; i < g->proto->n_node; i++)
        add_step(g, g->proto->node[i]);
    if (!index_initializers(g, error) || !index_steps(g, error))
        return false;
    index_declared(g, g->proto->value_info, g->proto->n_value_info);
    index_declared(g, g->proto->output, g->proto->n_output);
    if (!g->proto->n_output) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                       "'%s': its graph has no output", g->file);
        return false;
    }
    onnx_fuse(g);
    mark_wanted(g);
    return order_steps(g, error);
}

void onnx_graph_release(struct onnx_graph *g)
{
    g_clear_pointer(&g->steps, g_array_unref);
    g_clear_pointer(&g->order, g_array_unref);
    g_clear_pointer(&g->values, g_ptr_array_unref);
    GHashTable **tables[] = {&g->value_of, &g->maker_of,     &g->user_of,
                             &g->declared, &g->initializers, &g->counted};
    for (unsigned i = 0; i < G_N_ELEMENTS(tables); i++)
        g_clear_pointer(tables[i], g_hash_table_unref);
    if (g->names)
        g_string_chunk_free(g->names);
    g->names = NULL;
}
