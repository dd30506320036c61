/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches as tensors, and what is computed from them: training steps, evaluation, totals, logits
 * and features. */
#include "plugins/common/torch/adapter/adapter.h"

#include <string>

using at::Tensor;

namespace adapter
{

Tensor on_device(const orch_torch_model *m, const orch_torch_batch *b, const void *data,
                 at::IntArrayRef shape, at::ScalarType type)
{
    void *memory = const_cast<void *>(data);
    auto options = at::TensorOptions().dtype(type);
    if (b->is_on_device && m->device.is_cuda())
        return at::from_blob(memory, shape, options.device(m->device));
    Tensor host = at::from_blob(memory, shape, options);
    if (!m->device.is_cuda())
        return host;
    /* from pinned memory, whose allocator waits for the copy, the host need not wait */
    return host.pin_memory().to(m->device, type, true, true);
}

namespace
{

/* N x C x H x W with the strides of the model's layout. An image of one channel has both layouts at
 * once, but LibTorch takes the strides of its one channel for the layout of the results. */
Tensor with_layout(const orch_torch_model *m, const Tensor &x)
{
    if (m->format == at::MemoryFormat::ChannelsLast && x.size(1) == 1 && x.is_contiguous())
        return x.as_strided(x.sizes(), {x.size(2) * x.size(3), 1, x.size(3), 1});
    return x.contiguous(m->format);
}

} // namespace

Tensor input_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    Range range(m, "input");
    const orch_net_shape &s = m->net->input;
    if (b->input == ORCH_TORCH_FEATURES)
        need_classifier(m);
    if (b->input == ORCH_TORCH_FEATURES) {
        const orch_net_shape &f =
            orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
        std::vector<int64_t> shape = {b->count, f.c};
        if (f.h != 1 || f.w != 1)
            shape.insert(shape.end(), {f.h, f.w});
        Tensor x = on_device(m, b, b->images, shape, at::kFloat);
        return m->device.is_cuda() ? x : x.clone();
    }
    at::ScalarType type = b->input == ORCH_TORCH_BYTES ? at::kByte : at::kFloat;
    Tensor x =
        b->is_channels_last
            ? on_device(m, b, b->images, {b->count, s.h, s.w, s.c}, type).permute({0, 3, 1, 2})
            : on_device(m, b, b->images, {b->count, s.c, s.h, s.w}, type);
    if (b->input == ORCH_TORCH_BYTES) {
        Tensor mean = on_device(m, b, b->mean, {1, s.c, 1, 1}, at::kFloat);
        Tensor std = on_device(m, b, b->std, {1, s.c, 1, 1}, at::kFloat);
        x = x.to(at::kFloat).div_(255).sub_(mean).div_(std);
    }
    return with_layout(m, x);
}

namespace
{

Tensor scores(const orch_torch_model *m, const orch_torch_batch *b, bool training)
{
    need_classifier(m);
    int from = b->input == ORCH_TORCH_FEATURES ? orch_net_node(m->net, m->head)->inputs[0] : 0;
    Tensor x = input_of(m, b);
    Range range(m, "forward");
    Autocast autocast(m);
    return forward(m, x, from, orch_net_output(m->net, 0)->id, training).to(at::kFloat);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

void add_totals(orch_torch_model *m, const Tensor &mean_loss, const Tensor &logits,
                const Tensor &labels)
{
    torch::NoGradGuard no_grad;
    int64_t count = logits.size(0);
    Tensor loss = mean_loss.detach().to(at::kDouble) * (double)count;
    Tensor correct = logits.detach().argmax(1).eq(labels).sum();
    m->loss_sum = m->images ? m->loss_sum + loss : loss;
    m->correct_sum = m->images ? m->correct_sum + correct : correct;
    m->images += count;
}

} // namespace

bool train(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        Goal goal = goal_of(m, b);
        own_random(m);
        Tensor logits = scores(m, b, true);
        Loss loss = loss_of(goal, logits);
        run_backward(m, {loss.learned}, {Tensor()});
        add_totals(m, loss.mean, logits, goal.labels);
        finish_buckets(m);
        update(m);
    });
}

bool evaluate(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        Goal goal = goal_of(m, b);
        Tensor out = scores(m, b, false);
        add_totals(m, loss_of(goal, out).mean, out, goal.labels);
    });
}

bool totals_take(orch_torch_model *m, orch_torch_totals *out, GError **error)
{
    return guarded(error, [&] {
        orch_torch_totals totals = {m->images, 0, 0};
        if (m->images) {
            totals.loss = m->loss_sum.item<double>();
            totals.correct = m->correct_sum.item<int64_t>();
        }
        m->images = 0;
        *out = totals;
    });
}

bool logits(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        copy_out(scores(m, b, false), out);
    });
}

int64_t feature_count(const orch_torch_model *m)
{
    if (m->head < 0)
        return 0;
    const orch_net_shape &f = orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
    return f.c * f.h * f.w;
}

bool features(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        need_classifier(m);
        Autocast autocast(m);
        copy_out(forward(m, input_of(m, b), 0, orch_net_node(m->net, m->head)->inputs[0], false),
                 out);
    });
}

int64_t class_count(const orch_torch_model *m)
{
    return m->net->classes;
}

} // namespace adapter
