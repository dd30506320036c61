/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that read or change shapes or move elements. They also compute the numbers of
 * constants, because exporters write a flatten as Shape, Gather, Concat, Reshape. Numbers are in
 * row-major order. */
#include "features/onnx/onnx_ops.h"

#include <math.h>
#include <string.h>

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? G_MAXINT64 / 4 : product;
}

static int64_t product_of(const int64_t *dims, int count)
{
    int64_t product = 1;
    for (int i = 0; i < count; i++)
        product = times(product, dims[i]);
    return product;
}

static bool too_many_axes(const struct onnx_call *c)
{
    return orch_onnx_fail(c, "export the model again", "has an output of more than %d axes",
                          ONNX_RANK_MAX);
}

static bool bad_axis(const struct onnx_call *c, int64_t axis, const struct onnx_value *v)
{
    g_autofree char *shape = orch_onnx_value_format(v);
    return orch_onnx_shape_error(c, v, "works on axis %" G_GINT64_FORMAT ", its input is %s", axis,
                                 shape);
}

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

/* Reads the shape in input i into dims; false if it is unknown or has too many axes. */
static bool shape_from(struct onnx_call *c, int i, int64_t *dims, int *out_rank)
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
    if (!shape_from(c, 0, out->dims, &out->rank))
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
            known = times(known, MAX(dims[i], -1));
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
        return too_many_axes(c);
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
        return bad_axis(c, axis, x);
    orch_onnx_like(c, 0, x);
    out->rank = 2;
    out->channel = 1;
    out->dims[0] = product_of(x->dims, (int)axis);
    out->dims[1] = product_of(x->dims + axis, x->rank - (int)axis);
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
            return bad_axis(c, axes[i], x);
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
        return too_many_axes(c);
    for (int i = 0; i < count; i++) {
        int axis;
        if (!orch_onnx_axis(axes[i], rank, &axis) || is_new[axis])
            return bad_axis(c, axes[i], x);
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

/* ---- moved elements ------------------------------------------------------------------------ */

/* Row-major strides of the axes. */
static void strides_of(const struct onnx_value *v, int64_t *strides)
{
    int64_t step = 1;
    for (int i = v->rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= MAX(v->dims[i], 1);
    }
}

/* Computes the numbers of output 0 from input 0: index p along the output's axis d reads the input
 * at start[d] + p * step[d], in elements. */
static void pick(struct onnx_call *c, const int64_t *start, const int64_t *step)
{
    if (!c->in[0]->numbers)
        return;
    double *numbers = orch_onnx_numbers(c, 0);
    const struct onnx_value *out = c->out[0];
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(out); i++) {
        int64_t rest = i, at = 0;
        for (int d = out->rank - 1; d >= 0; d--) {
            at += start[d] + rest % out->dims[d] * step[d];
            rest /= out->dims[d];
        }
        numbers[i] = c->in[0]->numbers[at];
    }
}

bool orch_onnx_run_transpose(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    int count = 0;
    g_autofree int64_t *order = orch_onnx_ints(c, "perm", -1, &count);
    bool used[ONNX_RANK_MAX] = {false};
    int64_t strides[ONNX_RANK_MAX], start[ONNX_RANK_MAX] = {0}, step[ONNX_RANK_MAX];
    if (order && count != x->rank)
        return bad_axis(c, count - 1, x);
    orch_onnx_like(c, 0, x);
    strides_of(x, strides);
    for (int i = 0; i < x->rank; i++) {
        int64_t from = order ? order[i] : x->rank - 1 - i;
        if (from < 0 || from >= x->rank || used[from])
            return bad_axis(c, from, x);
        used[from] = true;
        out->dims[i] = x->dims[from];
        step[i] = strides[from];
        if (from == x->channel)
            out->channel = i;
    }
    pick(c, start, step);
    return true;
}

