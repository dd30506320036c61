/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluates a graph node by node; a value is released after its last use. Activations and additions
 * work in place if nothing else reads their input. There is no implicit fusion. */
#include "plugins/common/torch/adapter/adapter.h"

#include <ATen/autocast_mode.h>

#include <algorithm>
#include <cmath>
#include <vector>

using at::Tensor;

namespace adapter
{

bool owns_input(const orch_torch_model *m, const struct orch_net_node *node)
{
    const struct orch_net_node *input = orch_net_node(m->net, node->inputs[0]);
    switch (input->op) {
    case ORCH_NET_CONV2D:
    case ORCH_NET_BATCHNORM2D:
    case ORCH_NET_LINEAR:
    case ORCH_NET_ADD:
        return m->readers[(size_t)input->id] == 1;
    default:
        return false;
    }
}

namespace
{

Tensor batch_norm(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x,
                  bool training)
{
    size_t first = (size_t)node->first_tensor;
    bool learns = training && !m->norms_fixed && node->group >= m->frozen_groups;
    if (learns && m->norms_shared.sum)
        return norm_shared(m, node, x);
    return at::batch_norm(x, m->tensors[first], m->tensors[first + 1], m->tensors[first + 2],
                          m->tensors[first + 3], learns, node->momentum, node->eps,
                          at::globalContext().userEnabledCuDNN());
}

/* A pool over its whole input, which has another size than the network was built for. */
bool covers_all(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x)
{
    return (x.size(2) != node->kernel_h || x.size(3) != node->kernel_w) &&
           orch_net_pools_all(m->net, node);
}

Tensor pad_shortcut(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x)
{
    int64_t extra = node->out.c - x.size(1), before = extra / 2;
    /* the gradient of a slice is always N x C x H x W; that of a pooling keeps the layout */
    Tensor strided =
        m->format == at::MemoryFormat::ChannelsLast
            ? at::avg_pool2d(x, {1, 1}, {node->stride_h, node->stride_w})
            : x.slice(2, 0, c10::nullopt, node->stride_h).slice(3, 0, c10::nullopt, node->stride_w);
    return at::constant_pad_nd(strided, {0, 0, 0, 0, before, extra - before}, 0);
}

/* Krizhevsky et al. 2012, 3.3, with Caffe's constants: alpha 1e-4, beta 0.75, k 1. */
Tensor local_response_norm(const struct orch_net_node *node, const Tensor &x)
{
    int64_t window = node->kernel_h;
    Tensor square =
        at::constant_pad_nd(x.mul(x).unsqueeze(1), {0, 0, 0, 0, window / 2, (window - 1) / 2}, 0);
    Tensor mean = at::avg_pool3d(square, {window, 1, 1}, {1, 1, 1}).squeeze(1);
    return x.div(mean.mul(1e-4).add(1).pow(0.75));
}

/* Huang et al. 2016, per image; remaining values are scaled up. */
Tensor stochastic_depth(const struct orch_net_node *node, const Tensor &x, bool training)
{
    if (!training || node->p <= 0)
        return x;
    Tensor kept = at::empty({x.size(0), 1, 1, 1}, x.options()).bernoulli_(1 - node->p);
    return x.mul(kept.div_(1 - node->p));
}

/* Queries, keys and values of N x 3C x T x 1, one head after the other in each of them (Vaswani et
 * al. 2017, 3.2). */
Tensor attention(const struct orch_net_node *node, const Tensor &x)
{
    int64_t width = node->out.c / node->heads, tokens = x.size(2);
    Tensor parts = x.reshape({x.size(0), 3, node->heads, width, tokens}).transpose(3, 4);
    Tensor q = parts.select(1, 0), k = parts.select(1, 1), v = parts.select(1, 2);
#if TORCH_VERSION_MAJOR >= 2
    Tensor y = at::scaled_dot_product_attention(q, k, v);
#else
    Tensor scores = at::matmul(q, k.transpose(2, 3)).mul_(1 / std::sqrt((double)width));
    Tensor y = at::matmul(at::softmax(scores, 3), v);
#endif
    return y.transpose(2, 3).reshape({x.size(0), node->out.c, tokens, 1});
}

Tensor apply(const orch_torch_model *m, const struct orch_net_node *node,
             const std::vector<Tensor> &values, bool training)
{
    const Tensor &x = values[(size_t)node->inputs[0]];
    size_t first = (size_t)node->first_tensor;
    auto bias = [&]() { return node->has_bias ? m->tensors[first + 1] : Tensor(); };
    switch (node->op) {
    case ORCH_NET_CONV2D:
        return at::conv2d(x, m->tensors[first], bias(), {node->stride_h, node->stride_w},
                          {node->pad_h, node->pad_w}, {node->dilation, node->dilation},
                          node->groups);
    case ORCH_NET_BATCHNORM2D:
        return batch_norm(m, node, x, training);
    case ORCH_NET_RELU:
        if (owns_input(m, node)) {
            Tensor same = x;
            return at::relu_(same);
        }
        return at::relu(x);
    case ORCH_NET_TANH:
        return at::tanh(x);
    case ORCH_NET_MAXPOOL2D:
        if (covers_all(m, node, x))
            return at::amax(x, {2, 3}, true);
        return at::max_pool2d(x, {node->kernel_h, node->kernel_w}, {node->stride_h, node->stride_w},
                              {node->pad_h, node->pad_w}, 1, node->ceil_mode);
    case ORCH_NET_AVGPOOL2D:
        if (covers_all(m, node, x))
            return at::mean(x, {2, 3}, true);
        return at::avg_pool2d(x, {node->kernel_h, node->kernel_w}, {node->stride_h, node->stride_w},
                              {node->pad_h, node->pad_w}, node->ceil_mode);
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return at::adaptive_avg_pool2d(x, {node->out.h, node->out.w});
    case ORCH_NET_LINEAR:
        return at::linear(x, m->tensors[first], bias());
    case ORCH_NET_ADD:
        if (orch_net_node(m->net, node->inputs[0])->op == ORCH_NET_BATCHNORM2D &&
            owns_input(m, node)) {
            Tensor same = x;
            return same.add_(values[(size_t)node->inputs[1]]);
        }
        return at::add(x, values[(size_t)node->inputs[1]]);
    case ORCH_NET_CONCAT: {
        std::vector<Tensor> parts;
        for (int i = 0; i < node->input_count; i++)
            parts.push_back(values[(size_t)node->inputs[i]]);
        return at::cat(parts, 1);
    }
    case ORCH_NET_FLATTEN:
        return x.flatten(1);
    case ORCH_NET_DROPOUT:
        return at::dropout(x, node->p, training);
    case ORCH_NET_PAD_SHORTCUT:
        return pad_shortcut(m, node, x);
    case ORCH_NET_RELU6:
        return at::hardtanh(x, 0, 6);
    case ORCH_NET_SIGMOID:
        return at::sigmoid(x);
    case ORCH_NET_SILU:
        return at::silu(x);
    case ORCH_NET_GELU:
        return at::gelu(x);
    case ORCH_NET_SOFTMAX:
        return at::softmax(x, 1);
    case ORCH_NET_LRN:
        return local_response_norm(node, x);
    case ORCH_NET_MUL:
        return at::mul(x, values[(size_t)node->inputs[1]]);
    case ORCH_NET_STOCHASTIC_DEPTH:
        return stochastic_depth(node, x, training);
    case ORCH_NET_ATTENTION:
        return attention(node, x);
    default: /* model_new rejects it */
        break;
    }
    throw std::runtime_error(std::string("operation not known to the adapter: ") +
                             orch_net_op_name(node->op));
}

/* The normalisation with which node `i` is computed as one operation; NULL: it is computed alone.
 */
const struct orch_net_node *fused_norm(const orch_torch_model *m, int i, bool training)
{
    int norm = m->fusions[(size_t)i].norm;
    const struct orch_net_node *node = norm < 0 ? nullptr : orch_net_node(m->net, norm);
    return node && norm_is_fused(m, node, training) ? node : nullptr;
}

/* True if node `i` is computed later, where its fusion ends. */
bool is_part_of_fusion(const orch_torch_model *m, int i, bool training)
{
    int end = m->fused_into[(size_t)i];
    return end > i && fused_norm(m, end, training);
}

Tensor value_of(const orch_torch_model *m, const struct orch_net_node *node,
                const std::vector<Tensor> &values, bool training)
{
    const struct orch_net_node *norm = fused_norm(m, node->id, training);
    if (!norm)
        return apply(m, node, values, training);
    const orch_torch_fusion &fusion = m->fusions[(size_t)node->id];
    return norm_fused(m, norm, values[(size_t)norm->inputs[0]],
                      fusion.shortcut < 0 ? Tensor() : values[(size_t)fusion.shortcut], fusion.relu,
                      training);
}

/* Releases what a fusion that ends at node `i` has read, if nothing reads it later. */
void release_fused(const orch_torch_model *m, int i, std::vector<Tensor> &values)
{
    const orch_torch_fusion &fusion = m->fusions[(size_t)i];
    if (fusion.norm < 0)
        return;
    for (int read : {orch_net_node(m->net, fusion.norm)->inputs[0], fusion.shortcut})
        if (read >= 0 && m->last_use[(size_t)read] == i)
            values[(size_t)read] = Tensor();
}

} // namespace

/* Allows or forbids tf32, which is a setting of the process. */
static void set_tf32(bool on)
{
    at::globalContext().setAllowTF32CuBLAS(on);
    at::globalContext().setAllowTF32CuDNN(on);
}

Autocast::Autocast(const orch_torch_model *m)
    : on(m->precision == ORCH_TORCH_BF16 || m->precision == ORCH_TORCH_FP16),
      cuda(m->device.is_cuda())
{
    if (cuda)
        set_tf32(m->precision != ORCH_TORCH_FP32);
    if (!on)
        return;
    at::ScalarType type = m->precision == ORCH_TORCH_FP16 ? at::kHalf : at::kBFloat16;
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_dtype(m->device.type(), type);
    before = at::autocast::is_autocast_enabled(m->device.type());
    at::autocast::set_autocast_enabled(m->device.type(), true);
#else
    if (cuda) {
        at::autocast::set_autocast_gpu_dtype(type);
        before = at::autocast::is_enabled();
        at::autocast::set_enabled(true);
    } else {
        at::autocast::set_autocast_cpu_dtype(type);
        before = at::autocast::is_cpu_enabled();
        at::autocast::set_cpu_enabled(true);
    }
#endif
    at::autocast::increment_nesting();
}

Autocast::~Autocast()
{
    if (!on)
        return;
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
    at::autocast::set_autocast_enabled(cuda ? at::kCUDA : at::kCPU, before);
#else
    if (cuda)
        at::autocast::set_enabled(before);
    else
        at::autocast::set_cpu_enabled(before);
#endif
}

void precision_check(const orch_torch_model *m)
{
    if (m->precision != ORCH_TORCH_FP16 || m->device.is_cuda())
        return;
    try {
        Tensor weight = at::ones({8, 8, 3, 3}).set_requires_grad(true), loss;
        {
            Autocast autocast(m);
            loss = at::conv2d(at::ones({1, 8, 8, 8}), weight, {}, {1, 1}, {1, 1}).sum();
        }
        if (loss.scalar_type() != at::kHalf)
            throw std::runtime_error("autocast did not compute in half precision");
        loss.backward();
    } catch (const std::exception &) {
        throw std::runtime_error("fp16 is not available on this CPU with this LibTorch: use bf16");
    }
}

bool is_known(enum orch_net_op op)
{
    switch (op) {
    case ORCH_NET_EMBEDDING:
    case ORCH_NET_LAYERNORM:
    case ORCH_NET_TOKEN_LINEAR:
    case ORCH_NET_FIRST_TOKEN:
    case ORCH_NET_CONV_TRANSPOSE2D:
    case ORCH_NET_GENERIC:
        return false;
    default:
        return true;
    }
}

std::vector<Tensor> forward_to(const orch_torch_model *m, const Tensor &x, int from,
                               const std::vector<int> &to, bool training)
{
    std::vector<Tensor> values((size_t)m->net->nodes->len);
    values[(size_t)from] = x;
    int end = *std::max_element(to.begin(), to.end());
    for (int i = from + 1; i <= end; i++) {
        const struct orch_net_node *node = orch_net_node(m->net, i);
        if (!m->is_needed[(size_t)i] || is_part_of_fusion(m, i, training))
            continue;
        values[(size_t)i] = value_of(m, node, values, training);
        for (int j = 0; j < node->input_count; j++)
            if (m->last_use[(size_t)node->inputs[j]] == i)
                values[(size_t)node->inputs[j]] = Tensor();
        release_fused(m, i, values);
    }
    std::vector<Tensor> found;
    for (int id : to)
        found.push_back(values[(size_t)id]);
    return found;
}

Tensor node_value(const orch_torch_model *m, int id, const std::vector<Tensor> &values,
                  bool training)
{
    return value_of(m, orch_net_node(m->net, id), values, training);
}

int node_end(const orch_torch_model *m, int id, bool training)
{
    return is_part_of_fusion(m, id, training) ? m->fused_into[(size_t)id] : id;
}

std::vector<int> node_reads(const orch_torch_model *m, int id, bool training)
{
    const struct orch_net_node *node = orch_net_node(m->net, id);
    const struct orch_net_node *norm = fused_norm(m, id, training);
    if (!norm)
        return std::vector<int>(node->inputs, node->inputs + node->input_count);
    int shortcut = m->fusions[(size_t)id].shortcut;
    return shortcut < 0 ? std::vector<int>{norm->inputs[0]}
                        : std::vector<int>{norm->inputs[0], shortcut};
}

std::vector<size_t> node_tensors(const orch_torch_model *m, int id, bool training)
{
    const struct orch_net_node *node = orch_net_node(m->net, id);
    const struct orch_net_node *norm = fused_norm(m, id, training);
    const struct orch_net_node *owner = norm ? norm : node;
    std::vector<size_t> found;
    for (int i = 0; i < owner->tensor_count; i++)
        found.push_back((size_t)(owner->first_tensor + i));
    return found;
}

Tensor forward(const orch_torch_model *m, const Tensor &x, int from, int to, bool training)
{
    return forward_to(m, x, from, {to}, training)[0];
}

} // namespace adapter
