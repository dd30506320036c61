/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Batches as tensors, and what is computed from them: training steps, evaluation, totals, logits
 * and features. */
#include "plugins/common/torch/adapter/adapter.h"

#include <string>

using at::Tensor;

namespace adapter
{

Tensor sent(const orch_torch_model *m, const Tensor &host)
{
    if (!m->device.is_cuda())
        return host;
    /* from pinned memory, whose allocator waits for the copy, the host need not wait */
    return host.pin_memory().to(m->device, host.scalar_type(), true, true);
}

Tensor on_device(const orch_torch_model *m, const orch_torch_batch *b, const void *data,
                 at::IntArrayRef shape, at::ScalarType type)
{
    void *memory = const_cast<void *>(data);
    auto options = at::TensorOptions().dtype(type);
    if (b->is_on_device && m->device.is_cuda())
        return at::from_blob(memory, shape, options.device(m->device));
    return sent(m, at::from_blob(memory, shape, options));
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

/* The batch without what is learned from it. */
Batch values_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    Range range(m, "input");
    const orch_net_shape &s = m->net->input;
    Batch batch;
    batch.input = b->input;
    batch.count = b->count;
    batch.side = b->side;
    if (b->input == ORCH_TORCH_FEATURES) {
        need_classifier(m);
        const orch_net_shape &f =
            orch_net_node(m->net, orch_net_node(m->net, m->head)->inputs[0])->out;
        std::vector<int64_t> shape = {b->count, f.c};
        if (f.h != 1 || f.w != 1)
            shape.insert(shape.end(), {f.h, f.w});
        batch.values = on_device(m, b, b->images, shape, at::kFloat);
        return batch;
    }
    at::ScalarType type = b->input == ORCH_TORCH_BYTES ? at::kByte : at::kFloat;
    batch.values =
        b->is_channels_last
            ? on_device(m, b, b->images, {b->count, s.h, s.w, s.c}, type).permute({0, 3, 1, 2})
            : on_device(m, b, b->images, {b->count, s.c, s.h, s.w}, type);
    if (b->input == ORCH_TORCH_BYTES) {
        batch.mean = on_device(m, b, b->mean, {1, s.c, 1, 1}, at::kFloat);
        batch.std = on_device(m, b, b->std, {1, s.c, 1, 1}, at::kFloat);
    }
    return batch;
}

/* What the graph takes. */
Tensor prepared(const orch_torch_model *m, const Batch &b)
{
    Range range(m, "prepare");
    if (b.input == ORCH_TORCH_FEATURES)
        return m->device.is_cuda() ? b.values : b.values.clone();
    Tensor x = b.values;
    if (b.input == ORCH_TORCH_BYTES)
        x = x.to(at::kFloat).div_(255).sub_(b.mean).div_(b.std);
    if (b.side && (b.side != x.size(2) || b.side != x.size(3)))
        x = at::_upsample_bilinear2d_aa(x, {b.side, b.side}, false);
    return with_layout(m, x);
}

/* A batch of the images `rows` of another one, mirrored, without what is learned from them. */
Batch mirrored(const Batch &b, const Tensor &rows)
{
    Batch other;
    other.input = b.input;
    other.count = rows.size(0);
    other.values = b.values.index_select(0, rows).flip(3);
    other.mean = b.mean;
    other.std = b.std;
    return other;
}

Tensor scores(const orch_torch_model *m, const Batch &b, bool training)
{
    need_classifier(m);
    int from = b.input == ORCH_TORCH_FEATURES ? orch_net_node(m->net, m->head)->inputs[0] : 0;
    Tensor x = prepared(m, b);
    Range range(m, "forward");
    Autocast autocast(m);
    return forward(m, x, from, orch_net_output(m->net, 0)->id, training).to(at::kFloat);
}

/* Scores, of images whose largest probability is at most `limit` averaged with those of their
 * mirror images. Waits for the device. */
Tensor scores_of_both_sides(const orch_torch_model *m, const Batch &b, double limit)
{
    if (!(limit > 0 && limit <= 1))
        throw std::runtime_error("flip_below " + std::to_string(limit) + " is not in [0, 1]");
    if (b.input == ORCH_TORCH_FEATURES)
        throw std::runtime_error("features cannot be mirrored");
    Tensor out = scores(m, b, false);
    Tensor unsure = std::get<0>(at::softmax(out, 1).max(1)).le(limit).nonzero().squeeze(1);
    if (unsure.size(0) == 0)
        return out;
    Tensor both = (out.index_select(0, unsure) + scores(m, mirrored(b, unsure), false)).div_(2);
    return out.index_copy(0, unsure, both);
}

} // namespace

