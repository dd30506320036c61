/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The samplers of features/search/samplers/sampler.h and the rules of
 * features/search/stop/stop_trial.h as a filter, for bench/search_peers.py. It reads lines whose
 * words are separated by tabs; values are minimised:
 *
 *   space NAME RANGE...         begins a search of these parameters
 *   rule RULE                   that stops trials, as in a recipe
 *   next SAMPLER SEED POWER     answers with the values of the next point, which is pending then;
 *                               the value of a parameter that does not exist there is empty. POWER:
 *                               of the cost by which the improvement is divided
 *   report INDEX VALUE          the next value of point INDEX (from 0): answers with why its trial
 *                               is stopped, or with an empty line
 *   end INDEX VALUE SECONDS     it has ended with a value, or with the word "failed"; values of
 *                               several objectives are joined by commas
 *   stop INDEX                  it was stopped
 *   promote                     answers with the index of a stopped trial that goes on after all,
 *                               which runs then, or with an empty line
 */
#include "features/search/goals.h"
#include "features/search/samplers/sampler.h"
#include "features/search/stop/stop_trial.h"

#include "lib/base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct orch_space *space;
    struct orch_stop_rule rule;
    GArray *trials; /* struct orch_sampled */
    GArray *curves; /* struct orch_stop_curve, whose values are GArray * of `values` */
    GPtrArray *values;
    struct orch_search goals; /* how many objectives there are */
    GArray *rows;             /* struct orch_goal_row, one for each trial */
};

static bool begin(struct search *search, char **words, guint count)
{
    orch_space_free(search->space);
    search->space = orch_space_new();
    for (guint i = 1; i + 1 < count; i += 2) {
        g_autoptr(GError) error = NULL;
        if (!orch_space_add(search->space, words[i], words[i + 1], NULL, &error)) {
            fprintf(stderr, "search_ask: %s\n", error->message);
            return false;
        }
    }
    return true;
}

/* As in a search of orch, a stopped trial counts with the value that it would have ended with, but
 * never as better than the best one that ended. Caller frees. */
static struct orch_sampled *bounded_trials(const struct search *search)
{
    GArray *trials = g_array_copy(search->trials);
    double best = -HUGE_VAL;
    for (guint i = 0; i < trials->len; i++) {
        const struct orch_sampled *trial = &g_array_index(trials, struct orch_sampled, i);
        if (trial->state == ORCH_SAMPLED_ENDED &&
            g_array_index(search->curves, struct orch_stop_curve, i).end == ORCH_CURVE_ENDED)
            best = isinf(best) ? trial->value : fmin(best, trial->value);
    }
    for (guint i = 0; i < trials->len; i++)
        if (g_array_index(search->curves, struct orch_stop_curve, i).end == ORCH_CURVE_STOPPED) {
            struct orch_sampled *trial = &g_array_index(trials, struct orch_sampled, i);
            trial->value +=
                orch_stop_change_left((const void *)search->curves->data, search->curves->len, i);
            trial->value = fmax(trial->value, best);
        }
    return (struct orch_sampled *)(void *)g_array_free(trials, FALSE);
}

/* As in a search of orch, several objectives become one number that depends on the seed. Returns
 * them all for the samplers that know them, or NULL; the caller frees. */
static double *join_goals(const struct search *search, uint64_t seed, struct orch_sampled *trials)
{
    const size_t count = search->rows->len;
    const struct orch_goal_row *rows = (const void *)search->rows->data;
    if (!search->goals.more_count)
        return NULL;
    g_autofree double *scalars = g_new(double, count + 1);
    orch_goals_scalars(&search->goals, rows, count, orch_random_stream(seed, count), scalars);
    for (size_t i = 0; i < count; i++)
        if (trials[i].state == ORCH_SAMPLED_ENDED)
            trials[i].value = scalars[i];
    return orch_goals_points(&search->goals, rows, count);
}

static bool choose(struct search *search, char **words)
{
    g_autofree struct orch_sampled *trials = bounded_trials(search);
    g_autofree double *goals = join_goals(search, strtoull(words[2], NULL, 10), trials);
    struct orch_sampling sampling = {.space = search->space,
                                     .trials = trials,
                                     .count = search->trials->len,
                                     .seed = strtoull(words[2], NULL, 10),
                                     .cost_power = strtod(words[3], NULL),
                                     .goals = goals,
                                     .goal_count = orch_goals_count(&search->goals)};
    orch_sampler_fn sampler = orch_sampler_find(words[1]);
    if (!sampler)
        return false;
    double *point = g_new(double, search->space->params->len);
    sampler(&sampling, point);
    for (unsigned i = 0; i < search->space->params->len; i++) {
        const struct orch_space_param *param = orch_space_param(search->space, i);
        g_autofree char *text = isnan(point[i]) ? NULL : orch_space_text(param, point[i]);
        printf("%s%s", i ? "\t" : "", text ? text : "");
    }
    printf("\n");
    fflush(stdout);
    struct orch_sampled trial = {.point = point, .state = ORCH_SAMPLED_PENDING};
    struct orch_stop_curve curve = {.end = ORCH_CURVE_RUNNING, .number = search->trials->len + 1};
    g_array_append_val(search->trials, trial);
    g_array_set_size(search->rows, search->trials->len);
    g_array_append_val(search->curves, curve);
    g_ptr_array_add(search->values, g_array_new(FALSE, FALSE, sizeof(double)));
    return true;
}

