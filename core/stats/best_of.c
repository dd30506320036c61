/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Both are integrals over the normal distribution, by the midpoint rule: the integrands are smooth
 * and vanish at the ends, where that rule is as good as any. */
#include "core/stats/best_of.h"

#include "core/stats/numbers.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#define FAR 9.0           /* standard deviations */
#define STEPS 300         /* over -FAR to FAR */
#define LUCK_LEVEL 0.05   /* equal settings lead by as much at most so often: it is no luck */
#define SCALE_STEPS 64    /* quantiles of the standard error's own distribution */
#define DEGREES_MOST 1000 /* beyond them it is as good as normal; GSL misses quantiles */

double orch_best_of_excess(size_t count)
{
    const double width = 2 * FAR / STEPS, n = (double)count;
    double sum = 0;
    if (!count)
        return (double)NAN;
    for (int i = 0; i < STEPS; i++) {
        double x = -FAR + (i + 0.5) * width;
        sum += x * n * gsl_ran_ugaussian_pdf(x) * pow(gsl_cdf_ugaussian_P(x), n - 1) * width;
    }
    return sum;
}

/* The same for a standard error that is known: the best is at x, all others below x - lead. */
static double tail(double lead, size_t count)
{
    const double width = 2 * FAR / STEPS, n = (double)count;
    double sum = 0;
    for (int i = 0; i < STEPS; i++) {
        double x = -FAR + (i + 0.5) * width;
        sum += n * gsl_ran_ugaussian_pdf(x) * pow(gsl_cdf_ugaussian_P(x - lead), n - 1) * width;
    }
    return fmin(1, sum);
}

double orch_best_of_lead_tail(double lead, size_t count, double degrees)
{
    double sum = 0;
    if (count < 2 || !(degrees > 0) || isnan(lead))
        return (double)NAN;
    if (isinf(lead))
        return 0;
    if (degrees > DEGREES_MOST)
        return tail(lead, count);
    for (int i = 0; i < SCALE_STEPS; i++) {
        double square = gsl_cdf_chisq_Pinv((i + 0.5) / SCALE_STEPS, degrees) / degrees;
        sum += tail(lead * sqrt(square), count);
    }
    return sum / SCALE_STEPS;
}

struct orch_noise orch_noise_of(const GArray *const *settings, size_t count)
{
    double squares = 0, degrees = 0;
    for (size_t i = 0; i < count; i++) {
        const double *values = (const double *)(const void *)settings[i]->data;
        const guint n = settings[i]->len;
        double sum = 0;
        for (guint k = 0; k < n; k++)
            sum += values[k];
        for (guint k = 0; k < n; k++)
            squares += pow(values[k] - sum / n, 2);
        degrees += n > 1 ? n - 1 : 0;
    }
    return (struct orch_noise){degrees > 0 ? sqrt(squares / degrees) : (double)NAN, degrees};
}

/* ---- words ----------------------------------------------------------------------------------- */

static double lead_tail(const struct orch_best_of *of)
{
    const double runs = 2 / (1.0 / (double)of->best_runs + 1.0 / (double)of->second_runs);
    const double error = of->noise.sd / sqrt(runs);
    return orch_best_of_lead_tail(fabs(of->best - of->second) / error, of->count,
                                  of->noise.degrees);
}

bool orch_best_of_may_be_luck(const struct orch_best_of *of)
{
    return !(of->noise.degrees > 0) || (of->noise.sd > 0 && lead_tail(of) > LUCK_LEVEL);
}

static void append_lead(GString *text, const struct orch_best_of *of)
{
    const double p = lead_tail(of);
    g_autofree char *lead = orch_number_format(fabs(of->best - of->second));
    g_autofree char *p_text = orch_p_format(p);
    g_string_append_printf(text,
                           ". If all %zu %s were equally good, the best of them would still lead "
                           "by %s or more in ",
                           of->count, of->noun, lead);
    if (p > LUCK_LEVEL)
        g_string_append_printf(text, "%.0f %% of cases", 100 * p);
    else
        g_string_append_printf(text, "few cases (p %s)", p_text);
}

char *orch_best_of_text(const struct orch_best_of *of)
{
    const double excess =
        orch_best_of_excess(of->count) * of->noise.sd / sqrt((double)of->best_runs);
    if (!(of->noise.degrees > 0))
        return g_strdup_printf("chosen as the best of %zu %s, this value is partly luck. Only "
                               "repeats can show by how much",
                               of->count, of->noun);
    if (!(of->noise.sd > 0))
        return g_strdup("repeats gave equal values, so this value is not luck");
    g_autofree char *excess_text = orch_number_format(excess);
    g_autofree char *left =
        orch_number_format(of->larger_wins ? of->best - excess : of->best + excess);
    GString *text = g_string_new(NULL);
    g_string_append_printf(text,
                           "chosen as the best of %zu %s, this value is partly luck, on average by "
                           "at most %s. Without that luck it is %s",
                           of->count, of->noun, excess_text, left);
    append_lead(text, of);
    return g_string_free(text, FALSE);
}