Tensor input_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    return prepared(m, values_of(m, b));
}

Batch batch_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    Goal goal = goal_of(m, b);
    Batch batch = values_of(m, b);
    batch.goal = goal;
    return batch;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

void add_totals(orch_torch_model *m, const Tensor &mean_loss, const Tensor &logits,
                const Goal &goal)
{
    torch::NoGradGuard no_grad;
    int64_t count = logits.size(0);
    m->loss_sum.add_(mean_loss.detach().to(at::kDouble) * (double)count);
    m->correct_sum.add_(logits.detach().argmax(1).eq(goal.labels).sum());
    m->images += count;
}

void totals_start(orch_torch_model *m)
{
    auto options = at::TensorOptions().device(m->device);
    m->loss_sum = at::zeros({}, options.dtype(at::kDouble));
    m->correct_sum = at::zeros({}, options.dtype(at::kLong));
}

void learn(orch_torch_model *m, const Batch &batch)
{
    Tensor logits = scores(m, batch, true);
    Loss loss = loss_of(batch.goal, logits);
    run_backward(m, {loss.learned}, {Tensor()});
    add_totals(m, loss.mean, logits, batch.goal);
    finish_buckets(m);
    update(m);
}

bool train(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        Batch batch = batch_of(m, b);
        own_random(m);
        if (learn_fixed(m, batch))
            return;
        learn(m, batch);
        m->graphs.ordinary++;
    });
}

bool evaluate(orch_torch_model *m, const orch_torch_batch *b, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        Batch batch = batch_of(m, b);
        Tensor out = b->flip_below != 0 ? scores_of_both_sides(m, batch, b->flip_below)
                                        : scores(m, batch, false);
        add_totals(m, loss_of(batch.goal, out).mean, out, batch.goal);
    });
}

namespace
{

/* Reads all marks with one copy of each sum. */
void read_marks(orch_torch_model *m)
{
    std::vector<Tensor> losses, corrects;
    for (const orch_torch_mark &mark : m->marks) {
        losses.push_back(mark.loss_sum);
        corrects.push_back(mark.correct_sum);
    }
    Tensor loss = at::stack(losses).to(at::kCPU), correct = at::stack(corrects).to(at::kCPU);
    for (size_t i = 0; i < m->marks.size(); i++)
        m->marked_totals.push_back(
            {m->marks[i].images, correct.data_ptr<int64_t>()[i], loss.data_ptr<double>()[i]});
    m->marks.clear();
}

} // namespace

bool totals_mark(orch_torch_model *m, GError **error)
{
    return guarded(error, [&] {
        /* copies, because a captured step adds to the sums at their address */
        m->marks.push_back({m->loss_sum.clone(), m->correct_sum.clone(), m->images});
        m->loss_sum.zero_();
        m->correct_sum.zero_();
        m->images = 0;
    });
}

bool totals_take(orch_torch_model *m, orch_torch_totals *out, GError **error)
{
    return guarded(error, [&] {
        if (m->marked_totals.empty() && !m->marks.empty())
            read_marks(m);
        if (!m->marked_totals.empty()) {
            *out = m->marked_totals.front();
            m->marked_totals.pop_front();
            return;
        }
        orch_torch_totals totals = {m->images, 0, 0};
        if (m->images) {
            totals.loss = m->loss_sum.item<double>();
            totals.correct = m->correct_sum.item<int64_t>();
            m->loss_sum.zero_();
            m->correct_sum.zero_();
        }
        m->images = 0;
        *out = totals;
    });
}

bool logits(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error)
{
    return guarded(error, [&] {
        torch::NoGradGuard no_grad;
        copy_out(scores(m, values_of(m, b), false), out);
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
