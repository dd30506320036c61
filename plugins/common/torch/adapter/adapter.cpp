/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With the other files of this folder the only C++ of the project: executes a graph of lib/net as
 * ATen calls with autograd, behind the function table of torch.h. This file has what concerns the
 * process, the random state, and the table. */
#include "plugins/common/torch/adapter/adapter.h"

#include <mutex>

using at::Tensor;

namespace
{

int cuda_count()
{
    int count = 0;
    guarded(nullptr,
            [&] { count = torch::cuda::is_available() ? (int)torch::cuda::device_count() : 0; });
    return count;
}

void threads_set(int threads)
{
    guarded(nullptr, [&] { at::set_num_threads(threads); });
}

void deterministic_set(bool on)
{
    guarded(nullptr, [&] { at::globalContext().setDeterministicAlgorithms(on, false); });
}

void seed(uint64_t value)
{
    guarded(nullptr, [&] { torch::manual_seed(value); });
}

bool random_get(const orch_torch_model *m, GBytes **out, GError **error)
{
    return guarded(error, [&] {
        at::Generator generator = at::globalContext().defaultGenerator(m->device);
        std::lock_guard<std::mutex> lock(generator.mutex());
        Tensor state = generator.get_state().contiguous();
        *out = g_bytes_new(state.data_ptr(), (gsize)state.numel());
    });
}

bool random_set(orch_torch_model *m, GBytes *bytes, GError **error)
{
    return guarded(error, [&] {
        gsize length;
        const void *data = g_bytes_get_data(bytes, &length);
        Tensor state =
            at::from_blob(const_cast<void *>(data), {(int64_t)length}, at::kByte).clone();
        at::Generator generator = at::globalContext().defaultGenerator(m->device);
        std::lock_guard<std::mutex> lock(generator.mutex());
        generator.set_state(state);
    });
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char VERSION[] =
    TEXT(TORCH_VERSION_MAJOR) "." TEXT(TORCH_VERSION_MINOR) "." TEXT(TORCH_VERSION_PATCH);

} // namespace

extern "C" __attribute__((visibility("default"))) const struct orch_torch *orch_torch_v1(void)
{
    using namespace adapter;
    static const orch_torch table = {
        sizeof(orch_torch),
        ORCH_TORCH_ABI,
        VERSION,
        cuda_count,
        threads_set,
        deterministic_set,
        seed,
        model_new,
        model_free,
        tensor_count,
        tensor_describe,
        tensor_get,
        tensor_set,
        optimizer_set,
        rate_set,
        slot_count,
        slot_get,
        slot_set,
        steps_get,
        steps_set,
        train,
        evaluate,
        totals_take,
        logits,
        features,
        feature_count,
        class_count,
        random_get,
        random_set,
        orch_torch_layer_time,
    };
    return &table;
}
