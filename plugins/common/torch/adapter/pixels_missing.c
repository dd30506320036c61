/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In place of pixels.cu where LibTorch has no CUDA, or no CUDA kernels are compiled. */
#include "plugins/common/torch/adapter/pixels.h"

static const char MISSING[] = "the LibTorch adapter was built without CUDA kernels: './build.sh "
                              "gpu' in a clone compiles them";

const char *orch_pixels_check(int device)
{
    (void)device;
    return MISSING;
}

const char *orch_pixels_launch(int device, const struct orch_pixels_work *work, void *stream)
{
    (void)device;
    (void)work;
    (void)stream;
    return MISSING;
}

const char *orch_pixels_memory(int device, int64_t *out_free_bytes, int64_t *out_total_bytes)
{
    (void)device;
    (void)out_free_bytes;
    (void)out_total_bytes;
    return MISSING;
}
