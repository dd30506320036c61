/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeats of the settings of a search (features/search/best_arm.h, anytime.h):
 *
 *   bench_arm_rules rules [SIMULATIONS]   how often the setting with the largest mean is the best
 * one after so many trials, with equal repeats, by OCBA (Chen and Lin 2011, the most starving arm)
 * and by orch's rule bench_arm_rules beaten [SIMULATIONS]  how often the best setting is ever
 * called beaten, and the trials until none may go on bench_arm_rules known [SIMULATIONS]   how
 * often the interval holds the median of a setting that is repeated until it is narrow enough
 */
#include "core/stats/anytime.h"
#include "core/stats/stats.h"
#include "features/search/best_arm.h"

#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- noise --------------------------------------------------------------------------------------
 */

/* A value of the median 0; `before`: of the same setting, NaN for the first. */
typedef double (*draw_fn)(gsl_rng *dice, double before);

static double draw_normal(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_gaussian_ziggurat(dice, 1);
}

static double draw_log_normal(gsl_rng *dice, double before)
{
    (void)before;
    return exp(gsl_ran_gaussian_ziggurat(dice, 1)) - 1;
}

static double draw_exponential(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_exponential(dice, 1) - M_LN2;
}

static double draw_t3(gsl_rng *dice, double before)
{
    (void)before;
    return gsl_ran_tdist(dice, 3);
}

static double draw_ar1(gsl_rng *dice, double before)
{
    return isnan(before) ? gsl_ran_gaussian_ziggurat(dice, 1)
                         : 0.4 * before + gsl_ran_gaussian_ziggurat(dice, sqrt(1 - 0.16));
}

static const struct noise {
    const char *name;
    draw_fn draw;
    int sign; /* -1: bad values are far away */
} NOISES[] = {{"normal", draw_normal, 1},
              {"log-normal", draw_log_normal, 1},
              {"log-normal, bad", draw_log_normal, -1},
              {"exponential", draw_exponential, 1},
              {"exponential, bad", draw_exponential, -1},
              {"t, 3 degrees", draw_t3, 1},
              {"AR(1), 0.4", draw_ar1, 1}};

/* ---- beaten -------------------------------------------------------------------------------------
 */

#define EACH 20 /* repeats at most */

/* Takes one more value of an arm, whose mean is `below` under the best. */
static void take(struct arms *arms, size_t at, const struct noise *noise, double below,
                 gsl_rng *dice)
{
    size_t count = arms->counts[at]++;
    double before = count ? noise->sign * (arms->values[at][count - 1] + below) : (double)NAN;
    arms->values[at][count] = noise->sign * noise->draw(dice, before) - below;
}

/* Repeats the arms until none may go on, and returns whether the first one was ever beaten. */
static bool is_ever_beaten(const struct noise *noise, double step, gsl_rng *dice, double *inout_all)
{
    static struct arms arms;
    struct orch_arm seen[ARMS];
    bool is_beaten = false;
    size_t next = 0;
    for (size_t i = 0; i < ARMS; i++) {
        arms.counts[i] = 0;
        take(&arms, i, noise, step * (double)i, dice);
    }
    while (next < ARMS) {
        summarize(&arms, seen);
        for (size_t i = 0; i < ARMS; i++)
            seen[i].may_go_on = seen[i].count < EACH && !orch_best_arm_is_beaten(seen, ARMS, i);
        is_beaten = is_beaten || orch_best_arm_is_beaten(seen, ARMS, 0);
        next = orch_best_arm_next(seen, ARMS);
        if (next < ARMS)
            take(&arms, next, noise, step * (double)next, dice);
    }
    for (size_t i = 0; i < ARMS; i++)
        *inout_all += (double)arms.counts[i];
    return is_beaten;
}

static void print_beaten(gsl_rng *dice, int simulations)
{
    static const double steps[] = {0, 0.5, 1};
    printf("%-18s %8s %14s %8s\n", "noise", "step", "ever beaten", "trials");
    for (size_t i = 0; i < G_N_ELEMENTS(NOISES) * G_N_ELEMENTS(steps); i++) {
        const struct noise *noise = &NOISES[i / G_N_ELEMENTS(steps)];
        const double step = steps[i % G_N_ELEMENTS(steps)];
        double trials = 0;
        int beaten = 0;
        for (int k = 0; k < simulations; k++)
            beaten += is_ever_beaten(noise, step, dice, &trials);
        printf("%-18s %8g %12.2f %% %8.0f\n", noise->name, step, 100.0 * beaten / simulations,
               trials / simulations);
    }
}

/* ---- one setting --------------------------------------------------------------------------------
 */

/* Repeats a setting until the half width of the median's interval is below ci of the median. */
static bool holds_at_end(const struct noise *noise, double ci, gsl_rng *dice, double *inout_all)
{
    static const double scatter = 0.03;
    double values[LONGEST], last = NAN;
    struct orch_anytime now = {.interval = {.high = INFINITY}};
    size_t n = 0;
    while (n < LONGEST && !(now.interval.high - now.interval.low <= 2 * ci * now.interval.mid)) {
        last = noise->draw(dice, last);
        values[n++] = 1 + scatter * last;
        now = orch_anytime_of(values, n);
    }
    *inout_all += (double)n;
    return now.interval.low <= 1 && now.interval.high >= 1;
}

static void print_known(gsl_rng *dice, int simulations)
{
    static const double cis[] = {0.03, 0.06, 0.3};
    printf("%-18s %6s %13s %9s %15s\n", "noise", "ci", "scatter / ci", "repeats", "interval holds");
    for (size_t i = 0; i < G_N_ELEMENTS(cis) * G_N_ELEMENTS(NOISES); i++) {
        const double ci = cis[i % G_N_ELEMENTS(cis)];
        const struct noise *noise = &NOISES[i / G_N_ELEMENTS(cis)];
        double repeats = 0;
        int holds = 0;
        if (noise->sign < 0)
            continue;
        for (int k = 0; k < simulations; k++)
            holds += holds_at_end(noise, ci, dice, &repeats);
        printf("%-18s %4g %% %13.2g %9.1f %13.1f %%\n", noise->name, 100 * ci, 0.03 / ci,
               repeats / simulations, 100.0 * holds / simulations);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(gsl_rng *dice, int simulations);
    } parts[] = {{"rules", print_rules}, {"beaten", print_beaten}, {"known", print_known}};
    gsl_rng *dice = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (argc > 1 && strcmp(argv[1], parts[i].name) == 0)
            parts[i].run(dice, argc > 2 ? atoi(argv[2]) : 4000);
    gsl_rng_free(dice);
    return 0;
}
