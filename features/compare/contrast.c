/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Run-to-run variation is closer to a factor than to a sum (a busy machine slows everything by
 * some per cent), so positive numbers are compared by their logarithms: the mean difference is the
 * logarithm of the ratio of geometric means.
 *
 * For pairs, p is that of the t test behind the interval. For two samples both are those of the
 * Mann-Whitney test, which assumes no distribution; times have long tails. The interval holds the
 * shifts that the test does not refuse, and ends at two of the differences of a value of B and one
 * of A (Moses 1953; Lehmann 1963). With few runs that test cannot get below 0.05 for any data (3
 * and 3: 0.1), and with very many the differences are too many: then Welch's test is used.
 *
 * References: Welch 1947; Mann, Whitney 1947 (the recurrence of the exact distribution). The number
 * of runs needed is the usual (t[0.975] + t[0.8]) sd sqrt(k / n) <= shift, with n's own degrees of
 * freedom (Cohen's tables: d = 1 takes 17 and 17, d = 0.5 takes 64 and 64). */
#include "features/compare/contrast.h"

#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 0.05
#define POWER 0.8
#define NEEDED_MAX 1000000
/* With fewer values on both sides the exact distribution is used, as in R. */
#define EXACT_MAX 50
/* With more pairs of values there is no interval of ranks. */
#define RANK_PAIRS_MAX 1000000

/* ---- Mann and Whitney ------------------------------------------------------------------------ */

struct ranked {
    double value;
    bool is_b;
};

/* Counts the orders of m and n values that have U = u, for u = 0 .. m n. These are the
 * coefficients of the Gaussian binomial, multiplied and divided factor by factor. */
static double *count_orders(size_t m, size_t n)
{
    size_t most = m * n;
    double *count = g_new0(double, most + 1);
    count[0] = 1;
    for (size_t i = 1; i <= m; i++) {
        for (size_t u = most; u >= n + i; u--) /* multiply by 1 - q^(n+i) */
            count[u] -= count[u - n - i];
        for (size_t u = i; u <= most; u++) /* divide by 1 - q^i */
            count[u] += count[u - i];
    }
    return count;
}

static double exact_p(size_t m, size_t n, double u)
{
    g_autofree double *count = count_orders(m, n);
    double all = 0, tail = 0, least = fmin(u, (double)(m * n) - u);
    for (size_t i = 0; i <= m * n; i++) {
        all += count[i];
        if ((double)i <= least)
            tail += count[i];
    }
    return fmin(1, 2 * tail / all);
}

static double normal_p(size_t m, size_t n, double u, double ties)
{
    double x = (double)m, y = (double)n, total = x + y;
    double variance = x * y / 12 * (total + 1 - ties / (total * (total - 1)));
    if (!(variance > 0))
        return NAN;
    double distance = fmax(0, fabs(u - x * y / 2) - 0.5);
    return fmin(1, 2 * gsl_cdf_ugaussian_Q(distance / sqrt(variance)));
}

/* Two-sided p of so many pairs in which B is larger. */
static double p_of(size_t m, size_t n, double u, double ties)
{
    return ties > 0 || m >= EXACT_MAX || n >= EXACT_MAX ? normal_p(m, n, u, ties)
                                                        : exact_p(m, n, u);
}

/* Returns in how many pairs B is larger, equal ones counted by half; `*out_ties` receives the sum
 * of t^3 - t over groups of t equal values. */
static double count_larger(const double *a, size_t count_a, const double *b, size_t count_b,
                           double *out_ties)
{
    size_t total = count_a + count_b;
    g_autofree struct ranked *all = g_new(struct ranked, total);
    for (size_t i = 0; i < total; i++)
        all[i] = (struct ranked){i < count_a ? a[i] : b[i - count_a], i >= count_a};
    qsort(all, total, sizeof *all, orch_compare_reals);
    double rank_sum = 0, ties = 0; /* of B; sum of t^3 - t over groups of t equal values */
    for (size_t i = 0; i < total;) {
        size_t end = i + 1, of_b = all[i].is_b;
        for (; end < total && orch_compare_reals(&all[i], &all[end]) == 0; end++)
            of_b += all[end].is_b;
        double equal = (double)(end - i);
        rank_sum += (double)of_b * ((double)(i + 1 + end) / 2);
        ties += equal * equal * equal - equal;
        i = end;
    }
    *out_ties = ties;
    return rank_sum - (double)count_b * (double)(count_b + 1) / 2;
}

double orch_mann_whitney(const double *a, size_t count_a, const double *b, size_t count_b)
{
    if (!count_a || !count_b)
        return NAN;
    double ties, u = count_larger(a, count_a, b, count_b, &ties);
    return p_of(count_a, count_b, u, ties);
}

/* Returns how many of the differences lie beyond each end of the interval: fewer would be refused
 * by the test at this level. 0: the test refuses nothing. */
static size_t count_beyond(size_t m, size_t n, double ties, double level)
{
    size_t low = 0,
           high = m * n / 2 + 1; /* p of low - 1 is below the level, p of high - 1 is not */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(p_of(m, n, (double)middle - 1, ties) < level ? &low : &high) = middle;
    }
    return low;
}

