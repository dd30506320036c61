/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Importance of parameters over the whole range of a space, wherever the trials are: the Gaussian
 * process of searches (box_cox.h) is asked at points drawn evenly. The importance of a parameter is
 * its total effect (Jansen 1999): the share of the variance of the values there, as they are
 * transformed for the process, that is left when all others are known. (A random forest was
 * rejected: its leaves are as fine as trials are dense, so that it sees little of what a search has
 * left early.) */
#ifndef ORCH_PREDICTORS_RANGE_IMPORTANCE_H
#define ORCH_PREDICTORS_RANGE_IMPORTANCE_H

#include "lib/space/param_space.h"

#include <stddef.h>

/** Computes it for `count` trials: `points` has one row of unit coordinates (NAN: does not exist)
 * for each, `values` the objective. A parameter that decides about others is drawn anew with them.
 * Writes a share for each parameter; NAN where no process fits the values. The same input in the
 * same order gives the same result. */
void orch_range_importance(const struct orch_space *space, const double *points,
                           const double *values, size_t count, double *out);

#endif
