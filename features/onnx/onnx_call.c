/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions shared by operators: inputs, errors, broadcast and guessed shapes. */
#include "features/onnx/onnx_ops.h"

#include "features/onnx/onnx.h"
#include "features/onnx/onnx_element.h"
#include "lib/base/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors -------------------------------------------------------------------------------- */

static bool fail_text(const struct onnx_call *c, const char *hint, const char *text)
{
    orch_error_set(c->error, ORCH_ERROR_RECIPE, hint, "'%s': node '%s' (%s) %s", c->g->file,
                   c->step->name, c->step->op, text);
    return false;
}

bool orch_onnx_fail(const struct onnx_call *c, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return fail_text(c, hint, text);
}

static const char *const WITH_SUBGRAPHS[] = {"If", "Loop", "Scan", "SequenceMap", NULL};

bool orch_onnx_shape_error(const struct onnx_call *c, const struct onnx_value *v,
                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    if (!v || !v->guess)
        return fail_text(c, "give the input size that the model was exported for", text);
    bool has_graphs = g_strv_contains(WITH_SUBGRAPHS, v->guess);
    g_autofree char *hint = g_strdup_printf(
        has_graphs ? "export the model without operator '%s', whose inner graphs orch does not read"
                   : "orch does not know the shape after operator '%s': write the shapes into the "
                     "file with onnx.shape_inference.infer_shapes",
        v->guess);
    return fail_text(c, hint, text);
}

bool orch_onnx_too_many_axes(const struct onnx_call *c)
{
    return orch_onnx_fail(c, "export the model again", "has an output of more than %d axes",
                          ONNX_RANK_MAX);
}

bool orch_onnx_bad_axis(const struct onnx_call *c, int64_t axis, const struct onnx_value *v)
{
    g_autofree char *shape = orch_onnx_value_format(v);
    return orch_onnx_shape_error(c, v, "works on axis %" G_GINT64_FORMAT ", its input is %s", axis,
                                 shape);
}

bool orch_onnx_unfit(const struct onnx_call *c, const struct onnx_value *v, const char *wanted)
{
    g_autofree char *shape = orch_onnx_value_format(v);
    return orch_onnx_shape_error(c, v, "needs %s, but its input is %s", wanted, shape);
}

bool orch_onnx_need(const struct onnx_call *c, int count)
{
    for (int i = 0; i < count; i++)
        if (!onnx_in(c, i))
            return orch_onnx_fail(c, "export the model again", "has no input %d", i + 1);
    return true;
}

/* ---- for operators ------------------------------------------------------------------------- */

void orch_onnx_like(struct onnx_call *c, int i, const struct onnx_value *like)
{
    struct onnx_value *out = i < c->out_count ? c->out[i] : NULL;
    if (!out)
        return;
    out->type = like->type;
    out->rank = like->rank;
    memcpy(out->dims, like->dims, sizeof out->dims);
    out->channel = like->channel;
}

double *orch_onnx_numbers(struct onnx_call *c, int i)
{
    struct onnx_value *out = c->out[i];
    int64_t count = 1;
    for (int d = 0; d < out->rank; d++)
        if (out->dims[d] < 0 || __builtin_mul_overflow(count, out->dims[d], &count) ||
            count > ONNX_FOLD_MAX)
            return NULL;
    if (count > c->g->numbers_left) /* bounds the memory that a small file can request */
        return NULL;
    c->g->numbers_left -= count;
    g_free(out->numbers);
    out->numbers = g_new0(double, (gsize)count + 1);
    return out->numbers;
}

void orch_onnx_weight(struct onnx_call *c, const struct onnx_value *v, enum orch_net_role role,
                      int rank, const int64_t *shape)
{
    if (!v || !v->weight || c->tensor_count == ONNX_TENSORS_MAX)
        return;
    struct onnx_layer_tensor *t = &c->tensors[c->tensor_count++];
    *t = (struct onnx_layer_tensor){.value = v, .role = role, .rank = rank};
    if (rank)
        memcpy(t->shape, shape, (size_t)rank * sizeof *shape);
}

int64_t orch_onnx_integer(double number)
{
    if (!(number > -9e18))
        return isnan(number) ? 0 : -9000000000000000000;
    return number < 9e18 ? (int64_t)number : 9000000000000000000;
}

