/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batch normalisation over the batches of all workers. Each worker gives its mean and variance by
 * channel, in a place of its own of an array that is zero elsewhere, so that one sum gathers them
 * without cancellation; the variance of all is the mean of theirs plus that of their means (Chan,
 * Golub and LeVeque 1983, with equal counts). */
#include "plugins/common/torch/adapter/adapter.h"

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace
{

const at::IntArrayRef::value_type REDUCED[] = {0, 2, 3}; /* of N x C x H x W */

/* `values` is contiguous. */
void sum_workers(const orch_torch_norm_calls &calls, Tensor &values)
{
    GError *error = nullptr;
    if (!calls.sum(calls.ctx, values.data_ptr<float>(), (size_t)values.numel(), &error))
        throw Passed{error};
}

Tensor by_channel(const Tensor &values)
{
    return values.view({1, -1, 1, 1});
}

struct SharedNorm : torch::autograd::Function<SharedNorm> {
    static Tensor forward(AutogradContext *ctx, const Tensor &x, const Tensor &weight,
                          const Tensor &bias, Tensor running_mean, Tensor running_var,
                          int64_t calls_address, double momentum, double eps)
    {
        const auto &calls = *reinterpret_cast<const orch_torch_norm_calls *>(calls_address);
        const Tensor values = x.to(at::kFloat);
        const auto own = at::var_mean(values, REDUCED, false, false);
        Tensor gathered = at::zeros({calls.ranks, 2, x.size(1)}, values.options());
        gathered.select(0, calls.rank).select(0, 0).copy_(std::get<1>(own));
        gathered.select(0, calls.rank).select(0, 1).copy_(std::get<0>(own));
        sum_workers(calls, gathered);
        const Tensor means = gathered.select(1, 0), mean = means.mean(0);
        const Tensor var = (gathered.select(1, 1) + (means - mean).square()).mean(0);
        const double count = (double)(x.numel() / x.size(1)) * calls.ranks;
        running_mean.mul_(1 - momentum).add_(mean, momentum);
        running_var.mul_(1 - momentum).add_(var, momentum * count / std::max(1.0, count - 1));
        const Tensor inverse = (var + eps).rsqrt(), scale = inverse * weight;
        ctx->saved_data["calls"] = calls_address;
        ctx->save_for_backward({x, weight, mean, inverse});
        return (values * by_channel(scale) + by_channel(bias - mean * scale)).to(x.scalar_type());
    }

    static variable_list backward(AutogradContext *ctx, variable_list gradients)
    {
        const variable_list saved = ctx->get_saved_variables();
        const Tensor &x = saved[0], &weight = saved[1], &mean = saved[2], &inverse = saved[3];
        const auto &calls =
            *reinterpret_cast<const orch_torch_norm_calls *>(ctx->saved_data["calls"].toInt());
        const Tensor dy = gradients[0].to(at::kFloat);
        const Tensor normal = (x.to(at::kFloat) - by_channel(mean)) * by_channel(inverse);
        const Tensor d_bias = dy.sum(REDUCED), d_weight = (dy * normal).sum(REDUCED);
        Tensor sums = at::stack({d_bias, d_weight});
        sum_workers(calls, sums);
        sums /= (double)(x.numel() / x.size(1)) * calls.ranks;
        const Tensor dx = (dy - by_channel(sums[0]) - normal * by_channel(sums[1])) *
                          by_channel(inverse * weight);
        return {dx.to(x.scalar_type()),
                d_weight,
                d_bias,
                Tensor(),
                Tensor(),
                Tensor(),
                Tensor(),
                Tensor()};
    }
};

} // namespace

namespace adapter
{

bool norms_share(orch_torch_model *m, const orch_torch_norm_calls *calls, GError **error)
{
    if (calls && !m->device.is_cpu()) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "let each worker use its own statistics",
                       "batch norms cannot share their statistics on a GPU");
        return false;
    }
    m->norms_shared = calls ? *calls : orch_torch_norm_calls{};
    return true;
}

Tensor norm_shared(const orch_torch_model *m, const struct orch_net_node *node, const Tensor &x)
{
    const Tensor *t = &m->tensors[(size_t)node->first_tensor];
    return SharedNorm::apply(x, t[0], t[1], t[2], t[3], reinterpret_cast<int64_t>(&m->norms_shared),
                             (double)node->momentum, (double)node->eps);
}

} // namespace adapter
