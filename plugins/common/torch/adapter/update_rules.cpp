/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The update of a parameter by SGD, Adam, AdamW or Muon: on the CPU in one loop over its values
 * (update_loops.h), otherwise in ATen operations. */
#include "plugins/common/torch/adapter/adapter.h"

#include "plugins/common/torch/adapter/update_loops.h"

#include <ATen/Parallel.h>

#include <cmath>

using at::Tensor;

namespace adapter
{

namespace
{

/* Values that a thread updates at least. */
const int64_t GRAIN = 32768;

/* Whether plain loops can update the tensor: both lie in the same order in the CPU's memory. */
bool is_plain(const orch_torch_model *m, const Tensor &p, const Tensor &grad)
{
    return m->update == Update::loops && p.scalar_type() == at::kFloat &&
           grad.scalar_type() == at::kFloat && p.is_non_overlapping_and_dense() &&
           p.strides() == grad.strides();
}

/* Calls `range(begin, end)` for parts of a tensor's values, in the threads that are set. */
template <typename Part> void each_range(const Tensor &p, Part part)
{
    at::parallel_for(0, p.numel(), GRAIN, part);
}

/* ---- SGD --------------------------------------------------------------------------------------
 */

void sgd_loop(orch_torch_model *m, size_t i, const Tensor &grad)
{
    Tensor &p = m->tensors[i], &buffer = m->slots[0][i];
    orch_sgd_step step = {(float)rate_of(m, i), (float)m->decays[i], (float)m->momentum,
                          m->nesterov, buffer.defined()};
    if (m->momentum != 0 && !buffer.defined())
        buffer = at::empty_like(p);
    float *values = p.data_ptr<float>(), *gradient = grad.data_ptr<float>();
    float *velocity = m->momentum != 0 ? buffer.data_ptr<float>() : nullptr;
    each_range(p, [&](int64_t begin, int64_t end) {
        orch_sgd_update(values + begin, gradient + begin, velocity ? velocity + begin : nullptr,
                        end - begin, &step);
    });
}

void step_sgd(orch_torch_model *m, size_t i, Tensor grad)
{
    Tensor &p = m->tensors[i];
    if (is_plain(m, p, grad)) {
        sgd_loop(m, i, grad);
        return;
    }
    if (m->decays[i] != 0)
        grad = grad.add(p, m->decays[i]);
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

/* ---- Adam and AdamW ---------------------------------------------------------------------------
 */

void step_adam(orch_torch_model *m, size_t i, Tensor grad, bool is_decoupled)
{
    Tensor &p = m->tensors[i], &mean = slot_of(m, 0, i), &square = slot_of(m, 1, i);
    double correction1 = 1 - std::pow(m->beta1, (double)m->steps);
    double correction2 = 1 - std::pow(m->beta2, (double)m->steps);
    double rate = rate_of(m, i), factor = is_decoupled ? 1 - rate * m->decays[i] : 1;
    double decay = is_decoupled ? 0 : m->decays[i];
    if (is_plain(m, p, grad)) {
        orch_adam_step step = {(float)factor,
                               (float)decay,
                               (float)m->beta1,
                               (float)m->beta2,
                               (float)(1 - m->beta1),
                               (float)(1 - m->beta2),
                               (float)std::sqrt(correction2),
                               (float)m->epsilon,
                               (float)(rate / correction1)};
        float *values = p.data_ptr<float>(), *gradient = grad.data_ptr<float>();
        float *first = mean.data_ptr<float>(), *second = square.data_ptr<float>();
        each_range(p, [&](int64_t begin, int64_t end) {
            orch_adam_update(values + begin, gradient + begin, first + begin, second + begin,
                             end - begin, &step);
        });
        return;
    }
    if (factor != 1)
        p.mul_(factor);
    if (decay != 0)
        grad = grad.add(p, decay);
    mean.mul_(m->beta1).add_(grad, 1 - m->beta1);
    square.mul_(m->beta2).addcmul_(grad, grad, 1 - m->beta2);
    Tensor divisor = square.sqrt().div_(std::sqrt(correction2)).add_(m->epsilon);
    p.addcdiv_(mean, divisor, -rate / correction1);
}

/* ---- Muon -------------------------------------------------------------------------------------
 */

void step_muon(orch_torch_model *m, size_t i, const Tensor &grad)
{
    Tensor &p = m->tensors[i];
    Tensor step = muon_direction(m, slot_of(m, 0, i), grad);
    double rate = rate_of(m, i);
    if (m->decays[i] != 0)
        p.mul_(1 - rate * m->decays[i]);
    p.add_(step, -rate);
}

} // namespace

void update_tensor(orch_torch_model *m, size_t i, const Tensor &grad)
{
    switch (m->methods[i]) {
    case ORCH_TORCH_SGD:
        step_sgd(m, i, grad);
        break;
    case ORCH_TORCH_ADAM:
        step_adam(m, i, grad, false);
        break;
    case ORCH_TORCH_ADAMW:
        step_adam(m, i, grad, true);
        break;
    case ORCH_TORCH_MUON:
        step_muon(m, i, grad);
        break;
    }
}

} // namespace adapter
