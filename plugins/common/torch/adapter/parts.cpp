/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times the parts of a step one by one: a node of the graph with what is fused into it, the loss,
 * the update, and bringing a batch to the device. Each part runs the code that a step runs, so the
 * sum over the parts differs from a step only by what the step gains or loses as a whole: launches
 * that overlap with a GPU's work, and caches that hold another part's data. */
#include "plugins/common/torch/adapter/adapter.h"

#include <cmath>
#include <ctime>
#include <functional>
#include <vector>

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

namespace adapter
{

namespace
{

const double PART_MS = 2; /* minimum duration of a repeat */
const int PART_INNER_MAX = 50;

/* Hands a value on as one that is no leaf, so that an operation may overwrite it. */
struct Handed : torch::autograd::Function<Handed> {
    static Tensor forward(AutogradContext *, const Tensor &x)
    {
        return x.detach();
    }
    static variable_list backward(AutogradContext *, variable_list gradients)
    {
        return gradients;
    }
};

/* What is timed. `prepare` and `clear` are outside of the clock. */
struct Work {
    std::function<void()> prepare, forward, backward, clear;
};

struct Times {
    double forward, backward;
};

/* The clock of a part, in ms. */
double clock_ms(const orch_torch_part *part)
{
    struct timespec t;
    clock_gettime(part->processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void wait(const orch_torch_model *m)
{
    if (m->device.is_cuda())
        torch::cuda::synchronize();
}

/* Waits for the device around each pass. */
Times timed_apart(const orch_torch_model *m, const orch_torch_part *part, const Work &work,
                  int count)
{
    Times sum = {0, 0};
    for (int i = 0; i < count; i++) {
        work.prepare();
        wait(m);
        double begin = clock_ms(part);
        work.forward();
        wait(m);
        sum.forward += clock_ms(part) - begin;
        begin = clock_ms(part);
        work.backward();
        wait(m);
        sum.backward += clock_ms(part) - begin;
        work.clear();
    }
    return {sum.forward / count, sum.backward / count};
}

/* Waits once at the end: forward passes alone, then both. What that says of the backward pass is
 * their difference. */
Times timed_queued(const orch_torch_model *m, const orch_torch_part *part, const Work &work,
                   int count)
{
    double took[2];
    for (int with_backward = 0; with_backward < 2; with_backward++) {
        wait(m);
        double begin = clock_ms(part);
        for (int i = 0; i < count; i++) {
            work.prepare();
            work.forward();
            if (with_backward)
                work.backward();
            work.clear();
        }
        wait(m);
        took[with_backward] = (clock_ms(part) - begin) / count;
    }
    return {took[0], std::max(0.0, took[1] - took[0])};
}

void time_work(const orch_torch_model *m, const orch_torch_part *part, const Work &work,
               double *forward_ms, double *backward_ms)
{
    bool queued = m->device.is_cuda() && !part->waits_each;
    double once = 0;
    for (int i = 0; i < std::max(1, part->warmup); i++) {
        Times t = timed_apart(m, part, work, 1);
        once = t.forward + t.backward;
    }
    int inner = once > 0 ? (int)std::ceil(PART_MS / once) : PART_INNER_MAX;
    inner = std::max(1, std::min(inner, PART_INNER_MAX));
    for (int i = 0; i < part->repeats; i++) {
        Times t = queued ? timed_queued(m, part, work, inner) : timed_apart(m, part, work, inner);
        forward_ms[i] = t.forward;
        backward_ms[i] = part->trains ? t.backward : 0;
    }
}

/* ---- nodes -------------------------------------------------------------------------------------
 */

/* The types that the nodes' values have in the model's precision, found with one image. */
std::vector<at::ScalarType> types_of(const orch_torch_model *m, const std::vector<int> &nodes,
                                     bool training)
{
    std::vector<at::ScalarType> types(nodes.size(), at::kFloat);
    if (m->precision != ORCH_TORCH_BF16 && m->precision != ORCH_TORCH_FP16)
        return types;
    const orch_net_shape &s = m->net->input;
    Tensor x =
        at::zeros({2, s.c, s.h, s.w}, at::TensorOptions().device(m->device)).contiguous(m->format);
    for (size_t i = 0; i < nodes.size(); i++) {
        Autocast autocast(m);
        if (nodes[i] != 0)
            types[i] = forward(m, x, 0, nodes[i], training).scalar_type();
    }
    return types;
}

/* Whether values of the node are N x C in the graph's evaluation, not N x C x 1 x 1. */
bool is_flat(const orch_torch_model *m, int id)
{
    const struct orch_net_node *node = orch_net_node(m->net, id);
    switch (node->op) {
    case ORCH_NET_FLATTEN:
    case ORCH_NET_LINEAR:
        return true;
    case ORCH_NET_INPUT:
    case ORCH_NET_CONV2D:
    case ORCH_NET_MAXPOOL2D:
    case ORCH_NET_AVGPOOL2D:
    case ORCH_NET_ADAPTIVE_AVGPOOL2D:
        return false;
    default:
        return is_flat(m, node->inputs[0]);
    }
}

Tensor random_value(const orch_torch_model *m, int id, int64_t batch, at::ScalarType type)
{
    const struct orch_net_node *node = orch_net_node(m->net, id);
    auto options = at::TensorOptions().device(m->device);
    if (is_flat(m, id))
        return at::randn({batch, node->out.c}, options).to(type);
    return at::randn({batch, node->out.c, node->out.h, node->out.w}, options)
        .to(type)
        .contiguous(m->format);
}

struct NodeRun {
    std::vector<int> reads;
    std::vector<size_t> tensors;
    std::vector<Tensor> leaves, values; /* in the order of `reads`; by node */
    bool overwrites;                    /* the node may work in place */
    Tensor result, gradient;
};

NodeRun node_run(const orch_torch_model *m, const orch_torch_part *part)
{
    NodeRun run;
    run.reads = node_reads(m, part->node, part->trains);
    run.tensors = node_tensors(m, part->node, part->trains);
    std::vector<at::ScalarType> types = types_of(m, run.reads, part->trains);
    run.values.resize((size_t)m->net->nodes->len);
    for (size_t i = 0; i < run.reads.size(); i++) {
        Tensor value = random_value(m, run.reads[i], part->batch, types[i]);
        bool learns = part->trains && (run.reads[i] != 0 || part->input_learns);
        run.leaves.push_back(value.set_requires_grad(learns));
    }
    enum orch_net_op op = orch_net_node(m->net, part->node)->op;
    run.overwrites = op == ORCH_NET_RELU || op == ORCH_NET_ADD;
    return run;
}

Work node_work(const orch_torch_model *m, const orch_torch_part *part, NodeRun &run)
{
    Work work;
    work.prepare = [&run] {
        for (size_t i = 0; i < run.reads.size(); i++) {
            const Tensor &leaf = run.leaves[i];
            run.values[(size_t)run.reads[i]] =
                run.overwrites && leaf.requires_grad() ? Handed::apply(leaf) : leaf;
        }
    };
    work.forward = [m, part, &run] {
        Autocast autocast(m);
        run.result = node_value(m, part->node, run.values, part->trains);
    };
    work.backward = [part, &run] {
        if (part->trains && run.result.requires_grad())
            torch::autograd::backward({run.result}, {run.gradient});
    };
    work.clear = [m, &run] {
        run.result = Tensor();
        for (Tensor &leaf : run.leaves)
            leaf.mutable_grad() = Tensor();
        for (size_t i : run.tensors)
            const_cast<Tensor &>(m->tensors[i]).mutable_grad() = Tensor();
    };
    return work;
}

void time_node(orch_torch_model *m, const orch_torch_part *part, double *forward_ms,
               double *backward_ms, int *out_end)
{
    at::AutoGradMode grad(part->trains);
    if (part->node >= (int)m->net->nodes->len || !m->is_needed[(size_t)part->node])
        throw std::runtime_error("no output depends on node " + std::to_string(part->node));
    *out_end = node_end(m, part->node, part->trains);
    if (*out_end != part->node)
        return;
    own_random(m);
    NodeRun run = node_run(m, part);
    Work work = node_work(m, part, run);
    work.prepare();
    work.forward();
    run.gradient = at::randn_like(run.result.detach()).mul_(1e-3);
    work.clear();
    time_work(m, part, work, forward_ms, backward_ms);
}

/* ---- other parts -------------------------------------------------------------------------------
 */

void time_input(const orch_torch_model *m, const orch_torch_part *part, double *forward_ms,
                double *backward_ms)
{
    const orch_net_shape &s = m->net->input;
    Tensor images = at::randn({part->batch, s.c, s.h, s.w}), taken;
    orch_torch_batch batch = {};
    batch.input = ORCH_TORCH_FLOAT;
    batch.images = images.data_ptr<float>();
    batch.count = part->batch;
    auto nothing = [] {};
    Work work = {nothing, [&] { taken = input_of(m, &batch); }, nothing, nothing};
    time_work(m, part, work, forward_ms, backward_ms);
}

void time_loss(orch_torch_model *m, const orch_torch_part *part, double *forward_ms,
               double *backward_ms)
{
    need_classifier(m);
    auto options = at::TensorOptions().device(m->device);
    Tensor scores = at::randn({part->batch, m->net->classes}, options).set_requires_grad(true);
    Goal goal;
    goal.labels = at::randint(m->net->classes, {part->batch}, options.dtype(at::kLong));
    Loss loss;
    Work work = {[] {},
                 [&] {
                     loss = loss_of(goal, scores);
                     add_totals(m, loss.mean, scores, goal);
                 },
                 [&] { torch::autograd::backward({loss.learned}, {}); },
                 [&] { scores.mutable_grad() = Tensor(); }};
    time_work(m, part, work, forward_ms, backward_ms);
    totals_start(m);
}

void time_update(orch_torch_model *m, const orch_torch_part *part, double *forward_ms,
                 double *backward_ms)
{
    std::vector<Tensor> gradients(m->tensors.size());
    for (size_t i = 0; i < m->tensors.size(); i++)
        if (m->tensors[i].requires_grad())
            gradients[i] = at::randn_like(m->tensors[i].detach()).mul_(1e-3);
    Work work = {[&] {
                     for (size_t i = 0; i < m->tensors.size(); i++)
                         if (gradients[i].defined())
                             m->tensors[i].mutable_grad() = gradients[i];
                 },
                 [&] { update(m); }, [] {}, [] {}};
    time_work(m, part, work, forward_ms, backward_ms);
    gradients_drop(m);
}

} // namespace

bool part_time(orch_torch_model *m, const orch_torch_part *part, double *out_forward_ms,
               double *out_backward_ms, int *out_end, GError **error)
{
    return guarded(error, [&] {
        *out_end = part->node;
        if (part->batch < 1 || part->repeats < 1 || part->node < ORCH_TORCH_PART_UPDATE)
            throw std::runtime_error("part_time needs a batch, repeats, and a node or a part");
        if (part->node == ORCH_TORCH_PART_LOSS)
            time_loss(m, part, out_forward_ms, out_backward_ms);
        else if (part->node == ORCH_TORCH_PART_UPDATE)
            time_update(m, part, out_forward_ms, out_backward_ms);
        else if (part->node == 0)
            time_input(m, part, out_forward_ms, out_backward_ms);
        else
            time_node(m, part, out_forward_ms, out_backward_ms, out_end);
    });
}

} // namespace adapter
