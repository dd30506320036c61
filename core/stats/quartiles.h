/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The middle half of some values, and what lies far beyond it. */
#ifndef ORCH_CORE_STATS_QUARTILES_H
#define ORCH_CORE_STATS_QUARTILES_H

#include <stdbool.h>
#include <stddef.h>

/** Values further from the middle half than this many times its width are called outliers (Tukey
 * 1977). */
#define ORCH_OUTLIER_REACH 1.5

struct orch_quartiles {
    size_t count;
    double lowest, q1, median, q3, highest; /* NaN without values */
    size_t outliers;
};

/** Sorts the values in place and returns their quartiles, with linear interpolation between the
 * values. */
struct orch_quartiles orch_quartiles_of(double *values, size_t count);

/** Returns whether a value lies beyond the reach of the middle half. */
static inline bool orch_is_outlier(const struct orch_quartiles *q, double value)
{
    const double reach = ORCH_OUTLIER_REACH * (q->q3 - q->q1);
    return value < q->q1 - reach || value > q->q3 + reach;
}

#endif
