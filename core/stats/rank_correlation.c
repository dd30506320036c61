/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ranks are compared within groups, because the level of y may differ between them: a target that
 * is easy has high accuracies with every source. A permutation within groups needs no distribution.
 */
#include "core/stats/rank_correlation.h"

#include "lib/base/random.h"

#include "core/stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#define PERMUTATIONS 9999
#define PAIRS_MIN 3
#define INTERVAL_PAIRS_MIN 5
/* Two means that differ by less are equal: rho is a sum of few doubles near 1. */
#define TOLERANCE 1e-12

static bool is_constant(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] != values[0])
            return false;
    return true;
}

double orch_rank_correlation(const struct orch_rank_group *g)
{
    if (g->count < PAIRS_MIN || is_constant(g->x, g->count) || is_constant(g->y, g->count))
        return (double)NAN;
    g_autofree double *work = g_new(double, 2 * g->count);
    return gsl_stats_spearman(g->x, 1, g->y, 1, g->count, work);
}

static void shuffle(double *values, size_t count, uint64_t *state)
{
    for (size_t i = count; i > 1; i--) {
        const size_t j =
            (size_t)(orch_random_next(state) % i); /* counts are small: no bias that matters */
        const double value = values[i - 1];
        values[i - 1] = values[j];
        values[j] = value;
    }
}

/* Appends the rho of each group that has one. Returns their number. */
static size_t rhos_of(const struct orch_rank_group *groups, size_t count, double *out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const double rho = orch_rank_correlation(&groups[i]);
        if (isfinite(rho))
            out[found++] = rho;
    }
    return found;
}

static double mean_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

static double permutation_p(const struct orch_rank_group *groups, size_t count, double observed,
                            uint64_t seed)
{
    g_autofree struct orch_rank_group *mixed = g_memdup2(groups, sizeof *groups * count);
    g_autofree double *rhos = g_new(double, count);
    size_t total = 0, at = 0, extreme = 1;
    for (size_t i = 0; i < count; i++)
        total += groups[i].count;
    g_autofree double *y = g_new(double, total + 1);
    for (size_t i = 0; i < count; at += groups[i++].count)
        mixed[i].y = memcpy(y + at, groups[i].y, sizeof *y * groups[i].count);
    for (int round = 0; round < PERMUTATIONS; round++) {
        at = 0;
        for (size_t i = 0; i < count; at += groups[i++].count)
            shuffle(y + at, groups[i].count, &seed);
        const size_t found = rhos_of(mixed, count, rhos);
        extreme += fabs(mean_of(rhos, found)) >= fabs(observed) - TOLERANCE;
    }
    return (double)extreme / (PERMUTATIONS + 1);
}

static size_t largest(const struct orch_rank_group *groups, size_t count)
{
    size_t pairs = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(orch_rank_correlation(&groups[i])))
            pairs = MAX(pairs, groups[i].count);
    return pairs;
}

struct orch_rank_mean orch_rank_correlation_mean(const struct orch_rank_group *groups, size_t count,
                                                 uint64_t seed)
{
    const double none = (double)NAN;
    struct orch_rank_mean mean = {.rho.mid = none, .rho.low = none, .rho.high = none, .p = none};
    g_autofree double *rhos = g_new(double, count + 1);
    mean.groups = rhos_of(groups, count, rhos);
    if (!mean.groups)
        return mean;
    mean.rho.mid = mean_of(rhos, mean.groups);
    mean.p = permutation_p(groups, count, mean.rho.mid, seed);
    const size_t pairs = largest(groups, count);
    if (mean.groups > 1) {
        const struct orch_stat stat = orch_stat_of(rhos, mean.groups);
        mean.rho.low = fmax(-1, mean.rho.mid - stat.half);
        mean.rho.high = fmin(1, mean.rho.mid + stat.half);
    } else if (pairs >= INTERVAL_PAIRS_MIN && fabs(mean.rho.mid) < 1) {
        const double half = gsl_cdf_ugaussian_Pinv(0.975) *
                            sqrt((1 + mean.rho.mid * mean.rho.mid / 2) / ((double)pairs - 3));
        mean.rho.low = tanh(atanh(mean.rho.mid) - half);
        mean.rho.high = tanh(atanh(mean.rho.mid) + half);
    }
    return mean;
}
