/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/onnx/onnx.h"

#include "features/onnx/onnx_graph.h"
#include "lib/base/error.h"
#include "lib/base/file.h"

#include <string.h>

#define OPSET_NEWEST 21             /* the newest of which files are read by a test (onnx.export) */
#define SIDE_MAX ((int64_t)1 << 24) /* maximum size of an input's axis */

/* ---- notes --------------------------------------------------------------------------------- */

static void note_free(void *pointer)
{
    struct orch_onnx_note *note = pointer;
    g_free(note->op);
    g_free(note->node);
    g_free(note);
}

void orch_onnx_notes_release(struct orch_onnx_notes *notes)
{
    g_clear_pointer(&notes->items, g_ptr_array_unref);
    g_clear_pointer(&notes->batch, g_free);
    notes->newer_opset = 0;
}

/* The version of ONNX's own operators that the model asks for, if it is newer than any known one.
 */
static int64_t newer_opset(const Onnx__ModelProto *model)
{
    int64_t newest = 0;
    for (size_t i = 0; i < model->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *set = model->opset_import[i];
        if (!set->domain || !set->domain[0] || strcmp(set->domain, "ai.onnx") == 0)
            newest = MAX(newest, set->version);
    }
    return newest > OPSET_NEWEST ? newest : 0;
}

/* ---- inputs -------------------------------------------------------------------------------- */

/* Axes of an input in the file; 0 for open sizes. */
struct axes {
    int rank;
    int64_t dims[ONNX_RANK_MAX];
    const char *names[ONNX_RANK_MAX]; /* of open sizes; NULL: none. Borrowed from the model */
    int type;
};

static bool read_axes(struct onnx_graph *g, const Onnx__ValueInfoProto *info, struct axes *out,
                      GError **error)
{
    const Onnx__TensorTypeProto *type = info->type ? info->type->tensor_type : NULL;
    const struct orch_net_shape *w = &g->wanted;
    const char *name = orch_onnx_text(g, info->name);
    *out = (struct axes){.type = type ? type->elem_type : ONNX_FLOAT};
    if (type && type->shape && type->shape->n_dim > ONNX_RANK_MAX) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model with fewer axes",
                       "'%s': input '%s' has %zu axes, more than %d", g->file, name,
                       type->shape->n_dim, ONNX_RANK_MAX);
        return false;
    }
    if (type && type->shape) {
        out->rank = (int)type->shape->n_dim;
        for (int i = 0; i < out->rank; i++) {
            out->dims[i] = MAX(0, type->shape->dim[i]->dim_value);
            out->names[i] = type->shape->dim[i]->dim_param;
        }
        return true;
    }
    out->rank = w->w > 0 && w->c > 0 ? 4 : 0;
    if (out->rank)
        return true;
    orch_error_set(error, ORCH_ERROR_RECIPE,
                   "give the input size: --input CxHxW, or 'input: CxHxW' in a recipe",
                   "'%s': input '%s' has no shape", g->file, name);
    return false;
}

/* Guesses the channel axis: images with at most 4 channels on the last axis are TensorFlow's. */
static int channel_axis(const struct axes *a)
{
    bool is_whole = a->type != ONNX_FLOAT && a->type != 10 && a->type != 11 && a->type != 16;
    if (a->rank == 4)
        return a->dims[3] > 0 && a->dims[3] <= 4 && a->dims[1] >= 16 && a->dims[2] >= 16 ? 3 : 1;
    if (a->rank == 3)
        return a->dims[0] == 3 && a->dims[1] >= 16 && a->dims[2] >= 16 ? 0 : 2;
    if (a->rank == 2)
        return is_whole ? -1 : 1;
    return a->rank > 4 ? 1 : a->rank - 1;
}

