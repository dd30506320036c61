/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses often have a long tail, which a Gaussian process does not expect: it is fitted to the
 * values, their roots and their logarithms (Box and Cox 1964), and the transformation that explains
 * the values best is taken. */
#ifndef ORCH_PREDICTORS_BOX_COX_H
#define ORCH_PREDICTORS_BOX_COX_H

#include "predictors/numbers/space_process.h"

/** Fits a process to n points (row-major) and their values, which it changes. NULL when its
 * equations cannot be solved. The caller frees. */
struct orch_space_process *orch_box_cox_fit(const struct orch_space *space, const double *points,
                                            double *values, size_t n);

#endif