static struct orch_stop_question question_of(const struct search *search, unsigned long index)
{
    return (struct orch_stop_question){.rule = &search->rule,
                                       .curves = (const void *)search->curves->data,
                                       .count = search->curves->len,
                                       .asked = index};
}

static void report(struct search *search, unsigned long index, double value)
{
    GArray *values = search->values->pdata[index];
    struct orch_stop_curve *curve = &g_array_index(search->curves, struct orch_stop_curve, index);
    g_array_append_val(values, value);
    curve->values = (const double *)(const void *)values->data;
    curve->count = values->len;
    const struct orch_stop_question question = question_of(search, index);
    g_autofree char *why = orch_stop_trial_ask(&question);
    printf("%s\n", why ? why : "");
    fflush(stdout);
}

static void end(struct search *search, unsigned long index, const char *value, double seconds)
{
    struct orch_sampled *trial = &g_array_index(search->trials, struct orch_sampled, index);
    bool failed = strcmp(value, "failed") == 0;
    trial->state = failed ? ORCH_SAMPLED_FAILED : ORCH_SAMPLED_ENDED;
    trial->value = failed ? (double)NAN : strtod(value, NULL);
    trial->cost = seconds;
    struct orch_goal_row *row = &g_array_index(search->rows, struct orch_goal_row, index);
    g_auto(GStrv) values = g_strsplit(value, ",", ORCH_SEARCH_GOALS_MAX);
    for (unsigned k = 0; !failed && values[k]; k++) {
        row->goals.at[k] = strtod(values[k], NULL);
        search->goals.more_count = k;
    }
    row->is_final = !failed;
    g_array_index(search->curves, struct orch_stop_curve, index).end = ORCH_CURVE_ENDED;
}

/* As in a search of orch, a stopped trial does not say what a whole one costs. */
static void stop(struct search *search, unsigned long index)
{
    struct orch_stop_curve *curve = &g_array_index(search->curves, struct orch_stop_curve, index);
    struct orch_sampled *trial = &g_array_index(search->trials, struct orch_sampled, index);
    curve->end = ORCH_CURVE_STOPPED;
    trial->value = curve->count ? curve->values[curve->count - 1] : (double)NAN;
    trial->state = isfinite(trial->value) ? ORCH_SAMPLED_ENDED : ORCH_SAMPLED_FAILED;
}

static void promote(struct search *search)
{
    const struct orch_stop_question question = question_of(search, 0);
    size_t index;
    g_autofree char *why = search->trials->len ? orch_stop_trial_promote(&question, &index) : NULL;
    if (why) {
        struct orch_stop_curve *curve =
            &g_array_index(search->curves, struct orch_stop_curve, index);
        curve->end = ORCH_CURVE_RUNNING;
        curve->promoted_at = curve->count;
        printf("%zu\n", index);
    } else {
        printf("\n");
    }
    fflush(stdout);
}

static bool obey(struct search *search, char **words, guint count)
{
    unsigned long index = count > 1 ? strtoul(words[1], NULL, 10) : 0;
    if (strcmp(words[0], "space") == 0)
        return begin(search, words, count);
    if (strcmp(words[0], "rule") == 0 && count == 2)
        return orch_stop_rule_parse(words[1], &search->rule, NULL, NULL);
    if (strcmp(words[0], "next") == 0 && count == 4 && search->space)
        return choose(search, words);
    if (strcmp(words[0], "promote") == 0 && count == 1)
        promote(search);
    else if (index >= search->trials->len)
        return false;
    else if (strcmp(words[0], "report") == 0 && count == 3)
        report(search, index, strtod(words[2], NULL));
    else if (strcmp(words[0], "end") == 0 && count == 4)
        end(search, index, words[2], strtod(words[3], NULL));
    else if (strcmp(words[0], "stop") == 0 && count == 2)
        stop(search, index);
    else
        return false;
    return true;
}

int main(void)
{
    char line[1 << 16];
    struct search search = {.trials = g_array_new(FALSE, TRUE, sizeof(struct orch_sampled)),
                            .curves = g_array_new(FALSE, TRUE, sizeof(struct orch_stop_curve)),
                            .values = g_ptr_array_new(),
                            .rows = g_array_new(FALSE, TRUE, sizeof(struct orch_goal_row))};
    while (fgets(line, sizeof line, stdin)) {
        g_auto(GStrv) words = g_strsplit(g_strchomp(line), "\t", 0);
        if (!obey(&search, words, g_strv_length(words))) {
            fprintf(stderr, "search_ask: cannot do '%s'\n", words[0]);
            return 1;
        }
    }
    return 0;
}
