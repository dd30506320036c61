/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reference for both intervals: Welch 1947 (degrees of freedom after Satterthwaite), Student's
 * paired t. With repeats of a sweep under equal seeds the pairs share their luck, so the paired
 * interval is the narrower and the honest one. */
#include "core/report/stats.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>

/* GSL ends the program at degrees that are none: infinite values have such. */
static double t_quantile(double degrees)
{
    if (!(degrees > 0) || isinf(degrees))
        return NAN;
    return gsl_cdf_tdist_Pinv(0.975, degrees);
}

struct orch_stat orch_stat_of(const double *values, size_t count)
{
    struct orch_stat stat = {.mean = NAN, .sd = NAN, .half = NAN, .min = NAN, .max = NAN};
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        sum += values[i];
        stat.min = stat.count ? fmin(stat.min, values[i]) : values[i];
        stat.max = stat.count ? fmax(stat.max, values[i]) : values[i];
        stat.count++;
    }
    if (!stat.count)
        return stat;
    stat.mean = sum / (double)stat.count;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]))
            squares += (values[i] - stat.mean) * (values[i] - stat.mean);
    if (stat.count < 2)
        return stat;
    stat.sd = sqrt(squares / (double)(stat.count - 1));
    stat.half = t_quantile((double)(stat.count - 1)) * stat.sd / sqrt((double)stat.count);
    return stat;
}

static struct orch_difference bounded(double mean, double half, size_t a, size_t b, bool paired)
{
    struct orch_difference difference = {mean, mean - half, mean + half, a, b, paired, false};
    difference.is_more_than_noise = difference.low > 0 || difference.high < 0;
    return difference;
}

struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b)
{
    struct orch_stat x = orch_stat_of(a, count_a), y = orch_stat_of(b, count_b);
    double mean = y.mean - x.mean;
    if (x.count < 2 || y.count < 2)
        return bounded(mean, NAN, x.count, y.count, false);
    double vx = x.sd * x.sd / (double)x.count, vy = y.sd * y.sd / (double)y.count;
    if (vx + vy <= 0)
        return bounded(mean, 0, x.count, y.count, false);
    double share = vx / (vx + vy), rest = vy / (vx + vy); /* their squares do not overflow */
    double degrees =
        1 / (share * share / (double)(x.count - 1) + rest * rest / (double)(y.count - 1));
    return bounded(mean, t_quantile(degrees) * sqrt(vx + vy), x.count, y.count, false);
}

struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count)
{
    g_autofree double *differences = g_new(double, count + 1);
    for (size_t i = 0; i < count; i++)
        differences[i] = b[i] - a[i];
    struct orch_stat stat = orch_stat_of(differences, count);
    return bounded(stat.mean, stat.half, stat.count, stat.count, true);
}