int64_t *orch_onnx_ints(const struct onnx_call *c, const char *attribute, int i, int *out_count)
{
    const Onnx__AttributeProto *a = attribute ? orch_onnx_attribute(c->step, attribute) : NULL;
    const struct onnx_value *v = i >= 0 ? onnx_in(c, i) : NULL;
    if (a && a->n_ints) {
        *out_count = (int)a->n_ints;
        return g_memdup2(a->ints, a->n_ints * sizeof *a->ints);
    }
    if (!v || !v->numbers)
        return NULL;
    *out_count = (int)orch_onnx_value_count(v);
    int64_t *ints = g_new0(int64_t, (gsize)*out_count + 1);
    for (int j = 0; j < *out_count; j++)
        ints[j] = orch_onnx_integer(v->numbers[j]);
    return ints;
}

bool orch_onnx_axis(int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return false;
    *out = (int)(axis < 0 ? axis + rank : axis);
    return true;
}

int64_t orch_onnx_product(const int64_t *dims, int count)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++)
        product = orch_onnx_times(product, dims[i]);
    return product;
}

bool orch_onnx_multiply(const struct onnx_call *c, int64_t *product, int64_t factor)
{
    if (!__builtin_mul_overflow(*product, factor, product) && *product <= G_MAXINT64 / 16)
        return true;
    return orch_onnx_fail(c, "export the model again", "has more operations than can be counted");
}

bool orch_onnx_broadcast(struct onnx_call *c, const struct onnx_value *a,
                         const struct onnx_value *b)
{
    if (a->rank < b->rank) {
        const struct onnx_value *other = a;
        a = b;
        b = other;
    }
    struct onnx_value *out = c->out[0];
    out->rank = a->rank;
    for (int i = 0; i < a->rank; i++) {
        int j = i - (a->rank - b->rank);
        int64_t x = a->dims[i], y = j >= 0 ? b->dims[j] : 1;
        if (x != y && x != 1 && y != 1) {
            g_autofree char *one = orch_onnx_value_format(a), *two = orch_onnx_value_format(b);
            return orch_onnx_shape_error(c, a->guess ? a : b, "cannot combine shapes %s and %s",
                                         one, two);
        }
        out->dims[i] = x == 1 ? y : x;
    }
    /* The result's channel axis is the first operand's, unless that is a constant; then the
     * second's. */
    out->channel =
        orch_onnx_value_is_constant(a) && !orch_onnx_value_is_constant(b) && b->channel >= 0
            ? b->channel + a->rank - b->rank
            : a->channel;
    return true;
}

static bool declared_shape(const struct onnx_call *c, int i)
{
    struct onnx_value *out = c->out[i];
    const Onnx__ValueInfoProto *info = g_hash_table_lookup(c->g->declared, out->name);
    const Onnx__TensorTypeProto *type = info && info->type ? info->type->tensor_type : NULL;
    if (!type || !type->shape || type->shape->n_dim > ONNX_RANK_MAX)
        return false;
    int64_t dims[ONNX_RANK_MAX], count = 1;
    for (size_t d = 0; d < type->shape->n_dim; d++) {
        const Onnx__DimensionProto *dim = type->shape->dim[d];
        dims[d] = dim->has_dim_value           ? dim->dim_value
                  : (int)d == c->g->batch_axis ? c->g->batch
                                               : 0;
        if (dims[d] < 1 || __builtin_mul_overflow(count, dims[d], &count) ||
            count > ONNX_ELEMENTS_MAX)
            return false;
    }
    out->rank = (int)type->shape->n_dim;
    memcpy(out->dims, dims, (size_t)out->rank * sizeof *dims);
    out->type = type->elem_type;
    out->channel = out->rank == 4 ? 1 : out->rank - 1;
    return true;
}

void orch_onnx_mixes(const struct onnx_call *c, bool does)
{
    c->g->has_mixers = true;
    if (!does || c->g->mixer)
        return;
    g_autofree char *text = g_strdup_printf("%s '%s'", c->step->op, c->step->name);
    c->g->mixer = g_string_chunk_insert(c->g->names, text);
}

bool orch_onnx_run_unknown(struct onnx_call *c)
{
    static const struct onnx_value number = {.channel = -1, .node = -1};
    const struct onnx_value *like = &number;
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i] && (like == &number || (orch_onnx_value_is_constant(like) &&
                                             !orch_onnx_value_is_constant(c->in[i]))))
            like = c->in[i];
    c->is_guessed = true;
    for (int i = 0; i < c->out_count; i++)
        if (c->out[i] && !declared_shape(c, i))
            orch_onnx_like(c, i, like);
    return true;
}
