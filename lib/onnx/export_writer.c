/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/onnx/export_writer.h"

Onnx__NodeProto *orch_onnx_writer_add(const struct onnx_writer *a, const char *op, const char *out,
                                      const char *const *inputs, int count)
{
    return orch_onnx_model_node(a->m, op, out, inputs, count, &out, 1);
}

Onnx__NodeProto *orch_onnx_writer_add_one(const struct onnx_writer *a, const char *op,
                                          const char *out, const char *in)
{
    return orch_onnx_writer_add(a, op, out, &in, 1);
}

Onnx__NodeProto *orch_onnx_writer_add_two(const struct onnx_writer *a, const char *op,
                                          const char *out, const char *left, const char *right)
{
    return orch_onnx_writer_add(a, op, out, (const char *[]){left, right}, 2);
}

const char *orch_onnx_writer_inner(const struct onnx_writer *a, const char *part)
{
    return orch_onnx_model_text(a->m, "%s.%s", a->node->name, part);
}

const char *orch_onnx_writer_ints(const struct onnx_writer *a, const char *part,
                                  const int64_t *values, int count)
{
    const char *name = orch_onnx_writer_inner(a, part);
    orch_onnx_model_constant_ints(a->m, name, values, count);
    return name;
}

const char *orch_onnx_writer_number(const struct onnx_writer *a, const char *part, double value)
{
    const char *name = orch_onnx_writer_inner(a, part);
    float rounded = (float)value;
    orch_onnx_model_constant_floats(a->m, name, &rounded, 0, NULL);
    return name;
}

const char *orch_onnx_writer_tensor(const struct onnx_writer *a, int index)
{
    const struct orch_net_tensor *t = orch_net_tensor(a->w->e->net, a->node->first_tensor + index);
    orch_onnx_model_initializer(a->m, t->name, a->w->e->values[a->node->first_tensor + index],
                                t->rank, t->shape);
    return t->name;
}

const char *orch_onnx_writer_value(const struct onnx_writer *a, int input)
{
    return a->w->names[a->node->inputs[input]];
}
