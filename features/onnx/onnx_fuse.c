/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exporters decompose operations that their version of ONNX lacks: GELU into five steps, layer norm
 * into nine. Counted separately these would write values that no library writes, and end up as
 * notes. So the last step of such a pattern gets the operator and inputs of the whole. The other
 * steps are then unused, unless another step reads them.
 */
#include "features/onnx/onnx_graph.h"

#include <math.h>
#include <string.h>

#define COPIES_MAX 4 /* maximum length of a chain of Identity steps */

static struct onnx_step *maker(const struct onnx_graph *g, const char *value, const char *op)
{
    int index = orch_onnx_graph_maker(g, value);
    struct onnx_step *step = index >= 0 ? onnx_step_at(g, index) : NULL;
    return step && strcmp(step->op, op) == 0 ? step : NULL;
}

/* The only step that reads the output of `step`, if it is an `op` with two inputs; else NULL. */
static struct onnx_step *user(const struct onnx_graph *g, const struct onnx_step *step,
                              const char *op)
{
    int index = orch_onnx_graph_only_user(g, step->output);
    struct onnx_step *next = index >= 0 ? onnx_step_at(g, index) : NULL;
    if (!next || strcmp(next->op, op) != 0 || next->input_count != 2 ||
        orch_onnx_graph_is_output(g, step->output))
        return NULL;
    return next;
}

/* The other of two inputs. */
static const char *other_than(const struct onnx_step *step, const char *value)
{
    return step->inputs[strcmp(step->inputs[0], value) == 0];
}

/* The initializer of that name, directly or through copies (PyTorch merges equal tensors). */
static const Onnx__TensorProto *initializer_of(const struct onnx_graph *g, const char *value)
{
    for (int i = 0; i < COPIES_MAX; i++) {
        const struct onnx_step *copy = maker(g, value, "Identity");
        if (!copy || !copy->input_count)
            break;
        value = copy->inputs[0];
    }
    return g_hash_table_lookup(g->initializers, value);
}

static const Onnx__TensorProto *tensor_of(const struct onnx_graph *g, const char *value)
{
    const struct onnx_step *constant = maker(g, value, "Constant");
    const Onnx__AttributeProto *a = constant ? orch_onnx_attribute(constant, "value") : NULL;
    return a ? a->t : initializer_of(g, value);
}

static bool is_number(const struct onnx_graph *g, const char *value)
{
    const Onnx__TensorProto *t = tensor_of(g, value);
    return t && (t->n_dims == 0 || (t->n_dims == 1 && t->dims[0] == 1));
}

static bool is_initializer(const struct onnx_graph *g, const char *value, size_t axes)
{
    const Onnx__TensorProto *t = initializer_of(g, value);
    return t && (axes == 0 || t->n_dims == axes);
}

/* Turns `step` into the fused operation. */
static void become(struct onnx_step *step, const char *op, const char *const *inputs, int count)
{
    g_free(step->inputs);
    step->inputs = g_new0(const char *, (gsize)count + 1);
    memcpy(step->inputs, inputs, (size_t)count * sizeof *inputs);
    step->input_count = count;
    step->op = op;
}

/* ---- activations --------------------------------------------------------------------------- */

/* x * sigmoid(x) */
static void join_swish(struct onnx_graph *g, struct onnx_step *gate)
{
    bool is_hard = strcmp(gate->op, "HardSigmoid") == 0;
    struct onnx_step *product = user(g, gate, "Mul");
    const char *x = gate->inputs[0];
    if (product && strcmp(other_than(product, gate->output), x) == 0)
        become(product, is_hard ? "HardSwish" : "Silu", &x, 1);
}

/* The input x of the error function in GELU, erf(x / sqrt(2)); NULL if the pattern does not
 * match. */
