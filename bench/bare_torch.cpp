/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The least that training can be: LibTorch's own modules, one batch that lies ready in memory, no
 * loader, no augmentation, no record. What orch's trainer is measured against in bench/trainer.py.
 * usage: bench_bare_torch THREADS BATCH STEPS; prints images a second of the second half. */
#include <torch/torch.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using torch::Tensor;
namespace nn = torch::nn;

struct BlockImpl : nn::Module {
    nn::Conv2d conv1, conv2;
    nn::BatchNorm2d bn1, bn2;
    int64_t stride, extra;
    BlockImpl(int64_t in, int64_t out, int64_t stride_)
        : conv1(nn::Conv2dOptions(in, out, 3).stride(stride_).padding(1).bias(false)),
          conv2(nn::Conv2dOptions(out, out, 3).padding(1).bias(false)), bn1(out), bn2(out),
          stride(stride_), extra(out - in)
    {
        register_module("conv1", conv1);
        register_module("conv2", conv2);
        register_module("bn1", bn1);
        register_module("bn2", bn2);
    }
    Tensor forward(Tensor x)
    {
        Tensor y = bn2(conv2(bn1(conv1(x)).relu_()));
        if (extra)
            x = torch::constant_pad_nd(
                x.slice(2, 0, c10::nullopt, stride).slice(3, 0, c10::nullopt, stride),
                {0, 0, 0, 0, extra / 2, extra - extra / 2});
        return y.add_(x).relu_();
    }
};
TORCH_MODULE(Block);

static nn::Sequential resnet20()
{
    nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 16, 3).padding(1).bias(false)),
                       nn::BatchNorm2d(16), nn::ReLU(nn::ReLUOptions(true)));
    int64_t width = 16;
    for (int64_t stage = 0; stage < 3; stage++)
        for (int i = 0; i < 3; i++) {
            int64_t out = 16 << stage;
            net->push_back(Block(width, out, stage && !i ? 2 : 1));
            width = out;
        }
    net->push_back(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions(1)));
    net->push_back(nn::Flatten());
    net->push_back(nn::Linear(64, 10));
    return net;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return std::fprintf(stderr, "usage: bench_bare_torch THREADS BATCH STEPS\n"), 2;
    int64_t batch = std::atoll(argv[2]), steps = std::atoll(argv[3]);
    at::set_num_threads(std::atoi(argv[1]));
    nn::Sequential net = resnet20();
    net->train();
    torch::optim::SGD optimizer(net->parameters(),
                                torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-4));
    Tensor x = torch::rand({batch, 1, 28, 28}), y = torch::arange(batch) % 10;
    auto begin = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < 2 * steps; i++) {
        if (i == steps)
            begin = std::chrono::steady_clock::now();
        Tensor loss = torch::cross_entropy_loss(net->forward(x), y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
    }
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.1f\n", (double)(batch * steps) / seconds.count());
    return 0;
}
