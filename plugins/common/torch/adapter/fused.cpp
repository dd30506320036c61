/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Updates of all tensors at once by LibTorch's fused kernels, and Muon beside them. Learning rates,
 * the number of steps and the scaler's decision to skip a step are 0-d tensors on the device: the
 * host neither waits for them nor writes them into the kernels' arguments. */
#include "plugins/common/torch/adapter/adapter.h"

#include <algorithm>

using at::Tensor;

namespace adapter
{

namespace
{

/* The tensors of one method, one learning rate and one weight decay. */
struct Share {
    std::vector<Tensor> values, gradients, first, second, steps;
};

/* `grad` with the strides of the parameter, which the kernels demand. LibTorch's gradients differ
 * at most in the strides of dimensions of size 1. */
Tensor with_strides_of(const Tensor &p, const Tensor &grad)
{
    if (grad.strides() == p.strides())
        return grad;
    return at::empty_like(p).copy_(grad);
}

/* Whether the tensor learns at rate `kind`. */
bool is_of_kind(const orch_torch_model *m, size_t i, size_t kind)
{
    return std::make_pair(m->factors[i], m->decays[i]) == m->rate_kinds[kind];
}

Share share_of(orch_torch_model *m, const std::vector<size_t> &trained, orch_torch_method method,
               size_t rate)
{
    Share share;
    int slots = method == ORCH_TORCH_SGD ? m->momentum != 0 : 2;
    for (size_t i : trained) {
        if (m->methods[i] != method || !is_of_kind(m, i, rate))
            continue;
        share.values.push_back(m->tensors[i].detach());
        share.gradients.push_back(with_strides_of(m->tensors[i], m->tensors[i].grad()));
        if (slots > 0)
            share.first.push_back(slot_of(m, 0, i));
        if (slots > 1)
            share.second.push_back(slot_of(m, 1, i));
        share.steps.push_back(m->steps_on_device);
    }
    return share;
}

#if ORCH_TORCH_HAS_FUSED
void step_fused(orch_torch_model *m, orch_torch_method method, Share &s, const Tensor &rate,
                double decay)
{
    std::optional<Tensor> found;
    if (m->scale.defined())
        found = m->found_infinite;
    if (method == ORCH_TORCH_SGD)
        at::_fused_sgd_(s.values, s.gradients, s.first, decay, m->momentum, rate, 0, m->nesterov,
                        false, false, std::nullopt, found);
    else if (method == ORCH_TORCH_ADAM)
        at::_fused_adam_(s.values, s.gradients, s.first, s.second, {}, s.steps, rate, m->beta1,
                         m->beta2, decay, m->epsilon, false, false, std::nullopt, found);
    else
        at::_fused_adamw_(s.values, s.gradients, s.first, s.second, {}, s.steps, rate, m->beta1,
                          m->beta2, decay, m->epsilon, false, false, std::nullopt, found);
}
#else
void step_fused(orch_torch_model *, orch_torch_method, Share &, const Tensor &, double)
{
    throw std::runtime_error("this LibTorch has no fused kernels");
}
#endif

/* See optimizer.cpp; here the rate is on the device. */
void step_muon_on_device(orch_torch_model *m, size_t i, const Tensor &rate)
{
    Tensor p = m->tensors[i].detach();
    Tensor direction = muon_direction(m, slot_of(m, 0, i), m->tensors[i].grad());
    if (m->decays[i] != 0)
        p.mul_(1 - rate * m->decays[i]);
    p.addcmul_(direction, rate, -1);
}

} // namespace

bool has_fused_update()
{
    return ORCH_TORCH_HAS_FUSED;
}

void fused_set(orch_torch_model *m)
{
    auto options = at::TensorOptions().device(m->device).dtype(at::kFloat);
    m->steps_on_device = at::zeros({}, options);
    m->rate_kinds.clear();
    for (size_t i = 0; i < m->factors.size(); i++)
        m->rate_kinds.emplace_back(m->factors[i], m->decays[i]);
    std::sort(m->rate_kinds.begin(), m->rate_kinds.end());
    m->rate_kinds.erase(std::unique(m->rate_kinds.begin(), m->rate_kinds.end()),
                        m->rate_kinds.end());
    m->rates.clear();
    for (size_t i = 0; i < m->rate_kinds.size(); i++)
        m->rates.push_back(at::zeros({}, options));
    fused_rate_set(m);
}

void fused_rate_set(orch_torch_model *m)
{
    torch::NoGradGuard no_grad;
    for (size_t i = 0; i < m->rates.size(); i++)
        m->rates[i].fill_(m->rate * m->rate_kinds[i].first);
}

int64_t fused_steps_get(const orch_torch_model *m)
{
    int64_t steps = 0;
    guarded(nullptr, [&] { steps = (int64_t)m->steps_on_device.item<float>(); });
    return steps;
}

void fused_steps_set(orch_torch_model *m)
{
    torch::NoGradGuard no_grad;
    m->steps_on_device.fill_((double)m->steps);
}

void update_fused(orch_torch_model *m, const std::vector<size_t> &trained)
{
    if (!gradients_unscale(m, trained))
        return;
    m->steps_on_device.add_(1);
    for (size_t rate = 0; rate < m->rates.size(); rate++) {
        for (orch_torch_method method : {ORCH_TORCH_SGD, ORCH_TORCH_ADAM, ORCH_TORCH_ADAMW}) {
            Share share = share_of(m, trained, method, rate);
            if (!share.values.empty())
                step_fused(m, method, share, m->rates[rate], m->rate_kinds[rate].second);
        }
        for (size_t i : trained)
            if (m->methods[i] == ORCH_TORCH_MUON && is_of_kind(m, i, rate))
                step_muon_on_device(m, i, m->rates[rate]);
    }
    if (m->scale.defined())
        m->steps_on_device.sub_(m->found_infinite);
}

} // namespace adapter
