/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics behind an answer: means with intervals, and differences that say whether they are
 * more than noise. */
#ifndef ORCH_CORE_REPORT_STATS_H
#define ORCH_CORE_REPORT_STATS_H

#include <stdbool.h>
#include <stddef.h>

/** A sample's mean with its 95 % interval (Student's t, n-1 degrees of freedom). */
struct orch_stat {
    size_t count;
    double mean, sd; /* sd NaN for n < 2 */
    double half;     /* half width of the interval; NaN for n < 2 */
    double min, max;
};
/** `values`: NaN are left out. */
struct orch_stat orch_stat_of(const double *values, size_t count);

/** A difference of two means with its 95 % interval. */
struct orch_difference {
    double mean, low, high; /* low and high NaN when it cannot be told (n < 2) */
    size_t count_a, count_b;
    bool is_paired;
    bool is_more_than_noise; /* the interval does not hold 0 */
};
/** b - a of independent samples (Welch). */
struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b);
/** b - a of samples that belong together pair by pair (the same seeds). */
struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count);

#endif
