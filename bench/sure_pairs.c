/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The test behind 'orch compare --until-sure' (core/stats/anytime.h), on simulated pairs:
 *
 *   null [SIMULATIONS]   how often 60 pairs without a difference ever end with a difference, beside
 *                        the fixed t test asked after each pair, and how many of these ends have
 *                        the warning of an outlier
 *   size [SIMULATIONS]   mean number of pairs over that of the fixed t test of equal power, for
 *                        several scales of the mixture
 *   more [SIMULATIONS]   the foreseen number of further pairs over the one that decides with 80 %
 */
#include "core/stats/anytime.h"
#include "core/stats/stats.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 60
#define LONGEST 400
#define LEVEL ORCH_NOISE_LEVEL

/* ---- no difference ------------------------------------------------------------------------------
 */

/* The differences of pairs whose means are equal. */
typedef void (*fill_fn)(gsl_rng *dice, double *out);

static void fill_normal(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = gsl_ran_gaussian_ziggurat(dice, sqrt(2));
}

static void fill_log_normal(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = exp(gsl_ran_gaussian_ziggurat(dice, 1)) - exp(gsl_ran_gaussian_ziggurat(dice, 1));
}

static void fill_t3(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = gsl_ran_tdist(dice, 3) - gsl_ran_tdist(dice, 3);
}

/* A run succeeds with probability a half. */
static void fill_binary(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = (gsl_rng_uniform(dice) < 0.5) - (gsl_rng_uniform(dice) < 0.5);
}

static void fill_coin(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = gsl_rng_uniform(dice) < 0.5 ? -1 : 1;
}

/* The share of 100 images, of which a run gets each right with 0.97. */
static void fill_images(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = (double)gsl_ran_binomial(dice, 0.97, 100) - gsl_ran_binomial(dice, 0.97, 100);
}

/* A does not scatter, and B has the same mean. */
static void fill_exponential(gsl_rng *dice, double *out)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = gsl_ran_exponential(dice, 1) - 1;
}

/* Both scatter by 1; a share of B's runs is 20 worse, and B is as good in the mean. */
static void fill_collapses(gsl_rng *dice, double *out, double share)
{
    for (int i = 0; i < PAIRS; i++)
        out[i] = gsl_ran_gaussian_ziggurat(dice, sqrt(2)) + 20 * share -
                 (gsl_rng_uniform(dice) < share ? 20 : 0);
}

static void fill_collapses_5(gsl_rng *dice, double *out)
{
    fill_collapses(dice, out, 0.05);
}

static void fill_collapses_10(gsl_rng *dice, double *out)
{
    fill_collapses(dice, out, 0.1);
}

/* Each difference is correlated with the one before it. */
static void fill_ar1(gsl_rng *dice, double *out)
{
    const double r = 0.4;
    for (int i = 0; i < PAIRS; i++)
        out[i] = i ? r * out[i - 1] + gsl_ran_gaussian_ziggurat(dice, sqrt(1 - r * r))
                   : gsl_ran_gaussian_ziggurat(dice, 1);
}

/* B is the best of 20 equal settings by the mean of five repeats, which count again. */
static void fill_chosen(gsl_rng *dice, double *out)
{
    enum { SETTINGS = 20, REPEATS = 5 };
    double best = -INFINITY;
    fill_normal(dice, out);
    for (int k = 0; k < SETTINGS; k++) {
        double own[REPEATS], sum = 0;
        for (int i = 0; i < REPEATS; i++)
            sum += own[i] = gsl_ran_gaussian_ziggurat(dice, 1);
        if (sum <= best)
            continue;
        best = sum;
        for (int i = 0; i < REPEATS; i++)
            out[i] = own[i];
    }
    for (int i = 0; i < REPEATS; i++)
        out[i] -= gsl_ran_gaussian_ziggurat(dice, 1);
}

static bool fixed_ever(const double *values)
{
    for (size_t n = 2; n <= PAIRS; n++) {
        struct orch_stat stat = orch_stat_of(values, n);
        if (fabs(stat.mean) > stat.half)
            return true;
    }
    return false;
}

