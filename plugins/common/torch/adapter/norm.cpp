/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch normalisation together with the addition of a shortcut and the ReLU after it, on CPUs in
 * channels-last memory: as one operation, with a gradient of its own in training, they read and
 * write the activations half as often as one after the other. */
#include "plugins/common/torch/adapter/adapter.h"
#include "plugins/common/torch/adapter/norm_loops.h"

#include <ATen/Parallel.h>

#include <cmath>
#include <vector>

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

namespace adapter
{

namespace
{

/** Rows of a block, whose sums are floats; blocks are added in double. Fixed, so that results do
 * not depend on the number of threads. */
const int64_t BLOCK = 256;

struct Rows {
    bool half;
    int64_t rows, channels, blocks;
    size_t bytes; /* of a block */

    explicit Rows(const Tensor &x)
        : half(x.scalar_type() == at::kBFloat16), rows(x.size(0) * x.size(2) * x.size(3)),
          channels(x.size(1)), blocks((rows + BLOCK - 1) / BLOCK),
          bytes((size_t)(BLOCK * channels) * (half ? 2 : 4))
    {
    }
    int64_t count(int64_t block) const
    {
        return std::min(BLOCK, rows - block * BLOCK);
    }
    /* Address of a block; NULL for a tensor that is not there. */
    char *at(const Tensor &x, int64_t block) const
    {
        return x.defined() ? (char *)x.data_ptr() + (size_t)block * bytes : nullptr;
    }
    template <typename Work> void each(Work work) const
    {
        at::parallel_for(0, blocks, 8, [&](int64_t from, int64_t to) {
            for (int64_t block = from; block < to; block++)
                work(block, count(block));
        });
    }
};

/* Mean and variance of each channel: those of the blocks, merged (Chan et al. 1979). */
void moments(const Rows &r, const Tensor &x, std::vector<double> &mean,
             std::vector<double> &squares)
{
    size_t width = (size_t)r.channels;
    std::vector<float> parts(2 * width * (size_t)r.blocks);
    r.each([&](int64_t block, int64_t count) {
        float *part = parts.data() + 2 * width * (size_t)block;
        orch_norm_sums(r.half, r.at(x, block), count, r.channels, part, part + width);
    });
    for (int64_t block = 0; block < r.blocks; block++) {
        const float *part = parts.data() + 2 * width * (size_t)block;
        double before = (double)(block * BLOCK), count = (double)r.count(block);
        double all = before + count;
        for (size_t c = 0; c < width; c++) {
            double difference = part[c] - mean[c];
            mean[c] += difference * (count / all);
            squares[c] += part[width + c] + difference * difference * (before * count / all);
        }
    }
}

void update_running(Tensor running, const std::vector<double> &now, double factor, double momentum)
{
    float *values = running.data_ptr<float>();
    for (size_t c = 0; c < now.size(); c++)
        values[c] = (float)((1 - momentum) * values[c] + momentum * (now[c] * factor));
}

Tensor as_rows(const Tensor &x)
{
    return x.contiguous(at::MemoryFormat::ChannelsLast);
}

/* Autograd takes no undefined inputs: without a shortcut (`adds` false) x stands in for `addend`.
 */
struct NormFunction : torch::autograd::Function<NormFunction> {
    static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &weight,
                          const Tensor &bias, const Tensor &addend, Tensor running_mean,
                          Tensor running_var, bool adds, bool relu, double momentum, double eps)
    {
        Rows r(x);
        const Tensor shortcut = adds ? addend : Tensor();
        size_t width = (size_t)r.channels;
        std::vector<double> mean(width), squares(width);
        std::vector<float> scale(width), shift(width);
        moments(r, x, mean, squares);
        double count = (double)r.rows;
        Tensor saved =
            at::empty({2, r.channels},
                      x.options().dtype(at::kFloat).memory_format(at::MemoryFormat::Contiguous));
        float *kept = saved.data_ptr<float>();
        const float *w = weight.data_ptr<float>(), *b = bias.data_ptr<float>();
        for (size_t c = 0; c < width; c++) {
            double inverse = 1 / std::sqrt(squares[c] / count + eps);
            kept[c] = (float)mean[c];
            kept[width + c] = (float)inverse;
            scale[c] = (float)(w[c] * inverse);
            shift[c] = (float)(b[c] - mean[c] * w[c] * inverse);
        }
        update_running(running_mean, mean, 1, momentum);
        update_running(running_var, squares, 1 / std::max(1.0, count - 1), momentum);
        Tensor y = at::empty_like(x);
        r.each([&](int64_t block, int64_t rows) {
            orch_norm_apply(r.half, r.at(x, block), r.at(shortcut, block), rows, r.channels,
                            scale.data(), shift.data(), relu, r.at(y, block));
        });
        ctx->saved_data["relu"] = relu;
        ctx->saved_data["adds"] = adds;
        ctx->save_for_backward({x, weight, saved, relu ? y : Tensor()});
        return y;
    }

