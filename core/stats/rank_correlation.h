/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spearman's rank correlation, alone and as the mean over groups. */
#ifndef ORCH_CORE_STATS_RANK_CORRELATION_H
#define ORCH_CORE_STATS_RANK_CORRELATION_H

#include "lib/base/interval.h"

#include <stddef.h>
#include <stdint.h>

/** Pairs of numbers, all finite. */
struct orch_rank_group {
    const double *x, *y;
    size_t count;
};

/** Spearman's rho in [-1, 1]; equal values have the mean of their ranks. NaN with fewer than 3
 * pairs, or if all x or all y are equal. */
double orch_rank_correlation(const struct orch_rank_group *group);

/** The mean of the groups' rho. */
struct orch_rank_mean {
    size_t groups;            /* those that have a rho */
    struct orch_interval rho; /* their mean (NaN: no group has one) with its 95 % interval within
                                 [-1, 1] (NaN: too few groups or pairs) */
    double p;                 /* two-sided; NaN without a rho */
};
/** Computes the mean rho. With 2 groups or more the interval is Student's t over the groups. With
 * one group of 5 pairs or more it is Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) of
 * Bonett and Wright (2000). p is the share of 9,999 random orders of y within the groups whose mean
 * is as far from 0, the observed one counted as well; `seed` starts the random numbers, so that p
 * is the same each time. */
struct orch_rank_mean orch_rank_correlation_mean(const struct orch_rank_group *groups, size_t count,
                                                 uint64_t seed);

#endif
