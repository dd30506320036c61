/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A step of a transformer on a GPU that nobody measured: the sum of its kernels
 * (lib/steptime/kernel_times.h), in the order of the network's graph. */
#ifndef ORCH_STEPTIME_KERNEL_STEP_H
#define ORCH_STEPTIME_KERNEL_STEP_H

#include "lib/steptime/kernel_times.h"
#include "lib/steptime/roofline.h"
#include "lib/steptime/tensor_kernels.h"

/** What a training chooses of its kernels. */
struct orch_kernel_switches {
    /* attention, and GELU's tanh form, are written out in plain operations (Hugging Face's
     * "eager"): the scores go to memory and back. Else attention is one kernel, as PyTorch's
     * scaled_dot_product_attention. */
    bool is_written_out;
    bool is_compiled; /* torch.compile fuses the element-wise kernels */
    /* of the linear layers but the last; all else is in 16 bits then */
    enum orch_number_format format;
    double watts; /* limit of the board's power; 0: its own */
};

struct orch_kernel_model {
    struct orch_kernel_gpu gpu;
    struct orch_kernel_switches switches;
    /* for products whose time beside a plain one's was measured: of experts, of 8 and 4 bits. NULL:
     * unknown */
    const struct orch_gpu_spec *spec;
    bool has_experts; /* the network is a mixture of experts */
    bool has_packed;  /* some of its weights are held in 8 or 4 bits */
};

/** 90 % of the logarithms of what it errs by for whole transformers; wider at a precision whose
 * products were not measured, and for attention in one kernel where it was not: without tensor
 * cores. */
double orch_kernel_model_error(const struct orch_kernel_model *model);
/** True where part of that is a guess: no whole step was measured in this way. */
bool orch_kernel_model_is_guess(const struct orch_kernel_model *model);

/** Predicts the time of one step. `layers` (net->nodes->len entries, or NULL) gets device times by
 * operation, scaled to sum to the step. Fails with ORCH_ERROR_USAGE for a batch below 1. */
bool orch_kernel_step(const struct orch_net *net, const struct orch_net_cost *costs,
                      const struct orch_kernel_model *model, const struct orch_roofline_work *work,
                      struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                      GError **error);

/** Time in seconds of forward and, in training, backward pass, without an update, of a network of
 * which `net` has one layer of each kind: what lies in groups between the first and the last stands
 * `repeats` times. Tables have many sizes, and a layer is the same each time. NaN for a batch below
 * 1. */
double orch_kernel_repeated_s(const struct orch_net *net, const struct orch_net_cost *costs,
                              const struct orch_kernel_model *model,
                              const struct orch_roofline_work *work, double repeats);

/** Describes the underlying measurements in one sentence. */
const char *orch_kernel_model_source(void);

#endif
