/* SPDX-License-Identifier: MIT */
/* Arrays of numbers: their order, and the one in the middle. NaN has no order: leave it out. */
#ifndef ORCH_BASE_REALS_H
#define ORCH_BASE_REALS_H

#include <stddef.h>

/** Sorts, the least first. */
void orch_reals_sort(double *values, size_t count);
/** Sorts, and returns the middle one, of an even count the mean of the middle two; NaN of none. */
double orch_reals_median(double *values, size_t count);

#endif
