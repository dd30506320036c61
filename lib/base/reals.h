/* SPDX-License-Identifier: MIT */
/* Sorting, median and standardising of arrays of reals. */
#ifndef ORCH_BASE_REALS_H
#define ORCH_BASE_REALS_H

#include <stddef.h>

/** Orders two reals, for qsort and g_array_sort. */
int orch_compare_reals(const void *a, const void *b);
/** Sorts in ascending order. No value may be NaN. */
void orch_reals_sort(double *values, size_t count);
/** Sorts and returns the median (of an even number, the mean of the middle two); NaN for no
 * values. No value may be NaN. */
double orch_reals_median(double *values, size_t count);
/** Returns the median of the values that are not NaN, and leaves their order; NaN when there are
 * none. */
double orch_reals_median_of(const double *values, size_t count);
/** Makes mean 0 and variance 1 of values; equal ones become 0. Returns the deviation that they had,
 * 1 for equal ones. */
double orch_reals_standardise(double *inout, size_t count);

#endif