static void null(gsl_rng *dice, int simulations)
{
    static const struct {
        const char *name;
        fill_fn fill;
    } noises[] = {{"normal", fill_normal},
                  {"log-normal, sigma 1", fill_log_normal},
                  {"t, 3 degrees", fill_t3},
                  {"share of 100 images", fill_images},
                  {"binary", fill_binary},
                  {"1 or -1", fill_coin},
                  {"B exponential", fill_exponential},
                  {"B collapses in 5 %", fill_collapses_5},
                  {"B collapses in 10 %", fill_collapses_10},
                  {"AR(1), 0.4", fill_ar1},
                  {"B best of 20", fill_chosen}};
    printf("%-20s  %10s  %10s  %14s\n", "noise of a run", "until sure", "of it warned",
           "t test, always");
    for (size_t k = 0; k < G_N_ELEMENTS(noises); k++) {
        int anytime = 0, fixed = 0, warned = 0;
        for (int i = 0; i < simulations; i++) {
            double values[PAIRS];
            struct orch_anytime end;
            noises[k].fill(dice, values);
            bool wrong = orch_anytime_decide(values, PAIRS, 1e-9, &end) == ORCH_ANYTIME_DIFFERENT;
            anytime += wrong;
            warned += wrong && end.distinct == ORCH_DISTINCT_LEAST &&
                      orch_sample_has_outlier(values, end.count);
            fixed += fixed_ever(values);
        }
        printf("%-20s  %8.2f %%  %10.0f %%  %12.1f %%\n", noises[k].name,
               100.0 * anytime / simulations, 100.0 * warned / fmax(anytime, 1),
               100.0 * fixed / simulations);
    }
}

/* ---- sample size --------------------------------------------------------------------------------
 */

/* The pair at which the test with this scale of its mixture is sure; LONGEST + 1: never. */
static int stop_of(const double *values, double rho)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < LONGEST; i++) {
        double n = i + 1;
        sum += values[i];
        squares += values[i] * values[i];
        double e =
            log(rho / (n + rho)) / 2 + n / 2 * log(squares / (squares - sum * sum / (n + rho)));
        if (i && e >= -log(LEVEL))
            return i + 1;
    }
    return LONGEST + 1;
}

/* Power of the two-sided t test of n pairs, by simulation. */
static double fixed_power(double *const *values, int simulations, size_t n)
{
    int found = 0;
    for (int i = 0; i < simulations; i++) {
        struct orch_stat stat = orch_stat_of(values[i], n);
        found += fabs(stat.mean) > stat.half;
    }
    return (double)found / simulations;
}

/* Mean number of pairs of a test that gives up at the pair where it has this power, over n. */
static double ratio_of(double *const *values, int simulations, double rho, double power, double n)
{
    g_autofree double *stops = g_new(double, simulations);
    double sum = 0;
    for (int i = 0; i < simulations; i++)
        stops[i] = stop_of(values[i], rho);
    orch_reals_sort(stops, (size_t)simulations);
    double last = stops[(int)ceil(power * simulations) - 1];
    for (int i = 0; i < simulations; i++)
        sum += fmin(stops[i], last);
    return sum / simulations / n;
}

static void size(gsl_rng *dice, int simulations)
{
    static const double effects[] = {0.5, 1, 2}, powers[] = {0.8, 0.9, 0.95};
    static const double rhos[] = {0.1, 0.2, 0.3, 0.5, 1, 2, 4};
    double **values = g_new(double *, simulations);
    printf("%6s %6s %6s ", "effect", "power", "fixed");
    for (size_t k = 0; k < G_N_ELEMENTS(rhos); k++)
        printf("  rho %-4g", rhos[k]);
    printf("\n");
    for (size_t e = 0; e < G_N_ELEMENTS(effects); e++) {
        for (int i = 0; i < simulations; i++) {
            values[i] = g_new(double, LONGEST);
            for (int j = 0; j < LONGEST; j++)
                values[i][j] = effects[e] + gsl_ran_gaussian_ziggurat(dice, 1);
        }
        for (size_t p = 0; p < G_N_ELEMENTS(powers); p++) {
            size_t n = 2;
            while (fixed_power(values, simulations, n) < powers[p])
                n++;
            /* of the power that n pairs have, which is somewhat more than was asked for */
            double power = fixed_power(values, simulations, n);
            printf("%6g %6.3f %6zu ", effects[e], power, n);
            for (size_t k = 0; k < G_N_ELEMENTS(rhos); k++)
                printf("  %8.2f", ratio_of(values, simulations, rhos[k], power, (double)n));
            printf("\n");
        }
        for (int i = 0; i < simulations; i++)
            g_free(values[i]);
    }
    g_free(values);
}

