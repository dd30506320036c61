/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Update rules with PyTorch's arithmetic, their state, and learning rates. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>

using at::Tensor;

namespace adapter
{

namespace
{

double rate_of(const orch_torch_model *m, size_t index)
{
    int group = orch_net_node(m->net, orch_net_tensor(m->net, (int)index)->node)->group;
    return m->rate * ((size_t)group < m->group_rates.size() ? m->group_rates[(size_t)group] : 1.0);
}

void step_sgd(orch_torch_model *m, size_t i, Tensor grad)
{
    Tensor &p = m->tensors[i];
    if (m->weight_decay != 0)
        grad = grad.add(p, m->weight_decay);
    if (m->momentum != 0) {
        Tensor &buffer = m->slots[0][i];
        if (buffer.defined())
            buffer.mul_(m->momentum).add_(grad);
        else
            buffer = grad.clone();
        grad = m->nesterov ? grad.add(buffer, m->momentum) : buffer;
    }
    p.add_(grad, -rate_of(m, i));
}

void step_adam(orch_torch_model *m, size_t i, Tensor grad)
{
    Tensor &p = m->tensors[i], &mean = m->slots[0][i], &square = m->slots[1][i];
    if (m->weight_decay != 0)
        grad = grad.add(p, m->weight_decay);
    if (!mean.defined())
        mean = at::zeros_like(p);
    if (!square.defined())
        square = at::zeros_like(p);
    mean.mul_(m->beta1).add_(grad, 1 - m->beta1);
    square.mul_(m->beta2).addcmul_(grad, grad, 1 - m->beta2);
    double correction1 = 1 - std::pow(m->beta1, (double)m->steps);
    double correction2 = 1 - std::pow(m->beta2, (double)m->steps);
    Tensor divisor = square.sqrt().div_(std::sqrt(correction2)).add_(m->epsilon);
    p.addcdiv_(mean, divisor, -rate_of(m, i) / correction1);
}

} // namespace

void update(orch_torch_model *m)
{
    torch::NoGradGuard no_grad;
    m->steps++;
    for (size_t i = 0; i < m->tensors.size(); i++) {
        Tensor grad = m->tensors[i].requires_grad() ? m->tensors[i].grad() : Tensor();
        if (!grad.defined())
            continue;
        if (m->method == ORCH_TORCH_ADAM)
            step_adam(m, i, grad);
        else
            step_sgd(m, i, grad);
        m->tensors[i].mutable_grad() = Tensor();
    }
}

void set_learning(orch_torch_model *m)
{
    for (size_t i = 0; i < m->tensors.size(); i++) {
        const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)i);
        bool parameter = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
        m->tensors[i].set_requires_grad(parameter &&
                                        orch_net_node(m->net, t->node)->group >= m->frozen_groups);
    }
    plan_buckets(m);
}

bool optimizer_set(orch_torch_model *m, const orch_torch_optimizer *o, GError **error)
{
    return guarded(error, [&] {
        m->method = o->method;
        m->momentum = o->momentum;
        m->nesterov = o->nesterov;
        m->weight_decay = o->weight_decay;
        m->beta1 = o->beta1;
        m->beta2 = o->beta2;
        m->epsilon = o->epsilon;
        m->group_rates.assign(o->group_rates, o->group_rates + o->group_rate_count);
        m->frozen_groups = o->frozen_groups;
        m->steps = 0;
        for (auto &slot : m->slots)
            slot.assign(m->tensors.size(), Tensor());
        set_learning(m);
    });
}

void rate_set(orch_torch_model *m, double rate)
{
    m->rate = rate;
}

int slot_count(const orch_torch_model *m)
{
    return m->method == ORCH_TORCH_ADAM ? 2 : m->momentum != 0 ? 1 : 0;
}

bool slot_get(const orch_torch_model *m, size_t index, int slot, float *out, bool *out_is_set,
              GError **error)
{
    return guarded(error, [&] {
        const Tensor &tensor = m->slots[slot].at(index);
        *out_is_set = tensor.defined();
        if (tensor.defined())
            copy_out(tensor, out);
    });
}

bool slot_set(orch_torch_model *m, size_t index, int slot, const float *values, GError **error)
{
    return guarded(error, [&] {
        Tensor tensor = at::empty_like(m->tensors.at(index)).detach();
        torch::NoGradGuard no_grad;
        tensor.copy_(from_floats(m, index, values));
        m->slots[slot].at(index) = tensor;
    });
}

int64_t steps_get(const orch_torch_model *m)
{
    return m->steps;
}

void steps_set(orch_torch_model *m, int64_t steps)
{
    m->steps = steps;
}

} // namespace adapter
