/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kernel of the data path, as pixels.cpp calls it. pixels.cu is the only file that nvcc
 * compiles: it includes no header of LibTorch, so that any CUDA toolkit serves any LibTorch. */
#ifndef ORCH_PLUGINS_COMMON_TORCH_PIXELS_H
#define ORCH_PLUGINS_COMMON_TORCH_PIXELS_H

#include "plugins/common/data/pixel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One batch; all pointers are memory of the GPU. */
struct orch_pixels_work {
    const uint8_t *bytes; /* the data set */
    const int64_t *rows;  /* count */
    const struct orch_transform_plan *plans;
    const struct orch_transform_table *table;
    struct orch_image_shape shape;
    bool channels_last;
    int64_t count;
    float *out; /* count images */
};

/* These return NULL, or a text that says what failed. `device` is the GPU's index. */

/* Looks for code of the kernel that this GPU runs. */
const char *orch_pixels_check(int device);
/* Queues the kernel on a cudaStream_t. */
const char *orch_pixels_launch(int device, const struct orch_pixels_work *work, void *stream);
const char *orch_pixels_memory(int device, int64_t *out_free_bytes, int64_t *out_total_bytes);

#ifdef __cplusplus
}
#endif

#endif