/* Replaces the file's input size by the requested one; `batch` is the axis of the batch, or -1. */
static void set_wanted(const struct onnx_graph *g, struct axes *a, int channel, int batch)
{
    const int64_t sizes[] = {g->wanted.h, g->wanted.w};
    int place = 0;
    if (channel >= 0 && g->wanted.c)
        a->dims[channel] = g->wanted.c;
    for (int i = 0; i < a->rank; i++) {
        if (i == channel || i == batch)
            continue;
        if (place < 2 && sizes[place])
            a->dims[i] = sizes[place];
        place++;
    }
}

/* Name of an input's axis for messages. */
static const char *axis_word(const struct axes *a, int channel, int axis)
{
    static const char *const places[] = {"height", "width"};
    if (axis == channel)
        return "channels";
    if (a->rank <= 3)
        return "length";
    int place = axis - 1 - (channel >= 0 && channel < axis);
    return place >= 0 && place < 2 ? places[place] : "size";
}

static bool check_axes(const struct onnx_graph *g, const struct axes *a, int channel,
                       const char *name, GError **error)
{
    int64_t count = 1;
    for (int i = 0; i < a->rank; i++) {
        if (a->dims[i] < 1) {
            orch_error_set(
                error, ORCH_ERROR_RECIPE,
                a->rank > 3 ? "give the input size: --input CxHxW, or 'input: CxHxW' in a recipe"
                            : "give the input size: --input CxLENGTHx1 (C is 1 for tokens)",
                "'%s': input '%s' has no fixed %s", g->file, name, axis_word(a, channel, i));
            return false;
        }
        if (a->dims[i] > SIDE_MAX || __builtin_mul_overflow(count, a->dims[i], &count) ||
            count > ONNX_ELEMENTS_MAX) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "give a smaller size",
                           "'%s': input '%s' is too large (its %s is %" G_GINT64_FORMAT ")",
                           g->file, name, axis_word(a, channel, i), a->dims[i]);
            return false;
        }
    }
    return true;
}

/* Sets the open sizes of an input: the first one's batch, which applies to all, and the length of
 * its sequences. */
static void set_open(struct onnx_graph *g, struct axes *a, int channel, bool is_first)
{
    bool batched = a->rank >= 2 && channel != 0;
    int at = batched ? g->batch_axis : -1, length = at == 1 ? 0 : 1;
    if (is_first) {
        g->is_open = batched && a->dims[at] < 1;
        g->may_turn = batched && (channel < 0 ? a->rank == 2 : a->rank == 3 && channel == 2);
        g->batch_name = g->is_open ? a->names[at] : NULL;
        set_wanted(g, a, channel, at);
    }
    for (int i = 0; i < a->rank; i++) {
        bool is_batch =
            i == at || (!is_first && g->batch_name && g_strcmp0(a->names[i], g->batch_name) == 0);
        if (a->dims[i] < 1 && is_batch)
            a->dims[i] = is_first ? g->open_batch : g->batch;
        else if (a->dims[i] < 1 && !is_first && i == length)
            a->dims[i] = g->builder.net->input.h;
    }
    if (is_first)
        g->batch = batched && !g->is_whole ? a->dims[at] : 1;
}

/* Adds an input. The first one is node 0 of the network. */
static bool add_input(struct onnx_graph *g, const Onnx__ValueInfoProto *info, bool is_first,
                      GError **error)
{
    struct axes a;
    if (!read_axes(g, info, &a, error))
        return false;
    int channel = channel_axis(&a);
    set_open(g, &a, channel, is_first);
    const char *name = orch_onnx_text(g, info->name);
    if (!check_axes(g, &a, channel, name, error))
        return false;
    struct onnx_value *v = orch_onnx_graph_make(g, info->name);
    v->type = a.type;
    v->rank = a.rank;
    v->channel = channel;
    memcpy(v->dims, a.dims, sizeof v->dims);
    struct orch_net_node input = {.op = ORCH_NET_INPUT, .out = orch_onnx_value_shape(g, v)};
    if (is_first) {
        g_autofree char *base = g_path_get_basename(g->file);
        orch_net_builder_init(&g->builder, base, "onnx", input.out, 0);
        v->node = 0;
    } else {
        v->node = orch_net_layer(&g->builder, &input, NULL, 0, g_strdup(name));
    }
    return true;
}

