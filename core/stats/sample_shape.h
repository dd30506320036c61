/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a sample looks as tests of means suppose: many different values, none far outside. */
#ifndef ORCH_CORE_STATS_SAMPLE_SHAPE_H
#define ORCH_CORE_STATS_SAMPLE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/** So many distinct values are needed before the scatter of a sample is relied on. */
#define ORCH_DISTINCT_LEAST 4

/** The distinct values of a sample, counted up to ORCH_DISTINCT_LEAST. Zero is empty. */
struct orch_distinct {
    double values[ORCH_DISTINCT_LEAST];
    size_t count;
};
/** Adds a value. Values that differ by rounding alone are one. */
void orch_distinct_add(struct orch_distinct *distinct, double value);

/** Returns whether the values show how much they scatter: none of a smaller sample than
 * ORCH_DISTINCT_LEAST is equal to another, and a larger one has so many distinct values. */
bool orch_sample_shows_scatter(const double *values, size_t count);

/** A smaller sample has no outlier. */
#define ORCH_OUTLIER_COUNT 8
/** Returns whether a value is more than five median absolute deviations from the median: the sample
 * is skewed, or has an outlier. */
bool orch_sample_has_outlier(const double *values, size_t count);

#endif
