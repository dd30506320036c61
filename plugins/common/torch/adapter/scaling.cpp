/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gradient scaler of fp16 (scaler.h). With fused updates its state is on the device, and a step
 * whose gradients are not finite is skipped there; otherwise the host decides. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>

using at::Tensor;

namespace adapter
{

namespace
{

bool has_device_scaler(const orch_torch_model *m)
{
    return m->scale.defined();
}

bool are_finite(const std::vector<Tensor> &gradients)
{
    for (const Tensor &grad : gradients)
        if (!at::isfinite(grad).all().item<bool>())
            return false;
    return true;
}

void unscale_on_device(orch_torch_model *m, std::vector<Tensor> &gradients)
{
    m->found_infinite.zero_();
    Tensor inverse = m->scale.to(at::kDouble).reciprocal().to(at::kFloat);
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, m->found_infinite, inverse);
    at::_amp_update_scale_(m->scale, m->finite_steps, m->found_infinite, ORCH_SCALER_GROWTH,
                           ORCH_SCALER_BACKOFF, ORCH_SCALER_INTERVAL);
    m->skipped_steps.add_(m->found_infinite);
}

} // namespace

void scaler_start(orch_torch_model *m)
{
    if (!m->has_scaler)
        return;
    m->scaler = {ORCH_SCALER_START, 0, 0};
    if (!m->device.is_cuda())
        return;
    auto options = at::TensorOptions().device(m->device).dtype(at::kFloat);
    m->scale = at::full({}, ORCH_SCALER_START, options);
    m->found_infinite = at::zeros({}, options);
    m->skipped_steps = at::zeros({}, options.dtype(at::kDouble));
    m->finite_steps = at::zeros({}, options.dtype(at::kInt));
}

Tensor scaled(const orch_torch_model *m, const Tensor &loss)
{
    if (!m->has_scaler)
        return loss;
    return has_device_scaler(m) ? loss * m->scale : loss * (double)m->scaler.scale;
}

bool gradients_unscale(orch_torch_model *m, const std::vector<size_t> &trained)
{
    if (!m->has_scaler)
        return true;
    std::vector<Tensor> gradients;
    for (size_t i : trained)
        gradients.push_back(m->tensors[i].grad());
    if (has_device_scaler(m)) {
        unscale_on_device(m, gradients);
        return m->update == Update::fused || m->found_infinite.item<float>() == 0;
    }
    bool finite = are_finite(gradients);
    double inverse = 1 / (double)m->scaler.scale;
    for (Tensor &grad : gradients)
        grad.mul_(inverse);
    orch_torch_scaler_update(&m->scaler, finite);
    return finite;
}

bool scaler_get(const orch_torch_model *m, orch_torch_scaler *out, GError **error)
{
    return guarded(error, [&] {
        orch_torch_scaler state = m->scaler;
        if (has_device_scaler(m))
            state = {m->scale.item<float>(), m->finite_steps.item<int>(),
                     (int64_t)m->skipped_steps.item<double>()};
        *out = state;
    });
}

bool scaler_set(orch_torch_model *m, const orch_torch_scaler *scaler, GError **error)
{
    return guarded(error, [&] {
        if (!m->has_scaler)
            return;
        if (!(std::isfinite(scaler->scale) && scaler->scale > 0))
            throw std::runtime_error("the gradient scale must be finite and positive, not " +
                                     std::to_string(scaler->scale));
        torch::NoGradGuard no_grad;
        m->scaler = *scaler;
        if (!has_device_scaler(m))
            return;
        m->scale.fill_(scaler->scale);
        m->finite_steps.fill_(scaler->finite_steps);
        m->skipped_steps.fill_((double)scaler->skipped_steps);
    });
}

} // namespace adapter
