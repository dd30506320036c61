/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/slope.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

/* With fewer an interval is so wide that it says nothing. */
#define DEGREES_LEAST 3

/* Sums over the pairs of a group. */
struct sums {
    size_t count;
    double x, y;       /* means */
    double xx, xy, yy; /* squares and products of the distances from the means */
    double low, high;  /* of x */
};

static struct sums sums_of(const struct orch_slope_pair *pairs, size_t count, unsigned group)
{
    struct sums s = {.low = HUGE_VAL, .high = -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        if (pairs[i].group != group)
            continue;
        s.count++;
        s.x += (pairs[i].x - s.x) / (double)s.count;
        s.y += (pairs[i].y - s.y) / (double)s.count;
        s.low = fmin(s.low, pairs[i].x);
        s.high = fmax(s.high, pairs[i].x);
    }
    for (size_t i = 0; i < count; i++) {
        const double x = pairs[i].x - s.x, y = pairs[i].y - s.y;
        if (pairs[i].group != group)
            continue;
        s.xx += x * x;
        s.xy += x * y;
        s.yy += y * y;
    }
    return s;
}

struct orch_slope orch_slope_of(const struct orch_slope_pair *pairs, size_t count)
{
    const double none = (double)NAN;
    struct orch_slope slope = {.per = {.mid = none, .low = none, .high = none}};
    unsigned groups = 0;
    double xx = 0, xy = 0, yy = 0;
    for (size_t i = 0; i < count; i++)
        groups = MAX(groups, pairs[i].group + 1);
    for (unsigned group = 0; group < groups; group++) {
        const struct sums s = sums_of(pairs, count, group);
        if (!(s.low < s.high))
            continue; /* it says nothing of the slope */
        slope.groups++;
        slope.pairs += s.count;
        xx += s.xx;
        xy += s.xy;
        yy += s.yy;
    }
    if (!slope.groups)
        return slope;
    slope.per.mid = xy / xx;
    if (slope.pairs < slope.groups + 1 + DEGREES_LEAST)
        return slope;
    const double degrees = (double)(slope.pairs - slope.groups - 1);
    const double left = fmax(0, yy - slope.per.mid * xy); /* squares that the line leaves */
    const double half = gsl_cdf_tdist_Pinv(0.975, degrees) * sqrt(left / degrees / xx);
    slope.per.low = slope.per.mid - half;
    slope.per.high = slope.per.mid + half;
    return slope;
}