static const char *gelu_input_erf(const struct onnx_graph *g, const struct onnx_step *erf)
{
    static const char *const ops[] = {"Div", "Mul"};
    for (unsigned i = 0; i < G_N_ELEMENTS(ops); i++) {
        const struct onnx_step *scaled = maker(g, erf->inputs[0], ops[i]);
        if (scaled && scaled->input_count == 2 && is_number(g, scaled->inputs[1]))
            return scaled->inputs[0];
    }
    return NULL;
}

/* The input x of the hyperbolic tangent in GELU, tanh(c (x + d x^3)); NULL for no match. */
static const char *gelu_input_tanh(const struct onnx_graph *g, const struct onnx_step *tanh)
{
    const struct onnx_step *scaled = maker(g, tanh->inputs[0], "Mul");
    for (int i = 0; scaled && scaled->input_count == 2 && i < 2; i++) {
        const struct onnx_step *sum = maker(g, scaled->inputs[i], "Add");
        for (int j = 0; sum && sum->input_count == 2 && j < 2; j++) {
            const struct onnx_step *cubic = maker(g, sum->inputs[!j], "Mul");
            for (int k = 0; cubic && cubic->input_count == 2 && k < 2; k++) {
                const struct onnx_step *power = maker(g, cubic->inputs[k], "Pow");
                if (power && strcmp(power->inputs[0], sum->inputs[j]) == 0)
                    return sum->inputs[j];
            }
        }
    }
    return NULL;
}

/* After the function f: 1 + f, then times x and one half in any order. */
static void join_gelu(struct onnx_graph *g, struct onnx_step *function)
{
    bool is_erf = strcmp(function->op, "Erf") == 0, has_x = false, has_half = false;
    const char *x = is_erf ? gelu_input_erf(g, function) : gelu_input_tanh(g, function);
    struct onnx_step *at = x ? user(g, function, "Add") : NULL;
    if (!at || !is_number(g, other_than(at, function->output)))
        return;
    while (!(has_x && has_half)) {
        struct onnx_step *next = user(g, at, "Mul");
        const char *factor = next ? other_than(next, at->output) : NULL;
        const struct onnx_step *half = factor ? maker(g, factor, "Mul") : NULL;
        bool is_x = factor && strcmp(factor, x) == 0;
        bool is_half = factor && is_number(g, factor);
        if (half && !is_x && half->input_count == 2)
            is_x = is_half = strcmp(half->inputs[0], x) == 0 || strcmp(half->inputs[1], x) == 0;
        if ((!is_x && !is_half) || (is_x && has_x) || (is_half && has_half))
            return;
        has_x = has_x || is_x;
        has_half = has_half || is_half;
        at = next;
    }
    become(at, "Gelu", &x, 1);
}

/* ---- layer norm ---------------------------------------------------------------------------- */

static bool is_last_axis(const struct onnx_graph *g, const struct onnx_step *mean)
{
    const Onnx__AttributeProto *a = orch_onnx_attribute(mean, "axes");
    if (a)
        return a->n_ints == 1 && a->ints[0] == -1;
    const Onnx__TensorProto *t = mean->input_count > 1 ? tensor_of(g, mean->inputs[1]) : NULL;
    if (!t)
        return false;
    struct onnx_value axes = {0};
    orch_onnx_value_read(&axes, t);
    bool is_last = axes.numbers && orch_onnx_value_count(&axes) == 1 && (int)axes.numbers[0] == -1;
    g_free(axes.numbers);
    return is_last;
}

/* The x in x - mean(x); NULL for no match. */
static const char *centred(const struct onnx_graph *g, const char *value)
{
    const struct onnx_step *difference = maker(g, value, "Sub");
    if (!difference || difference->input_count != 2)
        return NULL;
    const char *x = difference->inputs[0];
    const struct onnx_step *mean = maker(g, difference->inputs[1], "ReduceMean");
    return mean && mean->input_count && strcmp(mean->inputs[0], x) == 0 && is_last_axis(g, mean)
               ? x
               : NULL;
}

