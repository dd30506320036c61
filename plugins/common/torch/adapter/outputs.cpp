/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps in parts, for losses of the caller's: forward to all outputs, backward from their
 * gradients, update. */
#include "plugins/common/torch/adapter/adapter.h"

#include <sstream>

using at::Tensor;

namespace adapter
{

namespace
{

const struct orch_net_node *output_of(const orch_torch_model *m, size_t index)
{
    return orch_net_output(m->net, (int)index);
}

/* N x C of what has no rows and columns. */
Tensor as_seen(const struct orch_net_node *node, const Tensor &value)
{
    bool is_vector = node->out.h == 1 && node->out.w == 1;
    return (is_vector ? value.flatten(1) : value).to(at::kFloat);
}

std::string shape_text(const int64_t *shape, int rank)
{
    std::string text;
    for (int i = 0; i < rank; i++)
        text += (i ? "x" : "") + std::to_string(shape[i]);
    return text;
}

void run_forward(orch_torch_model *m, const orch_torch_batch *b, orch_torch_mode mode)
{
    at::AutoGradMode grad(mode != ORCH_TORCH_INFER);
    if (mode != ORCH_TORCH_INFER)
        own_random(m);
    std::vector<int> to;
    for (size_t i = 0; i < output_count(m); i++)
        to.push_back(output_of(m, i)->id);
    Tensor x = input_of(m, b);
    int from = b->input == ORCH_TORCH_FEATURES ? orch_net_node(m->net, m->head)->inputs[0] : 0;
    Autocast autocast(m);
    m->norms_fixed = mode == ORCH_TORCH_FIXED_NORMS;
    m->outputs = forward_to(m, x, from, to, mode != ORCH_TORCH_INFER);
    for (size_t i = 0; i < to.size(); i++)
        m->outputs[i] = as_seen(output_of(m, i), m->outputs[i]);
}

/* Shows output `i` to the caller. */
orch_torch_array show(orch_torch_model *m, size_t i, bool on_device)
{
    Tensor value = m->outputs[i].detach();
    value = (on_device ? value : value.to(at::kCPU)).contiguous();
    m->output_values.push_back(value);
    orch_torch_array array;
    output_describe(m, i, &array);
    array.shape[0] = value.size(0);
    array.is_on_device = on_device;
    array.data = value.data_ptr<float>();
    return array;
}

Tensor gradient_of(const orch_torch_model *m, size_t i, const orch_torch_array *given)
{
    const Tensor &output = m->outputs[i];
    orch_torch_array expected;
    output_describe(m, i, &expected);
    expected.shape[0] = output.size(0);
    bool is_equal = given->rank == expected.rank;
    for (int k = 0; is_equal && k < expected.rank; k++)
        is_equal = given->shape[k] == expected.shape[k];
    if (!is_equal)
        throw std::runtime_error(std::string("the gradient of output '") + expected.name +
                                 "' has the shape " +
                                 shape_text(given->shape, std::max(0, std::min(given->rank, 4))) +
                                 ", the output " + shape_text(expected.shape, expected.rank));
    at::Device from = given->is_on_device ? m->device : at::Device(at::kCPU);
    return at::from_blob(const_cast<float *>(given->data), output.sizes(),
                         at::TensorOptions().dtype(at::kFloat).device(from))
        .to(m->device);
}

} // namespace

bool has_gradients(const orch_torch_model *m)
{
    for (const Tensor &tensor : m->tensors)
        if (tensor.requires_grad() && tensor.grad().defined())
            return true;
    return false;
}

size_t output_count(const orch_torch_model *m)
{
    return (size_t)orch_net_output_count(m->net);
}

void output_describe(const orch_torch_model *m, size_t index, orch_torch_array *out)
{
    const struct orch_net_node *node = output_of(m, index);
    bool is_vector = node->out.h == 1 && node->out.w == 1;
    *out = {
        node->name, {1, node->out.c, node->out.h, node->out.w}, is_vector ? 2 : 4, false, nullptr};
}

bool forward(orch_torch_model *m, const orch_torch_batch *b, orch_torch_mode mode, bool on_device,
             orch_torch_array *outputs, GError **error)
{
    m->outputs.clear();
    m->output_values.clear();
    bool ok = guarded(error, [&] {
        run_forward(m, b, mode);
        for (size_t i = 0; i < output_count(m); i++)
            outputs[i] = show(m, i, on_device);
    });
    m->norms_fixed = false;
    if (!ok || mode == ORCH_TORCH_INFER)
        m->outputs.clear();
    return ok;
}

bool backward(orch_torch_model *m, const orch_torch_array *gradients, size_t count, GError **error)
{
    return guarded(error, [&] {
        if (m->outputs.empty())
            throw std::runtime_error("each backward needs its own forward before it, in a training mode");
        if (count != m->outputs.size())
            throw std::runtime_error("backward has " + std::to_string(count) +
                                     " gradients; the network '" + m->net->name + "' has " +
                                     std::to_string(m->outputs.size()) + " outputs");
        std::vector<Tensor> roots, given;
        for (size_t i = 0; i < count; i++) {
            if (!gradients[i].data)
                continue;
            given.push_back(gradient_of(m, i, &gradients[i]));
            roots.push_back(m->outputs[i]);
            if (!roots.back().requires_grad())
                throw std::runtime_error(std::string("output '") + output_of(m, i)->name +
                                         "' depends on no trained parameter");
        }
        m->outputs.clear();
        run_backward(m, roots, given);
    });
}

bool update(orch_torch_model *m, GError **error)
{
    return guarded(error, [&] {
        if (!has_gradients(m))
            throw std::runtime_error("update needs gradients: there was no backward since the last "
                                     "update");
        finish_buckets(m);
        update(m);
    });
}

void gradients_drop(orch_torch_model *m)
{
    for (Tensor &tensor : m->tensors)
        tensor.mutable_grad() = Tensor();
}

} // namespace adapter
