/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of single elements, sums, and what only arranges elements. */
#include "lib/onnx/export_writer.h"

#include <math.h>

bool orch_onnx_write_unary(const struct onnx_writer *a)
{
    orch_onnx_writer_add_one(a, a->op, a->out, a->in);
    return true;
}

bool orch_onnx_write_binary(const struct onnx_writer *a)
{
    orch_onnx_writer_add_two(a, a->op, a->out, a->in, orch_onnx_writer_value(a, 1));
    return true;
}

bool orch_onnx_write_relu6(const struct onnx_writer *a)
{
    const char *inputs[3] = {a->in, orch_onnx_writer_number(a, "low", 0),
                             orch_onnx_writer_number(a, "high", 6)};
    orch_onnx_writer_add(a, "Clip", a->out, inputs, 3);
    return true;
}

bool orch_onnx_write_silu(const struct onnx_writer *a)
{
    const char *gate = orch_onnx_writer_inner(a, "gate");
    orch_onnx_writer_add_one(a, "Sigmoid", gate, a->in);
    orch_onnx_writer_add_two(a, "Mul", a->out, a->in, gate);
    return true;
}

/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
static bool write_gelu_tanh(const struct onnx_writer *a)
{
    const char *square = orch_onnx_writer_inner(a, "square"),
               *cubic = orch_onnx_writer_inner(a, "cubic"), *sum = orch_onnx_writer_inner(a, "sum"),
               *argument = orch_onnx_writer_inner(a, "argument"),
               *scaled = orch_onnx_writer_inner(a, "scaled"),
               *tanh = orch_onnx_writer_inner(a, "tanh"),
               *factor = orch_onnx_writer_inner(a, "factor"),
               *product = orch_onnx_writer_inner(a, "product"),
               *one = orch_onnx_writer_number(a, "one", 1);
    orch_onnx_writer_add_two(a, "Mul", square, a->in, a->in);
    orch_onnx_writer_add_two(a, "Mul", cubic, square, orch_onnx_writer_number(a, "cube", 0.044715));
    orch_onnx_writer_add_two(a, "Add", sum, cubic, one);
    orch_onnx_writer_add_two(a, "Mul", argument, a->in, sum);
    orch_onnx_writer_add_two(a, "Mul", scaled, argument,
                             orch_onnx_writer_number(a, "scale", sqrt(2 / G_PI)));
    orch_onnx_writer_add_one(a, "Tanh", tanh, scaled);
    orch_onnx_writer_add_two(a, "Add", factor, tanh, one);
    orch_onnx_writer_add_two(a, "Mul", product, a->in, factor);
    orch_onnx_writer_add_two(a, "Mul", a->out, product, orch_onnx_writer_number(a, "half", 0.5));
    return true;
}

/* The exact one, x/2 (1 + erf(x / sqrt 2)), is an operator since version 20. */
bool orch_onnx_write_gelu(const struct onnx_writer *a)
{
    if (a->node->is_tanh_form)
        return write_gelu_tanh(a);
    if (a->m->opset >= 20) {
        orch_onnx_writer_add_one(a, "Gelu", a->out, a->in);
        return true;
    }
    const char *scaled = orch_onnx_writer_inner(a, "scaled"),
               *erf = orch_onnx_writer_inner(a, "erf"), *sum = orch_onnx_writer_inner(a, "sum"),
               *product = orch_onnx_writer_inner(a, "product");
    orch_onnx_writer_add_two(a, "Div", scaled, a->in, orch_onnx_writer_number(a, "sqrt2", G_SQRT2));
    orch_onnx_writer_add_one(a, "Erf", erf, scaled);
    orch_onnx_writer_add_two(a, "Add", sum, erf, orch_onnx_writer_number(a, "one", 1));
    orch_onnx_writer_add_two(a, "Mul", product, a->in, sum);
    orch_onnx_writer_add_two(a, "Mul", a->out, product, orch_onnx_writer_number(a, "half", 0.5));
    return true;
}

/* Over the channels. */
bool orch_onnx_write_softmax(const struct onnx_writer *a)
{
    Onnx__NodeProto *softmax = orch_onnx_writer_add_one(a, "Softmax", a->out, a->in);
    orch_onnx_model_int(a->m, softmax, "axis", a->w->axes[a->node->id] == 3 ? 2 : 1);
    return true;
}

bool orch_onnx_write_concat(const struct onnx_writer *a)
{
    const char *inputs[ORCH_NET_INPUTS_MAX];
    for (int i = 0; i < a->node->input_count; i++)
        inputs[i] = orch_onnx_writer_value(a, i);
    orch_onnx_model_int(
        a->m, orch_onnx_writer_add(a, "Concat", a->out, inputs, a->node->input_count), "axis", 1);
    return true;
}

bool orch_onnx_write_flatten(const struct onnx_writer *a)
{
    orch_onnx_model_int(a->m, orch_onnx_writer_add_one(a, "Flatten", a->out, a->in), "axis", 1);
    return true;
}

bool orch_onnx_write_nothing(const struct onnx_writer *a)
{
    a->w->names[a->node->id] = a->in;
    return true;
}
