/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internal to the adapter. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H
#define ORCH_PLUGINS_COMMON_TORCH_ADAPTER_H

#include "plugins/common/torch/torch.h"

extern "C" {
#include "lib/base/error.h"
}

#include <torch/torch.h>

#include <exception>
#include <string>

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

#endif
