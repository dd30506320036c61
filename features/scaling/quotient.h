/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The quotient of two means of the same pairs, such as accuracy gained per time spent. */
#ifndef ORCH_FEATURES_SCALING_QUOTIENT_H
#define ORCH_FEATURES_SCALING_QUOTIENT_H

#include "lib/base/interval.h"

#include <stddef.h>

/** mean(y) / mean(x) with its 95 % interval by Fieller's theorem (1954), which allows for the
 * correlation of x and y. */
struct orch_quotient {
    size_t count;
    double x, y; /* means */
    /* low and high are NaN with fewer than 2 pairs, and where mean(x) cannot be told from 0 at the
     * 5 % level: then no quotient is excluded */
    struct orch_interval value;
};
/** `x` and `y` have `count` finite numbers each. */
struct orch_quotient orch_quotient_of(const double *x, const double *y, size_t count);

/** The same for independent samples, of the values x and y each has: count is that of the smaller
 * one. Variances may differ (Fieller with Satterthwaite's degrees of freedom at the quotient, as in
 * Tamhane and Logan 2004). NaN values are skipped. */
struct orch_quotient orch_quotient_of_samples(const double *x, size_t count_x, const double *y,
                                              size_t count_y);

#endif
