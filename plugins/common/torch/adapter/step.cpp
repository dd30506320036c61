/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches as tensors, and what is computed from them: training steps, evaluation, totals, logits
 * and features. */
#include "plugins/common/torch/adapter/adapter.h"

#include <string>

using at::Tensor;

namespace adapter
{

Tensor input_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    const orch_net_shape &s = m->net->input;
    void *data = const_cast<void *>(b->images);
    if (b->input == ORCH_TORCH_FEATURES)
        need_classifier(m);
    if (b->input == ORCH_TORCH_FEATURES) {
        const orch_net_shape &f =
            orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
        std::vector<int64_t> shape = {b->count, f.c};
        if (f.h != 1 || f.w != 1)
            shape.insert(shape.end(), {f.h, f.w});
        return at::from_blob(data, shape, at::kFloat).to(m->device, at::kFloat, false, true);
    }
    at::ScalarType type = b->input == ORCH_TORCH_BYTES ? at::kByte : at::kFloat;
    Tensor x = at::from_blob(data, {b->count, s.c, s.h, s.w}, type).to(m->device);
    if (b->input == ORCH_TORCH_BYTES) {
        Tensor mean =
            at::from_blob(const_cast<float *>(b->mean), {1, s.c, 1, 1}, at::kFloat).to(m->device);
        Tensor std =
            at::from_blob(const_cast<float *>(b->std), {1, s.c, 1, 1}, at::kFloat).to(m->device);
        x = x.to(at::kFloat).div_(255).sub_(mean).div_(std);
    }
    return x.contiguous(m->format);
}

namespace
{

Tensor scores(const orch_torch_model *m, const orch_torch_batch *b, bool training)
{
    need_classifier(m);
    int from = b->input == ORCH_TORCH_FEATURES ? orch_net_node(m->net, m->head)->inputs[0] : 0;
    Autocast autocast(m);
    return forward(m, input_of(m, b), from, orch_net_output(m->net, 0)->id, training)
        .to(at::kFloat);
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