    static variable_list backward(AutogradContext *ctx, variable_list gradients)
    {
        variable_list saved = ctx->get_saved_variables();
        const Tensor &x = saved[0], &weight = saved[1], &y = saved[3];
        bool adds = ctx->saved_data["adds"].toBool();
        bool relu = ctx->saved_data["relu"].toBool();
        Rows r(x);
        size_t width = (size_t)r.channels;
        Tensor dy = as_rows(gradients[0].to(x.scalar_type()));
        /* without ReLU the shortcut's gradient is dy itself */
        Tensor g = adds && relu ? at::empty_like(x) : Tensor();
        const float *mean = saved[2].data_ptr<float>(), *inverse = mean + width;
        const float *w = weight.data_ptr<float>();
        std::vector<float> parts(2 * width * (size_t)r.blocks);
        r.each([&](int64_t block, int64_t rows) {
            float *part = parts.data() + 2 * width * (size_t)block;
            orch_norm_back_sums(r.half, r.at(dy, block), r.at(y, block), r.at(x, block), rows,
                                r.channels, mean, part, part + width, r.at(g, block));
        });
        Tensor dweight = at::empty_like(weight), dbias = at::empty_like(weight);
        std::vector<float> a(width), b(width), c0(width);
        for (size_t c = 0; c < width; c++) {
            double sum = 0, product = 0;
            for (int64_t block = 0; block < r.blocks; block++) {
                sum += parts[2 * width * (size_t)block + c];
                product += parts[2 * width * (size_t)block + width + c];
            }
            double i = inverse[c], slope = w[c] * i, count = (double)r.rows;
            dweight.data_ptr<float>()[c] = (float)(product * i);
            dbias.data_ptr<float>()[c] = (float)sum;
            double by_x = -slope * i * i * product / count;
            a[c] = (float)slope;
            b[c] = (float)by_x;
            c0[c] = (float)(-slope * sum / count - by_x * mean[c]);
        }
        Tensor dx = at::empty_like(x);
        const Tensor &from = g.defined() ? g : dy, &mask = g.defined() ? Tensor() : y;
        r.each([&](int64_t block, int64_t rows) {
            orch_norm_back_apply(r.half, r.at(from, block), r.at(mask, block), r.at(x, block), rows,
                                 r.channels, a.data(), b.data(), c0.data(), r.at(dx, block));
        });
        Tensor dshortcut = !adds ? Tensor() : g.defined() ? g : dy;
        return {dx,       dweight,  dbias,    dshortcut, Tensor(),
                Tensor(), Tensor(), Tensor(), Tensor(),  Tensor()};
    }
};

/* By the running mean and variance, without a gradient; the result takes the place of x. */
Tensor norm_by_running(Tensor x, const Tensor &weight, const Tensor &bias, const Tensor &mean,
                       const Tensor &variance, const Tensor &shortcut, bool relu, double eps)
{
    Rows r(x);
    size_t width = (size_t)r.channels;
    std::vector<float> scale(width), shift(width);
    const float *w = weight.data_ptr<float>(), *b = bias.data_ptr<float>();
    const float *m = mean.data_ptr<float>(), *v = variance.data_ptr<float>();
    for (size_t c = 0; c < width; c++) {
        double slope = w[c] / std::sqrt(v[c] + eps);
        scale[c] = (float)slope;
        shift[c] = (float)(b[c] - m[c] * slope);
    }
    r.each([&](int64_t block, int64_t rows) {
        orch_norm_apply(r.half, r.at(x, block), r.at(shortcut, block), rows, r.channels,
                        scale.data(), shift.data(), relu, r.at(x, block));
    });
    return x;
}

bool is_rows(const Tensor &x)
{
    return x.dim() == 4 && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kBFloat16) &&
           x.is_contiguous(at::MemoryFormat::ChannelsLast);
}

} // namespace

bool norm_is_fused(const orch_torch_model *m, const struct orch_net_node *node, bool training)
{
    if (m->format != at::MemoryFormat::ChannelsLast || !m->device.is_cpu())
        return false;
    if (!training)
        return !at::GradMode::is_enabled();
    return node->group >= m->frozen_groups && !m->norms_fixed && !m->norms_shared.sum &&
           at::GradMode::is_enabled();
}

Tensor norm_fused(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x,
                  const Tensor &shortcut, bool relu, bool training)
{
    const Tensor *t = &m->tensors[(size_t)node->first_tensor];
    bool adds = shortcut.defined();
    bool fits = !adds || (is_rows(shortcut) && shortcut.scalar_type() == x.scalar_type());
    if (is_rows(x) && fits && training)
        return NormFunction::apply(x, t[0], t[1], adds ? shortcut : x, t[2], t[3], adds, relu,
                                   node->momentum, node->eps);
    if (is_rows(x) && fits)
        return norm_by_running(owns_input(m, node) ? x : x.clone(), t[0], t[1], t[2], t[3],
                               shortcut, relu, node->eps);
    Tensor y =
        at::batch_norm(x, t[0], t[1], t[2], t[3], training, node->momentum, node->eps, false);
    y = adds ? y + shortcut : y;
    return relu ? at::relu(y) : y;
}

} // namespace adapter
