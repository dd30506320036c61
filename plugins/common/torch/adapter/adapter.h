/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the adapter. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H
#define ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H

#include "plugins/common/torch/torch.h"

extern "C" {
#include "lib/base/error.h"
#include "lib/net/net.h"
}

#include <torch/torch.h>

#include <exception>
#include <string>
#include <vector>

/* A batch normalisation that is computed together with what follows it, when the last of them is
 * reached. */
struct orch_torch_fusion {
    int norm = -1;     /* node of the normalisation; -1: nothing ends here */
    int shortcut = -1; /* node that is added; -1: none */
    bool relu = false;
};

struct orch_torch_model {
    const orch_net *net;
    at::Device device = at::kCPU;
    bool bf16 = false;
    at::MemoryFormat format = at::MemoryFormat::Contiguous;
    std::vector<at::Tensor> tensors;        /* as in the graph's table; parameters are leaves */
    std::vector<int> last_use;              /* node -> last node that reads it */
    std::vector<int> readers;               /* node -> number of nodes that read it */
    int head = -1;                          /* node of the classifier */
    std::vector<orch_torch_fusion> fusions; /* node -> what ends there */
    std::vector<int> fused_into;            /* node -> where the fusion that it is part of ends */
    /* optimizer */
    orch_torch_method method = ORCH_TORCH_SGD;
    double momentum = 0, weight_decay = 0, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, rate = 0;
    bool nesterov = false;
    int frozen_groups = 0;
    std::vector<double> group_rates;
    std::vector<at::Tensor> slots[2];
    int64_t steps = 0;
    /* sums, kept on the device until they are taken */
    at::Tensor loss_sum, correct_sum;
    int64_t images = 0;
};

/* Runs `work` and converts exceptions to errors. */
template <typename Work> inline bool guarded(GError **error, Work work)
{
    try {
        work();
        return true;
    } catch (const c10::Error &e) {
        std::string text = e.what_without_backtrace();
        bool memory = text.find("out of memory") != std::string::npos;
        orch_error_set(error, ORCH_ERROR_TRIAL, memory ? "use a smaller batch" : nullptr,
                       "LibTorch: %s", text.substr(0, text.find("\nException raised")).c_str());
    } catch (const std::bad_alloc &) {
        orch_error_set(error, ORCH_ERROR_TRIAL, "use a smaller batch", "LibTorch: out of memory");
    } catch (const std::exception &e) {
        orch_error_set(error, ORCH_ERROR_TRIAL, nullptr, "LibTorch: %s", e.what());
    }
    return false;
}

/* Parses "cpu", "cuda", "cuda:1"; throws if the device does not exist. */
inline at::Device device_of(const char *name)
{
    at::Device device(name);
    if (device.is_cuda()) {
        if (!torch::cuda::is_available())
            throw std::runtime_error("no CUDA device");
        if (device.index() >= (int)torch::cuda::device_count())
            throw std::runtime_error(std::string("no CUDA device '") + name + "': there are " +
                                     std::to_string(torch::cuda::device_count()));
    } else if (!device.is_cpu()) {
        throw std::runtime_error(std::string("unknown device '") + name + "': cpu, cuda or cuda:N");
    }
    return device;
}

/* See torch.h. */
bool orch_torch_layer_time(const struct orch_torch_layer *layer, const char *device, int warmup,
                           int repeats, double *out_ms, GError **error);

/* What the files of the adapter give each other. The functions that take a model and, where
 * they can fail, an error are entries of the table; torch.h describes them. */
namespace adapter
{

/* ---- graph.cpp
 * --------------------------------------------------------------------------------
 */

/* Enables mixed precision during its lifetime, if the model has it. */
struct Autocast {
    bool on, cuda, before = false;
    explicit Autocast(const orch_torch_model *m);
    ~Autocast();
    Autocast(const Autocast &) = delete;
    Autocast &operator=(const Autocast &) = delete;
};

/* Evaluates the graph after node `from`, whose value is `x`, up to node `to`. */
at::Tensor forward(const orch_torch_model *m, const at::Tensor &x, int from, int to, bool training);

/* ---- norm.cpp
 * ---------------------------------------------------------------------------------
 */

/* True if the normalisation `node` is fused where the model is: on CPUs in channels-last memory, in
 * training with statistics of its own. */
bool norm_is_fused(const orch_torch_model *m, const struct orch_net_node *node, bool training);
/* Normalises x, adds `shortcut` (may be undefined), and applies ReLU. Updates running statistics.
 */
at::Tensor norm_fused(const orch_torch_model *m, const struct orch_net_node *node,
                      const at::Tensor &x, const at::Tensor &shortcut, bool relu);

/* ---- model.cpp
 * --------------------------------------------------------------------------------
 */

/* Copies a tensor to the host as row-major floats. */
void copy_out(const at::Tensor &tensor, float *out);
/* Values of tensor `index` on the model's device. On the CPU it borrows `values`. */
at::Tensor from_floats(const orch_torch_model *m, size_t index, const float *values);

orch_torch_model *model_new(const orch_net *net, const orch_torch_setup *setup, GError **error);
void model_free(orch_torch_model *m);
size_t tensor_count(const orch_torch_model *m);
void tensor_describe(const orch_torch_model *m, size_t index, orch_torch_tensor *out);
bool tensor_get(const orch_torch_model *m, size_t index, float *out, GError **error);
bool tensor_set(orch_torch_model *m, size_t index, const float *values, GError **error);

/* ---- optimizer.cpp
 * ----------------------------------------------------------------------------
 */

/* Decides by the frozen groups which tensors get gradients. */
void set_learning(orch_torch_model *m);
/* One step with the gradients that the tensors have; drops the gradients. */
void update(orch_torch_model *m);

bool optimizer_set(orch_torch_model *m, const orch_torch_optimizer *o, GError **error);
void rate_set(orch_torch_model *m, double rate);
int slot_count(const orch_torch_model *m);
bool slot_get(const orch_torch_model *m, size_t index, int slot, float *out, bool *out_is_set,
              GError **error);
bool slot_set(orch_torch_model *m, size_t index, int slot, const float *values, GError **error);
int64_t steps_get(const orch_torch_model *m);
void steps_set(orch_torch_model *m, int64_t steps);

/* ---- step.cpp
 * ---------------------------------------------------------------------------------
 */

bool train(orch_torch_model *m, const orch_torch_batch *b, GError **error);
bool evaluate(orch_torch_model *m, const orch_torch_batch *b, GError **error);
bool totals_take(orch_torch_model *m, orch_torch_totals *out, GError **error);
bool logits(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error);
bool features(orch_torch_model *m, const orch_torch_batch *b, float *out, GError **error);
int64_t feature_count(const orch_torch_model *m);
int64_t class_count(const orch_torch_model *m);

} // namespace adapter

#endif
