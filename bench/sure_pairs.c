/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interval behind 'orch compare --until-sure' and `repeat: auto` (core/stats/anytime.h), on
 * simulated values:
 *
 *   null [SIMULATIONS]   how often the interval, looked at after each of 60 values, ever misses the
 *                        median, how often differences of the median 0 end with a difference, and
 *                        how often something is noticed; beside it the t test asked after each
 * value size [SIMULATIONS]   mean number of pairs over that of the fixed t test of equal power more
 * [SIMULATIONS]   the foreseen number of further pairs over the one that decides with 80 %
 */
#include "core/stats/anytime.h"
#include "core/stats/stats.h"
#include "lib/base/reals.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 60
#define LONGEST 400

/* ---- no difference ------------------------------------------------------------------------------
 */

/* Values of the median 0. */
typedef void (*fill_fn)(gsl_rng *dice, double *out);

#define FILL(name, value)                                                                          \
    static void fill_##name(gsl_rng *dice, double *out)                                            \
    {                                                                                              \
        for (int i = 0; i < PAIRS; i++)                                                            \
            out[i] = (value);                                                                      \
    }
FILL(normal, gsl_ran_gaussian_ziggurat(dice, 1))
FILL(log_normal, exp(gsl_ran_gaussian_ziggurat(dice, 1)) - 1)
FILL(exponential, gsl_ran_exponential(dice, 1) - M_LN2)
FILL(t3, gsl_ran_tdist(dice, 3))
FILL(collapses, gsl_ran_gaussian_ziggurat(dice, 1) - (gsl_rng_uniform(dice) < 0.1 ? 20 : -0.1397))
FILL(images, (double)gsl_ran_binomial(dice, 0.97, 100) - gsl_ran_binomial(dice, 0.97, 100))
FILL(binary, (gsl_rng_uniform(dice) < 0.5) - (gsl_rng_uniform(dice) < 0.5))
FILL(coin, gsl_rng_uniform(dice) < 0.5 ? -1 : 1)

/* Each value is correlated with the one before it. */
static void fill_ar1(gsl_rng *dice, double *out)
{
    const double r = 0.4;
    for (int i = 0; i < PAIRS; i++)
        out[i] = i ? r * out[i - 1] + gsl_ran_gaussian_ziggurat(dice, sqrt(1 - r * r))
                   : gsl_ran_gaussian_ziggurat(dice, 1);
}

/* The first value is 30 too large, as of a cold start. */
static void fill_cold(gsl_rng *dice, double *out)
{
    fill_normal(dice, out);
    out[0] += 30;
}

/* By and by the values get larger by four standard deviations. */
static void fill_trend(gsl_rng *dice, double *out)
{
    fill_normal(dice, out);
    for (int i = 0; i < PAIRS; i++)
        out[i] += 4 * ((double)i / (PAIRS - 1) - 0.5);
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

struct errors {
    int missed, wrong, noticed, fixed;
};

/* Looks after each value. */
static void look(const double *values, struct errors *inout)
{
    bool missed = false, wrong = false;
    struct orch_anytime now = {0};
    for (size_t n = 1; n <= PAIRS; n++) {
        now = orch_anytime_of(values, n);
        missed = missed || now.interval.low > 0 || now.interval.high < 0;
        wrong = wrong || orch_anytime_verdict(&now, 1e-9) == ORCH_ANYTIME_DIFFERENT;
    }
    inout->missed += missed;
    inout->wrong += wrong;
    inout->noticed += now.notice != ORCH_ANYTIME_NOTHING;
    inout->fixed += fixed_ever(values);
}

static void null(gsl_rng *dice, int simulations)
{
    static const struct {
        const char *name;
        fill_fn fill;
    } noises[] = {{"normal", fill_normal},
                  {"log-normal, sigma 1", fill_log_normal},
                  {"exponential", fill_exponential},
                  {"t, 3 degrees", fill_t3},
                  {"AR(1), 0.4", fill_ar1},
                  {"10 % collapse", fill_collapses},
                  {"share of 100 images", fill_images},
                  {"binary", fill_binary},
                  {"1 or -1", fill_coin},
                  {"cold start", fill_cold},
                  {"trend of 4 sd", fill_trend}};
    printf("%-20s  %12s  %12s  %8s  %14s\n", "noise", "ever missed", "\"different\"", "noticed",
           "t test, always");
    for (size_t k = 0; k < G_N_ELEMENTS(noises); k++) {
        struct errors errors = {0};
        for (int i = 0; i < simulations; i++) {
            double values[PAIRS];
            noises[k].fill(dice, values);
            look(values, &errors);
        }
        double share = 100.0 / simulations;
        printf("%-20s  %10.2f %%  %10.2f %%  %6.1f %%  %12.1f %%\n", noises[k].name,
               share * errors.missed, share * errors.wrong, share * errors.noticed,
               share * errors.fixed);
    }
}

/* ---- sample size --------------------------------------------------------------------------------
 */

/* The pair at which the comparison is sure of a difference; LONGEST + 1: never. */
static int stop_of(const double *values)
{
    struct orch_anytime end;
    return orch_anytime_decide(values, LONGEST, 1e-9, &end) == ORCH_ANYTIME_DIFFERENT
               ? (int)end.count
               : LONGEST + 1;
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

/* Mean number of pairs of a comparison that gives up at the pair where it has this power. */
static double pairs_of(double *const *values, int simulations, double power)
{
    g_autofree double *stops = g_new(double, simulations);
    double sum = 0;
    for (int i = 0; i < simulations; i++)
        stops[i] = stop_of(values[i]);
    orch_reals_sort(stops, (size_t)simulations);
    double last = stops[(int)ceil(power * simulations) - 1];
    for (int i = 0; i < simulations; i++)
        sum += fmin(stops[i], last);
    return sum / simulations;
}

static void size(gsl_rng *dice, int simulations)
{
    static const double effects[] = {0.5, 1, 2, 4}, powers[] = {0.8, 0.95};
    double **values = g_new(double *, simulations);
    printf("%6s %6s %6s %10s %6s\n", "effect", "power", "fixed", "until sure", "ratio");
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
            double pairs = pairs_of(values, simulations, power);
            printf("%6g %6.3f %6zu %10.1f %6.2f\n", effects[e], power, n, pairs, pairs / (double)n);
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
    } rows[] = {{0.5, 0.05, {8, 20, 30, 40}},
                {1, 0.05, {4, 8, 12, 20}},
                {2, 0.05, {3, 4, 6, 9}},
                {0, 1, {4, 8, 12, 20}}};
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
                size_t foreseen = orch_anytime_more(values, count, rows[r].least, 0.8);
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
    } parts[] = {{"null", null, 20000}, {"size", size, 2000}, {"more", more, 400}};
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (argc > 1 && strcmp(argv[1], parts[i].name) == 0)
            parts[i].run(dice, argc > 2 ? atoi(argv[2]) : parts[i].simulations);
    gsl_rng_free(dice);
    return 0;
}