static void fold_concat(struct onnx_call *c, int axis)
{
    double *numbers = orch_onnx_numbers(c, 0);
    const struct onnx_value *out = c->out[0];
    int64_t rows = product_of(out->dims, axis), at = 0;
    for (int64_t row = 0; numbers && row < rows; row++)
        for (int i = 0; i < c->in_count; i++) {
            int64_t length = product_of(c->in[i]->dims + axis, out->rank - axis);
            memcpy(numbers + at, c->in[i]->numbers + row * length,
                   (size_t)length * sizeof *numbers);
            at += length;
        }
}

bool orch_onnx_run_concat(struct onnx_call *c)
{
    if (!orch_onnx_need(c, MAX(1, c->in_count)))
        return false;
    struct onnx_value *out = c->out[0];
    const struct onnx_value *first = c->in[0];
    bool known = true;
    int axis;
    int64_t wanted = orch_onnx_attribute_int(c->step, "axis", 1);
    if (!orch_onnx_axis(wanted, first->rank, &axis))
        return bad_axis(c, wanted, first);
    orch_onnx_like(c, 0, first);
    out->dims[axis] = 0;
    for (int i = 0; i < c->in_count; i++) {
        const struct onnx_value *x = c->in[i];
        bool fits = x->rank == first->rank;
        for (int d = 0; fits && d < x->rank; d++)
            fits = d == axis || x->dims[d] == first->dims[d];
        if (!fits) {
            g_autofree char *one = orch_onnx_value_format(first), *two = orch_onnx_value_format(x);
            return orch_onnx_shape_error(c, first->guess ? first : x,
                                         "cannot combine shapes %s and %s", one, two);
        }
        out->dims[axis] = MIN(out->dims[axis] + x->dims[axis], ONNX_ELEMENTS_MAX + 1);
        out->channel =
            orch_onnx_value_is_constant(first) && x->channel >= 0 ? x->channel : out->channel;
        known = known && x->numbers;
        if (x->weight && (x->type == ONNX_FLOAT || x->type == 10 || x->type == 16))
            orch_onnx_weight(c, x, ORCH_NET_WEIGHT, 0, NULL); /* a class token */
    }
    if (known)
        fold_concat(c, axis);
    return true;
}

/* Length of a slice of one axis; clamps `start` and `end` as ONNX specifies. */
static int64_t cut(int64_t size, int64_t step, int64_t *start, int64_t *end)
{
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
    *start = *start < 0 ? *start + size : *start;
    *end = *end < 0 ? *end + size : *end;
    *start = CLAMP(*start, step < 0 ? 0 : low, high);
    *end = CLAMP(*end, low, high);
    int64_t span = step > 0 ? *end - *start : *start - *end;
    int64_t stride = step > 0 ? step : -step;
    return span > 0 ? (span + stride - 1) / stride : 0;
}

bool orch_onnx_run_slice(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    struct onnx_value *out = c->out[0];
    int counts[4] = {0};
    g_autofree int64_t *starts = orch_onnx_ints(c, "starts", 1, &counts[0]);
    g_autofree int64_t *ends = orch_onnx_ints(c, "ends", 2, &counts[1]);
    g_autofree int64_t *axes = orch_onnx_ints(c, "axes", 3, &counts[2]);
    g_autofree int64_t *steps = orch_onnx_ints(c, NULL, 4, &counts[3]);
    if (!starts || !ends || (!axes && onnx_in(c, 3)) || (!steps && onnx_in(c, 4)))
        return orch_onnx_run_unknown(c);
    if (counts[1] != counts[0] || (axes && counts[2] != counts[0]) ||
        (steps && counts[3] != counts[0]))
        return orch_onnx_fail(c, "export the model again", "has %d starts and %d ends", counts[0],
                              counts[1]);
    int64_t strides[ONNX_RANK_MAX], start[ONNX_RANK_MAX] = {0}, step[ONNX_RANK_MAX];
    orch_onnx_like(c, 0, x);
    strides_of(x, strides);
    memcpy(step, strides, sizeof step);
    for (int i = 0; i < counts[0]; i++) {
        int axis;
        int64_t by = steps ? steps[i] : 1;
        if (!orch_onnx_axis(axes ? axes[i] : i, x->rank, &axis) || by == 0)
            return bad_axis(c, axes ? axes[i] : i, x);
        by = CLAMP(by, -ONNX_ELEMENTS_MAX, ONNX_ELEMENTS_MAX);
        out->dims[axis] = cut(x->dims[axis], by, &starts[i], &ends[i]);
        start[axis] = starts[i] * strides[axis];
        step[axis] = times(by, strides[axis]);
    }
    pick(c, start, step);
    return true;
}

