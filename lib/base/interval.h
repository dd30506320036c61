/* SPDX-License-Identifier: MIT */
/* A value with the interval around it. */
#ifndef ORCH_BASE_INTERVAL_H
#define ORCH_BASE_INTERVAL_H

/** The middle 90 % of a normal distribution end this many standard deviations from its mean. */
#define ORCH_NORMAL_90 1.6448536269514722

/** An estimate and the ends of its interval, in one unit: low <= mid <= high; NaN means unknown. A
 * forecast's low, mid and high are its 5 %, 50 % and 95 % quantiles. */
struct orch_interval {
    double low, mid, high;
};

#endif
