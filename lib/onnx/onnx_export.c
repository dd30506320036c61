/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/onnx/onnx_export_ops.h"

#include "lib/base/error.h"
#include "lib/onnx/onnx_file.h"

#include <math.h>
#include <string.h>

/* ---- what is exported ---------------------------------------------------------------------- */

/* Marks the nodes that the outputs depend on. Every node comes after its inputs. */
static bool *needed_nodes(const struct orch_net *net)
{
    bool *needed = g_new0(bool, net->nodes->len);
    for (int i = 0; i < orch_net_output_count(net); i++)
        needed[orch_net_output(net, i)->id] = true;
    for (int i = (int)net->nodes->len - 1; i >= 0; i--)
        for (int j = 0; needed[i] && j < orch_net_node(net, i)->input_count; j++)
            needed[orch_net_node(net, i)->inputs[j]] = true;
    return needed;
}

bool *orch_onnx_export_tensors(const struct orch_net *net)
{
    g_autofree bool *needed = needed_nodes(net);
    bool *used = g_new0(bool, (gsize)net->tensors->len + 1);
    for (guint i = 0; i < net->tensors->len; i++)
        used[i] = needed[orch_net_tensor(net, (int)i)->node];
    return used;
}

/* ---- folding ------------------------------------------------------------------------------- */

/* The convolution or linear layer that batch norm `node` can become part of, if nothing else reads
 * its output; else NULL. */
static const struct orch_net_node *foldable(const struct onnx_writing *w,
                                            const struct orch_net_node *norm)
{
    const struct orch_net_node *layer = orch_net_node(w->e->net, norm->inputs[0]);
    bool is_product = layer->op == ORCH_NET_CONV2D || layer->op == ORCH_NET_LINEAR;
    return is_product && w->readers[layer->id] == 1 && !w->is_output[layer->id] ? layer : NULL;
}

/* The layer's weights times the norm's scale; its bias, which may be new, becomes the shift. */
static void fold(struct onnx_writing *w, const struct orch_net_node *norm,
                 const struct orch_net_node *layer)
{
    float *const *of_norm = w->e->values + norm->first_tensor;
    const struct orch_net_tensor *weight = orch_net_tensor(w->e->net, layer->first_tensor);
    float *values = w->e->values[layer->first_tensor];
    int64_t outputs = weight->shape[0], each = weight->count / outputs;
    float *shift = g_new(float, outputs);
    for (int64_t i = 0; i < outputs; i++) {
        double scale = (double)of_norm[0][i] / sqrt((double)of_norm[3][i] + norm->eps);
        double bias = layer->has_bias ? (double)w->e->values[layer->first_tensor + 1][i] : 0;
        for (int64_t j = 0; j < each; j++)
            values[i * each + j] = (float)((double)values[i * each + j] * scale);
        shift[i] = (float)((bias - (double)of_norm[2][i]) * scale + (double)of_norm[1][i]);
    }
    g_ptr_array_add(w->m->owned, shift);
    w->shifts[layer->id] = shift;
    w->is_folded[norm->id] = true;
}

static void fold_norms(struct onnx_writing *w)
{
    for (guint i = 0; i < w->e->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(w->e->net, (int)i);
        const struct orch_net_node *layer =
            w->needed[i] && node->op == ORCH_NET_BATCHNORM2D ? foldable(w, node) : NULL;
        if (layer)
            fold(w, node, layer);
    }
}

/* ---- values -------------------------------------------------------------------------------- */

/* The dims of a node's output with `axes` axes; returns their number. */
static int dims_of(const struct onnx_writing *w, const struct orch_net_node *node, int axes,
                   int64_t dims[4])
{
    int64_t batch = w->e->batch ? w->e->batch : ONNX_BATCH;
    const struct orch_net_shape *s = &node->out;
    const int64_t of_axes[5][4] = {[2] = {batch, s->c * s->h * s->w},
                                   [3] = {batch, s->h, s->c},
                                   [4] = {batch, s->c, s->h, s->w}};
    memcpy(dims, of_axes[axes], sizeof of_axes[axes]);
    return axes;
}