bool orch_onnx_run_split(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    int axis, count = 0;
    int64_t wanted = orch_onnx_attribute_int(c->step, "axis", 0), at = 0;
    if (!orch_onnx_axis(wanted, x->rank, &axis))
        return bad_axis(c, wanted, x);
    g_autofree int64_t *sizes = orch_onnx_ints(c, "split", 1, &count);
    int64_t even = (x->dims[axis] + c->out_count - 1) / c->out_count;
    for (int i = 0; i < c->out_count; i++) {
        int64_t size = sizes && i < count ? sizes[i] : MIN(even, x->dims[axis] - at);
        if (size < 0 || size > x->dims[axis] - at)
            return orch_onnx_shape_error(
                c, x, "splits %" G_GINT64_FORMAT " elements into more parts", x->dims[axis]);
        at += size;
        orch_onnx_like(c, i, x);
        if (!c->out[i])
            continue;
        c->out[i]->dims[axis] = size;
        double *numbers = x->numbers && x->rank == 1 ? orch_onnx_numbers(c, i) : NULL;
        for (int64_t j = 0; numbers && j < size; j++)
            numbers[j] = x->numbers[at - size + j];
    }
    return true;
}

/* Computes the numbers of a gather along the only axis. */
static bool fold_gather(struct onnx_call *c)
{
    const struct onnx_value *x = c->in[0], *index = c->in[1];
    if (!x->numbers || x->rank != 1 || !index->numbers)
        return true;
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(index); i++) {
        int at;
        if (!orch_onnx_axis(orch_onnx_integer(index->numbers[i]), (int)x->dims[0], &at))
            return orch_onnx_shape_error(c, x,
                                         "reads index %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                                         orch_onnx_integer(index->numbers[i]), x->dims[0]);
        numbers[i] = x->numbers[at];
    }
    return true;
}

/* Classifies a gather as an embedding, the first token, or a selection. */
static void classify_gather(struct onnx_call *c, int axis)
{
    const struct onnx_value *x = c->in[0], *index = c->in[1];
    if (orch_onnx_value_is_constant(x) && !orch_onnx_value_is_constant(index) && x->rank == 2 &&
        axis == 0) {
        c->layer.op = ORCH_NET_EMBEDDING;
        c->layer.in_channels = x->dims[0];
        c->layer.out_channels = x->dims[1];
        orch_onnx_weight(c, x, ORCH_NET_WEIGHT, 2, x->dims);
    } else if (x->rank == 3 && axis == 1 && index->rank == 0 && index->numbers &&
               index->numbers[0] == 0) {
        c->layer.op = ORCH_NET_FIRST_TOKEN;
    }
}

bool orch_onnx_run_gather(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    const struct onnx_value *x = c->in[0], *index = c->in[1];
    struct onnx_value *out = c->out[0];
    int axis;
    int64_t wanted = orch_onnx_attribute_int(c->step, "axis", 0);
    if (!orch_onnx_axis(wanted, x->rank, &axis))
        return bad_axis(c, wanted, x);
    int rank = x->rank - 1 + index->rank;
    if (rank > ONNX_RANK_MAX)
        return too_many_axes(c);
    out->type = x->type;
    out->rank = rank;
    memcpy(out->dims, x->dims, (size_t)axis * sizeof *out->dims);
    memcpy(out->dims + axis, index->dims, (size_t)index->rank * sizeof *out->dims);
    memcpy(out->dims + axis + index->rank, x->dims + axis + 1,
           (size_t)(x->rank - axis - 1) * sizeof *out->dims);
    out->channel = x->channel > axis   ? x->channel + index->rank - 1
                   : x->channel < axis ? x->channel
                                       : rank - 1;
    if (orch_onnx_value_is_constant(x))
        out->channel = rank - 1;
    classify_gather(c, axis);
    return fold_gather(c);
}

