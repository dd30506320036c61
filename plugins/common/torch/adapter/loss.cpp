/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The loss of the fast path: cross-entropy of labels or of probabilities, with weights per sample
 * and label smoothing. Values are checked on the host, before anything is computed. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>
#include <sstream>

using at::Tensor;

namespace adapter
{

namespace
{

const double SUM_TOLERANCE = 1e-3;

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

void check_targets(const orch_torch_model *m, const orch_torch_batch *b)
{
    int64_t classes = m->net->classes;
    for (int64_t i = 0; i < b->count; i++) {
        double sum = 0;
        for (int64_t c = 0; c < classes; c++) {
            double target = (double)b->targets[i * classes + c];
            if (!(target >= 0) || std::isinf(target))
                fail("target ", target, " of image ", i, ", class ", c, " is no probability");
            sum += target;
        }
        if (!(std::fabs(sum - 1) <= SUM_TOLERANCE))
            fail("the targets of image ", i, " sum to ", sum, ", not to 1");
    }
}

/* Returns the sum of the weights. */
double check_weights(const orch_torch_batch *b)
{
    double sum = 0;
    if (!(b->total_weight >= 0) || std::isinf(b->total_weight))
        fail("total weight ", b->total_weight, " of the batch is negative or not finite");
    for (int64_t i = 0; b->weights && i < b->count; i++) {
        double weight = (double)b->weights[i];
        if (!(weight >= 0) || std::isinf(weight))
            fail("weight ", weight, " of image ", i, " is negative or not finite");
        sum += weight;
    }
    if (b->weights && sum == 0 && b->total_weight == 0)
        fail("the weights of all ", b->count, " images are 0");
    return b->weights ? sum : (double)b->count;
}

Tensor on_device(const orch_torch_model *m, const float *values, at::IntArrayRef shape)
{
    return at::from_blob(const_cast<float *>(values), shape, at::kFloat)
        .to(m->device, at::kFloat, false, true);
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
    if (!b->labels && !b->targets)
        fail("the batch has neither labels nor targets");
    goal.smoothing = b->label_smoothing;
    if (!(goal.smoothing >= 0 && goal.smoothing < 1))
        fail("label smoothing ", goal.smoothing, " is not in [0, 1)");
    if (b->targets) {
        check_targets(m, b);
        goal.targets = on_device(m, b->targets, {b->count, m->net->classes});
    }
    goal.own_weight = check_weights(b);
    goal.total_weight = b->total_weight > 0 ? b->total_weight : goal.own_weight;
    if (b->weights) {
        goal.weights = on_device(m, b->weights, {b->count});
    }
    if (!b->labels) {
        goal.labels = goal.targets.argmax(1);
        return goal;
    }
    bool is_borrowed = b->is_on_device && m->device.is_cuda();
    if (!is_borrowed)
        check_labels(m, b);
    goal.labels = on_device(m, b, b->labels, {b->count}, at::kLong);
    if (!m->device.is_cuda())
        goal.labels = goal.labels.clone();
    return goal;
}

Loss loss_of(const Goal &goal, const Tensor &logits)
{
    const Tensor &learned = goal.targets.defined() ? goal.targets : goal.labels;
    if (!goal.weights.defined()) {
        Tensor mean =
            at::cross_entropy_loss(logits, learned, {}, at::Reduction::Mean, -100, goal.smoothing);
        bool is_whole = goal.total_weight == goal.own_weight;
        return {is_whole ? mean : mean.mul(goal.own_weight / goal.total_weight), mean};
    }
    Tensor each =
        at::cross_entropy_loss(logits, learned, {}, at::Reduction::None, -100, goal.smoothing);
    Tensor sum = each.mul(goal.weights).sum();
    return {sum.div(goal.total_weight), goal.own_weight > 0 ? sum.div(goal.own_weight) : sum};
}

} // namespace adapter