static void declare(struct onnx_writing *w, GPtrArray *list, const struct orch_net_node *node,
                    const char *name, int axes)
{
    int64_t dims[4];
    orch_onnx_model_value(w->m, list, name, ONNX_FLOAT, dims_of(w, node, axes, dims), dims);
}

/* Images, or tokens as a row of whole numbers. */
static void declare_input(struct onnx_writing *w)
{
    const struct orch_net_node *input = orch_net_node(w->e->net, 0);
    int64_t tokens[2] = {w->e->batch ? w->e->batch : ONNX_BATCH, input->out.h};
    w->names[0] = input->name;
    w->axes[0] = w->is_sequence ? 2 : 4;
    if (w->is_sequence)
        orch_onnx_model_value(w->m, w->m->inputs, input->name, ONNX_INT64, 2, tokens);
    else
        declare(w, w->m->inputs, input, input->name, 4);
}

static void declare_output(struct onnx_writing *w, const struct orch_net_node *node)
{
    const char *from = w->names[node->id], *name = orch_onnx_export_output_name(w, node);
    bool flattens = orch_onnx_export_flattens(w, node);
    if (flattens)
        orch_onnx_model_int(w->m, orch_onnx_model_node(w->m, "Flatten", name, &from, 1, &name, 1),
                            "axis", 1);
    else if (strcmp(from, name) != 0)
        orch_onnx_model_node(w->m, "Identity", name, &from, 1, &name, 1);
    declare(w, w->m->outputs, node, name, flattens ? 2 : w->axes[node->id]);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void init_writing(struct onnx_writing *w, const struct onnx_export *e, struct onnx_model *m)
{
    guint count = e->net->nodes->len;
    *w = (struct onnx_writing){.e = e,
                               .m = m,
                               .is_sequence = orch_net_is_sequence(e->net),
                               .needed = needed_nodes(e->net),
                               .is_output = g_new0(bool, count),
                               .is_folded = g_new0(bool, count),
                               .readers = g_new0(int, count),
                               .axes = g_new0(int, count),
                               .names = g_new0(const char *, count),
                               .shifts = g_new0(const float *, count)};
    for (int i = 0; i < orch_net_output_count(e->net); i++)
        w->is_output[orch_net_output(e->net, i)->id] = true;
    for (guint i = 0; i < count; i++)
        for (int j = 0; w->needed[i] && j < orch_net_node(e->net, (int)i)->input_count; j++)
            w->readers[orch_net_node(e->net, (int)i)->inputs[j]]++;
}

static void clear_writing(struct onnx_writing *w)
{
    g_free(w->needed);
    g_free(w->is_output);
    g_free(w->is_folded);
    g_free(w->readers);
    g_free(w->axes);
    g_free(w->names);
    g_free(w->shifts);
}

static bool write_nodes(struct onnx_writing *w, GError **error)
{
    declare_input(w);
    for (guint i = 1; i < w->e->net->nodes->len; i++) {
        const struct orch_net_node *node = orch_net_node(w->e->net, (int)i);
        if (!w->needed[i])
            continue;
        if (!orch_onnx_export_node(w, node, error))
            return false;
        if (strcmp(w->names[i], node->name) == 0 && !w->is_output[i])
            declare(w, w->m->infos, node, node->name, w->axes[i]);
    }
    for (int i = 0; i < orch_net_output_count(w->e->net); i++)
        declare_output(w, orch_net_output(w->e->net, i));
    return true;
}

bool orch_onnx_export(const struct onnx_export *e, struct onnx_model *m, GError **error)
{
    struct onnx_writing w;
    orch_onnx_model_init(m, e->net->name, e->opset);
    init_writing(&w, e, m);
    if (e->folds_norms)
        fold_norms(&w);
    bool ok = write_nodes(&w, error);
    clear_writing(&w);
    return ok;
}
