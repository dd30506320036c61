/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replays learning curves through the rules of features/search/stop/stop_trial.h, as searches with
 * -j 1:
 *
 *   bench_stop_replay CURVES.csv [--trials 40] [--orders 50] [--seed 1] RULE...
 *
 * CURVES.csv has the columns set, direction, run, n, value (bench/stop_curves.py writes it). Each
 * order is a search that takes `trials` curves of a set at random, one after the other, and shows
 * each to the rule value by value. Printed for each rule and set: how many trials were stopped; the
 * share of all values that was saved; the regret of the winner (how much worse it is than the best
 * of the order, as a share of the distance from the best to the median); and the false stops: of
 * the trials that would have ended at least as good as the best that had ended until then, the
 * share that was stopped, and the same stops as a share of all trials. The first trial of an order
 * is no best one: there is nothing before it. */
#include "features/search/stop/stop_trial.h"
#include "lib/base/random.h"
#include "lib/base/reals.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct set {
    char *name;
    bool is_max;
    GPtrArray *curves; /* GArray * of double */
    char *last_run;
};

struct tally {
    size_t trials, stopped, values, seen, bests, false_stops, orders;
    double regret;
};

static void add_value(GPtrArray *sets, char **words)
{
    struct set *set = NULL;
    for (guint i = 0; i < sets->len && !set; i++)
        if (strcmp(((struct set *)sets->pdata[i])->name, words[0]) == 0)
            set = sets->pdata[i];
    if (!set) {
        set = g_new0(struct set, 1);
        set->name = g_strdup(words[0]);
        set->is_max = strcmp(words[1], "max") == 0;
        set->curves = g_ptr_array_new();
        g_ptr_array_add(sets, set);
    }
    if (g_strcmp0(set->last_run, words[2]) != 0) {
        g_free(set->last_run);
        set->last_run = g_strdup(words[2]);
        g_ptr_array_add(set->curves, g_array_new(FALSE, FALSE, sizeof(double)));
    }
    double value = g_ascii_strtod(words[4], NULL);
    g_array_append_val((GArray *)set->curves->pdata[set->curves->len - 1], value);
}

static GPtrArray *read_sets(const char *path)
{
    GPtrArray *sets = g_ptr_array_new();
    FILE *file = fopen(path, "r");
    char line[1024];
    while (file && fgets(line, sizeof line, file)) {
        g_auto(GStrv) words = g_strsplit(g_strchomp(line), ",", 5);
        if (g_strv_length(words) == 5 && strcmp(words[0], "set") != 0)
            add_value(sets, words);
    }
    if (file)
        fclose(file);
    return sets;
}

static double cost_of(const struct set *set, double value)
{
    return isnan(value) ? HUGE_VAL : set->is_max ? -value : value;
}

/* Shows a curve to the rule, value by value, and returns how many values it may have. */
static size_t show(const struct orch_stop_rule *rule, const struct set *set,
                   struct orch_stop_curve *curves, size_t asked, size_t all)
{
    const struct orch_stop_question question = {
        .rule = rule, .is_max = set->is_max, .curves = curves, .count = asked + 1, .asked = asked};
    for (size_t n = 1; n < all; n++) {
        curves[asked].count = n;
        g_autofree char *why = orch_stop_trial_ask(&question);
        if (why)
            return n;
    }
    return all;
}

