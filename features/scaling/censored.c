/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mean over the runs that reached the event alone is too low, because those that would have taken
 * longest are missing in it. The median needs no times of censored runs as long as they are fewer
 * than half: they only have to be longer than the median.
 *
 * The logarithm of a log-normal time is normal with variance v, and its coefficient of variation is
 * sqrt(exp(v) - 1), which grows with v. The ends of the chi-square interval of v therefore give the
 * exact interval of the coefficient (Koopmans, Owen and Rosenblatt 1964). The bootstrap was not
 * used: with 5 runs it covers far less than it says. */
#include "features/scaling/censored.h"

#include "core/stats/stats.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FREEDOM_MOST 1000 /* the interval of more is no narrower: GSL misses quantiles of more */

/* Returns the coefficient of variation of a log-normal variable whose logarithm has variance v. */
static double variation_of(double log_variance)
{
    return sqrt(expm1(log_variance));
}

static void fill_interval(struct orch_censored *out, const double *times)
{
    g_autofree double *logs = g_new(double, out->reached);
    for (size_t i = 0; i < out->reached; i++)
        logs[i] = log(times[i]);
    struct orch_stat stat = orch_stat_of(logs, out->reached);
    double freedom = fmin((double)out->reached - 1, FREEDOM_MOST),
           squares = freedom * stat.sd * stat.sd;
    if (!(out->high > out->low) || !(squares > 0))
        return;
    out->log_variance = stat.sd * stat.sd;
    out->cv_low = variation_of(squares / gsl_cdf_chisq_Pinv(0.975, freedom));
    out->cv_high = variation_of(squares / gsl_cdf_chisq_Pinv(0.025, freedom));
}

/* Returns the median over all runs, of which the censored ones are the longest; NaN when these are
 * half of them or more. */
static double median_of(const double *times, size_t reached, size_t runs)
{
    g_autofree double *all = g_new(double, runs);
    for (size_t i = 0; i < runs; i++)
        all[i] = i < reached ? times[i] : (double)INFINITY;
    double median = orch_reals_median(all, runs);
    return isfinite(median) ? median : (double)NAN;
}

struct orch_censored orch_censored_of(const double *times, size_t reached, size_t censored)
{
    const double none = (double)NAN;
    struct orch_censored out = {
        reached + censored, reached, none, none, none, none, none, none, none, none};
    if (!reached)
        return out;
    struct orch_stat stat = orch_stat_of(times, reached);
    out.median = median_of(times, reached, out.runs);
    out.low = stat.min;
    out.high = stat.max;
    out.mean = stat.mean;
    if (reached < 2)
        return out;
    out.cv = stat.sd / stat.mean;
    fill_interval(&out, times);
    return out;
}

double orch_censored_same_variation(const struct orch_censored *a, const struct orch_censored *b)
{
    const double ratio = a->log_variance / b->log_variance;
    if (!(ratio > 0) || !isfinite(ratio))
        return (double)NAN;
    const double first = (double)a->reached - 1, second = (double)b->reached - 1;
    const double above = gsl_cdf_fdist_Q(ratio, first, second);
    return 2 * fmin(above, 1 - above);
}