/* Finds the shifts of B against A that the Mann-Whitney test does not refuse. False: it refuses
 * none with so few values, or there are too many. */
static bool find_shifts(const double *x, size_t m, const double *y, size_t n, size_t comparisons,
                        struct orch_interval *out)
{
    double ties;
    if (m > RANK_PAIRS_MAX / n)
        return false;
    count_larger(x, m, y, n, &ties);
    size_t beyond = count_beyond(m, n, ties, LEVEL / (double)MAX(comparisons, (size_t)1));
    if (!beyond)
        return false;
    g_autofree double *differences = g_new(double, m *n);
    for (size_t i = 0; i < m * n; i++)
        differences[i] = y[i % n] - x[i / n];
    orch_reals_sort(differences, m * n);
    out->mid = (differences[(m * n - 1) / 2] + differences[m * n / 2]) / 2;
    out->low = differences[beyond - 1];
    out->high = differences[m * n - beyond];
    return true;
}

/* ---- sample size ----------------------------------------------------------------------------- */

/* Returns how many standard errors a shift must have to be detected with power 0.8. */
static double wanted_errors(double degrees, double level)
{
    return gsl_cdf_tdist_Qinv(level / 2, degrees) + gsl_cdf_tdist_Pinv(POWER, degrees);
}

size_t orch_runs_needed(double shift, double sd, bool is_paired)
{
    double size = fabs(shift);
    size_t low = 1, high = 2; /* low is too few, high is enough */
    double sides = is_paired ? 1 : 2;
    if (!(size > 0) || !isfinite(sd))
        return 0;
    while (high <= NEEDED_MAX &&
           wanted_errors(sides * (double)(high - 1), LEVEL) * sd * sqrt(sides / (double)high) >
               size) {
        low = high;
        high *= 2;
    }
    while (high - low > 1) {
        size_t n = (low + high) / 2;
        bool does =
            wanted_errors(sides * (double)(n - 1), LEVEL) * sd * sqrt(sides / (double)n) <= size;
        *(does ? &high : &low) = n;
    }
    return high > NEEDED_MAX ? 0 : high;
}

/* ---- contrasts ------------------------------------------------------------------------------- */

static bool all_positive(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] > 0))
            return false;
    return true;
}

/* Copies the values, or their logarithms for a ratio. The caller frees. */
static double *in_terms(const double *values, size_t count, bool is_ratio)
{
    double *out = g_new(double, count + 1);
    for (size_t i = 0; i < count; i++)
        out[i] = is_ratio ? log(values[i]) : values[i];
    return out;
}

static double back(const struct orch_contrast *c, double value)
{
    return c->is_ratio ? expm1(value) : value;
}

static double corrected_p(double p, size_t comparisons)
{
    return fmin(1, p * (double)MAX(comparisons, (size_t)1));
}

static void fill(struct orch_contrast *c, struct orch_difference of, size_t comparisons)
{
    size_t count = MAX(comparisons, (size_t)1);
    orch_difference_allow_for(&of, count);
    c->change.mid = back(c, of.mean.mid);
    c->change.low = back(c, of.mean.low);
    c->change.high = back(c, of.mean.high);
    c->shows = back(c, wanted_errors(of.degrees, LEVEL / (double)count) * of.standard_error);
    c->p = of.p;
    c->adjusted = of.p_corrected;
}