static void search(const struct orch_stop_rule *rule, const struct set *set, size_t trials,
                   uint64_t *random, struct tally *tally)
{
    g_autofree guint *order = g_new(guint, set->curves->len);
    g_autofree struct orch_stop_curve *curves = g_new0(struct orch_stop_curve, trials);
    g_autofree double *ends = g_new(double, trials);
    double best = HUGE_VAL, winner = HUGE_VAL;
    for (guint i = 0; i < set->curves->len; i++)
        order[i] = i;
    for (size_t t = 0; t < trials; t++) {
        size_t other = t + orch_random_below(random, set->curves->len - t);
        guint taken = order[other];
        order[other] = order[t];
        const GArray *values = set->curves->pdata[taken];
        curves[t] = (struct orch_stop_curve){.values = (const double *)(const void *)values->data,
                                             .end = ORCH_CURVE_RUNNING,
                                             .number = (unsigned)t + 1};
        curves[t].count = show(rule, set, curves, t, values->len);
        bool is_stopped = curves[t].count < values->len;
        double end = cost_of(set, curves[t].values[values->len - 1]);
        bool is_best = isfinite(winner) && end <= winner;
        curves[t].end = is_stopped ? ORCH_CURVE_STOPPED : ORCH_CURVE_ENDED;
        ends[t] = isfinite(end) ? end : 1e300;
        best = fmin(best, end);
        if (!is_stopped)
            winner = fmin(winner, end);
        tally->trials++;
        tally->stopped += is_stopped;
        tally->values += values->len;
        tally->seen += curves[t].count;
        tally->bests += is_best;
        tally->false_stops += is_best && is_stopped;
    }
    double median = orch_reals_median(ends, trials);
    tally->orders++;
    tally->regret += median > best ? (winner - best) / (median - best) : 0;
}

static void print(const char *rule, const char *set, const struct tally *tally)
{
    printf("%-34s %-28s %6zu %6.1f %% %6.1f %% %9.4f %6zu %6zu %7.3f %8.4f\n", rule, set,
           tally->trials, 100.0 * (double)tally->stopped / (double)tally->trials,
           100.0 * (1 - (double)tally->seen / (double)tally->values),
           tally->regret / (double)tally->orders, tally->bests, tally->false_stops,
           tally->bests ? (double)tally->false_stops / (double)tally->bests : 0,
           (double)tally->false_stops / (double)tally->trials);
}

static void replay(const char *text, const struct orch_stop_rule *rule, const GPtrArray *sets,
                   size_t trials, size_t orders, uint64_t seed)
{
    struct tally all = {0};
    for (guint i = 0; i < sets->len; i++) {
        const struct set *set = sets->pdata[i];
        struct tally tally = {0};
        uint64_t random = orch_random_stream(seed, i); /* the same orders for each rule */
        for (size_t k = 0; k < orders; k++)
            search(rule, set, MIN(trials, set->curves->len), &random, &tally);
        print(text, set->name, &tally);
        for (size_t k = 0; k < sizeof all / sizeof(size_t) - 1; k++)
            ((size_t *)(void *)&all)[k] += ((const size_t *)(const void *)&tally)[k];
        all.regret += tally.regret;
    }
    print(text, "all", &all);
}

int main(int argc, char **argv)
{
    size_t trials = 40, orders = 50;
    uint64_t seed = 1;
    GPtrArray *sets = argc > 1 ? read_sets(argv[1]) : NULL;
    if (!sets || !sets->len) {
        fprintf(stderr, "usage: bench_stop_replay CURVES.csv [--trials 40] [--orders 50] [--seed 1]"
                        " RULE...\n");
        return 1;
    }
    for (guint i = 0; i < sets->len; i++) {
        const struct set *set = sets->pdata[i];
        printf("%s: %u curves\n", set->name, set->curves->len);
    }
    printf("%-34s %-28s %6s %8s %8s %9s %6s %6s %7s %8s\n", "rule", "set", "trials", "stopped",
           "saved", "regret", "bests", "false", "of best", "of all");
    for (int i = 2; i < argc; i++) {
        struct orch_stop_rule rule;
        g_autoptr(GError) error = NULL;
        size_t at = 0;
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        bool is_option = strncmp(argv[i], "--", 2) == 0;
        if (strcmp(argv[i], "--trials") == 0)
            trials = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--orders") == 0)
            orders = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(value, NULL, 10);
        else if (orch_stop_rule_parse(argv[i], &rule, &at, &error))
            replay(argv[i], &rule, sets, trials, orders, seed);
        else
            fprintf(stderr, "%s\n%*s^ %s\n", argv[i], (int)at, "", error->message);
        i += is_option;
    }
    return 0;
}
