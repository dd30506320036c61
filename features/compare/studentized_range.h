/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The studentized range: the distribution of (largest - smallest mean) / standard error of a mean
 * among `count` equally good settings, where the standard error has `degrees` degrees of freedom.
 * Tukey's test compares every pair of settings with it. */
#ifndef ORCH_FEATURES_COMPARE_STUDENTIZED_RANGE_H
#define ORCH_FEATURES_COMPARE_STUDENTIZED_RANGE_H

#include <stddef.h>

/** Returns the probability of a range above `q`, to about 1e-7. NaN: fewer than two settings, no
 * degree of freedom, or q is NaN. */
double orch_studentized_range_tail(double q, size_t count, double degrees);
/** Returns the range that is exceeded with probability `tail` (0 < tail < 1). NaN as above. */
double orch_studentized_range_limit(double tail, size_t count, double degrees);

#endif
