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

/** A difference of two means with its 95 % interval and test. Interval, p_corrected and
 * is_more_than_noise allow for the same `comparisons`, so that they agree. */
struct orch_difference {
    struct orch_interval mean; /* low and high are NaN when n < 2 */
    size_t count_a, count_b;
    bool is_paired;
    bool is_pooled;          /* Tukey's test with the scatter of all settings (pooled.h) */
    bool is_more_than_noise; /* p_corrected is below ORCH_NOISE_LEVEL */
    bool is_uneven; /* other programs disturbed the times of one side only (disturbed.h): no test */
    double p;       /* two-sided p of the t test; NaN: no test (n < 2) */
    double p_corrected; /* p after a correction for several comparisons; p without one */
    double standard_error, degrees; /* of the t test; NaN: no test */
    size_t comparisons;             /* made together (1: this one alone) */
};
/** Returns the degrees of freedom after Satterthwaite (1946) of a difference of two means, whose
 * variances (those of the means) may differ: n + m - 2 when both are 0. */
double orch_satterthwaite(double variance_a, size_t count_a, double variance_b, size_t count_b);
/** b - a of independent samples (Welch). */
struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b);
/** b - a of paired samples (such as equal seeds). */
struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count);
/** Returns the difference with the opposite sign: a - b. */
struct orch_difference orch_difference_turned(const struct orch_difference *difference);
/** Returns "paired t", "Welch's t" or "Tukey's range"; "-" without a test. Static. */
const char *orch_difference_test(const struct orch_difference *difference);

/** Allows for `comparisons` differences that are tested together, or from which this one was picked
 * (Bonferroni): sets p_corrected, is_more_than_noise and a simultaneous interval. A difference
 * without a test is unchanged. */
void orch_difference_allow_for(struct orch_difference *difference, size_t comparisons);

#endif