/* The operand of a square, written as a power or as a product with itself; NULL for no match. */
static const char *squared(const struct onnx_graph *g, const char *value)
{
    const struct onnx_step *power = maker(g, value, "Pow"), *product = maker(g, value, "Mul");
    if (power && power->input_count == 2 && is_number(g, power->inputs[1]))
        return power->inputs[0];
    return product && product->input_count == 2 &&
                   strcmp(product->inputs[0], product->inputs[1]) == 0
               ? product->inputs[0]
               : NULL;
}

/* The x in sqrt(mean((x - mean(x))^2) + eps); NULL for no match. */
static const char *deviation(const struct onnx_graph *g, const char *value)
{
    const struct onnx_step *root = maker(g, value, "Sqrt");
    const struct onnx_step *sum =
        root && root->input_count ? maker(g, root->inputs[0], "Add") : NULL;
    if (!sum || sum->input_count != 2)
        return NULL;
    int place = is_number(g, sum->inputs[0]);
    const struct onnx_step *mean = maker(g, sum->inputs[place], "ReduceMean");
    if (!mean || !mean->input_count || !is_last_axis(g, mean))
        return NULL;
    const char *square = squared(g, mean->inputs[0]);
    return square ? centred(g, square) : NULL;
}

static void join_layernorm(struct onnx_graph *g, struct onnx_step *quotient)
{
    if (quotient->input_count != 2)
        return;
    const char *x = centred(g, quotient->inputs[0]);
    const char *also = x ? deviation(g, quotient->inputs[1]) : NULL;
    if (!also || strcmp(x, also) != 0)
        return;
    const char *inputs[3] = {x};
    int count = 1;
    struct onnx_step *last = quotient, *scaled = user(g, quotient, "Mul");
    if (scaled && is_initializer(g, other_than(scaled, quotient->output), 1)) {
        inputs[count++] = other_than(scaled, quotient->output);
        last = scaled;
        struct onnx_step *moved = user(g, scaled, "Add");
        if (moved && is_initializer(g, other_than(moved, scaled->output), 1)) {
            inputs[count++] = other_than(moved, scaled->output);
            last = moved;
        }
    }
    become(last, "LayerNormalization", inputs, count);
}

/* ---- biases -------------------------------------------------------------------------------- */

static bool is_weight(const struct onnx_graph *g, const char *value)
{
    const struct onnx_step *turned = maker(g, value, "Transpose");
    return is_initializer(g, value, 0) ||
           (turned && turned->input_count == 1 && is_initializer(g, turned->inputs[0], 0));
}

/* Joins a product with weights and an added vector into one layer whose third input is the bias. */
static void join_bias(struct onnx_graph *g, struct onnx_step *product)
{
    if (product->input_count != 2 || is_weight(g, product->inputs[0]) ||
        !is_weight(g, product->inputs[1]))
        return;
    struct onnx_step *sum = user(g, product, "Add");
    const char *bias = sum ? other_than(sum, product->output) : NULL;
    if (!bias || !is_initializer(g, bias, 1))
        return;
    const char *inputs[3] = {product->inputs[0], product->inputs[1], bias};
    sum->name = product->name;
    become(sum, "MatMul", inputs, 3);
}

void orch_onnx_fuse(struct onnx_graph *g)
{
    static const struct {
        const char *op;
        void (*join)(struct onnx_graph *g, struct onnx_step *step);
    } patterns[] = {{"Sigmoid", join_swish}, {"HardSigmoid", join_swish}, {"Erf", join_gelu},
                    {"Tanh", join_gelu},     {"Div", join_layernorm},     {"MatMul", join_bias}};
    for (int i = 0; i < (int)g->steps->len; i++) {
        struct onnx_step *step = onnx_step_at(g, i);
        for (unsigned p = 0; p < G_N_ELEMENTS(patterns) && step->input_count; p++)
            if (strcmp(step->op, patterns[p].op) == 0) {
                patterns[p].join(g, step);
                break;
            }
    }
}
