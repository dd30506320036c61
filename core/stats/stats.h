/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Basic statistics of reports: means with intervals, and differences with a test whether they are
 * more than noise. */
#ifndef ORCH_CORE_STATS_STATS_H
#define ORCH_CORE_STATS_STATS_H

#include "lib/base/interval.h"

#include <stdbool.h>
#include <stddef.h>

/** A difference whose p (after correction) is below this level is more than noise. */
#define ORCH_NOISE_LEVEL 0.05

/** A sample's mean with its 95 % interval (Student's t, n-1 degrees of freedom). */
struct orch_stat {
    size_t count;
    double mean, sd; /* sd NaN for n < 2 */
    double half;     /* half width of the interval; NaN for n < 2 */
    double min, max;
};
/** Computes a sample's mean and interval; NaN values are skipped. */
struct orch_stat orch_stat_of(const double *values, size_t count);

/** A difference of two means with its 95 % interval and test. */
struct orch_difference {
    struct orch_interval mean; /* low and high are NaN when n < 2 */
    size_t count_a, count_b;
    bool is_paired;
    bool is_pooled;          /* Tukey's test with the scatter of all settings (pooled.h) */
    bool is_more_than_noise; /* p_corrected is below ORCH_NOISE_LEVEL */
    bool is_uneven; /* other programs disturbed the times of one side only (disturbed.h): no test */
    double p;       /* two-sided p of the t test; NaN: no test (n < 2) */
    double p_corrected; /* p after a correction for several comparisons; p without one */
};
/** b - a of independent samples (Welch). */
struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b);
/** b - a of paired samples (such as equal seeds). */
struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count);
/** Returns the difference with the opposite sign: a - b. */
struct orch_difference orch_difference_turned(const struct orch_difference *difference);
/** Returns "paired t", "Welch's t" or "Tukey's range"; "-" without a test. Static. */
const char *orch_difference_test(const struct orch_difference *difference);
/** Returns "95 % interval of the difference" with the words that tell which interval it is. Static.
 */
const char *orch_difference_interval(const struct orch_difference *difference);

/** Applies Holm's correction over `count` two-sided tests made together: sets p_corrected and
 * is_more_than_noise. Differences without a test are unchanged and do not count. */
void orch_differences_holm(struct orch_difference *const *differences, size_t count);

/** Replaces `count` p-values by their Holm-corrected values. NaN values are unchanged and do not
 * count. */
void orch_holm(double *p, size_t count);

#endif
