/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gradients in buckets, after PyTorch's DistributedDataParallel (Li et al. 2020, 3.2): parameters
 * in reverse order fill contiguous memory, and a hook behind each parameter's AccumulateGrad node
 * says when its gradient is complete. The first gradient is copied into the bucket and the
 * parameter's .grad becomes a view of it. The alternative, .grad as a view of a cleared bucket from
 * the start, writes the bucket twice (clear, add) instead of once. */
#include "plugins/common/torch/adapter/adapter.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>

using at::Tensor;

namespace adapter
{

/* LibTorch changed it from a shared to an intrusive pointer. */
using NodePointer = decltype(torch::autograd::impl::grad_accumulator(std::declval<Tensor &>()));

struct Buckets {
    size_t first_bytes, bytes; /* a bucket is closed when it has so many */
    orch_torch_bucket_calls calls;
    int64_t plan = 0; /* hooks of an earlier plan do nothing */
    bool is_held = false, is_in_backward = false;
    std::vector<Tensor> memory;               /* by bucket */
    std::vector<std::vector<size_t>> members; /* bucket -> tensors */
    std::vector<size_t> missing;              /* bucket -> gradients to come in this backward */
    size_t next = 0;                          /* the first bucket that was not called for */
    std::vector<size_t> bucket_of;            /* tensor -> bucket */
    std::vector<Tensor> views;                /* by tensor */
    std::vector<NodePointer> nodes;           /* keeps the hooks */
    GError *error = nullptr;                  /* of a call; none is made after it */
};

void BucketsFree::operator()(Buckets *b) const
{
    g_clear_error(&b->error);
    delete b;
}

namespace
{

/* LibTorch 1.13's streams do not give away what is behind them. */
template <typename Stream> auto handle_of(const Stream &s, int) -> decltype(s.native_handle())
{
    return s.native_handle();
}
template <typename Stream> void *handle_of(const Stream &, long)
{
    throw std::runtime_error(
        "on CUDA, image kernels and all-reduce in buckets need a newer LibTorch than " +
        std::string(TORCH_VERSION));
}

} // namespace

void *stream_of(const orch_torch_model *m)
{
    if (!m->device.is_cuda())
        return nullptr;
    c10::impl::VirtualGuardImpl guard(m->device.type());
    return handle_of(guard.getStream(m->device), 0);
}

namespace
{

/* Parameters that the last backward left out have gradients of zero. */
void complete(orch_torch_model *m, size_t bucket)
{
    Buckets &b = *m->buckets;
    for (size_t i : b.members[bucket])
        if (!m->tensors[i].grad().defined())
            m->tensors[i].mutable_grad() = b.views[i].zero_();
}

void call_ready(orch_torch_model *m, size_t bucket)
{
    Buckets &b = *m->buckets;
    complete(m, bucket);
    if (b.error)
        return;
    orch_torch_bucket shown = {bucket,
                               b.memory.size(),
                               b.memory[bucket].data_ptr<float>(),
                               b.memory[bucket].numel(),
                               m->device.is_cuda(),
                               stream_of(m)};
    if (!b.calls.ready(b.calls.ctx, &shown, &b.error) && !b.error)
        orch_error_set(&b.error, ORCH_ERROR_TRIAL, nullptr,
                       "the all-reduce of bucket %zu of %zu failed without a message", bucket,
                       b.memory.size());
}

/* Calls for buckets in order, as far as their gradients are complete. */
void call_complete(orch_torch_model *m)
{
    Buckets &b = *m->buckets;
    while (!b.is_held && b.next < b.memory.size() && b.missing[b.next] == 0)
        call_ready(m, b.next++);
}

/* The gradient of tensor `index` has been accumulated. */
void arrive(orch_torch_model *m, size_t index)
{
    torch::NoGradGuard no_grad;
    Buckets &b = *m->buckets;
    Tensor &tensor = m->tensors[index], grad = tensor.grad();
    if (grad.defined() && grad.data_ptr() != b.views[index].data_ptr()) {
        b.views[index].copy_(grad);
        tensor.mutable_grad() = b.views[index];
    }
    b.missing[b.bucket_of[index]]--;
    call_complete(m);
}

class Arrival : public torch::autograd::FunctionPostHook
{
  public:
    Arrival(orch_torch_model *model, size_t index)
        : model_(model), index_(index), plan_(model->buckets->plan)
    {
    }
    torch::autograd::variable_list operator()(const torch::autograd::variable_list &outputs,
                                              const torch::autograd::variable_list &) override
    {
        const Buckets *b = model_->buckets.get();
        if (b && b->is_in_backward && b->plan == plan_)
            arrive(model_, index_);
        return outputs;
    }

