/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Constants that are added to the scores of attention. Exporters compute them: of a table with a
 * row for each distance between two places (Swin's relative position bias) the file has a value for
 * each pair of places, and of a mask, which nobody trains, as many numbers as scores. What was
 * spread by an index has few places that differ, one for each row of the table.
 */
#include "features/onnx/onnx_ops.h"

#include "lib/base/file.h"
#include "lib/base/text.h"

#include <string.h>

#define VALUES_MAX ((int64_t)1 << 24) /* larger constants are counted as they are */
#define PLACES_MAX ((int64_t)1 << 19) /* the same: of Swin V2 it is 331,776 */
#define MASKED (-50.0F)               /* a score that a mask excludes gets this or less */

/* ---- the numbers of a tensor --------------------------------------------------------------- */

/* A copy of `bytes` bytes at `offset` of a file beside the model; NULL if it lacks them, or lies in
 * another folder. */
static float *read_external(const struct onnx_graph *g, const Onnx__TensorProto *t, size_t bytes)
{
    const char *location = orch_onnx_external(t, "location"),
               *start = orch_onnx_external(t, "offset");
    int64_t offset = 0;
    if (!g->folder || !location || strchr(location, '/') ||
        (start && (!orch_int_parse(start, &offset) || offset < 0)))
        return NULL;
    g_autofree char *path = g_build_filename(g->folder, location, NULL);
    GMappedFile *file = orch_file_map(path, NULL);
    size_t length = file ? g_mapped_file_get_length(file) : 0;
    float *values = NULL;
    if ((size_t)offset <= length && bytes <= length - (size_t)offset && bytes)
        values = g_memdup2(g_mapped_file_get_contents(file) + offset, bytes);
    if (file)
        g_mapped_file_unref(file);
    return values;
}

/* A copy of the numbers of a tensor of floats; NULL if they cannot be read. Caller frees. */
static float *read_floats(const struct onnx_graph *g, const Onnx__TensorProto *t, int64_t count)
{
    size_t bytes = (size_t)count * sizeof(float);
    if (t->data_type != ONNX_FLOAT || count < 1 || count > VALUES_MAX)
        return NULL;
    if (t->data_location == 1)
        return read_external(g, t, bytes);
    if (t->has_left_bytes && t->left_bytes == bytes)
        return g_memdup2(g->bytes + t->left_at, bytes);
    if (t->has_raw_data && t->raw_data.len == bytes)
        return g_memdup2(t->raw_data.data, bytes);
    return t->n_float_data == (size_t)count ? g_memdup2(t->float_data, bytes) : NULL;
}

/* ---- masks and tables ---------------------------------------------------------------------- */

static bool is_mask(const float *values, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (values[i] != 0 && !(values[i] <= MASKED))
            return false;
    return true;
}

/* Number of different places, each with a value for every head. The values of a head are
 * `head_step` apart, those of a place `place_step`. */
static int64_t different_places(const float *values, int64_t heads, int64_t head_step,
                                int64_t places, int64_t place_step)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (int64_t i = 0; i < places; i++) {
        float *own = g_new(float, heads);
        for (int64_t j = 0; j < heads; j++)
            own[j] = values[i * place_step + j * head_step];
        g_hash_table_add(seen, g_bytes_new_take(own, (gsize)heads * sizeof *own));
    }
    return g_hash_table_size(seen);
}

/* True if the value is a product of two values, scaled or not. */
static bool is_of_attention(const struct onnx_call *c, const struct onnx_value *v)
{
    if (!v || orch_onnx_value_is_constant(v))
        return false;
    const struct orch_net *net = c->g->builder.net;
    const struct orch_net_node *node = orch_net_node(net, v->node);
    while (node->op == ORCH_NET_MUL && node->input_count == 1)
        node = orch_net_node(net, node->inputs[0]);
    return node->op == ORCH_NET_ATTENTION;
}

bool orch_onnx_add_to_scores(struct onnx_call *c, const struct onnx_value *v,
                             const struct onnx_value *other)
{
    int64_t count = orch_onnx_value_count(v), whole = 1;
    if (c->layer.op != ORCH_NET_ADD || v->rank < 2 || !is_of_attention(c, other))
        return false;
    for (size_t i = 0; i < v->weight->n_dims; i++)
        whole *= v->weight->dims[i];
    g_autofree float *values = whole == count ? read_floats(c->g, v->weight, count) : NULL;
    if (!values)
        return false;
    if (is_mask(values, count))
        return true;
    int64_t places = v->dims[v->rank - 1] * v->dims[v->rank - 2], heads = count / places;
    if (places > PLACES_MAX)
        return false;
    /* the table itself has a row for each place, and may be turned in the graph */
    bool is_turned = v->weight->n_dims == 2 && v->weight->dims[0] == places;
    int64_t shape[2] = {is_turned ? different_places(values, heads, 1, places, heads)
                                  : different_places(values, heads, places, places, 1),
                        heads};
    if (shape[0] > places / 2)
        return false;
    orch_onnx_weight(c, v, ORCH_NET_WEIGHT, 2, shape);
    c->tensors[c->tensor_count - 1].is_spread = true;
    return true;
}
