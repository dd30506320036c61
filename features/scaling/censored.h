/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times until an event that some runs never reach, such as the time to a target accuracy. A run
 * that ends without the event is right-censored: its time is longer than it was observed. */
#ifndef ORCH_FEATURES_SCALING_CENSORED_H
#define ORCH_FEATURES_SCALING_CENSORED_H

#include <stddef.h>

/** Times of several runs to an event. A number that cannot be given is NaN. */
struct orch_censored {
    size_t runs, reached; /* `reached` of `runs` reached the event */
    double median;        /* over all runs; NaN unless more than half of them reached it */
    double low, high;     /* shortest and longest time of those that reached it */
    double mean, cv; /* of those that reached it: mean, and sample standard deviation over mean;
                        cv is NaN for fewer than 2 */
    double cv_low, cv_high; /* 95 % interval of cv, exact for log-normal times; cv_high may be
                               infinite; NaN for fewer than 2 times or when all are equal */
    double log_variance;    /* of the logarithms of those times; NaN as cv_low */
};
/** Summarises the times of the `reached` runs that reached the event (above 0, finite) and
 * `censored` further runs that never did. The interval is that of Koopmans, Owen and Rosenblatt
 * (Biometrika 51, 1964, section 3). It describes the runs that reach the event: censored runs do
 * not enter it. */
struct orch_censored orch_censored_of(const double *times, size_t reached, size_t censored);
/** Returns the two-sided p of the F test that two settings have the same coefficient of variation,
 * exact for log-normal times, whose logarithms then have the same variance. NaN when one of the
 * variances is not known. */
double orch_censored_same_variation(const struct orch_censored *a, const struct orch_censored *b);

#endif
