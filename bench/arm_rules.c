/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where repeats go when the best of several settings is looked for (core/stats/best_arm.h): how
 * often the setting with the largest mean is the best one after so many trials, with equal repeats,
 * by OCBA (Chen and Lin 2011, the most starving arm) and by orch's rule; and how often the interval
 * of a mean holds that is repeated until it is narrow enough.
 *
 *   bench_arm_rules [SIMULATIONS] */
#include "core/stats/best_arm.h"
#include "core/stats/stats.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ARMS 10
#define LONGEST 4000

struct sweep {
    const char *name;
    double means[ARMS], sds[ARMS];
};

struct arms {
    double values[ARMS][LONGEST];
    size_t counts[ARMS];
};

static void summarize(const struct arms *arms, struct orch_arm *out)
{
    for (int i = 0; i < ARMS; i++) {
        struct orch_stat stat = orch_stat_of(arms->values[i], arms->counts[i]);
        out[i] = (struct orch_arm){
            .count = stat.count, .mean = stat.mean, .sd = stat.sd, .may_go_on = true};
    }
}

static size_t next_equal(const struct orch_arm *arms)
{
    size_t least = 0;
    for (size_t i = 1; i < ARMS; i++)
        if (arms[i].count < arms[least].count)
            least = i;
    return least;
}

/* Each arm begins with three values; then the one that lacks most of its share. */
static size_t next_ocba(const struct orch_arm *arms)
{
    size_t least = next_equal(arms), best = orch_best_arm_leader(arms, ARMS), next = 0;
    double share[ARMS], sum = 0, squares = 0, total = 1, most = -INFINITY;
    if (arms[least].count < 3)
        return least;
    for (size_t i = 0; i < ARMS; i++) {
        double gap = fmax(arms[best].mean - arms[i].mean, 1e-9);
        share[i] = i == best ? 0 : arms[i].sd * arms[i].sd / (gap * gap);
        squares += i == best ? 0 : share[i] * share[i] / (arms[i].sd * arms[i].sd);
        total += (double)arms[i].count;
    }
    share[best] = arms[best].sd * sqrt(squares);
    for (size_t i = 0; i < ARMS; i++)
        sum += share[i];
    for (size_t i = 0; i < ARMS; i++) {
        double lacks = share[i] / sum * total - (double)arms[i].count;
        if (lacks > most) {
            most = lacks;
            next = i;
        }
    }
    return next;
}

static size_t next_orch(const struct orch_arm *arms)
{
    return orch_best_arm_next(arms, ARMS);
}

static const struct {
    const char *name;
    size_t (*next)(const struct orch_arm *arms);
} RULES[] = {{"equal", next_equal}, {"OCBA", next_ocba}, {"orch", next_orch}};

/* Whether the first arm, the best one, leads after so many trials in all. */
static void simulate(const struct sweep *sweep, size_t rule, gsl_rng *dice, const int *totals,
                     int *inout_right)
{
    static struct arms arms;
    struct orch_arm seen[ARMS];
    int done = 0;
    for (int i = 0; i < ARMS; i++)
        arms.counts[i] = 0;
    for (int k = 0; totals[k]; k++) {
        for (; done < totals[k]; done++) {
            size_t at = (size_t)done;
            if (done >= ARMS) {
                summarize(&arms, seen);
                at = RULES[rule].next(seen);
            }
            arms.values[at][arms.counts[at]++] =
                sweep->means[at] + gsl_ran_gaussian_ziggurat(dice, sweep->sds[at]);
        }
        summarize(&arms, seen);
        inout_right[k] += orch_best_arm_leader(seen, ARMS) == 0;
    }
}

static void print_rules(gsl_rng *dice, int simulations)
{
    static const int totals[] = {30, 50, 100, 200, 0};
    struct sweep sweeps[] = {{.name = "steps of 0.5 sd"},
                             {.name = "one better by 1 sd"},
                             {.name = "steps, unequal noise"}};
    for (int i = 0; i < ARMS; i++) {
        sweeps[0].means[i] = sweeps[2].means[i] = -0.5 * i;
        sweeps[1].means[i] = i ? -1 : 0;
        sweeps[0].sds[i] = sweeps[1].sds[i] = 1;
        sweeps[2].sds[i] = i % 2 ? 1.5 : 0.5;
    }
    printf("%-22s %-6s", "ten settings", "rule");
    for (int k = 0; totals[k]; k++)
        printf("  %4d trials", totals[k]);
    printf("\n");
    for (size_t s = 0; s < G_N_ELEMENTS(sweeps); s++) {
        for (size_t r = 0; r < G_N_ELEMENTS(RULES); r++) {
            int right[G_N_ELEMENTS(totals)] = {0};
            for (int i = 0; i < simulations; i++)
                simulate(&sweeps[s], r, dice, totals, right);
            printf("%-22s %-6s", sweeps[s].name, RULES[r].name);
            for (int k = 0; totals[k]; k++)
                printf("  %9.1f %%", 100.0 * right[k] / simulations);
            printf("\n");
        }
    }
}

/* ---- one setting --------------------------------------------------------------------------------
 */

static double draw_normal(gsl_rng *dice)
{
    return gsl_ran_gaussian_ziggurat(dice, 1);
}

static double draw_skewed(gsl_rng *dice)
{
    return gsl_ran_exponential(dice, 1) - 1;
}

/* Repeats a setting until the half width of its interval is below ci of its mean. */
static void print_coverage(gsl_rng *dice, int simulations)
{
    static const double cis[] = {0.01, 0.015, 0.02, 0.03, 0.05};
    static const double scatter = 0.03;
    static const struct {
        const char *name;
        double (*draw)(gsl_rng *dice);
    } noises[] = {{"normal", draw_normal}, {"exponential", draw_skewed}};
    printf("\n%-12s %6s %13s %9s %15s\n", "noise", "ci", "scatter / ci", "repeats",
           "interval holds");
    for (size_t c = 0; c < G_N_ELEMENTS(cis) * G_N_ELEMENTS(noises); c++) {
        const double ci = cis[c % G_N_ELEMENTS(cis)];
        const size_t noise = c / G_N_ELEMENTS(cis);
        int holds = 0;
        double repeats = 0;
        for (int i = 0; i < simulations; i++) {
            double values[LONGEST];
            size_t n = 0;
            struct orch_stat stat;
            do {
                values[n++] = 1 + scatter * noises[noise].draw(dice);
                stat = orch_stat_of(values, n);
            } while (n < 3 || stat.half > ci * fabs(stat.mean));
            holds += fabs(stat.mean - 1) <= stat.half;
            repeats += (double)n;
        }
        printf("%-12s %4g %% %13.2g %9.1f %13.1f %%\n", noises[noise].name, 100 * ci, scatter / ci,
               repeats / simulations, 100.0 * holds / simulations);
    }
}

int main(int argc, char **argv)
{
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    int simulations = argc > 1 ? atoi(argv[1]) : 4000;
    print_rules(dice, simulations);
    print_coverage(dice, simulations);
    gsl_rng_free(dice);
    return 0;
}
