/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fixed t test errs in 5 % of comparisons if it is asked once. Asked after every pair, it errs
 * in a third of them. This test uses an e-process instead, the Bayes factor of the t
 * test with the right Haar prior on the scale and a normal one on the effect:
 *
 *   d_i ~ N(mu, sigma^2),  mu / sigma ~ N(0, 1 / RHO),  p(sigma) ~ 1 / sigma
 *   E_n = sqrt(RHO / (n + RHO)) (sum d^2 / (sum d^2 - (sum d)^2 / (n + RHO)))^(n/2)
 *
 * Its distribution under mu = 0 does not depend on sigma, and it is a martingale of the differences
 * up to their scale, beginning at 1 (Grünwald, de Heide and Koolen 2024, "Safe testing", JRSS B 86;
 * Lindon, Ham, Tingley and Bojinov 2022, "Anytime-valid linear models", arXiv 2210.08589; the
 * normal mixture is that of Robbins 1970, Ann. Math. Statist. 41). So by Ville's inequality E_n
 * ever reaches 1 / LEVEL with probability LEVEL at most. The means mu0 at which the test of d - mu0
 * has not reached it form the confidence sequence:
 *
 *   n (mean - mu0)^2 (1 - K RHO / (n + RHO)) < (K - 1) S,   S = sum (d - mean)^2,
 *   K = (sqrt((n + RHO) / RHO) / LEVEL)^(2/n)
 *
 * unbounded while the bracket is not above 0: that is so for n < 4.
 *
 * The error of 5 % is proved for independent, normal differences only. Symmetry about 0, which two
 * runs that scatter alike give, is not enough: four differences of 1 or -1 by a coin are equal in
 * 12.5 % of samples. bench/sure_pairs.c measures the error for other noise: it is below 5 % where
 * the differences are symmetric and have many values, and 1.4 to 9 times as large where one
 * side is skewed or the runs depend on each other.
 *
 * While the differences have fewer than ORCH_DISTINCT_LEAST distinct values, their scatter is not
 * relied on. The interval is unbounded, so that no equality is sure, and a difference is sure by
 * the signs of those that are not 0, under any distribution that is symmetric about 0: with k of m
 * above 0 and p the chance of that, p uniform on 0 to 1,
 *
 *   E_m = 2^m B(k + 1, m - k + 1),
 *
 * counted where the mean lies on the side of the larger number (Ville 1939).
 *
 * bench/sure_pairs.c chose RHO, too: of 0.1 to 4, 0.3 has the least ratio to the sample size of the
 * fixed test in the worst of the effects 0.5, 1 and 2. */
#include "core/stats/anytime.h"

#include "core/stats/stats.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#define LEVEL ORCH_NOISE_LEVEL
#define RHO 0.3   /* 1 / variance of the prior of the effect mu / sigma */
#define PATHS 400 /* simulated continuations */

/* A running sum (Welford 1962), so that a large mean costs no digits of the scatter. */
struct running {
    double count, mean, squares; /* squares: of the distances from the mean */
    double above, below;         /* numbers of values on either side of 0 */
    struct orch_distinct distinct;
};

static void running_add(struct running *r, double value)
{
    double distance = value - r->mean;
    r->count += 1;
    r->mean += distance / r->count;
    r->squares += distance * (value - r->mean);
    r->above += value > 0;
    r->below += value < 0;
    orch_distinct_add(&r->distinct, value);
}

static bool shows_scatter(const struct running *r)
{
    return r->distinct.count == ORCH_DISTINCT_LEAST;
}

/* ln E_m of the signs. */
static double log_e_of_signs(const struct running *r)
{
    double log_e = (r->above + r->below) * M_LN2 + gsl_sf_lnbeta(r->above + 1, r->below + 1);
    return (r->above - r->below) * r->mean > 0 ? log_e : fmin(log_e, 0);
}

/* ln E_n of the differences minus `at`. */
static double log_e(const struct running *r, double at)
{
    double n = r->count, shift = (r->mean - at) * (r->mean - at) * n;
    double all = r->squares + shift, left = r->squares + shift * RHO / (n + RHO);
    double ratio = all > 0 ? log(all / left) : 0;
    return n > 0 ? log(RHO / (n + RHO)) / 2 + n / 2 * ratio : 0;
}

