/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A top-two rule. The leader b is the arm with the largest mean, its challenger the arm i that may
 * most likely be the better one, the smallest
 *
 *   (mean_b - mean_i)^2 / (2 (v_b / n_b + v_i / n_i)) + ln n_i,
 *
 * the transportation cost, improved (TCI: Jourdan et al. 2022, "Top two algorithms revisited"). Its
 * first term is the rate at which the chance of a wrong winner falls (Glynn and Juneja 2004); the
 * second brings back an arm whose few values were unlucky. The repeat goes to the one of the two
 * whose n + 1 lowers the sum of the variances most. In the limit that balances the rates, as OCBA
 * does (Chen and Lin 2011), without a number of repeats that each arm has to begin with.
 * bench/arm_rules.c compares it with OCBA and with equal repeats.
 *
 * A few values say little of an arm's own scatter: its variance is drawn to that of all arms
 * together, as if PRIOR values had had it. Trials that run count as values with the arm's mean. */
#include "features/search/best_arm.h"

#include "core/stats/anytime.h"
#include "core/stats/stats.h"

#include <math.h>

#define PRIOR 3.0         /* degrees of freedom by which the common variance counts */
#define DEGREES_LEAST 3.0 /* of the common variance, before it is relied on */
#define FIRST 3           /* arms that are repeated until then */

/* The variance of all arms within themselves, and its degrees of freedom. */
static double common_variance(const struct orch_arm *arms, size_t count, double *out_degrees)
{
    double squares = 0, degrees = 0;
    for (size_t i = 0; i < count; i++) {
        if (arms[i].count < 2)
            continue;
        squares += (double)(arms[i].count - 1) * arms[i].sd * arms[i].sd;
        degrees += (double)(arms[i].count - 1);
    }
    *out_degrees = degrees;
    return degrees > 0 ? squares / degrees : (double)NAN;
}

static double variance_of(const struct orch_arm *arm, double common)
{
    double own = (double)arm->count - 1;
    double squares = own > 0 ? own * arm->sd * arm->sd : 0;
    return (PRIOR * common + squares) / (PRIOR + own);
}

static double size_of(const struct orch_arm *arm)
{
    return (double)(arm->count + arm->pending);
}

size_t orch_best_arm_leader(const struct orch_arm *arms, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (arms[i].mean > arms[best].mean)
            best = i;
    return best;
}

/* The number of arms that are better than one. */
static size_t rank_of(const struct orch_arm *arms, size_t count, size_t which)
{
    size_t rank = 0;
    for (size_t i = 0; i < count; i++)
        rank += arms[i].mean > arms[which].mean || (arms[i].mean == arms[which].mean && i < which);
    return rank;
}

/* While the scatter is not known, the first arms take turns; the others follow when these may not
 * go on. */
static size_t next_of_first(const struct orch_arm *arms, size_t count)
{
    size_t best = count, best_rank = 0;
    double best_size = 0;
    for (size_t i = 0; i < count; i++) {
        size_t rank = rank_of(arms, count, i);
        double size = size_of(&arms[i]) + (rank < FIRST ? 0 : 1e9);
        if (!arms[i].may_go_on)
            continue;
        if (best == count || size < best_size || (size == best_size && rank < best_rank)) {
            best = i;
            best_rank = rank;
            best_size = size;
        }
    }
    return best;
}

/* How much one more value lowers the variance of the mean. */
static double gain_of(const struct orch_arm *arm, double common)
{
    double n = size_of(arm);
    return arm->may_go_on ? variance_of(arm, common) / (n * (n + 1)) : -1;
}

size_t orch_best_arm_next(const struct orch_arm *arms, size_t count)
{
    double degrees, common = common_variance(arms, count, &degrees);
    if (degrees < DEGREES_LEAST || count < 2)
        return next_of_first(arms, count);
    size_t leader = orch_best_arm_leader(arms, count), best = count;
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (i == leader || (!arms[i].may_go_on && !arms[leader].may_go_on))
            continue;
        double gap = arms[leader].mean - arms[i].mean;
        double variance = variance_of(&arms[leader], common) / size_of(&arms[leader]) +
                          variance_of(&arms[i], common) / size_of(&arms[i]);
        double rate =
            variance > 0 ? gap * gap / variance / 2 + log(size_of(&arms[i])) : (double)INFINITY;
        if (rate > least || (rate == least && best < count))
            continue;
        least = rate;
        best = gain_of(&arms[leader], common) > gain_of(&arms[i], common) ? leader : i;
    }
    return best;
}

bool orch_best_arm_is_beaten(const struct orch_arm *arms, size_t count, size_t which)
{
    double degrees, common = common_variance(arms, count, &degrees);
    size_t leader = orch_best_arm_leader(arms, count);
    if (which == leader || degrees < DEGREES_LEAST)
        return false;
    double gap = arms[leader].mean - arms[which].mean;
    double error = sqrt(variance_of(&arms[leader], common) / (double)arms[leader].count +
                        variance_of(&arms[which], common) / (double)arms[which].count);
    /* equal values within each arm do not show how much the next one may differ */
    double size = 1 / (1 / (double)arms[leader].count + 1 / (double)arms[which].count);
    return error > 0 && orch_anytime_log_e_of_gap(gap, error, degrees, size) >=
                            log((double)(count - 1) / ORCH_NOISE_LEVEL);
}
