/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/stats/quotient.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* The quotients q for which mean(y) - q mean(x) is not significantly different from 0 lie between
 * the roots of a q^2 - 2 b q + c. */
static void set_interval(const double *x, const double *y, struct orch_quotient *q)
{
    double n = (double)q->count, t = gsl_cdf_tdist_Pinv(0.975, n - 1);
    double xx = gsl_stats_variance_m(x, 1, q->count, q->x);
    double yy = gsl_stats_variance_m(y, 1, q->count, q->y);
    double xy = gsl_stats_covariance_m(x, 1, y, 1, q->count, q->x, q->y);
    double a = q->x * q->x - t * t * xx / n, b = q->x * q->y - t * t * xy / n;
    double c = q->y * q->y - t * t * yy / n;
    if (a <= 0)
        return;
    double root = sqrt(fmax(0, b * b - a * c));
    q->value.low = (b - root) / a;
    q->value.high = (b + root) / a;
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
        set_interval(x, y, &q);
    return q;
}
