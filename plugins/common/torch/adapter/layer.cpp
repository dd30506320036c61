/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times a single layer, as in Justus et al. 2018. */
#include "plugins/common/torch/adapter/adapter.h"

#include <chrono>
#include <cmath>
#include <vector>

using at::Tensor;

namespace
{

const double REPEAT_MS = 2; /* minimum duration of a repeat */
const int INNER_MAX = 50;

struct Layer {
    orch_torch_layer spec;
    Tensor input, gradient;
    std::vector<Tensor> weights, first, second; /* first, second: the optimizer's moments */
    int64_t steps = 0;
};

Tensor activate(const Layer &l, const Tensor &x)
{
    switch (l.spec.activation) {
    case ORCH_TORCH_RELU:
        return at::relu(x);
    case ORCH_TORCH_TANH:
        return at::tanh(x);
    case ORCH_TORCH_SIGMOID:
        return at::sigmoid(x);
    default:
        return x;
    }
}

Tensor forward(const Layer &l)
{
    Tensor bias = l.weights.size() > 1 ? l.weights[1] : Tensor();
    if (!l.spec.is_conv)
        return activate(l, at::linear(l.input, l.weights[0], bias));
    int64_t pad = l.spec.pad_same ? (l.spec.kernel - 1) / 2 : 0;
    return activate(
        l, at::conv2d(l.input, l.weights[0], bias, {l.spec.stride, l.spec.stride}, {pad, pad}));
}

void update(Layer &l)
{
    torch::NoGradGuard no_grad;
    const double rate = 1e-6;
    l.steps++;
    for (size_t i = 0; i < l.weights.size(); i++) {
        Tensor &w = l.weights[i], g = w.grad();
        if (l.spec.pass == ORCH_TORCH_STEP_MOMENTUM)
            g = l.first[i].mul_(0.9).add_(g);
        if (l.spec.pass == ORCH_TORCH_STEP_ADAM) {
            l.first[i].mul_(0.9).add_(g, 0.1);
            l.second[i].mul_(0.999).addcmul_(g, g, 0.001);
            double correction = 1 - std::pow(0.999, (double)l.steps);
            Tensor divisor = l.second[i].sqrt().div_(std::sqrt(correction)).add_(1e-8);
            w.addcdiv_(l.first[i], divisor, -rate / (1 - std::pow(0.9, (double)l.steps)));
        } else {
            w.add_(g, -rate);
        }
        w.mutable_grad() = Tensor();
    }
    l.input.mutable_grad() = Tensor();
}

void iterate(Layer &l)
{
    if (l.spec.pass == ORCH_TORCH_FORWARD) {
        torch::NoGradGuard no_grad;
        forward(l);
        return;
    }
    forward(l).backward(l.gradient);
    update(l);
}

Layer make(const orch_torch_layer &spec, at::Device device)
{
    Layer l;
    l.spec = spec;
    auto options = at::TensorOptions().device(device);
    int64_t outputs = spec.is_conv ? spec.cout : spec.dout;
    if (spec.is_conv) {
        l.input = at::randn({spec.batch, spec.cin, spec.in_hw, spec.in_hw}, options);
        l.weights.push_back(
            at::randn({spec.cout, spec.cin, spec.kernel, spec.kernel}, options).mul_(0.01));
    } else {
        l.input = at::randn({spec.batch, spec.din}, options);
        l.weights.push_back(at::randn({spec.dout, spec.din}, options).mul_(0.01));
    }
    if (spec.bias)
        l.weights.push_back(at::zeros({outputs}, options));
    for (const Tensor &w : l.weights) {
        l.first.push_back(at::zeros_like(w));
        l.second.push_back(at::zeros_like(w));
    }
    if (spec.pass == ORCH_TORCH_FORWARD)
        return l;
    {
        torch::NoGradGuard no_grad;
        l.gradient = at::ones_like(forward(l)).mul_(1e-3);
    }
    l.input.set_requires_grad(true);
    for (Tensor &w : l.weights)
        w.set_requires_grad(true);
    return l;
}

/* Duration of `count` iterations in milliseconds, including synchronisation with the device. */
double clocked(Layer &l, bool cuda, int count)
{
    if (cuda)
        torch::cuda::synchronize();
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; i++) {
        iterate(l);
        if (cuda && l.spec.waits_each)
            torch::cuda::synchronize();
    }
    if (cuda)
        torch::cuda::synchronize();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

} // namespace

bool orch_torch_layer_time(const struct orch_torch_layer *layer, const char *device, int warmup,
                           int repeats, double *out_ms, GError **error)
{
    return guarded(error, [&] {
        at::Device where = device_of(device);
        Layer l = make(*layer, where);
        double once = 0;
        for (int i = 0; i < warmup; i++)
            once = clocked(l, where.is_cuda(), 1);
        int inner = once > 0 ? (int)std::ceil(REPEAT_MS / once) : 1;
        inner = std::max(1, std::min(inner, INNER_MAX));
        for (int i = 0; i < repeats; i++)
            out_ms[i] = clocked(l, where.is_cuda(), inner) / inner;
    });
}