static bool add_inputs(struct onnx_graph *g, GError **error)
{
    bool is_first = true;
    for (size_t i = 0; i < g->proto->n_input; i++) {
        const Onnx__ValueInfoProto *info = g->proto->input[i];
        if (!info->name || g_hash_table_contains(g->initializers, info->name))
            continue; /* initializers may be listed as inputs */
        if (orch_onnx_graph_maker(g, info->name) >= 0 ||
            g_hash_table_contains(g->value_of, info->name)) {
            orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                           "'%s': the value '%s' is defined twice", g->file,
                           orch_onnx_text(g, info->name));
            return false;
        }
        if (!add_input(g, info, is_first, error))
            return false;
        is_first = false;
    }
    if (is_first)
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                       "'%s': its graph has no input", g->file);
    return !is_first;
}

/* ---- the network --------------------------------------------------------------------------- */

/* Sets the number of classes to the channels of the first output. */
static bool finish(struct onnx_graph *g, GError **error)
{
    const char *name = g->proto->output[0]->name ? g->proto->output[0]->name : "";
    const struct onnx_value *out = orch_onnx_graph_value(g, name);
    if (!out || orch_onnx_value_is_constant(out)) {
        orch_error_set(error, ORCH_ERROR_RECIPE, "export the model again",
                       "'%s': output '%s' does not depend on the input", g->file,
                       orch_onnx_text(g, name));
        return false;
    }
    g->builder.net->classes = orch_onnx_value_shape(g, out).c;
    return true;
}

static struct orch_net *build(struct onnx_graph *g, GError **error)
{
    bool ok = orch_onnx_graph_init(g, error) && add_inputs(g, error);
    for (guint i = 0; ok && i < g->order->len; i++)
        ok = orch_onnx_step_run(g, onnx_step_at(g, g_array_index(g->order, int, i)), error);
    ok = ok && finish(g, error);
    struct orch_net *net = g->builder.net ? orch_net_builder_finish(&g->builder, NULL) : NULL;
    if (ok)
        return net;
    orch_net_free(net);
    return NULL;
}

/* ---- the batch ------------------------------------------------------------------------------ */

/* Of an open batch that is tried: a prime, so that other sizes are rarely multiples of it. */
enum { SAMPLES = 101 };

/* A reading of the model, and what it found. */
struct reading {
    struct onnx_graph graph; /* how the model is read; not built */
    struct orch_net *net;
    struct orch_onnx_notes notes;
    char *mixer; /* struct onnx_graph */
    bool is_open, may_turn, has_mixers;
    int64_t batch;
};

static void reading_clear(struct reading *r)
{
    orch_net_free(r->net);
    orch_onnx_notes_release(&r->notes);
    g_free(r->mixer);
}

/* Reads the model as `r->graph` says. */
static bool read_as(struct reading *r, GError **error)
{
    struct onnx_graph g = r->graph;
    r->notes.items = g_ptr_array_new_with_free_func(note_free);
    g.notes = &r->notes;
    r->net = build(&g, error);
    r->is_open = g.is_open;
    r->may_turn = g.may_turn;
    r->has_mixers = g.has_mixers;
    r->batch = g.batch;
    r->mixer = g_strdup(g.mixer);
    orch_onnx_graph_release(&g);
    return r->net != NULL;
}

/* Reads the model with another batch than `r` does: that axis, of SAMPLES where it is open. */
static bool probe(const struct reading *r, int axis, struct reading *out)
{
    *out = (struct reading){.graph = r->graph};
    out->graph.batch_axis = axis;
    out->graph.open_batch = SAMPLES;
    return read_as(out, NULL);
}

