/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loss of the fast path: cross-entropy of labels, with label smoothing. Values are checked on
 * the host, before anything is computed. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>
#include <sstream>

using at::Tensor;

namespace adapter
{

namespace
{

template <typename... Parts> [[noreturn]] void fail(const Parts &...parts)
{
    std::ostringstream text;
    (text << ... << parts);
    throw std::runtime_error(text.str());
}

void check_labels(const orch_torch_model *m, const orch_torch_batch *b)
{
    for (int64_t i = 0; i < b->count; i++)
        if (b->labels[i] < 0 || b->labels[i] >= m->net->classes)
            fail("label ", b->labels[i], " of image ", i, " is not in [0, ", m->net->classes, ")");
}

/* The share of a shard in its batch; undefined where the batch is whole. */
Tensor share_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    if (b->total_count < 0)
        fail("total count ", b->total_count, " of the batch is negative");
    if (b->total_count == 0 || b->total_count == b->count)
        return {};
    const float value = (float)((double)b->count / (double)b->total_count);
    return sent(m, at::tensor(at::ArrayRef<float>(&value, 1), at::kFloat));
}

std::string shape_text(const orch_net_shape &s)
{
    return std::to_string(s.c) + "x" + std::to_string(s.h) + "x" + std::to_string(s.w);
}

} // namespace

void need_classifier(const orch_torch_model *m)
{
    const orch_net_shape &first = orch_net_output(m->net, 0)->out;
    int count = orch_net_output_count(m->net);
    if (count == 1 && m->head >= 0 && first.c == m->net->classes && first.h == 1 && first.w == 1)
        return;
    const struct orch_net_node *other = orch_net_output(m->net, count > 1 ? 1 : 0);
    fail("network '", m->net->name, "' is no classifier: cross-entropy expects a single output of ",
         m->net->classes, "x1x1 and does not expect output '", other->name, "' of ",
         shape_text(other->out), "; use forward and backward with a loss of your own");
}

Goal goal_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    Goal goal;
    need_classifier(m);
    if (!b->labels)
        fail("the batch has no labels");
    goal.smoothing = b->label_smoothing;
    if (!(goal.smoothing >= 0 && goal.smoothing < 1))
        fail("label smoothing ", goal.smoothing, " is not in [0, 1)");
    goal.share = share_of(m, b);
    bool is_borrowed = b->is_on_device && m->device.is_cuda();
    if (!is_borrowed)
        check_labels(m, b);
    goal.labels = on_device(m, b, b->labels, {b->count}, at::kLong);
    if (!m->device.is_cuda())
        goal.labels = goal.labels.clone();
    return goal;
}

/* The mean of the samples' losses. */
static Tensor cross_entropy(const Goal &goal, const Tensor &logits)
{
    if (goal.smoothing == 0)
        return at::cross_entropy_loss(logits, goal.labels);
    /* LibTorch's, with smoothed labels, selects those that are not to be ignored, which waits for
     * the device */
    Tensor scores = at::log_softmax(logits, 1);
    Tensor all = scores.sum(1).neg().mul(goal.smoothing / (double)logits.size(1));
    Tensor each =
        at::nll_loss(scores, goal.labels, {}, at::Reduction::None).mul(1 - goal.smoothing).add(all);
    return each.mean();
}

Loss loss_of(const Goal &goal, const Tensor &logits)
{
    Tensor mean = cross_entropy(goal, logits);
    return {goal.share.defined() ? mean.mul(goal.share[0]) : mean, mean};
}

} // namespace adapter