static double half_width(const struct running *r)
{
    if (!shows_scatter(r))
        return INFINITY;
    double n = r->count;
    double k = exp(2 / n * (log((n + RHO) / RHO) / 2 - log(LEVEL)));
    double bracket = 1 - k * RHO / (n + RHO);
    return bracket > 0 ? sqrt((k - 1) * r->squares / (n * bracket)) : (double)INFINITY;
}

static struct orch_anytime summary_of(const struct running *r)
{
    double half = half_width(r);
    return (struct orch_anytime){.count = (size_t)r->count,
                                 .mean = r->count > 0 ? r->mean : (double)NAN,
                                 .sd =
                                     r->count > 1 ? sqrt(r->squares / (r->count - 1)) : (double)NAN,
                                 .distinct = r->distinct.count,
                                 .log_e = shows_scatter(r) ? log_e(r, 0) : log_e_of_signs(r),
                                 .interval = {.mid = r->count > 0 ? r->mean : (double)NAN,
                                              .low = r->mean - half,
                                              .high = r->mean + half}};
}

struct orch_anytime orch_anytime_of(const double *differences, size_t count)
{
    struct running r = {0};
    for (size_t i = 0; i < count; i++)
        running_add(&r, differences[i]);
    return summary_of(&r);
}

enum orch_anytime_verdict orch_anytime_verdict(const struct orch_anytime *so_far, double least)
{
    bool is_by_signs = so_far->distinct < ORCH_DISTINCT_LEAST && so_far->log_e >= -log(LEVEL);
    if (is_by_signs || so_far->interval.low > 0 || so_far->interval.high < 0)
        return ORCH_ANYTIME_DIFFERENT;
    return so_far->interval.low > -least && so_far->interval.high < least ? ORCH_ANYTIME_ALIKE
                                                                          : ORCH_ANYTIME_OPEN;
}

enum orch_anytime_verdict orch_anytime_decide(const double *differences, size_t count, double least,
                                              struct orch_anytime *out)
{
    struct running r = {0};
    enum orch_anytime_verdict verdict = ORCH_ANYTIME_OPEN;
    *out = summary_of(&r);
    for (size_t i = 0; i < count && verdict == ORCH_ANYTIME_OPEN; i++) {
        running_add(&r, differences[i]);
        *out = summary_of(&r);
        verdict = orch_anytime_verdict(out, least);
    }
    return verdict;
}

/* ---- how many more ------------------------------------------------------------------------------
 */

/* Continues with simulated differences until there is a verdict, and returns how many there were.
 */
static double simulate(struct running r, double mean, double sd, double least, gsl_rng *dice)
{
    for (unsigned more = 1; more <= ORCH_ANYTIME_AHEAD; more++) {
        running_add(&r, mean + gsl_ran_gaussian_ziggurat(dice, sd));
        double half = half_width(&r), low = r.mean - half, high = r.mean + half;
        if (low > 0 || high < 0 || (low > -least && high < least))
            return more;
    }
    return INFINITY;
}

size_t orch_anytime_more(const struct orch_anytime *so_far, double least, double power)
{
    if (so_far->count < 3 || so_far->distinct < MIN(so_far->count, (size_t)ORCH_DISTINCT_LEAST))
        return 0;
    const double n = (double)so_far->count;
    const struct running r = {.count = n,
                              .mean = so_far->mean,
                              .squares = so_far->sd * so_far->sd * (n - 1),
                              .distinct = {.count = ORCH_DISTINCT_LEAST}};
    double counts[PATHS];
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(dice, 35);
    for (int i = 0; i < PATHS; i++)
        counts[i] = simulate(r, so_far->mean, so_far->sd, least, dice);
    gsl_rng_free(dice);
    orch_reals_sort(counts, PATHS);
    double count = counts[(int)ceil(power * PATHS) - 1];
    return isinf(count) ? 0 : (size_t)count;
}
