/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of differences: Welch 1947 (degrees of freedom after Satterthwaite) and Student's
 * paired t. Repeats of a sweep use the same seeds in each setting, so pairs share what the seed
 * determines, and the paired interval is narrower.
 *
 * Several comparisons: Bonferroni's inequality, which keeps the probability of any false claim
 * below 5 % for any dependence between the comparisons. Holm's procedure (1979) claims a little
 * more, but no simple interval agrees with it. */
#include "core/stats/stats.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

/* Returns the two-sided 5 % quantile of t for so many comparisons. GSL aborts on invalid degrees of
 * freedom, which infinite values lead to. */
static double t_quantile(double degrees, size_t comparisons)
{
    if (!(degrees > 0) || isinf(degrees))
        return NAN;
    return gsl_cdf_tdist_Qinv(ORCH_NOISE_LEVEL / 2 / (double)comparisons, degrees);
}

/* Without any scatter the interval is a point. */
static double half_width(double standard_error, double degrees, size_t comparisons)
{
    return standard_error > 0 ? t_quantile(degrees, comparisons) * standard_error : standard_error;
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
    stat.half = t_quantile((double)(stat.count - 1), 1) * stat.sd / sqrt((double)stat.count);
    return stat;
}

/* Two-sided p of a shift with this standard error and degrees of freedom. With a spread of zero
 * the sign is certain. */
static double two_sided_p(double shift, double standard_error, double degrees)
{
    if (isnan(shift) || isnan(standard_error) || !(degrees > 0) || isinf(degrees))
        return NAN;
    if (!(standard_error > 0))
        return shift > 0 || shift < 0 ? 0 : 1;
    return 2 * gsl_cdf_tdist_Q(fabs(shift) / standard_error, degrees);
}

static struct orch_difference tested(double mean, double standard_error, double degrees, size_t a,
                                     size_t b, bool paired)
{
    double half = half_width(standard_error, degrees, 1);
    struct orch_difference d = {.mean.mid = mean,
                                .mean.low = mean - half,
                                .mean.high = mean + half,
                                .count_a = a,
                                .count_b = b,
                                .is_paired = paired,
                                .standard_error = standard_error,
                                .degrees = degrees,
                                .comparisons = 1,
                                .p = two_sided_p(mean, standard_error, degrees)};
    d.p_corrected = d.p;
    d.is_more_than_noise = d.p < ORCH_NOISE_LEVEL;
    return d;
}

double orch_satterthwaite(double variance_a, size_t count_a, double variance_b, size_t count_b)
{
    const double n = (double)count_a, m = (double)count_b, sum = variance_a + variance_b;
    if (!(sum > 0))
        return n + m - 2;
    const double share = variance_a / sum, rest = variance_b / sum; /* squares cannot overflow */
    return 1 / (share * share / (n - 1) + rest * rest / (m - 1));
}

struct orch_difference orch_difference_welch(const double *a, size_t count_a, const double *b,
                                             size_t count_b)
{
    struct orch_stat x = orch_stat_of(a, count_a), y = orch_stat_of(b, count_b);
    double mean = y.mean - x.mean;
    if (x.count < 2 || y.count < 2)
        return tested(mean, NAN, NAN, x.count, y.count, false);
    double vx = x.sd * x.sd / (double)x.count, vy = y.sd * y.sd / (double)y.count;
    double degrees = orch_satterthwaite(vx, x.count, vy, y.count);
    return tested(mean, sqrt(vx + vy), degrees, x.count, y.count, false);
}

struct orch_difference orch_difference_paired(const double *a, const double *b, size_t count)
{
    g_autofree double *differences = g_new(double, count + 1);
    for (size_t i = 0; i < count; i++)
        differences[i] = b[i] - a[i];
    struct orch_stat stat = orch_stat_of(differences, count);
    double pairs = (double)stat.count;
    return tested(stat.mean, stat.sd / sqrt(pairs), pairs - 1, stat.count, stat.count, true);
}

struct orch_difference orch_difference_turned(const struct orch_difference *difference)
{
    struct orch_difference turned = *difference;
    turned.mean.mid = -difference->mean.mid;
    turned.mean.low = -difference->mean.high;
    turned.mean.high = -difference->mean.low;
    turned.count_a = difference->count_b;
    turned.count_b = difference->count_a;
    return turned;
}

const char *orch_difference_test(const struct orch_difference *difference)
{
    return isnan(difference->p)    ? "-"
           : difference->is_pooled ? "Tukey's range"
           : difference->is_paired ? "paired t"
                                   : "Welch's t";
}

void orch_difference_allow_for(struct orch_difference *d, size_t comparisons)
{
    if (isnan(d->p) || comparisons < 1)
        return;
    double half = half_width(d->standard_error, d->degrees, comparisons);
    d->comparisons = comparisons;
    d->mean.low = d->mean.mid - half;
    d->mean.high = d->mean.mid + half;
    d->p_corrected = fmin(1, d->p * (double)comparisons);
    d->is_more_than_noise = d->p_corrected < ORCH_NOISE_LEVEL;
}
