/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/onnx/onnx_graph.h"

#include "lib/base/error.h"

#include <math.h>
#include <string.h>

#define NUMBERS_MAX 8000000 /* for all constants together */

static void value_free(void *pointer)
{
    struct onnx_value *v = pointer;
    g_free(v->numbers);
    g_free(v);
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
    struct onnx_step step = {.proto = proto, .op = orch_onnx_text(g, full)};
    step.output = first_output(proto);
    step.name = orch_onnx_text(g, proto->name && proto->name[0] ? proto->name : step.output);
    step.input_count = (int)proto->n_input;
    step.inputs = g_new0(const char *, proto->n_input + 1);
    for (size_t i = 0; i < proto->n_input; i++)
        step.inputs[i] = proto->input[i];
    g_array_append_val(g->steps, step);
}

static bool defined_twice(struct onnx_graph *g, const char *name, GError **error)
{
    orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                   "'%s': the value '%s' is defined twice", g->file, orch_onnx_text(g, name));
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
            int user = orch_onnx_index_of(g->user_of, name);
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
        if (!orch_onnx_tensor_check(t, g->file, &count, error))
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

/* Marks the steps that the outputs need, with an explicit stack because chains may be very long. */
static void mark_wanted(struct onnx_graph *g)
{
    GArray *stack = g_array_new(FALSE, FALSE, sizeof(int));
    for (size_t i = 0; i < g->proto->n_output; i++) {
        int maker = g->proto->output[i]->name
                        ? orch_onnx_index_of(g->maker_of, g->proto->output[i]->name)
                        : -1;
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
            int maker = orch_onnx_index_of(g->maker_of, step->inputs[i]);
            if (maker >= 0)
                g_array_append_val(stack, maker);
        }
    }
    g_array_unref(stack);
}

/* Lists the readers of each step i as users[first[i]] to users[first[i + 1] - 1]. */
static void list_users(const struct onnx_graph *g, int *first, GArray *users)
{
    int count = (int)g->steps->len;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < count; i++) {
            const struct onnx_step *step = onnx_step_at(g, i);
            for (int j = 0; step->is_wanted && j < step->input_count; j++) {
                int maker = orch_onnx_index_of(g->maker_of, step->inputs[j]);
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
    memmove(first + 1, first, (size_t)count * sizeof *first); /* the second pass advanced them */
    first[0] = 0;
}

static bool is_cyclic(struct onnx_graph *g, const int *waits, GError **error)
{
    for (int i = 0; i < (int)g->steps->len; i++) {
        const struct onnx_step *step = onnx_step_at(g, i);
        if (step->is_wanted && waits[i] > 0) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again without the loop",
                           "'%s': node '%s' (%s) depends on its own output", g->file, step->name,
                           step->op);
            return true;
        }
    }
    return false;
}

/* Moves the step that produces the first output to the end, as lib/net requires, if it has no
 * readers. */
static void output_last(struct onnx_graph *g, const int *first)
{
    const char *name = g->proto->output[0]->name;
    int maker = name ? orch_onnx_index_of(g->maker_of, name) : -1;
    if (maker < 0 || first[maker] != first[maker + 1])
        return;
    for (guint i = 0; i < g->order->len; i++)
        if (g_array_index(g->order, int, i) == maker) {
            g_array_remove_index(g->order, i);
            g_array_append_val(g->order, maker);
            return;
        }
}

/* ONNX requires topological order, but not every file has it. */
static bool is_in_order(const struct onnx_graph *g)
{
    for (int i = 0; i < (int)g->steps->len; i++) {
        const struct onnx_step *step = onnx_step_at(g, i);
        for (int j = 0; step->is_wanted && j < step->input_count; j++)
            if (orch_onnx_index_of(g->maker_of, step->inputs[j]) >= i)
                return false;
    }
    return true;
}

/* Topological sort (Kahn 1962). */
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

bool orch_onnx_graph_init(struct onnx_graph *g, GError **error)
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
    g->open_batch = MAX(1, g->open_batch);
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
    orch_onnx_fuse(g);
    mark_wanted(g);
    return order_steps(g, error);
}

void orch_onnx_graph_release(struct onnx_graph *g)
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
