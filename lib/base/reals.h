/* SPDX-License-Identifier: MIT */
/* Sorting and median of arrays of reals, which must not contain NaN. */
#ifndef ORCH_BASE_REALS_H
#define ORCH_BASE_REALS_H

#include <stddef.h>

/** Orders two reals, for qsort and g_array_sort. */
int orch_compare_reals(const void *a, const void *b);
/** Sorts in ascending order. */
void orch_reals_sort(double *values, size_t count);
/** Sorts and returns the median (of an even number, the mean of the middle two); NaN for no
 * values. */
double orch_reals_median(double *values, size_t count);

#endif
