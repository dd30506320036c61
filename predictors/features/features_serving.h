/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A measured row of one kernel of an inference server (lib/steptime/tensor_kernels.h): a matrix
 * product, attention over prompts, experts, a collective. */
#ifndef ORCH_PREDICTORS_FEATURES_SERVING_H
#define ORCH_PREDICTORS_FEATURES_SERVING_H

#include "predictors/features/features.h"

struct orch_serving_kernel {
    double m, n, k;           /* of a product; NaN: another kernel */
    double operations, bytes; /* that it takes at least */
    double seconds;           /* forecast; NaN: the GPU is unknown, or lacks the units */
};

/** False if the row is of no such kernel. */
bool orch_row_serving(const struct orch_row_facts *facts, struct orch_serving_kernel *out);

#endif
