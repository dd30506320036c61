/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models: their tensors on a device, in the layout that the setup asks for. */
#include "plugins/common/torch/adapter/adapter.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>

using at::Tensor;

namespace adapter
{

namespace
{

void plan_fusions(orch_torch_model *m)
{
    size_t count = (size_t)m->net->nodes->len;
    std::unique_ptr<orch_net_fusion, decltype(&g_free)> found(orch_net_fusions(m->net), g_free);
    m->fusions.assign(count, {});
    m->fused_into.resize(count);
    for (size_t i = 0; i < count; i++) {
        const orch_net_fusion &fusion = found.get()[i];
        m->fusions[i] = {fusion.norm, fusion.shortcut, fusion.relu};
        m->fused_into[i] = fusion.end;
    }
}

void plan_needs(orch_torch_model *m)
{
    m->is_needed.assign((size_t)m->net->nodes->len, false);
    for (int i = 0; i < orch_net_output_count(m->net); i++)
        m->is_needed[(size_t)orch_net_output(m->net, i)->id] = true;
    for (int i = (int)m->net->nodes->len - 1; i >= 0; i--) {
        const struct orch_net_node *node = orch_net_node(m->net, i);
        if (!m->is_needed[(size_t)i])
            continue;
        if (!is_known(node->op))
            throw std::runtime_error(std::string("network '") + m->net->name +
                                     "' can only be counted, not run: it has the operation '" +
                                     orch_net_op_name(node->op) + "'");
        m->draws |= node->p > 0;
        for (int j = 0; j < node->input_count; j++)
            m->is_needed[(size_t)node->inputs[j]] = true;
    }
}

void plan_uses(orch_torch_model *m)
{
    plan_fusions(m);
    size_t count = (size_t)m->net->nodes->len;
    m->last_use.assign(count, -1);
    m->readers.assign(count, 0);
    for (size_t i = 0; i < count; i++) {
        const struct orch_net_node *node = orch_net_node(m->net, (int)i);
        for (int j = 0; j < node->input_count; j++) {
            if (m->is_needed[i])
                m->last_use[(size_t)node->inputs[j]] =
                    std::max(m->last_use[(size_t)node->inputs[j]], m->fused_into[i]);
            m->readers[(size_t)node->inputs[j]]++;
        }
    }
    for (int i = 0; i < orch_net_output_count(m->net); i++) { /* the caller reads it, at the end */
        size_t output = (size_t)orch_net_output(m->net, i)->id;
        m->last_use[output] = (int)count;
        m->readers[output]++;
    }
    const struct orch_net_node *head = orch_net_head(m->net);
    m->head = head ? head->id : -1;
}

} // namespace

void copy_out(const Tensor &tensor, float *out)
{
    Tensor flat = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
    std::memcpy(out, flat.data_ptr<float>(), sizeof(float) * (size_t)flat.numel());
}

orch_torch_model *model_new(const orch_net *net, const orch_torch_setup *setup, GError **error)
{
    orch_torch_model *m = new (std::nothrow) orch_torch_model;
    bool ok = m && guarded(error, [&] {
                  m->net = net;
                  m->device = device_of(setup->device);
                  m->precision = setup->precision;
                  m->has_scaler = setup->precision == ORCH_TORCH_FP16;
                  precision_check(m);
                  if (m->device.is_cuda())
                      at::globalContext().setBenchmarkCuDNN(
                          !at::globalContext().deterministicAlgorithms());
                  scaler_start(m);
                  totals_start(m);
                  m->format = setup->channels_last ? at::MemoryFormat::ChannelsLast
                                                   : at::MemoryFormat::Contiguous;
                  plan_needs(m);
                  plan_uses(m);
                  for (guint i = 0; i < net->tensors->len; i++) {
                      const struct orch_net_tensor *t = orch_net_tensor(net, (int)i);
                      /* not contiguous(): it keeps strides that fit both layouts, which
                       * LibTorch then takes for N x C x H x W */
                      Tensor tensor =
                          at::empty(at::IntArrayRef(t->shape, (size_t)t->rank),
                                    at::TensorOptions().device(m->device),
                                    t->rank == 4 ? m->format : at::MemoryFormat::Contiguous);
                      m->tensors.push_back(tensor.zero_());
                  }
                  set_learning(m);
                  m->slots[0].resize(m->tensors.size());
                  m->slots[1].resize(m->tensors.size());
                  m->methods.assign(m->tensors.size(), m->method);
                  m->factors.assign(m->tensors.size(), 1);
                  m->decays.assign(m->tensors.size(), 0);
              });
    if (ok)
        return m;
    delete m;
    return nullptr;
}

void model_free(orch_torch_model *m)
{
    if (m) {
        disown_random(m);
        forget_fixed(m);
    }
    delete m;
}

size_t tensor_count(const orch_torch_model *m)
{
    return m->tensors.size();
}

void tensor_describe(const orch_torch_model *m, size_t index, orch_torch_tensor *out)
{
    const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)index);
    out->name = t->name;
    for (int i = 0; i < 4; i++)
        out->shape[i] = t->shape[i];
    out->rank = t->rank;
    out->count = t->count;
    out->group = orch_net_node(m->net, t->node)->group;
    out->is_parameter = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
}

Tensor from_floats(const orch_torch_model *m, size_t index, const float *values)
{
    const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)index);
    return at::from_blob(const_cast<float *>(values), at::IntArrayRef(t->shape, (size_t)t->rank),
                         at::kFloat)
        .to(m->device);
}

bool tensor_get(const orch_torch_model *m, size_t index, float *out, GError **error)
{
    return guarded(error, [&] { copy_out(m->tensors.at(index), out); });
}

bool tensor_set(orch_torch_model *m, size_t index, const float *values, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        m->tensors.at(index).copy_(from_floats(m, index, values));
    });
}

/* Throws unless tensor `i` of both graphs has the same name and shape. */
static void need_same(const orch_torch_model *a, const orch_torch_model *b, size_t i)
{
    auto text = [i](const orch_torch_model *m) {
        if (i >= m->tensors.size())
            return std::string("no tensor");
        std::ostringstream out;
        out << "'" << orch_net_tensor(m->net, (int)i)->name << "' " << m->tensors[i].sizes();
        return out.str();
    };
    std::string of_a = text(a), of_b = text(b);
    if (of_a != of_b)
        throw std::runtime_error("blend: the destination has " + of_a + ", the source " + of_b);
}

bool blend(orch_torch_model *destination, const orch_torch_model *source, double alpha,
           GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        if (!(alpha >= 0 && alpha <= 1))
            throw std::runtime_error("blend: alpha " + std::to_string(alpha) + " is not in [0, 1]");
        size_t count = std::max(destination->tensors.size(), source->tensors.size());
        for (size_t i = 0; i < count; i++)
            need_same(destination, source, i);
        for (size_t i = 0; i < count; i++) {
            Tensor &to = destination->tensors[i];
            const Tensor &from = source->tensors[i];
            if (alpha == 1)
                to.copy_(from);
            else
                to.mul_(1 - alpha).add_(from.to(to.device()), alpha);
        }
    });
}

} // namespace adapter
