/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The common slope of y over x in groups that may differ in level. */
#ifndef ORCH_CORE_STATS_SLOPE_H
#define ORCH_CORE_STATS_SLOPE_H

#include "lib/base/interval.h"

#include <stddef.h>

/** A pair of finite numbers of a group. */
struct orch_slope_pair {
    double x, y;
    unsigned group; /* from 0 */
};

struct orch_slope {
    size_t pairs, groups;     /* of the groups that have several x; 0: none has */
    struct orch_interval per; /* change of y for each 1 of x, with its 95 % interval; NaN without a
                                 slope, the interval also with fewer than 3 degrees of freedom */
};

/** Fits y = level of the group + slope x by least squares. The interval is Student's t with one
 * degree of freedom less than there are pairs for the slope, and one less for each group. */
struct orch_slope orch_slope_of(const struct orch_slope_pair *pairs, size_t count);

#endif
