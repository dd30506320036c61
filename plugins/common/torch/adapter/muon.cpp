/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Muon: momentum orthogonalised by Newton-Schulz iterations (Jordan et al. 2024,
 * kellerjordan.github.io/posts/muon).
 *
 * An iteration maps the singular values x of a matrix to a x + b x^3 + c x^5. The coefficients are
 * the published ones: their slope at 0 is as steep as it can be, and after five iterations every
 * singular value that was not tiny is in [0.7, 1.2]. Products are computed in bf16 on a GPU, in
 * fp32 on a CPU. */
#include "plugins/common/torch/adapter/adapter.h"

#include <algorithm>
#include <cmath>

using at::Tensor;

namespace adapter
{

namespace
{

const double COEFFICIENTS[] = {3.4445, -4.7750, 2.0315};
const double NORM_MIN = 1e-7;

/* The nearest orthogonal matrix, about, for x: rows x columns. */
Tensor orthogonal(const Tensor &matrix, int iterations)
{
    Tensor x = matrix.is_cuda() ? matrix.to(at::kBFloat16) : matrix;
    bool is_tall = x.size(0) > x.size(1);
    if (is_tall)
        x = x.t();
    x = x.div(x.norm().add(NORM_MIN));
    for (int i = 0; i < iterations; i++) {
        Tensor square = at::mm(x, x.t());
        Tensor polynomial = at::addmm(square, square, square, COEFFICIENTS[1], COEFFICIENTS[2]);
        x = at::addmm(x, polynomial, x, COEFFICIENTS[0]);
    }
    return (is_tall ? x.t() : x).to(matrix.scalar_type());
}

} // namespace

Tensor muon_direction(const orch_torch_model *m, Tensor &buffer, const Tensor &grad)
{
    buffer.mul_(m->momentum).add_(grad);
    Tensor direction = m->nesterov ? grad.add(buffer, m->momentum) : buffer;
    Tensor matrix = direction.reshape({direction.size(0), -1});
    double shape = (double)matrix.size(0) / (double)matrix.size(1);
    return orthogonal(matrix, m->iterations)
        .mul(std::sqrt(std::max(1.0, shape)))
        .reshape(grad.sizes());
}

} // namespace adapter
