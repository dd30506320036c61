/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fixed interval errs in 5 % of cases if it is looked at once. Looked at after every value, it
 * errs in a third of them. This one is made of tests by betting (Ville 1939; Howard and Ramdas
 * 2022, "Sequential estimation of quantiles with applications to A/B testing and best-arm
 * identification", Bernoulli 28): a median m has been refused when a bet on the side of m on which
 * each next value lies has ever multiplied the stake by 1 / LEVEL. The bet that the values lie
 * above m with a probability p, p of a Beta(SHAPE, SHAPE) distribution, has with k of n values
 * above m the likelihood
 *
 *   q = B(k + SHAPE, n - k + SHAPE) / B(SHAPE, SHAPE),
 *
 * and E_n = q / max_t p_t(sides), 0.5 <= t <= ORCH_ANYTIME_ALIKE_SIDES, where p_t is the likelihood
 * of sides that are equally likely, and that of the value before with probability t: a half, then t
 * for each neighbour alike and 1 - t for each other one. It is at most the ratio to the true t, a
 * martingale that begins at 1 ("universal inference": Wasserman, Ramdas and Balakrishnan 2020, PNAS
 * 117). So by Ville's inequality E_n ever reaches 1 / LEVEL with probability LEVEL at most,
 * whatever the distribution, and no mean or variance need exist. The interval ends where the
 * medians that are refused from either side end; its ends are values of the sample.
 *
 * Independent values have t = 0.5, and pay for the others: with t fixed at 0.5 the interval would
 * be bounded from the sixth value on and not the ninth, and 18 % of AR(1) noise of 0.4 be missed
 * within 60 values. bench/sure_pairs.c measures both, and chose SHAPE: a larger one needs more
 * values for a clear difference, a smaller one for a small difference.
 *
 * While the values have fewer than ORCH_DISTINCT_LEAST distinct ones, the interval is unbounded:
 * the rare value may not have come yet. A difference is sure then by its sides of 0. */
#include "core/stats/anytime.h"

#include "core/stats/rank_correlation.h"
#include "core/stats/stats.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#define LEVEL ORCH_NOISE_LEVEL
#define SHAPE 0.35
#define LOG_BETA 1.6082952077607984 /* ln B(SHAPE, SHAPE) */
#define PATHS 400                   /* simulated continuations */

/* The sides of a point on which the values lie, in their order. Values at the point count on
 * neither. */
struct sides {
    double point;
    double above, below, alike; /* alike: on the side of the one before */
    int last;                   /* 1: above, -1: below, 0: none yet */
};

static void sides_add(struct sides *sides, double value)
{
    int side = (value > sides->point) - (value < sides->point);
    if (!side)
        return;
    sides->above += side > 0;
    sides->below += side < 0;
    sides->alike += side == sides->last;
    sides->last = side;
}

static double log_e(const struct sides *sides)
{
    double n = sides->above + sides->below;
    if (n < 1)
        return 0;
    double t = n > 1 ? sides->alike / (n - 1) : 0.5;
    t = fmin(fmax(t, 0.5), ORCH_ANYTIME_ALIKE_SIDES);
    double log_q = gsl_sf_lngamma(sides->above + SHAPE) + gsl_sf_lngamma(sides->below + SHAPE) -
                   gsl_sf_lngamma(n + 2 * SHAPE) - LOG_BETA;
    return log_q + M_LN2 - sides->alike * log(t) - (n - 1 - sides->alike) * log1p(-t);
}

/* Whether the point is refused as the median, with most values above it (sign 1) or below (-1). */
static bool is_refused(const struct sides *sides, int sign)
{
    double n = sides->above + sides->below, lead = sign * (sides->above - sides->below);
    /* log_e is at most n times the divergence from a half, and that at most (lead / n)^2 ln 2 */
    return lead > 0 && lead * lead * M_LN2 >= -log(LEVEL) * n && log_e(sides) >= -log(LEVEL);
}

static struct sides sides_of(const double *values, size_t count, double point)
{
    struct sides sides = {.point = point};
    for (size_t i = 0; i < count; i++)
        sides_add(&sides, values[i]);
    return sides;
}

/* The end of the interval below (sign 1) or above (-1) the median: the last of the sorted values
 * from that side on which all points before it are refused. */
static double end_of(const double *values, const double *sorted, size_t count, int sign)
{
    double end = sign > 0 ? -(double)INFINITY : (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        double next = sorted[sign > 0 ? i : count - 1 - i];
        double point = isinf(end) ? end : end / 2 + next / 2;
        if (next == end)
            continue;
        struct sides sides = sides_of(values, count, point);
        if (!is_refused(&sides, sign))
            break;
        end = next;
    }
    return end;
}

/* ---- what is noticed ------------------------------------------------------------------------- */

#define NOTICED 3.5    /* standard errors */
#define FAR 8          /* median absolute deviations */
#define NOTICE_LEAST 6 /* values */

static bool is_far(const double *others, size_t count, double value)
{
    double median = orch_reals_median_of(others, count);
    g_autofree double *distances = g_new(double, count);
    for (size_t i = 0; i < count; i++)
        distances[i] = fabs(others[i] - median);
    orch_reals_sort(distances, count);
    double distance = fabs(value - median);
    return distance > FAR * distances[count / 2] && distance > 2 * distances[count - 1];
}

static bool has_trend(const double *values, size_t count)
{
    g_autofree double *order = g_new(double, count);
    const struct orch_rank_group group = {order, values, count};
    for (size_t i = 0; i < count; i++)
        order[i] = (double)i;
    return fabs(orch_rank_correlation(&group)) * sqrt((double)count - 1) > NOTICED;
}

static enum orch_anytime_notice notice_of(const double *values, size_t count, double median)
{
    if (count < NOTICE_LEAST)
        return ORCH_ANYTIME_NOTHING;
    if (is_far(values + 1, count - 1, values[0]))
        return ORCH_ANYTIME_WARM_UP;
    if (has_trend(values, count))
        return ORCH_ANYTIME_TREND;
    struct sides sides = sides_of(values, count, median);
    double pairs = sides.above + sides.below - 1, t = ORCH_ANYTIME_ALIKE_SIDES;
    return sides.alike - t * pairs > NOTICED * sqrt(t * (1 - t) * pairs) ? ORCH_ANYTIME_DEPENDENCE
                                                                         : ORCH_ANYTIME_NOTHING;
}

const char *orch_anytime_notice_text(enum orch_anytime_notice notice)
{
    static const char *const texts[] = {
        [ORCH_ANYTIME_NOTHING] = NULL,
        [ORCH_ANYTIME_WARM_UP] = "the first value is far from all others (a warm-up?)",
        [ORCH_ANYTIME_TREND] = "the values have a trend",
        [ORCH_ANYTIME_DEPENDENCE] = "each value resembles the one before it",
    };
    return texts[notice];
}

/* ---- a sample -------------------------------------------------------------------------------- */

struct orch_anytime orch_anytime_of(const double *values, size_t count)
{
    struct orch_distinct distinct = {.count = 0};
    struct orch_anytime out = {
        .count = count, .mean = NAN, .interval = {.low = -INFINITY, .mid = NAN, .high = INFINITY}};
    if (!count)
        return out;
    for (size_t i = 0; i < count; i++)
        orch_distinct_add(&distinct, values[i]);
    const struct sides of_zero = sides_of(values, count, 0);
    g_autofree double *sorted = g_memdup2(values, count * sizeof *values);
    out.mean = orch_stat_of(values, count).mean;
    out.distinct = distinct.count;
    out.log_e = log_e(&of_zero);
    out.interval.mid = orch_reals_median(sorted, count);
    orch_reals_sort(sorted, count);
    if (distinct.count == ORCH_DISTINCT_LEAST) {
        out.interval.low = end_of(values, sorted, count, 1);
        out.interval.high = end_of(values, sorted, count, -1);
        out.notice = notice_of(values, count, out.interval.mid);
        out.side = (out.interval.low > 0) - (out.interval.high < 0);
    } else {
        out.side = is_refused(&of_zero, 1) - is_refused(&of_zero, -1);
    }
    return out;
}

enum orch_anytime_verdict orch_anytime_verdict(const struct orch_anytime *so_far, double least)
{
    const struct orch_interval *at = &so_far->interval;
    if (so_far->side)
        return so_far->side * so_far->mean > 0 ? ORCH_ANYTIME_DIFFERENT : ORCH_ANYTIME_OPEN;
    return at->low > -least && at->high < least ? ORCH_ANYTIME_ALIKE : ORCH_ANYTIME_OPEN;
}

/* The sides of 0, -least and least, on which a verdict depends. */
struct watch {
    struct sides sides[3];
};

static struct watch watch_new(double least)
{
    return (struct watch){{{.point = 0}, {.point = -least}, {.point = least}}};
}

/* Adds a difference, and returns whether a verdict is possible now. */
static bool watch_add(struct watch *watch, double value)
{
    for (int i = 0; i < 3; i++)
        sides_add(&watch->sides[i], value);
    return is_refused(&watch->sides[0], 1) || is_refused(&watch->sides[0], -1) ||
           (is_refused(&watch->sides[1], 1) && is_refused(&watch->sides[2], -1));
}

enum orch_anytime_verdict orch_anytime_decide(const double *differences, size_t count, double least,
                                              struct orch_anytime *out)
{
    struct watch watch = watch_new(least);
    for (size_t n = 1; n <= count; n++) {
        if (!watch_add(&watch, differences[n - 1]))
            continue;
        *out = orch_anytime_of(differences, n);
        enum orch_anytime_verdict verdict = orch_anytime_verdict(out, least);
        if (verdict != ORCH_ANYTIME_OPEN)
            return verdict;
    }
    *out = orch_anytime_of(differences, count);
    return ORCH_ANYTIME_OPEN;
}

/* ---- how many more --------------------------------------------------------------------------- */

/* Continues with simulated differences until there is a verdict, and returns how many there were.
 */
static double simulate(struct watch watch, double mean, double sd, gsl_rng *dice)
{
    for (unsigned more = 1; more <= ORCH_ANYTIME_AHEAD; more++)
        if (watch_add(&watch, mean + gsl_ran_gaussian_ziggurat(dice, sd)))
            return more;
    return INFINITY;
}

size_t orch_anytime_more(const double *differences, size_t count, double least, double power)
{
    if (count < 3 || !orch_sample_shows_scatter(differences, count))
        return 0;
    const struct orch_stat stat = orch_stat_of(differences, count);
    struct watch begin = watch_new(least);
    for (size_t i = 0; i < count; i++)
        watch_add(&begin, differences[i]);
    double counts[PATHS];
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(dice, 35);
    for (int i = 0; i < PATHS; i++)
        counts[i] = simulate(begin, stat.mean, stat.sd, dice);
    gsl_rng_free(dice);
    orch_reals_sort(counts, PATHS);
    double more = counts[(int)ceil(power * PATHS) - 1];
    return isinf(more) ? 0 : (size_t)more;
}

/* ---- two means ------------------------------------------------------------------------------- */

/* The Bayes factor of the t test with the right Haar prior on the scale and a normal one of
 * variance 1 / RHO on the effect, a martingale under normal noise (Lindon, Ham, Tingley and Bojinov
 * 2022, "Anytime-valid linear models", arXiv 2210.08589). One side has half of its error, so twice
 * its value. The mean of n values of AR(1) noise has the variance of about n / DEPENDENCE
 * independent ones. */
#define RHO 0.3
#define DEPENDENCE (7.0 / 3) /* (1 + 0.4) / (1 - 0.4) */

double orch_anytime_log_e_of_gap(double gap, double error, double degrees, double size)
{
    double share = gap * gap / (error * error * DEPENDENCE * degrees), shrunk = RHO / (size + RHO);
    if (!(gap > 0))
        return 0;
    return M_LN2 + log(shrunk) / 2 + (degrees + 1) / 2 * (log1p(share) - log1p(share * shrunk));
}
