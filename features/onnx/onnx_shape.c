/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that read shapes, or give the same elements another one. They also compute the numbers
 * of constants, because exporters write a flatten as Shape, Gather, Concat, Reshape. Numbers are in
 * row-major order. */
#include "features/onnx/onnx_ops.h"

#include <math.h>
#include <string.h>

/* ---- constants ----------------------------------------------------------------------------- */

bool orch_onnx_run_shape(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    int64_t start = orch_onnx_attribute_int(c->step, "start", 0);
    int64_t end = orch_onnx_attribute_int(c->step, "end", x->rank);
    start = CLAMP(start < 0 ? start + x->rank : start, 0, x->rank);
    end = CLAMP(end < 0 ? end + x->rank : end, start, x->rank);
    struct onnx_value *out = c->out[0];
    out->type = ONNX_INT64;
    out->rank = 1;
    out->dims[0] = end - start;
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = start; numbers && i < end; i++)
        numbers[i - start] = (double)x->dims[i];
    return true;
}

bool orch_onnx_run_size(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    c->out[0]->type = ONNX_INT64;
    double *numbers = orch_onnx_numbers(c, 0);
    if (numbers)
        numbers[0] = (double)orch_onnx_value_count(c->in[0]);
    return true;
}

bool orch_onnx_run_constant(struct onnx_call *c)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(c->step, "value");
    struct onnx_value *out = c->out[0];
    int64_t count;
    if (a && a->t) {
        if (!orch_onnx_tensor_check(a->t, c->g->file, &count, c->error))
            return false;
        orch_onnx_value_read(out, a->t);
        if (out->type == ONNX_FLOAT || out->type == 10 || out->type == 16)
            out->weight = a->t; /* some exporters (paddle2onnx) write weights so */
        return true;
    }
    int integers = 0;
    g_autofree int64_t *ints = orch_onnx_ints(c, "value_ints", -1, &integers);
    const Onnx__AttributeProto *one = orch_onnx_attribute(c->step, "value_int");
    const Onnx__AttributeProto *real = orch_onnx_attribute(c->step, "value_float");
    const Onnx__AttributeProto *reals = orch_onnx_attribute(c->step, "value_floats");
    out->type = one || ints ? ONNX_INT64 : ONNX_FLOAT;
    out->rank = ints || reals ? 1 : 0;
    out->dims[0] = ints ? integers : reals ? (int64_t)reals->n_floats : 0;
    double *numbers = one || real || ints || reals ? orch_onnx_numbers(c, 0) : NULL;
    if (numbers && !out->rank)
        numbers[0] = one ? (double)one->i : (double)real->f;
    for (int64_t i = 0; numbers && out->rank && i < out->dims[0]; i++)
        numbers[i] = ints ? (double)ints[i] : (double)reals->floats[i];
    return true;
}

bool orch_onnx_shape_from(struct onnx_call *c, int i, int64_t *dims, int *out_rank)
{
    int count = 0;
    g_autofree int64_t *wanted = orch_onnx_ints(c, NULL, i, &count);
    if (!wanted || count > ONNX_RANK_MAX)
        return false;
    memcpy(dims, wanted, (size_t)count * sizeof *dims);
    *out_rank = count;
    return true;
}

bool orch_onnx_run_constant_of_shape(struct onnx_call *c)
{
    struct onnx_value *out = c->out[0];
    const Onnx__AttributeProto *a = orch_onnx_attribute(c->step, "value");
    struct onnx_value filling = {.type = ONNX_FLOAT};
    int64_t count;
    if (!orch_onnx_need(c, 1))
        return false;
    if (a && a->t) {
        if (!orch_onnx_tensor_check(a->t, c->g->file, &count, c->error))
            return false;
        orch_onnx_value_read(&filling, a->t);
    }
    double number = filling.numbers && orch_onnx_value_count(&filling) ? filling.numbers[0] : 0;
    g_free(filling.numbers);
    out->type = filling.type;
    if (!orch_onnx_shape_from(c, 0, out->dims, &out->rank))
        return orch_onnx_run_unknown(c);
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(out); i++)
        numbers[i] = number;
    return true;
}

bool orch_onnx_run_range(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 3))
        return false;
    struct onnx_value *out = c->out[0];
    double at[3];
    for (int i = 0; i < 3; i++) {
        if (!c->in[i]->numbers || orch_onnx_value_count(c->in[i]) != 1)
            return orch_onnx_run_unknown(c);
        at[i] = c->in[i]->numbers[0];
    }
    double count = at[2] != 0 ? ceil((at[1] - at[0]) / at[2]) : 0;
    out->type = c->in[0]->type;
    out->rank = 1;
    out->dims[0] = MAX(0, orch_onnx_integer(count));
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < out->dims[0]; i++)
        numbers[i] = at[0] + (double)i * at[2];
    return true;
}

/* ---- other shapes of the same elements ----------------------------------------------------- */

static void keep_numbers(struct onnx_call *c)
{
    if (!c->in[0]->numbers)
        return;
    double *numbers = orch_onnx_numbers(c, 0);
    if (numbers)
        memcpy(numbers, c->in[0]->numbers,
               (size_t)orch_onnx_value_count(c->out[0]) * sizeof *numbers);
}

/* Channel axis of a reshaped value: unchanged if the axes up to it are unchanged, the last one for
 * tokens, otherwise as for images. */