/* The operator that joins samples when the first axis is the batch; NULL: none, as far as the model
 * works with several. The caller frees. */
static char *first_mixer(const struct reading *r)
{
    if (!r->is_open || !r->has_mixers)
        return g_strdup(r->mixer);
    struct reading several;
    probe(r, 0, &several);
    char *mixer = several.net ? g_steal_pointer(&several.mixer) : NULL;
    reading_clear(&several);
    return mixer;
}

/* True when no operator joins samples when the second axis is the batch. */
static bool is_second(const struct reading *r)
{
    struct reading turned;
    bool is_batch = r->may_turn && probe(r, 1, &turned) && turned.has_mixers && !turned.mixer &&
                    turned.batch > 1;
    if (r->may_turn)
        reading_clear(&turned);
    return is_batch;
}

/* Reads the model again with its second axis as the batch, or with the whole batch as a sample. */
static void read_anew(struct reading *r, bool is_turned)
{
    struct reading other = {.graph = r->graph};
    other.graph.batch_axis = is_turned;
    other.graph.is_whole = !is_turned;
    bool ok = read_as(&other, NULL);
    reading_clear(ok ? r : &other);
    if (ok)
        *r = other;
}

/* Finds out what the batch is, once the model was read with the first axis as the batch (in vain,
 * if the second one is open as well as the batch). */
static void settle_batch(struct reading *r)
{
    g_autofree char *mixer = r->net ? first_mixer(r) : NULL;
    int64_t batch = r->batch;
    if (r->net && !mixer)
        return;
    if (is_second(r)) {
        read_anew(r, true);
        r->notes.batch = g_strdup("the batch is axis 1 of the inputs");
    } else if (mixer) {
        read_anew(r, false);
        r->notes.batch = g_strdup_printf("its batch of %" G_GINT64_FORMAT
                                         " is fixed by %s, so orch takes a whole batch for one "
                                         "sample: --batch 2 means 2 such batches",
                                         batch, mixer);
    }
}

static struct orch_net *load(const void *bytes, size_t length, const char *name, const char *folder,
                             struct orch_net_shape input, struct orch_onnx_notes *notes,
                             GError **error)
{
    Onnx__ModelProto *model = orch_onnx_file_decode(bytes, length, name, error);
    GError *problem = NULL;
    if (!model)
        return NULL;
    struct reading r = {.graph = {.proto = model->graph,
                                  .file = name,
                                  .bytes = bytes,
                                  .folder = folder,
                                  .wanted = input}};
    read_as(&r, &problem);
    settle_batch(&r);
    r.notes.newer_opset = newer_opset(model);
    onnx__model_proto__free_unpacked(model, NULL);
    struct orch_net *net = g_steal_pointer(&r.net);
    if (net)
        g_clear_error(&problem);
    else
        g_propagate_error(error, problem);
    if (net && notes && (r.notes.items->len || r.notes.newer_opset || r.notes.batch)) {
        *notes = r.notes;
        r.notes = (struct orch_onnx_notes){0};
    }
    reading_clear(&r);
    return net;
}

struct orch_net *orch_onnx_load_bytes(const void *bytes, size_t length, const char *name,
                                      struct orch_net_shape input, struct orch_onnx_notes *notes,
                                      GError **error)
{
    return load(bytes, length, name, NULL, input, notes, error);
}

struct orch_net *orch_onnx_load(const char *path, struct orch_net_shape input,
                                struct orch_onnx_notes *notes, GError **error)
{
    GMappedFile *file = orch_file_map(path, error);
    if (!file)
        return NULL;
    const char *bytes = g_mapped_file_get_contents(file);
    g_autofree char *folder = g_path_get_dirname(path);
    struct orch_net *net =
        load(bytes ? bytes : "", g_mapped_file_get_length(file), path, folder, input, notes, error);
    g_mapped_file_unref(file);
    return net;
}
