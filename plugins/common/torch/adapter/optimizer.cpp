/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimizers: their state, learning rates, and an update of all parameters.
 *
 * On a GPU LibTorch's fused kernels (2.4 and later) update all tensors at once (fused.cpp), with
 * learning rates, numbers of steps and the scaler's state in device memory, so that a captured step
 * can be replayed with other values. Otherwise tensors are updated one by one (update_rules.cpp).
 * $ORCH_TORCH_UPDATE=fused or =operations overrides the choice, for comparisons and tests. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

using at::Tensor;

namespace adapter
{

namespace
{

bool override_is(const char *name)
{
    const char *value = std::getenv("ORCH_TORCH_UPDATE");
    return value && std::strcmp(value, name) == 0;
}

const struct orch_net_node *node_of(const orch_torch_model *m, size_t index)
{
    return orch_net_node(m->net, orch_net_tensor(m->net, (int)index)->node);
}

/* Whether Muon updates the tensor: weights of inner convolutions and linear layers. */
bool is_inner_matrix(const orch_torch_model *m, size_t index)
{
    int first = 0, last = (int)m->net->nodes->len - 1;
    while (first < last && orch_net_node(m->net, first)->op != ORCH_NET_CONV2D &&
           orch_net_node(m->net, first)->op != ORCH_NET_LINEAR)
        first++;
    const struct orch_net_node *node = node_of(m, index);
    return orch_net_tensor(m->net, (int)index)->rank >= 2 && node->id != first &&
           node->id != m->head;
}

/* The tensor's own factor; 0: it does not learn. */
double tensor_rate(const orch_torch_model *m, size_t index)
{
    return index < m->tensor_rates.size() ? m->tensor_rates[index] : 1;
}

/* What the learning rate is multiplied by. */
double factor_of(const orch_torch_model *m, size_t index)
{
    size_t group = (size_t)node_of(m, index)->group;
    double factor = group < m->group_rates.size() ? m->group_rates[group] : 1.0;
    factor *= tensor_rate(m, index);
    bool is_adamw_share = m->method == ORCH_TORCH_MUON && m->methods[index] != ORCH_TORCH_MUON;
    return is_adamw_share ? factor * m->adamw_factor : factor;
}

/* ---- setting ----------------------------------------------------------------------------------
 */

void check(const orch_torch_model *m, const orch_torch_optimizer *o)
{
    for (size_t i = 0; o->tensor_rates && i < m->tensors.size(); i++)
        if (!(o->tensor_rates[i] >= 0) || std::isinf(o->tensor_rates[i]))
            throw std::runtime_error(
                "the rate of tensor '" + std::string(orch_net_tensor(m->net, (int)i)->name) +
                "' must be 0 or more and finite, not " + std::to_string(o->tensor_rates[i]));
    if (o->method != ORCH_TORCH_MUON)
        return;
    if (o->iterations < 1)
        throw std::runtime_error("Muon needs at least one Newton-Schulz iteration, not " +
                                 std::to_string(o->iterations));
    if (!(o->adamw_factor > 0))
        throw std::runtime_error("Muon's adamw_factor must be positive, not " +
                                 std::to_string(o->adamw_factor));
    if (m->has_scaler && m->device.is_cuda())
        throw std::runtime_error("Muon does not run in fp16 on a GPU: use bf16");
}

void choose_update(orch_torch_model *m)
{
    bool fused = has_fused_update() && (m->device.is_cuda() || override_is("fused")) &&
                 !override_is("operations");
    m->update = fused                                              ? Update::fused
                : m->device.is_cpu() && !override_is("operations") ? Update::loops
                                                                   : Update::operations;
}

} // namespace

Tensor &slot_of(orch_torch_model *m, int slot, size_t i)
{
    Tensor &state = m->slots[slot][i];
    if (!state.defined())
        state = at::zeros_like(m->tensors[i]);
    return state;
}

double rate_of(const orch_torch_model *m, size_t index)
{
    return m->rate * m->factors[index];
}

void update(orch_torch_model *m)
{
    torch::NoGradGuard no_grad;
    Range range(m, "update");
    std::vector<size_t> trained;
    for (size_t i = 0; i < m->tensors.size(); i++)
        if (m->tensors[i].requires_grad() && m->tensors[i].grad().defined())
            trained.push_back(i);
    if (m->update == Update::fused) {
        update_fused(m, trained);
    } else if (gradients_unscale(m, trained)) {
        m->steps++;
        for (size_t i : trained)
            update_tensor(m, i, m->tensors[i].grad());
    }
    for (size_t i : trained)
        m->tensors[i].mutable_grad() = Tensor();
}

void set_learning(orch_torch_model *m)
{
    for (size_t i = 0; i < m->tensors.size(); i++) {
        const struct orch_net_tensor *t = orch_net_tensor(m->net, (int)i);
        bool parameter = t->role == ORCH_NET_WEIGHT || t->role == ORCH_NET_BIAS;
        m->tensors[i].set_requires_grad(parameter &&
                                        orch_net_node(m->net, t->node)->group >= m->frozen_groups &&
                                        tensor_rate(m, i) > 0);
    }
    plan_buckets(m);
}

bool optimizer_set(orch_torch_model *m, const orch_torch_optimizer *o, GError **error)
{
    return guarded(error, [&] {
        check(m, o);
        forget_fixed(m);
        m->method = o->method;
        m->momentum = o->momentum;
        m->nesterov = o->nesterov;
        m->beta1 = o->beta1;
        m->beta2 = o->beta2;
        m->epsilon = o->epsilon;
        m->iterations = o->iterations;
        m->adamw_factor = o->adamw_factor;
        m->group_rates.assign(o->group_rates, o->group_rates + o->group_rate_count);
        m->frozen_groups = o->frozen_groups;
        if (o->tensor_rates)
            m->tensor_rates.assign(o->tensor_rates, o->tensor_rates + m->tensors.size());
        else
            m->tensor_rates.clear();
        m->steps = 0;
        m->methods.assign(m->tensors.size(), o->method);
        m->factors.assign(m->tensors.size(), 1);
        m->decays.assign(m->tensors.size(), o->weight_decay);
        for (size_t i = 0; i < m->tensors.size(); i++) {
            if (o->method == ORCH_TORCH_MUON && !is_inner_matrix(m, i))
                m->methods[i] = ORCH_TORCH_ADAMW;
            m->factors[i] = factor_of(m, i);
            if (tensor_rate(m, i) > 0)
                m->decays[i] = o->weight_decay / tensor_rate(m, i);
        }
        for (auto &slot : m->slots)
            slot.assign(m->tensors.size(), Tensor());
        choose_update(m);
        if (m->update == Update::fused)
            fused_set(m);
        set_learning(m);
    });
}

void rate_set(orch_torch_model *m, double rate)
{
    bool is_new = m->rate != rate;
    m->rate = rate;
    if (is_new && m->update == Update::fused)
        guarded(nullptr, [&] { fused_rate_set(m); });
}

int slot_count(const orch_torch_model *m)
{
    return m->method != ORCH_TORCH_SGD ? 2 : m->momentum != 0 ? 1 : 0;
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
        torch::NoGradGuard no_grad;
        slot_of(m, slot, index).copy_(from_floats(m, index, values));
    });
}

int64_t steps_get(const orch_torch_model *m)
{
    return m->update == Update::fused ? fused_steps_get(m) : m->steps;
}

void steps_set(orch_torch_model *m, int64_t steps)
{
    m->steps = steps;
    if (m->update == Update::fused)
        guarded(nullptr, [&] { fused_steps_set(m); });
}

} // namespace adapter
