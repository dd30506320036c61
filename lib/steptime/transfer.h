/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Analytical model for a GPU without local measurements. Its coefficients were fitted to public
 * measurements of many GPUs, frameworks and networks (bench/distil.py; their rows are not
 * included).
 *
 * One pass of an operation takes, on the device,
 *     ((operations / (peak s a g))^p + (bytes / (bandwidth m))^p)^(1/p) + k
 * with the share s of peak for its kind and precision, a factor a of the architecture, a factor g
 * of GeForce cards (which run above their nominal clock), the share m of the bandwidth, and the
 * minimum time k of a kernel. The host launches operations one after another. A step takes
 * (device^4 + host^4)^(1/4), approximately the slower of the two, because launches are
 * asynchronous.
 */
#ifndef ORCH_STEPTIME_TRANSFER_H
#define ORCH_STEPTIME_TRANSFER_H

#include "lib/devices/gpus.h"
#include "lib/steptime/roofline.h"

enum orch_transfer_kind {
    ORCH_TRANSFER_DENSE,  /* convolutions */
    ORCH_TRANSFER_WINO,   /* 3x3 convolutions with stride 1 and without groups */
    ORCH_TRANSFER_POINT,  /* 1x1 convolutions with stride 1 */
    ORCH_TRANSFER_GROUP,  /* grouped convolutions */
    ORCH_TRANSFER_LINEAR, /* fully connected, attention */
    ORCH_TRANSFER_KINDS,
};

struct orch_transfer {
    double peak_flops, bandwidth;       /* operations and bytes per second */
    double shares[ORCH_TRANSFER_KINDS]; /* of the peak, including the factors of the GPU */
    double memory_share;
    bool arch_was_measured;
};

/** Peak in operations per second at which the model counts: of GeForce cards' tensor cores the rate
 * of the units, of which data sheets give half; 0: none, or an unknown architecture. */
double orch_transfer_peak(const struct orch_gpu_spec *gpu, enum orch_precision precision);
/** Sets the coefficients for a GPU and precision. Returns false if the model does not cover it: not
 * from NVIDIA, no known peak, or older than Kepler. */
bool orch_transfer_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                       struct orch_transfer *out);

/** Predicts the time of one step. `layers` (net->nodes->len entries, or NULL) gets device times by
 * operation, scaled to sum to the step. Fails with ORCH_ERROR_USAGE for a batch below 1. */
bool orch_transfer_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_transfer *transfer, const struct orch_roofline_work *work,
                        struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                        GError **error);

/** Describes the underlying measurements in one sentence. */
const char *orch_transfer_source(void);

#endif