bool orch_onnx_run_expand(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    struct onnx_value wanted = {.channel = -1, .node = -1};
    if (!shape_from(c, 1, wanted.dims, &wanted.rank))
        return orch_onnx_run_unknown(c);
    for (int i = 0; i < wanted.rank; i++)
        if (wanted.dims[i] < 0)
            return orch_onnx_run_unknown(c);
    if (!orch_onnx_broadcast(c, c->in[0], &wanted))
        return false;
    struct onnx_value *out = c->out[0];
    out->type = c->in[0]->type;
    out->channel = c->in[0]->channel < 0 ? -1 : c->in[0]->channel + out->rank - c->in[0]->rank;
    if (!c->in[0]->numbers || orch_onnx_value_count(c->in[0]) != 1)
        return true;
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(out); i++)
        numbers[i] = c->in[0]->numbers[0];
    return true;
}

bool orch_onnx_run_tile(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 2))
        return false;
    int count = 0;
    g_autofree int64_t *repeats = orch_onnx_ints(c, NULL, 1, &count);
    if (!repeats || count != c->in[0]->rank)
        return orch_onnx_run_unknown(c);
    orch_onnx_like(c, 0, c->in[0]);
    for (int i = 0; i < count; i++)
        c->out[0]->dims[i] = times(c->in[0]->dims[i], MAX(repeats[i], 0));
    return true;
}

bool orch_onnx_run_pad(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    int count = 0, axis_count = 0;
    g_autofree int64_t *pads = orch_onnx_ints(c, "pads", 1, &count);
    g_autofree int64_t *axes = orch_onnx_ints(c, NULL, 3, &axis_count);
    if (!pads || (!axes && onnx_in(c, 3)))
        return orch_onnx_run_unknown(c);
    int padded = axes ? axis_count : x->rank;
    if (count != 2 * padded)
        return orch_onnx_shape_error(c, x, "has %d pads for %d axes", count, padded);
    orch_onnx_like(c, 0, x);
    bool is_none = true;
    for (int i = 0; i < padded; i++) {
        int axis;
        int64_t wanted = axes ? axes[i] : i;
        if (!orch_onnx_axis(wanted, x->rank, &axis))
            return bad_axis(c, wanted, x);
        int64_t before = CLAMP(pads[i], -ONNX_ELEMENTS_MAX, ONNX_ELEMENTS_MAX);
        int64_t behind = CLAMP(pads[i + padded], -ONNX_ELEMENTS_MAX, ONNX_ELEMENTS_MAX);
        is_none = is_none && !before && !behind;
        c->out[0]->dims[axis] = MAX(0, c->out[0]->dims[axis] + before + behind);
    }
    c->is_view = is_none;
    return true;
}

bool orch_onnx_run_depth_space(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    int64_t block = orch_onnx_attribute_int(c->step, "blocksize", 1);
    bool to_depth = c->op->variant;
    if (x->rank != 4 || block < 1 || block > 1024 ||
        (to_depth ? x->dims[2] % block || x->dims[3] % block : x->dims[1] % (block * block)))
        return orch_onnx_shape_error(
            c, x, "has blocks of %" G_GINT64_FORMAT " that do not fit its input", block);
    orch_onnx_like(c, 0, x);
    int64_t *dims = c->out[0]->dims;
    dims[1] = to_depth ? dims[1] * block * block : dims[1] / (block * block);
    for (int i = 2; i < 4; i++)
        dims[i] = to_depth ? dims[i] / block : dims[i] * block;
    return true;
}
