/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statistics behind an answer: means with intervals, and differences that say whether they are
 * more than noise. */
#ifndef ORCH_CORE_REPORT_STATS_H
#define ORCH_CORE_REPORT_STATS_H

#include <stdbool.h>
#include <stddef.h>

/** Differences with a p (after correction) below this are more than noise. */
#define ORCH_NOISE_LEVEL 0.05

/** A sample's mean with its 95 % interval (Student's t, n-1 degrees of freedom). */
struct orch_stat {
    size_t count;
    double mean, sd; /* sd NaN for n < 2 */
    double half;     /* half width of the interval; NaN for n < 2 */
    double min, max;
};
/** `values`: NaN are left out. */
struct orch_stat orch_stat_of(const double *values, size_t count);

/** A difference of two means with its 95 % interval and test. */
struct orch_difference {
    double mean, low, high; /* low and high NaN when it cannot be told (n < 2) */
    size_t count_a, count_b;
    bool is_paired;
    bool is_more_than_noise; /* p_corrected is below ORCH_NOISE_LEVEL */
    double p;                /* two-sided p of the t test; NaN: no test (n < 2) */
    double p_corrected;      /* p after a correction for several comparisons; p without one */
};
/** b - a of independent samples (Welch). */
struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b);
/** b - a of samples that belong together pair by pair (the same seeds). */
struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count);
/** The difference with its sign turned: a - b. */
struct orch_difference orch_difference_turned(const struct orch_difference *difference);
/** "paired t", "Welch's t"; "-" where there is no test. */
const char *orch_difference_test(const struct orch_difference *difference);

/** Holm's correction over `count` two-sided tests that were made together: sets p_corrected and
 * is_more_than_noise. Differences without a test are left as they are and do not count. */
void orch_differences_holm(struct orch_difference *const *differences, size_t count);

/** p by Holm's correction of `count` p-values, in place; NaN are left as they are and do not count.
 */
void orch_holm(double *p, size_t count);

#endif
