/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/scaling/quotient.h"

#include "core/stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* The quotients q for which y - q x is not significantly different from 0 lie between the roots of
 * a q^2 - 2 b q + c. xx, yy and xy are the variances and the covariance of the means x and y. */
static void set_interval(struct orch_quotient *q, double xx, double yy, double xy, double degrees)
{
    double t = gsl_cdf_tdist_Pinv(0.975, degrees);
    double a = q->x * q->x - t * t * xx, b = q->x * q->y - t * t * xy;
    double c = q->y * q->y - t * t * yy;
    if (a <= 0)
        return;
    double root = sqrt(fmax(0, b * b - a * c));
    q->value.low = (b - root) / a;
    q->value.high = (b + root) / a;
}

static void set_interval_of_pairs(const double *x, const double *y, struct orch_quotient *q)
{
    double n = (double)q->count;
    set_interval(q, gsl_stats_variance_m(x, 1, q->count, q->x) / n,
                 gsl_stats_variance_m(y, 1, q->count, q->y) / n,
                 gsl_stats_covariance_m(x, 1, y, 1, q->count, q->x, q->y) / n, n - 1);
}

struct orch_quotient orch_quotient_of(const double *x, const double *y, size_t count)
{
    const double none = (double)NAN;
    struct orch_quotient q = {.count = count,
                              .x = none,
                              .y = none,
                              .value.mid = none,
                              .value.low = none,
                              .value.high = none};
    if (!count)
        return q;
    q.x = gsl_stats_mean(x, 1, count);
    q.y = gsl_stats_mean(y, 1, count);
    q.value.mid = q.x != 0 ? q.y / q.x : none;
    if (count > 1)
        set_interval_of_pairs(x, y, &q);
    return q;
}

struct orch_quotient orch_quotient_of_samples(const double *x, size_t count_x, const double *y,
                                              size_t count_y)
{
    const struct orch_stat a = orch_stat_of(x, count_x), b = orch_stat_of(y, count_y);
    const double none = (double)NAN;
    struct orch_quotient q = {.count = a.count < b.count ? a.count : b.count,
                              .x = a.mean,
                              .y = b.mean,
                              .value.mid = b.mean / a.mean,
                              .value.low = none,
                              .value.high = none};
    if (q.count < 2)
        return q;
    const double xx = a.sd * a.sd / (double)a.count, yy = b.sd * b.sd / (double)b.count;
    const double of_x = q.value.mid * q.value.mid * xx;
    if (isfinite(of_x + yy))
        set_interval(&q, xx, yy, 0, orch_satterthwaite(of_x, a.count, yy, b.count));
    return q;
}
