/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What to expect of a GPU that nothing was measured on here: a white box whose shares were
 * distilled from public measurements of many GPUs, frameworks and networks (bench/distil.py; none
 * of their rows is here).
 *
 * A pass of an operation takes on the device
 *     ((operations / (peak s a g))^p + (bytes / (bandwidth m))^p)^(1/p) + k
 * with the share s of its kind and precision, the factor a of the architecture, g of GeForce cards
 * (they run above the clock on their sheet), the share m of the bandwidth and a least time k of a
 * kernel. The host launches them one after another. A step takes (device^4 + host^4)^(1/4):
 * whichever lags, as launches run ahead.
 */
#ifndef ORCH_PREDICTORS_TRANSFER_H
#define ORCH_PREDICTORS_TRANSFER_H

#include "lib/hw/gpus.h"
#include "predictors/roofline.h"

enum orch_transfer_kind {
    ORCH_TRANSFER_DENSE,  /* convolutions */
    ORCH_TRANSFER_WINO,   /* those of 3x3 with stride 1 and without groups */
    ORCH_TRANSFER_POINT,  /* those of 1x1 with stride 1 */
    ORCH_TRANSFER_GROUP,  /* those with groups */
    ORCH_TRANSFER_LINEAR, /* fully connected, attention */
    ORCH_TRANSFER_KINDS,
};

struct orch_transfer {
    double peak_flops, bandwidth;       /* operations and bytes a second */
    double shares[ORCH_TRANSFER_KINDS]; /* of the peak, with the factors of the GPU */
    double memory_share;
    double error_80, error_90; /* 80 and 90 % of rows were within exp(+-this) of what was measured,
                                  their GPU left out of the fit */
    bool arch_was_measured;
};

/** Settles the shares of a GPU at a precision. False when the model does not speak of it: not
 * NVIDIA's, no peak known, or an architecture older than Kepler. */
bool orch_transfer_for(const struct orch_gpu_spec *gpu, enum orch_precision precision,
                       struct orch_transfer *out);

/** Time of one step. `layers` (net->nodes->len, may be NULL) gets device times by operation, scaled
 * so that their sum is the step's. ORCH_ERROR_USAGE for a batch below 1. */
bool orch_transfer_step(const struct orch_net *net, const struct orch_net_cost *costs,
                        const struct orch_transfer *transfer, const struct orch_roofline_work *work,
                        struct orch_roofline_layer *layers, struct orch_roofline_step *out,
                        GError **error);

/** What it was distilled from, in a sentence. */
const char *orch_transfer_source(void);

#endif