static int view_channel(const struct onnx_value *from, const struct onnx_value *to)
{
    int axis = from->channel;
    if (axis >= 0 && axis < to->rank &&
        memcmp(from->dims, to->dims, (size_t)(axis + 1) * sizeof *to->dims) == 0)
        return axis;
    bool is_tokens = from->rank >= 3 && axis == from->rank - 1;
    return to->rank >= 4 && !is_tokens ? 1 : to->rank - 1;
}

/* Resolves 0 and -1 in a shape. */
static bool resolve(struct onnx_call *c, int64_t *dims, int rank)
{
    const struct onnx_value *x = c->in[0];
    bool zero_is_zero = orch_onnx_attribute_int(c->step, "allowzero", 0) != 0;
    int open = -1;
    int64_t known = 1, all = orch_onnx_value_count(x);
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0 && !zero_is_zero && i < x->rank)
            dims[i] = x->dims[i];
        if (dims[i] == -1 && open < 0)
            open = i;
        else
            known = orch_onnx_times(known, MAX(dims[i], -1));
    }
    if (open >= 0 && known > 0 && all % known == 0)
        dims[open] = all / known;
    else if (open >= 0 || known != all)
        known = -1;
    if (known >= 0)
        return true;
    struct onnx_value wanted = {.rank = rank};
    memcpy(wanted.dims, dims, (size_t)rank * sizeof *dims);
    g_autofree char *from = orch_onnx_value_format(x), *to = orch_onnx_value_format(&wanted);
    return orch_onnx_shape_error(c, x, "cannot reshape to %s from %s", to, from);
}

/* True if everything after the batch is flattened, as before a linear layer. */
static bool flattens(const struct onnx_graph *g, const struct onnx_value *from,
                     const struct onnx_value *to)
{
    return from->rank > 2 && to->rank == 2 && to->dims[0] == from->dims[0] &&
           to->dims[0] == g->batch;
}

bool orch_onnx_run_reshape(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    struct onnx_value *out = c->out[0];
    int64_t dims[ONNX_RANK_MAX];
    int count = 0;
    g_autofree int64_t *wanted = orch_onnx_ints(c, "shape", 1, &count);
    if (!wanted)
        return orch_onnx_run_unknown(c);
    if (count > ONNX_RANK_MAX)
        return orch_onnx_too_many_axes(c);
    memcpy(dims, wanted, (size_t)count * sizeof *dims);
    if (!resolve(c, dims, count))
        return false;
    orch_onnx_like(c, 0, c->in[0]);
    out->rank = count;
    memcpy(out->dims, dims, (size_t)count * sizeof *dims);
    out->channel = view_channel(c->in[0], out);
    keep_numbers(c);
    c->is_view = !flattens(c->g, c->in[0], out);
    c->layer.op = c->is_view ? ORCH_NET_GENERIC : ORCH_NET_FLATTEN;
    return true;
}

bool orch_onnx_run_flatten(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    int64_t axis = orch_onnx_attribute_int(c->step, "axis", 1);
    axis = axis < 0 ? axis + x->rank : axis;
    if (axis < 0 || axis > x->rank)
        return orch_onnx_bad_axis(c, axis, x);
    orch_onnx_like(c, 0, x);
    out->rank = 2;
    out->channel = 1;
    out->dims[0] = orch_onnx_product(x->dims, (int)axis);
    out->dims[1] = orch_onnx_product(x->dims + axis, x->rank - (int)axis);
    keep_numbers(c);
    return true;
}

/* The channels keep their axis if it remains. */
bool orch_onnx_run_squeeze(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    bool drop[ONNX_RANK_MAX] = {false};
    int count = 0;
    g_autofree int64_t *axes = orch_onnx_ints(c, "axes", 1, &count);
    if (!axes && onnx_in(c, 1))
        return orch_onnx_run_unknown(c);
    for (int i = 0; axes && i < count; i++) {
        int axis;
        if (!orch_onnx_axis(axes[i], x->rank, &axis) || x->dims[axis] != 1)
            return orch_onnx_bad_axis(c, axes[i], x);
        drop[axis] = true;
    }
    orch_onnx_like(c, 0, x);
    out->rank = 0;
    out->channel = -1;
    for (int i = 0; i < x->rank; i++) {
        if (axes ? drop[i] : x->dims[i] == 1)
            continue;
        if (i == x->channel)
            out->channel = out->rank;
        out->dims[out->rank++] = x->dims[i];
    }
    if (out->channel < 0 && x->channel >= 0)
        out->channel = out->rank - 1;
    keep_numbers(c);
    c->is_view = true;
    return true;
}

bool orch_onnx_run_unsqueeze(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    bool is_new[ONNX_RANK_MAX] = {false};
    int count = 0;
    g_autofree int64_t *axes = orch_onnx_ints(c, "axes", 1, &count);
    if (!axes)
        return orch_onnx_run_unknown(c);
    int rank = x->rank + MIN(count, ONNX_RANK_MAX + 1);
    if (rank > ONNX_RANK_MAX)
        return orch_onnx_too_many_axes(c);
    for (int i = 0; i < count; i++) {
        int axis;
        if (!orch_onnx_axis(axes[i], rank, &axis) || is_new[axis])
            return orch_onnx_bad_axis(c, axes[i], x);
        is_new[axis] = true;
    }
    orch_onnx_like(c, 0, x);
    out->rank = rank;
    for (int i = 0, from = 0; i < rank; i++) {
        if (!is_new[i] && from == x->channel)
            out->channel = i;
        out->dims[i] = is_new[i] ? 1 : x->dims[from++];
    }
    keep_numbers(c);
    c->is_view = true;
    return true;
}