static struct orch_contrast begin(const double *a, size_t count_a, const double *b, size_t count_b)
{
    struct orch_contrast c = {.a = orch_stat_of(a, count_a),
                              .b = orch_stat_of(b, count_b),
                              .change.mid = NAN,
                              .change.low = NAN,
                              .change.high = NAN,
                              .p = NAN,
                              .adjusted = NAN,
                              .shows = NAN,
                              .sd = NAN};
    c.is_ratio = count_a && count_b && all_positive(a, count_a) && all_positive(b, count_b);
    return c;
}

struct orch_contrast orch_contrast_paired(const double *a, const double *b, size_t count,
                                          size_t comparisons)
{
    struct orch_contrast c = begin(a, count, b, count);
    g_autofree double *x = in_terms(a, count, c.is_ratio), *y = in_terms(b, count, c.is_ratio);
    c.pairs = count;
    struct orch_difference of = orch_difference_paired(x, y, count);
    c.change.mid = back(&c, of.mean.mid);
    if (of.count_a < 2 || !isfinite(of.standard_error))
        return c;
    c.sd = of.standard_error * sqrt((double)count);
    c.test = ORCH_TEST_PAIRED_T;
    fill(&c, of, comparisons);
    return c;
}

struct orch_contrast orch_contrast_samples(const double *a, size_t count_a, const double *b,
                                           size_t count_b, size_t comparisons)
{
    struct orch_contrast c = begin(a, count_a, b, count_b);
    g_autofree double *x = in_terms(a, count_a, c.is_ratio), *y = in_terms(b, count_b, c.is_ratio);
    struct orch_difference of = orch_difference_welch(x, count_a, y, count_b);
    c.change.mid = back(&c, of.mean.mid);
    if (count_a < 2 || count_b < 2 || !isfinite(c.change.mid) || !isfinite(of.standard_error))
        return c;
    struct orch_stat s = orch_stat_of(x, count_a), t = orch_stat_of(y, count_b);
    double n = (double)count_a, m = (double)count_b;
    c.sd = sqrt((s.sd * s.sd * (n - 1) + t.sd * t.sd * (m - 1)) / (n + m - 2));
    c.test = ORCH_TEST_WELCH;
    fill(&c, of, comparisons);
    double ranks = orch_mann_whitney(a, count_a, b, count_b);
    struct orch_interval shifts;
    if (!isnan(ranks) && find_shifts(x, count_a, y, count_b, comparisons, &shifts)) {
        c.change.mid = back(&c, shifts.mid);
        c.change.low = back(&c, shifts.low);
        c.change.high = back(&c, shifts.high);
        c.p = ranks;
        c.adjusted = corrected_p(ranks, comparisons);
        c.test = ORCH_TEST_MANN_WHITNEY;
    }
    return c;
}

void orch_contrast_forget_test(struct orch_contrast *c)
{
    c->test = ORCH_TEST_NONE;
    c->change.low = c->change.high = c->p = c->adjusted = c->shows = c->sd = (double)NAN;
}

/* ---- classification -------------------------------------------------------------------------- */

/* Returns the smallest change that matters: as a fraction for a ratio, else in the metric's unit.
 */
static double least_change(const struct orch_contrast *c, double least)
{
    return c->is_ratio ? least : least * fabs(c->a.mean);
}

enum orch_contrast_result orch_contrast_result(const struct orch_contrast *c, double least)
{
    if (isnan(c->p))
        return ORCH_CONTRAST_UNDECIDED;
    const bool is_one_value = c->a.min == c->b.max && c->a.max == c->b.min;
    if (!(c->change.low < 0) && !(c->change.high > 0) &&
        (c->test != ORCH_TEST_MANN_WHITNEY ||
         is_one_value)) /* many ties: the interval is a point */
        return ORCH_CONTRAST_EQUIVALENT;
    if (c->adjusted < LEVEL && (c->change.low > 0 || c->change.high < 0))
        return ORCH_CONTRAST_DIFFERENT;
    return c->shows <= least_change(c, least) ? ORCH_CONTRAST_IDENTICAL : ORCH_CONTRAST_UNDECIDED;
}

size_t orch_contrast_more(const struct orch_contrast *c, double least)
{
    if (isnan(c->sd))
        return 0;
    double wanted = fmax(fabs(c->change.mid), least_change(c, least));
    size_t needed = orch_runs_needed(c->is_ratio ? log1p(wanted) : wanted, c->sd, c->pairs > 0);
    size_t have = c->pairs ? c->pairs : MIN(c->a.count, c->b.count);
    return !needed ? 0 : needed > have ? needed - have : 1;
}
