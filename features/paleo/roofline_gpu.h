/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roofline: a lower bound of the time of a step on a GPU, by batch and by layer. */
#ifndef ORCH_FEATURES_PALEO_ROOFLINE_GPU_H
#define ORCH_FEATURES_PALEO_ROOFLINE_GPU_H

#include "features/predict/time_question.h"
#include "lib/steptime/roofline.h"

struct orch_roofline_gpu {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision;
    struct orch_roofline_device device;
};
/** Finds the GPU and its peaks at the question's precision (default fp32). False with an error for
 * an unknown GPU. */
bool orch_roofline_gpu_init(struct orch_roofline_gpu *bound, const struct orch_time_question *q,
                            const char *gpu, GError **error);

/** The bound for one batch. */
struct orch_roofline_row {
    int64_t batch;
    struct orch_roofline_step step;
    double flops_per_s, images_per_s;
    double memory_bytes;
    bool fits; /* into the GPU's memory, or that is unknown */
};
bool orch_roofline_gpu_ask(const struct orch_roofline_gpu *bound,
                           const struct orch_time_question *q, int64_t batch,
                           struct orch_roofline_row *out, GError **error);

/** The bound of one layer. Texts are borrowed from the question. */
struct orch_roofline_layer_row {
    const char *name, *type, *bound; /* bound: "compute" or "memory" */
    const char *kind;                /* "conv", "batchnorm" */
    double forward_s, backward_s;
    double flops_per_byte; /* of the forward pass */
    double flops, bytes;   /* of all passes asked about */
};
/** Returns struct orch_roofline_layer_row for the layers that take time. NULL with an error. The
 * caller unrefs. */
GArray *orch_roofline_gpu_layers(const struct orch_roofline_gpu *bound,
                                 const struct orch_time_question *q, int64_t batch, GError **error);

/** The largest batch that fits into the GPU's memory beside `reserved_bytes`. */
int64_t orch_roofline_gpu_largest_batch(const struct orch_roofline_gpu *bound,
                                        const struct orch_time_question *q, double reserved_bytes);

#endif
