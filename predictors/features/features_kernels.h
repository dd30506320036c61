/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time of a measured row, kernel by kernel (lib/steptime/kernel_times.h): a single layer, a
 * matrix product, an element-wise kernel, or a transformer by its operators. */
#ifndef ORCH_PREDICTORS_FEATURES_KERNELS_H
#define ORCH_PREDICTORS_FEATURES_KERNELS_H

#include "predictors/features/features.h"

/** In ms; NaN without a GPU that the model covers, or for work that it has no kernels of. `work` is
 * that of the row (orch_row_work). */
double orch_row_kernels_ms(const struct orch_row_facts *facts, const struct orch_row_work *work);

#endif
