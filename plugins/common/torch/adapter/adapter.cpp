/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With the other files of this folder the only C++ of the project: executes a graph of lib/net as
 * ATen calls with autograd, behind the function table of torch.h. This file has what concerns the
 * process, the random state, and the table. */
#include "plugins/common/torch/adapter/adapter.h"

#include <algorithm>
#include <mutex>

using at::Tensor;

/* LibTorch has one random generator a device, and dropout takes no other. So the models take turns:
 * the generator's state is kept and changed only when another model draws than the one before. */
namespace
{

struct Use {
    at::Device device;
    orch_torch_model *owner; /* NULL: freed; the state is that of no model */
};

struct {
    std::mutex mutex;
    std::vector<Use> used; /* devices on which a model has drawn since the seed */
    bool is_seeded = false;
    uint64_t seed = 0;
    int64_t rounds = 0; /* seeds so far: states of models from before a seed are void */
} randomness;

void state_restart(at::Device device)
{
    at::Generator generator = at::globalContext().defaultGenerator(device);
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_current_seed(randomness.seed);
}

} // namespace

namespace adapter
{

Tensor random_state(at::Device device)
{
    at::Generator generator = at::globalContext().defaultGenerator(device);
    std::lock_guard<std::mutex> lock(generator.mutex());
    return generator.get_state();
}

void random_state_set(at::Device device, const Tensor &state)
{
    at::Generator generator = at::globalContext().defaultGenerator(device);
    std::lock_guard<std::mutex> lock(generator.mutex());
    generator.set_state(state);
}

void own_random(orch_torch_model *m)
{
    std::lock_guard<std::mutex> lock(randomness.mutex);
    auto use = std::find_if(randomness.used.begin(), randomness.used.end(),
                            [m](const Use &u) { return u.device == m->device; });
    if (use == randomness.used.end()) {
        randomness.used.push_back({m->device, m});
        m->random_round = randomness.rounds;
        return; /* the generator is as the seed left it */
    }
    if (use->owner == m)
        return;
    if (use->owner)
        use->owner->random = random_state(m->device);
    use->owner = m;
    if (m->random.defined() && m->random_round == randomness.rounds)
        random_state_set(m->device, m->random);
    else if (randomness.is_seeded)
        state_restart(m->device);
    m->random_round = randomness.rounds;
}

void disown_random(const orch_torch_model *m)
{
    std::lock_guard<std::mutex> lock(randomness.mutex);
    for (Use &use : randomness.used)
        if (use.owner == m)
            use.owner = nullptr;
}

} // namespace adapter

using namespace adapter;

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
    guarded(nullptr, [&] {
        at::globalContext().setDeterministicAlgorithms(on, false);
        at::globalContext().setDeterministicCuDNN(on);
        at::globalContext().setBenchmarkCuDNN(!on);
    });
}

void seed(uint64_t value)
{
    guarded(nullptr, [&] {
        torch::manual_seed(value);
        std::lock_guard<std::mutex> lock(randomness.mutex);
        randomness.is_seeded = true;
        randomness.seed = value;
        randomness.rounds++;
        randomness.used.clear();
    });
}

bool random_get(const orch_torch_model *m, GBytes **out, GError **error)
{
    return guarded(error, [&] {
        own_random(const_cast<orch_torch_model *>(m));
        Tensor state = random_state(m->device).contiguous();
        *out = g_bytes_new(state.data_ptr(), (gsize)state.numel());
    });
}

bool random_set(orch_torch_model *m, GBytes *bytes, GError **error)
{
    return guarded(error, [&] {
        gsize length;
        const void *data = g_bytes_get_data(bytes, &length);
        own_random(m);
        random_state_set(
            m->device,
            at::from_blob(const_cast<void *>(data), {(int64_t)length}, at::kByte).clone());
    });
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
const char VERSION[] =
    TEXT(TORCH_VERSION_MAJOR) "." TEXT(TORCH_VERSION_MINOR) "." TEXT(TORCH_VERSION_PATCH);

} // namespace

extern "C" __attribute__((visibility("default"))) const struct orch_torch *orch_torch_v1(void)
{
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
        output_count,
        output_describe,
        forward,
        backward,
        update,
        gradients_drop,
        gradients_watch,
        gradients_hold,
        blend,
        scaler_get,
        scaler_set,
        gpu_memory,
        images_new,
        images_free,
        images_make,
        images_get,
        graphs_set,
        graphs_get,
        totals_mark,
        gradients_watch_from,
        norms_share,
        part_time,
    };
    return &table;
}
