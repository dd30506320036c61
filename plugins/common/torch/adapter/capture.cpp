/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Capture of a step as a CUDA graph, and its replay: one launch instead of some hundred kernels.
 *
 * The first steps from the buffers warm up on a stream of their own: cuDNN measures its algorithms,
 * libraries allocate their workspaces. The next step is captured on that stream, with memory of a
 * pool that belongs to the graph, and then replayed on the stream of all other work, as are the
 * steps after it; so buffers, learning rates and totals need no further ordering. All steps are
 * steps of the training: none is done twice. LibTorch keeps the state of dropout's random numbers
 * outside of the graph, so masks are those of a training without graphs. */
#include "plugins/common/torch/adapter/adapter.h"

#define IS_NEW_ENOUGH                                                                              \
    (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 5))

#if defined(ORCH_TORCH_CUDA) && IS_NEW_ENOUGH
#define CAN_CAPTURE 1
#include <ATen/cuda/CUDAGraph.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/cuda/CUDACachingAllocator.h>
#else
#define CAN_CAPTURE 0
#endif

#include <cstdlib>
#include <cstring>

using at::Tensor;

namespace adapter
{

const char *capture_obstacle(const orch_torch_model *m)
{
    if (!m->device.is_cuda())
        return "the model is on the CPU";
#if CAN_CAPTURE
    return nullptr;
#elif IS_NEW_ENOUGH
    return "the adapter was built without CUDA's header cuda_runtime_api.h";
#else
    return "this LibTorch is " TORCH_VERSION ", and they need 2.5 or later";
#endif
}

#if CAN_CAPTURE

namespace
{

/* Steps before the capture, as PyTorch advises. */
const int64_t WARM_UP = 3;
using Pool = decltype(at::cuda::graph_pool_handle());
/* Replays that may be queued. Each keeps its batch in pinned memory of the host. */
const size_t QUEUED = 4;

c10::Stream current_stream(const orch_torch_model *m)
{
    return c10::impl::VirtualGuardImpl(m->device.type()).getStream(m->device);
}

} // namespace

struct Capture {
    c10::Stream side;                           /* of the warm-up and the capture */
    std::unique_ptr<at::cuda::CUDAGraph> graph; /* NULL: not captured yet */
    std::vector<c10::Event> ends;               /* of the last replays, a ring */
    size_t replays = 0;

    explicit Capture(const orch_torch_model *m)
        : side(c10::impl::VirtualGuardImpl(m->device.type()).getStreamFromGlobalPool(m->device))
    {
        for (size_t i = 0; i < QUEUED; i++)
            ends.emplace_back(m->device.type());
    }
};

namespace
{

/* What `work` failed with; "": nothing. */
template <typename Work> std::string problem_of(Work work)
{
    GError *error = nullptr;
    guarded(&error, work);
    std::string text = error ? error->message : "";
    g_clear_error(&error);
    return text;
}

/* ---- warm-up ----------------------------------------------------------------------------------
 */

void warm_up(orch_torch_model *m, FixedStep &step)
{
    const char *waiting = nullptr;
    current_stream(m).synchronize(); /* the buffers are filled */
    {
        c10::StreamGuard on_side(step.capture->side);
        if (step.runs == 0)
            waiting = run_watched(m, step);
        else
            learn(m, step.batch);
    }
    step.capture->side.synchronize();
    step.runs++;
    m->graphs.buffered++;
    if (waiting)
        m->capture_problem = std::string("the operation '") + waiting + "' waits for the device";
}

/* ---- capture ----------------------------------------------------------------------------------
 */

/* $ORCH_TORCH_CAPTURE=fail: for tests, a capture that an operation breaks. */
bool is_to_fail()
{
    const char *value = std::getenv("ORCH_TORCH_CAPTURE");
    return value && std::strcmp(value, "fail") == 0;
}

std::string begin(at::cuda::CUDAGraph &graph, Pool pool)
{
    /* other threads (loaders of other models) may allocate meanwhile */
    return problem_of([&] { graph.capture_begin(pool, cudaStreamCaptureModeThreadLocal); });
}

/* Ends what a failed capture has left open. LibTorch then still counts its memory pool as one that
 * is being captured into, and the random generator as capturing, which would make dropout fail: a
 * complete capture of nothing much ends that. */
void abandon(const orch_torch_model *m, c10::DeviceIndex device, Pool pool)
{
    problem_of([&] {
        c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool);
        c10::cuda::CUDACachingAllocator::releasePool(device, pool);
    });
    Tensor nothing = at::zeros({1}, at::TensorOptions().device(m->device));
    problem_of([&] {
        at::cuda::CUDAGraph empty;
        empty.capture_begin(at::cuda::graph_pool_handle(), cudaStreamCaptureModeThreadLocal);
        nothing.zero_();
        empty.capture_end();
    });
}

/* Captures the step without running it. Returns what failed; "": nothing. */
std::string capture(orch_torch_model *m, FixedStep &step)
{
    Range range(m, "capture");
    Capture &c = *step.capture;
    int64_t images = m->images, steps = m->steps;
    Tensor random = random_state(m->device);
    current_stream(m).synchronize();
    c10::cuda::CUDACachingAllocator::emptyCache(); /* the graph's pool cannot use what is cached */
    c10::StreamGuard on_side(c.side);
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    Pool pool = at::cuda::graph_pool_handle();
    std::string problem = begin(*graph, pool);
    std::string at_end = problem;
    if (problem.empty()) {
        problem = problem_of([&] {
            learn(m, step.batch);
            if (is_to_fail())
                m->loss_sum.item<double>();
        });
        at_end = problem_of([&] { graph->capture_end(); });
        problem = problem.empty() ? at_end : problem;
    }
    m->images = images;
    m->steps = steps;
    if (problem.empty()) {
        c.graph = std::move(graph);
        return problem;
    }
    gradients_drop(m);
    if (!at_end.empty()) {
        graph.release(); /* leaked: allocators of some versions keep its address */
        abandon(m, c.side.device_index(), pool); /* the model's may be -1, the first */
    }
    random_state_set(m->device, random);
    return problem;
}

/* ---- replay -----------------------------------------------------------------------------------
 */

void replay(orch_torch_model *m, FixedStep &step)
{
    Range range(m, "replay");
    Capture &c = *step.capture;
    c10::Event &end = c.ends[c.replays % QUEUED];
    if (c.replays >= QUEUED)
        end.synchronize();
    c.graph->replay();
    end.record(current_stream(m));
    c.replays++;
    m->images += step.batch.count;
    m->graphs.replayed++;
}

} // namespace

void CaptureFree::operator()(Capture *c) const
{
    /* its kernels use memory that is freed next */
    problem_of([&] {
        c10::impl::VirtualGuardImpl(c->side.device_type())
            .synchronizeDevice(c->side.device_index());
    });
    delete c;
}

void run_captured(orch_torch_model *m, FixedStep &step)
{
    if (!step.capture)
        step.capture.reset(new Capture(m));
    if (!step.capture->graph && step.runs < WARM_UP) {
        warm_up(m, step);
        return;
    }
    if (!step.capture->graph)
        m->capture_problem = capture(m, step);
    if (step.capture->graph) {
        replay(m, step);
        return;
    }
    learn(m, step.batch);
    m->graphs.buffered++;
}

#else

struct Capture {
};

void CaptureFree::operator()(Capture *c) const
{
    delete c;
}

void run_captured(orch_torch_model *m, FixedStep &)
{
    throw std::runtime_error(capture_obstacle(m)); /* graphs_set refuses before */
}

#endif

} // namespace adapter
