/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators that move elements: transposing, concatenating, cutting, gathering, tiling, padding.
 * They also compute the numbers of constants (onnx_shape.c). */
#include "features/onnx/onnx_ops.h"

#include <string.h>

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
        return orch_onnx_bad_axis(c, count - 1, x);
    orch_onnx_like(c, 0, x);
    strides_of(x, strides);
    for (int i = 0; i < x->rank; i++) {
        int64_t from = order ? order[i] : x->rank - 1 - i;
        if (from < 0 || from >= x->rank || used[from])
            return orch_onnx_bad_axis(c, from, x);
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
    int64_t rows = orch_onnx_product(out->dims, axis), at = 0;
    for (int64_t row = 0; numbers && row < rows; row++)
        for (int i = 0; i < c->in_count; i++) {
            int64_t length = orch_onnx_product(c->in[i]->dims + axis, out->rank - axis);
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
        return orch_onnx_bad_axis(c, wanted, first);
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
            return orch_onnx_bad_axis(c, axes ? axes[i] : i, x);
        by = CLAMP(by, -ONNX_ELEMENTS_MAX, ONNX_ELEMENTS_MAX);
        out->dims[axis] = cut(x->dims[axis], by, &starts[i], &ends[i]);
        start[axis] = starts[i] * strides[axis];
        step[axis] = orch_onnx_times(by, strides[axis]);
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
        return orch_onnx_bad_axis(c, wanted, x);
    g_autofree int64_t *sizes = orch_onnx_ints(c, "split", 1, &count);
    int64_t even = (x->dims[axis] + c->out_count - 1) / c->out_count;
    for (int i = 0; i < c->out_count; i++) {
        int64_t size = sizes && i < count ? sizes[i] : MIN(even, x->dims[axis] - at);
        if (size < 0 || size > x->dims[axis] - at)
            return orch_onnx_shape_error(
                c, x, "has more parts than the %" G_GINT64_FORMAT " elements", x->dims[axis]);
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
        return orch_onnx_bad_axis(c, wanted, x);
    int rank = x->rank - 1 + index->rank;
    if (rank > ONNX_RANK_MAX)
        return orch_onnx_too_many_axes(c);
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
    if (!orch_onnx_shape_from(c, 1, wanted.dims, &wanted.rank))
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
        c->out[0]->dims[i] = orch_onnx_times(c->in[0]->dims[i], MAX(repeats[i], 0));
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
            return orch_onnx_bad_axis(c, wanted, x);
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