  private:
    orch_torch_model *model_;
    size_t index_;
    int64_t plan_;
};

void pass_error(Buckets &b)
{
    if (b.error)
        throw Passed{std::exchange(b.error, nullptr)};
}

/* Parameters that are trained, in the order in which backward comes to them. */
std::vector<size_t> learning(const orch_torch_model *m)
{
    std::vector<size_t> found;
    for (size_t i = m->tensors.size(); i-- > 0;)
        if (m->tensors[i].requires_grad() &&
            m->is_needed[(size_t)orch_net_tensor(m->net, (int)i)->node])
            found.push_back(i);
    return found;
}

void allocate(orch_torch_model *m, const std::vector<size_t> &members)
{
    Buckets &b = *m->buckets;
    int64_t total = 0, at = 0;
    for (size_t i : members)
        total += m->tensors[i].numel();
    Tensor memory = at::zeros({total}, at::TensorOptions().device(m->device));
    for (size_t i : members) {
        const Tensor &t = m->tensors[i];
        b.views[i] = memory.as_strided(t.sizes(), t.strides(), at);
        b.bucket_of[i] = b.memory.size();
        at += t.numel();
    }
    b.memory.push_back(memory);
    b.members.push_back(members);
}

void hook(orch_torch_model *m, size_t index)
{
    auto node = torch::autograd::impl::grad_accumulator(m->tensors[index]);
    node->add_post_hook(std::make_unique<Arrival>(m, index));
    m->buckets->nodes.push_back(node);
}

} // namespace

void plan_buckets(orch_torch_model *m)
{
    if (!m->buckets)
        return;
    Buckets &b = *m->buckets;
    static std::atomic<int64_t> plans{0};
    b.plan = ++plans;
    b.memory.clear();
    b.members.clear();
    b.nodes.clear();
    b.bucket_of.assign(m->tensors.size(), 0);
    b.views.assign(m->tensors.size(), Tensor());
    std::vector<size_t> members, all = learning(m);
    size_t bytes = 0;
    for (size_t i : all) {
        members.push_back(i);
        bytes += sizeof(float) * (size_t)m->tensors[i].numel();
        if (bytes >= (b.memory.empty() ? b.first_bytes : b.bytes) || i == all.back()) {
            allocate(m, members);
            members.clear();
            bytes = 0;
        }
        hook(m, i);
    }
}

/* Gradients come out times the scale of fp16, in the buckets too. */
static void backward_scaled(orch_torch_model *m, std::vector<Tensor> roots,
                            std::vector<Tensor> gradients)
{
    for (size_t i = 0; m->has_scaler && i < roots.size(); i++) {
        Tensor &start = gradients[i].defined() ? gradients[i] : roots[i];
        start = scaled(m, start);
    }
    torch::autograd::backward(roots, gradients);
}

void run_backward(orch_torch_model *m, const std::vector<Tensor> &roots,
                  const std::vector<Tensor> &gradients)
{
    Range range(m, "backward");
    Buckets *b = m->buckets.get();
    if (!b) {
        if (!roots.empty())
            backward_scaled(m, roots, gradients);
        return;
    }
    b->next = 0;
    b->missing.clear();
    for (const auto &members : b->members)
        b->missing.push_back(members.size());
    b->is_in_backward = true;
    try {
        if (!roots.empty())
            backward_scaled(m, roots, gradients);
    } catch (...) {
        b->is_in_backward = false;
        g_clear_error(&b->error);
        throw;
    }
    b->is_in_backward = false;
    std::fill(b->missing.begin(), b->missing.end(), 0); /* nothing comes any more */
    torch::NoGradGuard no_grad;
    call_complete(m);
    pass_error(*b);
}

void finish_buckets(orch_torch_model *m)
{
    Buckets *b = m->buckets.get();
    if (!b || !b->calls.finish)
        return;
    if (!b->calls.finish(b->calls.ctx, stream_of(m), &b->error) && !b->error)
        orch_error_set(&b->error, ORCH_ERROR_TRIAL, nullptr,
                       "finishing the all-reduce of the buckets failed without a message");
    pass_error(*b);
}

bool gradients_watch(orch_torch_model *m, size_t bucket_bytes, const orch_torch_bucket_calls *calls,
                     GError **error)
{
    return gradients_watch_from(m, bucket_bytes, bucket_bytes, calls, error);
}

bool gradients_watch_from(orch_torch_model *m, size_t first_bytes, size_t bucket_bytes,
                          const orch_torch_bucket_calls *calls, GError **error)
{
    return guarded(error, [&] {
        if (!calls) {
            m->buckets.reset();
            return;
        }
        if (first_bytes == 0 || bucket_bytes == 0)
            throw std::runtime_error("gradients_watch: a bucket size of 0 bytes");
        stream_of(m); /* throws if it is not to be had */
        m->buckets.reset(new Buckets);
        m->buckets->first_bytes = first_bytes;
        m->buckets->bytes = bucket_bytes;
        m->buckets->calls = *calls;
        plan_buckets(m);
    });
}

void gradients_hold(orch_torch_model *m, bool on)
{
    if (m->buckets)
        m->buckets->is_held = on;
}

} // namespace adapter
