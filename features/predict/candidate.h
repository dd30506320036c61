/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A device to estimate for: its precision, analytical model and price. */
#ifndef ORCH_FEATURES_PREDICT_CANDIDATE_H
#define ORCH_FEATURES_PREDICT_CANDIDATE_H

#include "features/predict/step_tiers.h"

struct orch_candidate {
    const struct orch_gpu_spec *gpu;
    enum orch_precision precision; /* of the multiplications; bf16 beside a format */
    const char *precision_name;    /* of a training in 8 or 4 bits the format: "fp8". Static */
    /* taken from the network's records, because the question has none */
    bool precision_is_recorded;
    struct orch_prior prior;
    struct orch_step_ppp ppp; /* of a question whose PPP is measured; else zeros */
    struct orch_rate rate;
};

/** Determines the precision, analytical model and price of a device. A question without a precision
 * uses the one in the network's records (`tiers`, or NULL), else fp32; orch_precision_run maps it
 * to the precision that the device computes in. The caller releases `out->rate`, also after an
 * error. */
bool orch_candidate_choose(const struct orch_time_question *q, struct orch_step_tiers *tiers,
                           const struct orch_gpu_spec *gpu, struct orch_candidate *out,
                           GError **error);

#endif