/* ---- how many more ------------------------------------------------------------------------------
 */

/* How many further pairs after these decide with 80 %, when the mean and the sd are known. */
static double truly_more(const double *values, size_t count, double effect, double least,
                         gsl_rng *dice)
{
    enum { PATHS = 400 };
    double stops[PATHS], path[LONGEST + PAIRS];
    memcpy(path, values, count * sizeof *values);
    for (int i = 0; i < PATHS; i++) {
        for (size_t j = count; j < LONGEST + PAIRS; j++)
            path[j] = effect + gsl_ran_gaussian_ziggurat(dice, 1);
        struct orch_anytime end;
        orch_anytime_decide(path, LONGEST + PAIRS, least, &end);
        stops[i] = (double)(end.count - count);
    }
    orch_reals_sort(stops, PATHS);
    return stops[(int)ceil(0.8 * PATHS) - 1];
}

static void more(gsl_rng *dice, int simulations)
{
    static const struct {
        double effect, least;
        size_t looks[4];
    } rows[] = {{0.5, 0.05, {8, 12, 20, 30}},
                {1, 0.05, {4, 6, 8, 12}},
                {2, 0.05, {3, 4, 5, 6}},
                {0, 1, {4, 6, 8, 12}}};
    printf("%6s %5s %5s %8s  %18s  %14s\n", "effect", "pairs", "open", "decides", "foreseen / that",
           "within 1.5");
    for (size_t r = 0; r < G_N_ELEMENTS(rows); r++) {
        for (int k = 0; k < 4; k++) {
            size_t count = rows[r].looks[k];
            g_autoptr(GArray) ratios = g_array_new(FALSE, FALSE, sizeof(double));
            g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(double));
            int within = 0;
            for (int i = 0; i < simulations; i++) {
                double values[PAIRS];
                struct orch_anytime now;
                for (size_t j = 0; j < count; j++)
                    values[j] = rows[r].effect + gsl_ran_gaussian_ziggurat(dice, 1);
                if (orch_anytime_decide(values, count, rows[r].least, &now) != ORCH_ANYTIME_OPEN)
                    continue;
                double truly = truly_more(values, count, rows[r].effect, rows[r].least, dice);
                size_t foreseen = orch_anytime_more(&now, rows[r].least, 0.8);
                double ratio = (foreseen ? (double)foreseen : ORCH_ANYTIME_AHEAD) / truly;
                within += ratio <= 1.5 && ratio >= 1 / 1.5;
                g_array_append_val(ratios, ratio);
                g_array_append_val(counts, truly);
            }
            double *found = (double *)(void *)ratios->data;
            printf("%6g %5zu %5u %8.1f", rows[r].effect, count, ratios->len,
                   orch_reals_median((double *)(void *)counts->data, counts->len));
            orch_reals_sort(found, ratios->len);
            printf("  %5.2f (%.2f..%.2f)  %12.0f %%\n", found[ratios->len / 2],
                   found[ratios->len / 4], found[3 * ratios->len / 4],
                   100.0 * within / ratios->len);
        }
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(gsl_rng *dice, int simulations);
        int simulations;
    } parts[] = {{"null", null, 20000}, {"size", size, 4000}, {"more", more, 400}};
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (argc > 1 && strcmp(argv[1], parts[i].name) == 0)
            parts[i].run(dice, argc > 2 ? atoi(argv[2]) : parts[i].simulations);
    gsl_rng_free(dice);
    return 0;
}
