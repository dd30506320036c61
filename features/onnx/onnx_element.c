/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element-wise operators and their arithmetic on constants. */
#include "features/onnx/onnx_element.h"

#include "features/onnx/onnx_ops.h"

#include <math.h>
#include <string.h>

static bool is_integer(int type)
{
    return type != 1 && type != 10 && type != 11 && type != 16;
}

/* ---- one input ----------------------------------------------------------------------------- */

static double unary(int variant, double x, int type)
{
    switch (variant) {
    case ONNX_UNARY_CAST:
        return is_integer(type) ? trunc(x) : x;
    case ONNX_UNARY_SQRT:
        return sqrt(x);
    case ONNX_UNARY_EXP:
        return exp(x);
    case ONNX_UNARY_LOG:
        return log(x);
    case ONNX_UNARY_NEG:
        return -x;
    case ONNX_UNARY_ABS:
        return fabs(x);
    case ONNX_UNARY_FLOOR:
        return floor(x);
    case ONNX_UNARY_CEIL:
        return ceil(x);
    case ONNX_UNARY_ROUND:
        return nearbyint(x);
    case ONNX_UNARY_RECIPROCAL:
        return 1 / x;
    case ONNX_UNARY_NOT:
        return x == 0 ? 1 : 0;
    default:
        return x;
    }
}

/* An operator whose outputs have the shape of its first input; further inputs are ignored. Of
 * constants the value is computed where the variant is known. */
bool orch_onnx_run_same_shape(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    const struct onnx_value *x = c->in[0];
    for (int i = 0; i < c->out_count; i++)
        orch_onnx_like(c, i, x);
    int variant = c->op->variant;
    if (variant == ONNX_UNARY_CAST)
        c->out[0]->type = (int)CLAMP(orch_onnx_attribute_int(c->step, "to", x->type), 0, 100);
    c->is_view = c->count == ONNX_MOVES && variant != ONNX_UNARY_OTHER;
    if (c->layer.op == ORCH_NET_DROPOUT) {
        c->layer.p = orch_onnx_attribute_float(c->step, "ratio", 0.5);
        for (int i = 1; i < c->out_count; i++)
            c->out[i] = NULL; /* the mask of a dropout */
    }
    if (!x->numbers || variant == ONNX_UNARY_OTHER)
        return true;
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(x); i++)
        numbers[i] = unary(variant, x->numbers[i], c->out[0]->type);
    return true;
}

/* ---- two and more -------------------------------------------------------------------------- */

static double divide(double a, double b, int type)
{
    if (!is_integer(type))
        return a / b;
    return b == 0 ? 0 : trunc(a / b);
}

static double binary(int variant, double a, double b, int type)
{
    switch (variant) {
    case ONNX_BINARY_ADD:
        return a + b;
    case ONNX_BINARY_SUB:
        return a - b;
    case ONNX_BINARY_MUL:
        return a * b;
    case ONNX_BINARY_DIV:
        return divide(a, b, type);
    case ONNX_BINARY_POW:
        return pow(a, b);
    case ONNX_BINARY_MOD:
        return b == 0 ? 0 : a - floor(a / b) * b;
    case ONNX_BINARY_MIN:
        return fmin(a, b);
    case ONNX_BINARY_MAX:
        return fmax(a, b);
    case ONNX_BINARY_EQUAL:
        return a == b;
    case ONNX_BINARY_LESS:
        return a < b;
    case ONNX_BINARY_LESS_EQUAL:
        return a <= b;
    case ONNX_BINARY_GREATER:
        return a > b;
    case ONNX_BINARY_GREATER_EQUAL:
        return a >= b;
    case ONNX_BINARY_AND:
        return a != 0 && b != 0;
    case ONNX_BINARY_OR:
        return a != 0 || b != 0;
    default:
        return 0;
    }
}

/* Index in `v`, which is broadcast to `out`, for element i of `out`. */
static int64_t broadcast_at(const struct onnx_value *out, const struct onnx_value *v, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int d = out->rank - 1; d >= 0; d--) {
        int own = d - (out->rank - v->rank);
        int64_t place = out->dims[d] ? i % out->dims[d] : 0;
        i = out->dims[d] ? i / out->dims[d] : 0;
        if (own < 0)
            continue;
        at += v->dims[own] == 1 ? 0 : place * step;
        step *= v->dims[own];
    }
    return at;
}

static void fold_binary(struct onnx_call *c, const struct onnx_value *a, const struct onnx_value *b)
{
    if (!a->numbers || !b->numbers || c->op->variant == ONNX_BINARY_OTHER)
        return;
    double *numbers = orch_onnx_numbers(c, 0);
    const struct onnx_value *out = c->out[0];
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(out); i++)
        numbers[i] = binary(c->op->variant, a->numbers[broadcast_at(out, a, i)],
                            b->numbers[broadcast_at(out, b, i)], a->type);
}

/* A constant with more than one element that is combined with a value probably is a parameter. */
static void count_constants(struct onnx_call *c)
{
    bool is_sum = c->layer.op == ORCH_NET_ADD;
    for (int i = 0; i < c->in_count; i++) {
        const struct onnx_value *v = c->in[i];
        if (v && v->weight && !is_integer(v->type) && orch_onnx_value_count(v) > 1 &&
            !(c->in_count == 2 && orch_onnx_add_to_scores(c, v, c->in[!i])))
            orch_onnx_weight(c, v, is_sum && v->rank == 1 ? ORCH_NET_BIAS : ORCH_NET_WEIGHT, 0,
                             NULL);
    }
}

bool orch_onnx_run_binary(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 1))
        return false;
    if (c->in_count == 1) { /* a sum with one operand */
        const struct onnx_value *x = c->in[0];
        orch_onnx_like(c, 0, x);
        c->is_view = true;
        double *numbers = x->numbers ? orch_onnx_numbers(c, 0) : NULL;
        if (numbers)
            memcpy(numbers, x->numbers, (size_t)orch_onnx_value_count(x) * sizeof *numbers);
        return true;
    }
    if (!orch_onnx_need(c, c->in_count) || !orch_onnx_broadcast(c, c->in[0], c->in[1]))
        return false;
    bool is_test = c->op->variant >= ONNX_BINARY_EQUAL;
    c->out[0]->type = is_test ? ONNX_BOOL : c->in[0]->type;
    if (c->in_count == 2) {
        fold_binary(c, c->in[0], c->in[1]);
    } else {
        for (int i = 2; i < c->in_count; i++) {
            struct onnx_value so_far = *c->out[0];
            if (!orch_onnx_broadcast(c, &so_far, c->in[i]))
                return false;
        }
    }
    count_constants(c);
    return true;
}

bool orch_onnx_run_where(struct onnx_call *c)
{
    if (!orch_onnx_need(c, 3) || !orch_onnx_broadcast(c, c->in[1], c->in[2]))
        return false;
    struct onnx_value *out = c->out[0], chosen = *out;
    if (!orch_onnx_broadcast(c, &chosen, c->in[0]))
        return false;
    out->type = c->in[1]->type;
    if (!c->in[0]->numbers || !c->in[1]->numbers || !c->in[2]->numbers)
        return true;
    double *numbers = orch_onnx_numbers(c, 0);
    for (int64_t i = 0; numbers && i < orch_onnx_value_count(out); i++) {
        const struct onnx_value *from =
            c->in[0]->numbers[broadcast_at(out, c->in[0], i)] != 0 ? c->in[1] : c->in[2];
        numbers[i] = from->numbers[broadcast_at(out, from, i)];
    }
    return true;
}
