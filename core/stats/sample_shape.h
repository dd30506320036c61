/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a sample has as many different values as tests suppose. */
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

#endif
