/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Steps whose batch lies in fixed buffers, on any device. A CUDA graph repeats the addresses of its
 * capture, so batches are copied into buffers that stay where they are; parameters, the optimizer's
 * state, learning rates and totals are updated in place anyhow. capture.cpp adds capture and
 * replay.
 *
 * Buffers belong to a form of batch, and only the second batch in a row of a form gets them: so the
 * last, smaller batch of an epoch replaces nothing. */
#include "plugins/common/torch/adapter/adapter.h"

#include <ATen/record_function.h>

#include <array>
#include <atomic>
#include <cstring>

using at::Tensor;

namespace adapter
{

namespace
{

template <typename B> auto tensors_of(B &b) -> std::array<decltype(&b.values), 5>
{
    return {&b.values, &b.mean, &b.std, &b.goal.labels, &b.goal.share};
}

/* What must be equal for batches to share buffers: shapes, strides and types of all tensors, and
 * the values that are constants of a captured step. */
std::vector<int64_t> form_of(const Batch &batch)
{
    int64_t smoothing;
    static_assert(sizeof smoothing == sizeof batch.goal.smoothing, "bits of a double");
    std::memcpy(&smoothing, &batch.goal.smoothing, sizeof smoothing);
    std::vector<int64_t> form = {batch.input, smoothing, batch.side};
    for (const Tensor *t : tensors_of(batch)) {
        form.push_back(t->defined() ? t->dim() : -1);
        if (!t->defined())
            continue;
        form.push_back((int64_t)t->scalar_type());
        form.insert(form.end(), t->sizes().begin(), t->sizes().end());
        form.insert(form.end(), t->strides().begin(), t->strides().end());
    }
    return form;
}

/* Memory for batches of this form. */
Batch buffers_like(const Batch &batch)
{
    Batch buffers = batch;
    for (Tensor *t : tensors_of(buffers))
        if (t->defined())
            *t = at::empty_strided(t->sizes(), t->strides(), t->options());
    return buffers;
}

void fill(Batch &buffers, const Batch &batch)
{
    torch::NoGradGuard no_grad;
    auto to = tensors_of(buffers);
    auto from = tensors_of(batch);
    for (size_t i = 0; i < to.size(); i++)
        if (to[i]->defined())
            to[i]->copy_(*from[i]);
}

/* Why no step is captured; NULL: nothing is known against it. */
const char *refusal(const orch_torch_model *m)
{
    if (m->graphs.mode == ORCH_TORCH_GRAPHS_OFF)
        return nullptr;
    if (m->buckets)
        return "gradients are read in buckets while backward makes them";
    if (m->graphs.mode == ORCH_TORCH_GRAPHS_ON && m->update != Update::fused)
        return "parameters are updated with learning rates of the host (ORCH_TORCH_UPDATE)";
    return m->capture_problem.empty() ? nullptr : m->capture_problem.c_str();
}

/* Whether a forward or backward of the caller's waits for its second half: its nodes of the
 * autograd graph belong to the stream that it ran on. */
bool is_between_parts(const orch_torch_model *m)
{
    return !m->outputs.empty() || has_gradients(m);
}

/* ---- operations that wait -----------------------------------------------------------------------
 */

/* Operations that copy a value or a shape from the device to the host. */
const char *const WAITING[] = {
    "aten::_local_scalar_dense", "aten::nonzero",  "aten::masked_select", "aten::equal",
    "aten::is_nonzero",          "aten::_unique2", "aten::bincount",
};

std::atomic<const char *> found_waiting{nullptr};

std::unique_ptr<at::ObserverContext> on_operation(const at::RecordFunction &operation)
{
    for (const char *name : WAITING)
        if (std::strcmp(operation.name(), name) == 0)
            found_waiting = name;
    return nullptr;
}

/* Reports operations of this thread, and of the autograd threads that work for it. */
struct Watch {
    at::CallbackHandle handle;
    Watch()
        : handle(at::addThreadLocalCallback(
              at::RecordFunctionCallback(&on_operation).scopes({at::RecordScope::FUNCTION})))
    {
        found_waiting = nullptr;
    }
    ~Watch()
    {
        at::removeCallback(handle);
    }
    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;
};

/* A step without a graph, for tests of what graphs rely on. */
void run_buffered(orch_torch_model *m, FixedStep &step)
{
    const char *waiting = nullptr;
    if (step.runs == 0)
        waiting = run_watched(m, step);
    else
        learn(m, step.batch);
    step.runs++;
    m->graphs.buffered++;
    if (waiting)
        throw std::runtime_error(std::string("the step has the operation '") + waiting +
                                 "', which waits for the device");
}

} // namespace

const char *run_watched(orch_torch_model *m, FixedStep &step)
{
    Watch watch;
    learn(m, step.batch);
    return found_waiting;
}

bool learn_fixed(orch_torch_model *m, const Batch &batch)
{
    if (m->graphs.mode == ORCH_TORCH_GRAPHS_OFF || refusal(m) || is_between_parts(m))
        return false;
    std::vector<int64_t> form = form_of(batch);
    bool is_repeated = form == m->last_form;
    m->last_form = form;
    if (!m->fixed || m->fixed->form != form) {
        if (!is_repeated)
            return false;
        m->fixed.reset(); /* before the new buffers are allocated */
        m->fixed.reset(new FixedStep{form, buffers_like(batch), 0, nullptr});
    }
    fill(m->fixed->batch, batch);
    if (m->graphs.mode == ORCH_TORCH_GRAPHS_ON)
        run_captured(m, *m->fixed);
    else
        run_buffered(m, *m->fixed);
    return true;
}

void FixedStepFree::operator()(FixedStep *step) const
{
    delete step;
}

void forget_fixed(orch_torch_model *m)
{
    m->fixed.reset();
    m->last_form.clear();
}

bool graphs_set(orch_torch_model *m, orch_torch_graphs mode, GError **error)
{
    return guarded(error, [&] {
        const char *obstacle = mode == ORCH_TORCH_GRAPHS_ON ? capture_obstacle(m) : nullptr;
        if (obstacle)
            throw std::runtime_error(std::string("steps cannot be captured as CUDA graphs: ") +
                                     obstacle);
        forget_fixed(m);
        m->capture_problem.clear();
        m->graphs = {mode, 0, 0, 0, nullptr};
    });
}

void graphs_get(const orch_torch_model *m, orch_torch_graphs_state *out)
{
    *out = m->graphs;
    out->reason = refusal(m);
}

} // namespace adapter
