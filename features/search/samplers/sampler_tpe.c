/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tree-structured Parzen estimators (Bergstra, Bardenet, Bengio and Kegl 2011; the constants are
 * those that Watanabe 2023, arXiv:2304.11127, lists for Optuna): the best tenth of the trials gives
 * a density l, all others a density g, one for each parameter by itself; of 24 values drawn from l
 * the one with the largest l/g is taken. A parameter of a condition learns from the trials in which
 * it exists. Trials that failed or are running count as not good, which keeps parallel choices
 * apart. */
#include "features/search/samplers/sampler.h"
#include "lib/base/random.h"
#include "lib/base/reals.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#define STARTUP 10 /* random trials before the densities say anything */
#define CANDIDATES 24
#define GOOD_SHARE 0.1
#define GOOD_MAX 25
#define FULL_WEIGHT 25 /* the newest trials of a density have their full weight */
#define NARROWEST 100  /* a kernel is at least 1/100 of the range wide */

/* A mixture of normal densities cut off at 0 and 1; the last one is the prior. Of choices: the
 * probability of each. */
struct density {
    size_t count;
    double *center, *width, *weight; /* weights sum to 1 */
};

static void density_clear(struct density *density)
{
    g_free(density->center);
}

/* Weights of n trials in their order: the oldest fade when there are many. */
static void weigh(double *out, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double old = n > FULL_WEIGHT ? (double)(n - FULL_WEIGHT) : 0;
        out[i] = (double)i >= old ? 1
                 : old > 1        ? 1.0 / (double)n + (1 - 1.0 / (double)n) * (double)i / (old - 1)
                                  : 1.0 / (double)n;
    }
}

/* The distance to the farther of the two neighbours among the centers, as each kernel's width. */
static void widen(struct density *density)
{
    size_t n = density->count;
    g_autofree double *sorted = g_memdup2(density->center, n * sizeof *sorted);
    orch_reals_sort(sorted, n);
    double narrowest = 1.0 / fmin(NARROWEST, (double)n);
    for (size_t i = 0; i < n; i++) {
        const double *at =
            bsearch(&density->center[i], sorted, n, sizeof *sorted, orch_compare_reals);
        double below = at > sorted ? at[0] - at[-1] : 0;
        double above = at < sorted + n - 1 ? at[1] - at[0] : 0;
        density->width[i] = CLAMP(fmax(below, above), narrowest, 1);
    }
    density->width[n - 1] = 1;
}

/* The density of the values of one parameter. */
static struct density density_of(const double *values, size_t n)
{
    struct density density = {.count = n + 1};
    density.center = g_new(double, 3 * (n + 1));
    density.width = density.center + n + 1;
    density.weight = density.width + n + 1;
    for (size_t i = 0; i < n; i++)
        density.center[i] = values[i];
    density.center[n] = 0.5;
    weigh(density.weight, n);
    density.weight[n] = 1;
    double sum = 0;
    for (size_t i = 0; i <= n; i++)
        sum += density.weight[i];
    for (size_t i = 0; i <= n; i++)
        density.weight[i] /= sum;
    widen(&density);
    return density;
}

static double draw(const struct density *density, uint64_t *random)
{
    double left = orch_random_unit(random);
    size_t i = 0;
    for (; i + 1 < density->count && left >= density->weight[i]; i++)
        left -= density->weight[i];
    double center = density->center[i], width = density->width[i];
    double low = gsl_cdf_ugaussian_P(-center / width);
    double high = gsl_cdf_ugaussian_P((1 - center) / width);
    double at =
        center + width * gsl_cdf_ugaussian_Pinv(low + orch_random_unit(random) * (high - low));
    return CLAMP(at, 0, 1 - 0x1p-53);
}

