/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Models: their tensors on a device, in the layout that the setup asks for. */
#include "plugins/common/torch/adapter/adapter.h"

#include <algorithm>
#include <cstring>
#include <new>

using at::Tensor;

namespace adapter
{

namespace
{

/* The only node that reads node `i`; NULL if there are none or several. */
const struct orch_net_node *only_reader(const orch_torch_model *m, int i)
{
    const struct orch_net_node *found = nullptr;
    for (guint k = (guint)i + 1; k < m->net->nodes->len; k++) {
        const struct orch_net_node *node = orch_net_node(m->net, (int)k);
        for (int j = 0; j < node->input_count; j++) {
            if (node->inputs[j] != i)
                continue;
            if (found)
                return nullptr;
            found = node;
        }
    }
    return found;
}

/* Finds each normalisation with the addition and the ReLU that alone read it. */
void plan_fusions(orch_torch_model *m)
{
    size_t count = (size_t)m->net->nodes->len;
    m->fusions.assign(count, {});
    m->fused_into.resize(count);
    for (size_t i = 0; i < count; i++)
        m->fused_into[i] = (int)i;
    for (size_t i = 0; i < count; i++) {
        if (orch_net_node(m->net, (int)i)->op != ORCH_NET_BATCHNORM2D)
            continue;
        orch_torch_fusion fusion = {(int)i, -1, false};
        int end = (int)i;
        const struct orch_net_node *next = only_reader(m, end);
        if (next && next->op == ORCH_NET_ADD && next->input_count == 2 &&
            m->fusions[(size_t)next->id].norm < 0) {
            int other = next->inputs[next->inputs[0] == end];
            const struct orch_net_node *last = only_reader(m, next->id);
            if (last && last->op == ORCH_NET_RELU && m->fused_into[(size_t)next->id] == next->id) {
                fusion.shortcut = other;
                fusion.relu = true;
                m->fused_into[(size_t)next->id] = last->id;
                end = last->id;
            }
        } else if (next && next->op == ORCH_NET_RELU) {
            fusion.relu = true;
            end = next->id;
        }
        m->fused_into[i] = end;
        m->fusions[(size_t)end] = fusion;
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
            m->last_use[(size_t)node->inputs[j]] =
                std::max(m->last_use[(size_t)node->inputs[j]], m->fused_into[i]);
            m->readers[(size_t)node->inputs[j]]++;
        }
    }
    m->head = orch_net_head(m->net)->id;
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
                  if (!orch_net_is_classifier(net))
                      throw std::runtime_error(std::string("network '") + net->name +
                                               "' is counted only: it is no image classifier");
                  m->net = net;
                  m->device = device_of(setup->device);
                  m->bf16 = setup->precision == ORCH_TORCH_BF16;
                  m->format = setup->channels_last ? at::MemoryFormat::ChannelsLast
                                                   : at::MemoryFormat::Contiguous;
                  plan_uses(m);
                  for (guint i = 0; i < net->tensors->len; i++) {
                      const struct orch_net_tensor *t = orch_net_tensor(net, (int)i);
                      Tensor tensor = at::zeros(at::IntArrayRef(t->shape, (size_t)t->rank),
                                                at::TensorOptions().device(m->device));
                      m->tensors.push_back(t->rank == 4 ? tensor.contiguous(m->format) : tensor);
                  }
                  set_learning(m);
                  m->slots[0].resize(m->tensors.size());
                  m->slots[1].resize(m->tensors.size());
              });
    if (ok)
        return m;
    delete m;
    return nullptr;
}

void model_free(orch_torch_model *m)
{
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

} // namespace adapter
