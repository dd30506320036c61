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

Tensor floats(const orch_torch_model *m, const float *values, at::IntArrayRef shape)
{
    return sent(m, at::from_blob(const_cast<float *>(values), shape, at::kFloat));
}

/* Divisors of the loss; undefined where it is the plain mean. */
Tensor divisors_of(const orch_torch_model *m, const orch_torch_batch *b)
{
    double own = check_weights(b), total = b->total_weight > 0 ? b->total_weight : own;
    if (!b->weights && total == own)
        return {};
    const float values[] = {(float)total, (float)(own > 0 ? own : 1), (float)(own / total)};
    return sent(m, at::tensor(at::ArrayRef<float>(values), at::kFloat));
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
        goal.targets = floats(m, b->targets, {b->count, m->net->classes});
    }
    goal.divisors = divisors_of(m, b);
    if (b->weights)
        goal.weights = floats(m, b->weights, {b->count});
    if (!b->labels)
        return goal;
    bool is_borrowed = b->is_on_device && m->device.is_cuda();
    if (!is_borrowed)
        check_labels(m, b);
    goal.labels = on_device(m, b, b->labels, {b->count}, at::kLong);
    if (!m->device.is_cuda())
        goal.labels = goal.labels.clone();
    return goal;
}

Tensor labels_of(const Goal &goal)
{
    return goal.labels.defined() ? goal.labels : goal.targets.argmax(1);
}

/* The loss of each sample, or their mean. */
static Tensor cross_entropy(const Goal &goal, const Tensor &logits, bool is_mean)
{
    const Tensor &learned = goal.targets.defined() ? goal.targets : goal.labels;
    int64_t reduction = is_mean ? at::Reduction::Mean : at::Reduction::None;
    if (goal.smoothing == 0 || goal.targets.defined())
        return at::cross_entropy_loss(logits, learned, {}, reduction, -100, goal.smoothing);
    /* LibTorch's, with smoothed labels, selects those that are not to be ignored, which waits for
     * the device */
    Tensor scores = at::log_softmax(logits, 1);
    Tensor all = scores.sum(1).neg().mul(goal.smoothing / (double)logits.size(1));
    Tensor each =
        at::nll_loss(scores, learned, {}, at::Reduction::None).mul(1 - goal.smoothing).add(all);
    return is_mean ? each.mean() : each;
}

Loss loss_of(const Goal &goal, const Tensor &logits)
{
    if (!goal.weights.defined()) {
        Tensor mean = cross_entropy(goal, logits, true);
        return {goal.divisors.defined() ? mean.mul(goal.divisors[2]) : mean, mean};
    }
    Tensor sum = cross_entropy(goal, logits, false).mul(goal.weights).sum();
    return {sum.div(goal.divisors[0]), sum.div(goal.divisors[1])};
}

} // namespace adapter