static double density_at(const struct density *density, double unit)
{
    double sum = 0;
    for (size_t i = 0; i < density->count; i++) {
        double center = density->center[i], width = density->width[i];
        double z = (unit - center) / width;
        double inside =
            gsl_cdf_ugaussian_P((1 - center) / width) - gsl_cdf_ugaussian_P(-center / width);
        sum += density->weight[i] * exp(-z * z / 2) / (width * inside);
    }
    return sum;
}

/* The probabilities of choices among values, with one more trial spread over all of them. */
static void shares_of(const struct orch_space_param *param, const double *values, size_t n,
                      double *out)
{
    unsigned choices = param->choices->len;
    g_autofree double *weight = g_new(double, n + 1);
    weigh(weight, n);
    double sum = 1;
    for (unsigned k = 0; k < choices; k++)
        out[k] = 1.0 / choices;
    for (size_t i = 0; i < n; i++) {
        out[orch_space_choice(param, values[i])] += weight[i];
        sum += weight[i];
    }
    for (unsigned k = 0; k < choices; k++)
        out[k] /= sum;
}

static double best_choice(const struct orch_space_param *param, const double *good, size_t goods,
                          const double *other, size_t others, uint64_t *random)
{
    double l[ORCH_SPACE_CHOICES_MAX], g[ORCH_SPACE_CHOICES_MAX], best = -HUGE_VAL;
    unsigned chosen = 0, choices = param->choices->len;
    shares_of(param, good, goods, l);
    shares_of(param, other, others, g);
    for (int i = 0; i < CANDIDATES; i++) {
        double left = orch_random_unit(random);
        unsigned k = 0;
        for (; k + 1 < choices && left >= l[k]; k++)
            left -= l[k];
        if (l[k] / g[k] > best) {
            best = l[k] / g[k];
            chosen = k;
        }
    }
    return (chosen + 0.5) / choices;
}

static double best_number(const double *good, size_t goods, const double *other, size_t others,
                          uint64_t *random)
{
    struct density l = density_of(good, goods), g = density_of(other, others);
    double best = -HUGE_VAL, chosen = 0.5;
    for (int i = 0; i < CANDIDATES; i++) {
        double unit = draw(&l, random);
        double ratio = log(density_at(&l, unit)) - log(density_at(&g, unit));
        if (ratio > best) {
            best = ratio;
            chosen = unit;
        }
    }
    density_clear(&l);
    density_clear(&g);
    return chosen;
}

/* Marks the best of the ended trials. */
static void mark_good(const struct orch_sampling *sampling, bool *out)
{
    size_t n;
    g_autofree const struct orch_sampled **ended = orch_sampling_best(sampling, &n);
    size_t good = (size_t)fmin(ceil(GOOD_SHARE * (double)n), GOOD_MAX);
    for (size_t i = 0; i < good; i++)
        out[ended[i] - sampling->trials] = true;
}

void orch_sample_tpe(const struct orch_sampling *sampling, double *out)
{
    if (orch_sampling_count(sampling, ORCH_SAMPLED_ENDED) < STARTUP) {
        orch_sample_random(sampling, out);
        return;
    }
    uint64_t random = orch_sampling_random(sampling);
    g_autofree bool *is_good = g_new0(bool, sampling->count);
    mark_good(sampling, is_good);
    g_autofree double *good = g_new(double, 2 * sampling->count);
    double *other = good + sampling->count;
    for (unsigned p = 0; p < sampling->space->params->len; p++) {
        const struct orch_space_param *param = orch_space_param(sampling->space, p);
        size_t goods = 0, others = 0;
        for (size_t i = 0; i < sampling->count; i++) {
            double unit = sampling->trials[i].point[p];
            if (!isnan(unit) && is_good[i])
                good[goods++] = unit;
            else if (!isnan(unit))
                other[others++] = unit;
        }
        out[p] = param->kind == ORCH_SPACE_CHOICE
                     ? best_choice(param, good, goods, other, others, &random)
                     : best_number(good, goods, other, others, &random);
        if (!orch_space_exists(sampling->space, p, out))
            out[p] = NAN;
    }
    orch_space_snap(sampling->space, out);
}
