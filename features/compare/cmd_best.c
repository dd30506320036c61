/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "features/compare/allowed_settings.h"
#include "features/compare/best_front_show.h"
#include "features/compare/best_until_sure.h"

#include "core/report/answer.h"
#include "core/results/selection.h"
#include "core/stats/best_of.h"
#include "core/stats/disturbed.h"
#include "core/stats/field_names.h"
#include "core/stats/lost_runs.h"
#include "core/stats/numbers.h"
#include "core/stats/task.h"
#include "core/stats/varying_names.h"
#include "features/compare/ranking.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"
#include "lib/wire/direction.h"
#include "lib/wire/verdict.h"

#include <math.h>
#include <string.h>

struct best_options {
    const char *where, *recipe, *experiment, *by, *aggregate, *run, *max_runs;
    bool min, max, across, disturbed, imported, until_sure;
    int limit;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct best_options, by, TEXT, "by", .value = "NAMES",
                .help = "group by these parameters (comma-separated; default: all that vary)"),
    ORCH_OPTION(struct best_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct best_options, recipe, TEXT, "recipe", .value = "NAME",
                .help = "only runs of this recipe"),
    ORCH_OPTION(struct best_options, experiment, TEXT, "experiment", .letter = 'e', .value = "NAME",
                .help = "only runs of this experiment"),
    ORCH_OPTION(struct best_options, aggregate, TEXT, "value", .value = "WHICH",
                .help = "value that counts in a run: last (default), best, min, max, mean, first"),
    ORCH_OPTION(struct best_options, min, FLAG, "min", .help = "rank the smallest value first"),
    ORCH_OPTION(struct best_options, max, FLAG, "max", .help = "rank the largest value first"),
    ORCH_OPTION(struct best_options, disturbed, FLAG, "disturbed",
                .help = "include times of disturbed runs (other programs used the CPUs)"),
    ORCH_OPTION(struct best_options, across, FLAG, "across",
                .help = "rank all experiments, data sets and numbers of classes together"),
    ORCH_OPTION(struct best_options, imported, FLAG, "imported",
                .help = "also rank runs that were imported from other programs"),
    ORCH_OPTION(struct best_options, limit, INT, "limit", .letter = 'n', .value = "N",
                .help = "show at most N settings"),
    ORCH_OPTION(struct best_options, until_sure, FLAG, "until-sure",
                .help = "with --run: repeat settings in turns until the best one is certain"),
    ORCH_OPTION(struct best_options, run, TEXT, "run", .value = "RECIPE",
                .help = "with --until-sure: the recipe that runs the settings"),
    ORCH_OPTION(struct best_options, max_runs, TEXT, "max-runs", .value = "N",
                .help = "with --until-sure: run each setting at most N times (default 60)"),
    {0}};

static GPtrArray *find_runs(struct orch_store *store, const struct best_options *o, GError **error)
{
    const struct orch_selection selection = {.where = o->where,
                                             .recipe = o->recipe,
                                             .experiment = o->experiment,
                                             .with_counted = true,
                                             .without_imported = !o->imported};
    return orch_selection_runs(&selection, store, NULL, error);
}

/* The request and its intermediate results. */
struct request {
    struct orch_cli *cli;
    const struct best_options *options;
    struct orch_ranking_request ranked_by;
    const char *unit;
    struct orch_direction direction;
    bool min_is_better, max_is_better;        /* as runs declare */
    guint disturbed_left_out, disturbed_kept; /* counted by orch_disturbed_find */
    GPtrArray *not_a_number;                  /* struct orch_run *: runs whose metric is NaN */
    struct orch_lost_runs *lost;              /* those that failed, or have no number */
};

/* ---- as text --------------------------------------------------------------------------------- */

static char *runs_text(const GPtrArray *runs)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < runs->len && i < 3; i++) {
        const struct orch_run *run = runs->pdata[i];
        g_string_append_printf(text, "%s%s", i ? " " : "", orch_run_short_key(run->key));
    }
    if (runs->len > 3)
        g_string_append_printf(text, " +%u", runs->len - 3);
    return g_string_free(text, FALSE);
}

static struct orch_table *make_table(const struct request *r, const struct orch_ranking *ranking)
{
    static const char *const last[] = {">n", ">min", ">max", ">p", "runs"};
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; ranking->by[i]; i++)
        g_ptr_array_add(headers, g_strdup(ranking->by[i]));
    g_ptr_array_add(headers, r->unit ? g_strdup_printf("%s (%s)", r->ranked_by.metric, r->unit)
                                     : g_strdup(r->ranked_by.metric));
    for (unsigned i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(headers, g_strdup(last[i]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    guint limit = r->options->limit > 0 ? (guint)r->options->limit : ranking->groups->len;
    for (guint i = 0; i < ranking->groups->len && i < limit; i++) {
        const struct orch_group *group = ranking->groups->pdata[i];
        g_autofree char *value = orch_spread_format(&group->spread);
        g_autofree char *p = orch_p_format(ranking->margins[i].p_corrected);
        g_autofree char *runs = runs_text(group->runs);
        for (int j = 0; ranking->by[j]; j++)
            orch_table_add(table, group->values[j], NULL);
        orch_table_add(table, value, NULL);
        orch_table_add_int(table, (int64_t)group->spread.stat.count);
        orch_table_add_real(table, group->spread.stat.min);
        orch_table_add_real(table, group->spread.stat.max);
        orch_table_add(table, p, NULL);
        orch_table_add(table, runs, NULL);
    }
    return table;
}

/* Formats "3 seeds", or "3 seeds, 6 runs" when runs with the same seed were averaged. */
static char *count_text(const struct orch_group *group)
{
    guint seeds = group->means->len, runs = 0;
    for (guint i = 0; i < seeds; i++)
        runs += g_array_index(group->means, struct orch_seed_mean, i).runs;
    return runs > seeds ? g_strdup_printf("%u seed%s, %u runs averaged to one value per seed",
                                          seeds, orch_plural(seeds), runs)
                        : g_strdup_printf("%u repeat%s", seeds, orch_plural(seeds));
}

/* Prints by how much the winner is ahead of the second, and whether that is more than noise. */
static void print_margin(const struct request *r, const struct orch_ranking *ranking)
{
    const struct orch_group *second = ranking->groups->pdata[1];
    const struct orch_difference *d = &ranking->margins[1];
    g_autofree char *other = orch_text_plain(g_strdup(second->label));
    g_autoptr(GString) margin = g_string_new(NULL);
    orch_answer_number_append(margin, d->mean.mid, d->mean.low, d->mean.high, NULL);
    const bool is_infinite = isinf(d->mean.mid) != 0;
    const char *verdict =
        is_infinite    ? "; an infinite value cannot be tested"
        : d->is_uneven ? "; " ORCH_UNEVEN_WORDS
        : isnan(d->p)  ? "; with fewer than 2 repeats each it cannot be distinguished from noise"
        : d->is_more_than_noise ? ": more than noise"
                                : ": not more than noise";
    orch_cli_print("ahead of %s by %s%s", other, margin->str, verdict);
    if (is_infinite)
        orch_cli_info(r->cli, "hint: -w '%s %s' leaves out the setting with the infinite value",
                      r->ranked_by.metric, r->ranked_by.larger_wins ? "< inf" : "> -inf");
}

/* Prints the test behind that on a line of its own. */
static void print_test(const struct orch_ranking *ranking)
{
    const struct orch_difference *d = &ranking->margins[1];
    g_autofree char *p = orch_p_format(d->p), *corrected = orch_p_format(d->p_corrected);
    if (isnan(d->p))
        orch_cli_print("test: %s", ranking->method);
    else if (strcmp(p, corrected) == 0)
        orch_cli_print("test: p %s, %s", p, ranking->method);
    else
        orch_cli_print("test: p %s (%s without the correction), %s", corrected, p, ranking->method);
}

/* The winner was chosen by its own value. Prints how far that can be trusted where its lead may be
 * luck. */
static void print_luck(const struct request *r, const struct orch_ranking *ranking)
{
    g_autoptr(GPtrArray) better = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    const size_t count = ranking->compared + 1;
    if (count < 3 || ranking->is_uneven || ranking->margins[1].is_more_than_noise)
        return;
    for (size_t i = 0; i < (count + 1) / 2; i++)
        g_ptr_array_add(better, orch_seed_values(
                                    ((const struct orch_group *)ranking->groups->pdata[i])->means));
    const struct orch_group *first = ranking->groups->pdata[0], *second = ranking->groups->pdata[1];
    const struct orch_best_of of = {
        .noun = "settings",
        .count = count,
        .best = first->spread.stat.mean,
        .second = second->spread.stat.mean,
        .best_runs = first->means->len,
        .second_runs = second->means->len,
        .larger_wins = r->ranked_by.larger_wins,
        .noise = orch_noise_of((const GArray *const *)(void *)better->pdata, better->len)};
    if (!orch_best_of_may_be_luck(&of))
        return;
    g_autofree char *text = orch_best_of_text(&of);
    orch_cli_print("%s", text);
    orch_cli_info(r->cli, "hint: for an unbiased value, repeat the best setting with other seeds");
}

/* Prints which trials of the best setting gave no number. */
static void print_lost(const struct request *r, const struct orch_group *first)
{
    struct orch_lost lost;
    if (orch_lost_find(r->lost, first->runs, &lost, NULL)) {
        g_autofree char *text = orch_lost_text(&lost, "its");
        if (text)
            orch_cli_print("note: %s", text);
    }
    orch_lost_clear(&lost);
}

/* Prints which setting is best, and by how much. */
static void print_winner(const struct request *r, const struct orch_ranking *ranking)
{
    const struct orch_group *first = ranking->groups->pdata[0];
    g_autofree char *count = count_text(first);
    g_autoptr(GString) value = g_string_new(NULL);
    orch_answer_spread_append(value, &first->spread, NULL);
    g_autofree char *name = orch_text_plain(g_strdup(*first->label ? first->label : "all runs"));
    const bool is_counted = strstr(value->str, " repeats: ") && !strchr(count, ',');
    orch_cli_print("best: %s, %s %s%s%s", name, r->ranked_by.metric, value->str,
                   is_counted ? "" : ", ", is_counted ? "" : count);
    if (ranking->compared || ranking->is_uneven)
        print_margin(r, ranking);
    if (ranking->compared > 1 && ranking->method)
        printf("%zu of %zu other settings are worse by more than noise\n", ranking->worse,
               ranking->compared);
    print_lost(r, first);
}

/* Prints what is known of the result's basis, below the table. */
static void print_basis(const struct request *r, const struct orch_ranking *ranking)
{
    if (ranking->compared || ranking->is_uneven) {
        if (ranking->method)
            print_test(ranking);
        print_luck(r, ranking);
    }
    if (ranking->shared)
        orch_cli_print("note: %s", ranking->shared);
    if (ranking->mixed->len) {
        g_autofree char *mixed = orch_text_plain(orch_mixed_sentence(ranking->mixed));
        orch_cli_print("note: %s", mixed);
    }
}

static void print_text(const struct request *r, const GPtrArray *rankings)
{
    for (guint i = 0; i < rankings->len; i++) {
        const struct orch_ranking *ranking = rankings->pdata[i];
        if (ranking->task) {
            g_autofree char *task = orch_text_plain(g_strdup(ranking->task));
            orch_cli_print("%s%s", i ? "\n" : "", task);
        }
        print_winner(r, ranking);
        orch_cli_print("%s", "");
        orch_cli_table_print(r->cli, make_table(r, ranking), "settings");
        print_basis(r, ranking);
    }
    g_autofree char *way = orch_direction_said(r->ranked_by.metric, r->direction, true);
    if (way)
        orch_cli_print("note: %s", way);
    fflush(stdout);
    for (guint i = 0; i < rankings->len; i++)
        if (((const struct orch_ranking *)rankings->pdata[i])->is_uneven) {
            orch_cli_info(r->cli, "%s", ORCH_UNEVEN_HINT);
            break;
        }
    if (rankings->len > 1)
        orch_cli_info(r->cli, ORCH_RANKED_APART, rankings->len);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static json_t *margin_json(const struct orch_difference *d)
{
    return json_pack("{s:o s:o s:o s:s s:b s:o s:o s:b}", "better_by",
                     orch_json_finite(d->mean.mid), "low", orch_json_finite(d->mean.low), "high",
                     orch_json_finite(d->mean.high), "test", orch_difference_test(d), "paired",
                     d->is_paired, "p", orch_json_finite(d->p), "p_corrected",
                     orch_json_finite(d->p_corrected), "more_than_noise", d->is_more_than_noise);
}

/* The runs of a setting's trials that gave no number: {"failed": [KEY], ...}. */
static json_t *lost_json(const struct request *r, const struct orch_group *group)
{
    static const char *const names[ORCH_LOST_WHYS] = {"failed", "pruned", "without_number"};
    struct orch_lost lost;
    json_t *object = json_object();
    if (orch_lost_find(r->lost, group->runs, &lost, NULL))
        for (int why = 0; why < ORCH_LOST_WHYS; why++) {
            json_t *keys = json_array();
            for (guint i = 0; i < lost.runs[why]->len; i++) {
                const struct orch_run *run = lost.runs[why]->pdata[i];
                json_array_append_new(keys, json_string(run->key));
            }
            json_object_set_new(object, names[why], keys);
        }
    orch_lost_clear(&lost);
    return object;
}

static json_t *setting_json(const struct request *r, const struct orch_ranking *ranking, guint i)
{
    const struct orch_group *group = ranking->groups->pdata[i];
    const struct orch_spread *spread = &group->spread;
    json_t *by = json_object(), *keys = json_array();
    for (int j = 0; ranking->by[j]; j++)
        json_object_set_new(by, ranking->by[j], json_string(group->values[j]));
    for (guint j = 0; j < group->runs->len; j++)
        json_array_append_new(keys,
                              json_string(((const struct orch_run *)group->runs->pdata[j])->key));
    return json_pack(
        "{s:s s:o s:I s:o s:o s:s? s:o s:o s:o s:o s:o s:o s:o s:o}", "label", group->label, "by",
        by, "n", (json_int_t)spread->stat.count, "mean", orch_json_finite(spread->stat.mean),
        "centre", orch_json_finite(spread->centre), "spread", orch_spread_form_name(spread->form),
        "low", orch_json_finite(spread->low), "high", orch_json_finite(spread->high), "sd",
        orch_json_finite(spread->stat.sd), "min", orch_json_finite(spread->stat.min), "max",
        orch_json_finite(spread->stat.max), "runs", keys, "lost", lost_json(r, group), "margin",
        i ? margin_json(&ranking->margins[i]) : json_null());
}

static void print_json(const struct request *r, const GPtrArray *rankings)
{
    json_t *all = json_array();
    guint limit = r->options->limit > 0 ? (guint)r->options->limit : G_MAXUINT;
    for (guint i = 0; i < rankings->len; i++) {
        const struct orch_ranking *ranking = rankings->pdata[i];
        json_t *settings = json_array();
        for (guint j = 0; j < ranking->groups->len && j < limit; j++)
            json_array_append_new(settings, setting_json(r, ranking, j));
        json_t *mixed = json_array();
        for (guint j = 0; j < ranking->mixed->len; j++)
            json_array_append_new(mixed, json_string(ranking->mixed->pdata[j]));
        json_array_append_new(
            all, json_pack("{s:O s:o s:I s:I s:s? s:s? s:o}", "of", ranking->of, "settings",
                           settings, "compared", (json_int_t)ranking->compared, "worse",
                           (json_int_t)ranking->worse, "method", ranking->method, "shared_base",
                           ranking->shared, "means_also_over", mixed));
    }
    orch_cli_print_json(json_pack(
        "{s:s s:s? s:s s:s? s:i s:i s:i s:o}", "metric", r->ranked_by.metric, "unit", r->unit,
        "better", orch_better_word(r->direction.better), "direction_by", r->direction.by,
        "disturbed_left_out", (int)r->disturbed_left_out, "disturbed_counted",
        (int)r->disturbed_kept, "not_a_number", (int)r->not_a_number->len, "rankings", all));
}

/* ---- the command ----------------------------------------------------------------------------- */

static void add_direction(struct request *r, struct orch_direction direction)
{
    if (direction.by)
        r->direction = direction;
    r->min_is_better |= !direction.by && direction.better == ORCH_BETTER_MIN;
    r->max_is_better |= !direction.by && direction.better == ORCH_BETTER_MAX;
}

/* Adds a run to `with` if it ended well and has the metric, else to those that are lost or say
 * nothing; also to those whose metric is NaN. */
static bool sort_run(struct request *r, struct orch_store *store, struct orch_run *run,
                     GPtrArray *with, GError **error)
{
    if (!orch_verdict_facts(orch_verdict_parse(run->state))->is_reused) {
        const enum orch_lost_why why = orch_lost_why_of(run->state);
        return why == ORCH_LOST_WHYS || orch_lost_runs_add(r->lost, run, why, error);
    }
    struct orch_run_numbers *numbers = orch_run_numbers_read(store, run, error);
    if (!numbers)
        return false;
    double value =
        orch_run_numbers_get(numbers, r->ranked_by.metric, r->ranked_by.aggregate, NULL, &r->unit);
    if (orch_run_numbers_has(numbers, r->ranked_by.metric))
        add_direction(r, orch_run_numbers_direction(numbers, r->ranked_by.metric));
    if (!isnan(value))
        g_ptr_array_add(with, run);
    else if (orch_run_numbers_has(numbers, r->ranked_by.metric))
        g_ptr_array_add(r->not_a_number, run);
    orch_run_numbers_free(numbers);
    return !isnan(value) || orch_lost_runs_add(r->lost, run, ORCH_LOST_NUMBER, error);
}

/* Returns the runs that have the metric; finds its declared direction and unit. NULL with an error.
 */
static GPtrArray *with_metric(struct request *r, struct orch_store *store, const GPtrArray *runs,
                              GError **error)
{
    g_autoptr(GPtrArray) with = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++)
        if (!sort_run(r, store, runs->pdata[i], with, error))
            return NULL;
    if (with->len)
        return g_steal_pointer(&with);
    const guint nan_count = r->not_a_number->len;
    if (nan_count) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND,
                       "use another value of the metric, for example --value first",
                       "'%s' is NaN in the %u run%s that %s this metric", r->ranked_by.metric,
                       nan_count, orch_plural(nan_count), nan_count == 1 ? "has" : "have");
        return NULL;
    }
    orch_metric_not_found(store, "that ended well", r->ranked_by.metric, error);
    return NULL;
}

/* Lists the runs that cannot be ranked because their metric is NaN. */
static void print_not_a_number(const struct request *r)
{
    const guint count = r->not_a_number->len;
    if (!count)
        return;
    g_autofree char *keys = runs_text(r->not_a_number);
    orch_cli_info(r->cli, "%u run%s left out, as %s %s is not a number: %s", count,
                  count == 1 ? " is" : "s are", count == 1 ? "its" : "their", r->ranked_by.metric,
                  keys);
}

/* As asked for, else as runs declare it, or the search of which they are, else by the name. */
static bool settle_direction(struct request *r, GError **error)
{
    const struct best_options *o = r->options;
    const char *metric = r->ranked_by.metric;
    const bool is_asked = o->min || o->max;
    if (!is_asked && r->min_is_better && r->max_is_better) {
        orch_error_set(error, ORCH_ERROR_USAGE, ORCH_DIRECTION_HINT,
                       "metric '%s' is minimized by some runs and maximized by others", metric);
        return false;
    }
    if (is_asked || r->min_is_better || r->max_is_better)
        r->direction.by = NULL;
    if (is_asked ? o->max : r->max_is_better)
        r->direction.better = ORCH_BETTER_MAX;
    else if (is_asked || r->min_is_better)
        r->direction.better = ORCH_BETTER_MIN;
    r->ranked_by.larger_wins = r->direction.better == ORCH_BETTER_MAX;
    return r->direction.better != ORCH_BETTER_NONE ||
           orch_direction_unknown(metric, ORCH_DIRECTION_HINT, error);
}

/* Checks that some run has each name to group by: with a misspelt one all would be one group. */
static bool check_by(struct orch_store *store, const GPtrArray *runs, char **by, GError **error)
{
    for (; by && *by; by++) {
        bool is_known = false;
        for (guint i = 0; i < runs->len && !is_known; i++) {
            g_autofree char *value = orch_run_field(store, runs->pdata[i], *by);
            is_known = value != NULL;
        }
        if (is_known)
            continue;
        g_autofree char *hint = orch_field_hint(store, runs, *by);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '--by': none of %u runs has a '%s'",
                       runs->len, *by);
        return false;
    }
    return true;
}

/* For a time, removes disturbed runs and prints how many. */
static void leave_out_disturbed(struct request *r, struct orch_store *store, GPtrArray *runs)
{
    struct orch_disturbed disturbed;
    orch_disturbed_find(store, runs, &disturbed);
    for (guint i = runs->len; i-- > 0;)
        if (orch_disturbed_has(&disturbed, runs->pdata[i]))
            g_ptr_array_remove_index(runs, i);
    g_autofree char *text =
        orch_disturbed_text(disturbed.left_out_count, disturbed.kept_count, "--disturbed");
    if (text)
        orch_cli_info(r->cli, "%s", text);
    r->disturbed_left_out = disturbed.left_out_count;
    r->disturbed_kept = disturbed.kept_count;
    orch_disturbed_clear(&disturbed);
}

/* Runs the settings of the only ranking until it is sure which is the best. */
static int make_sure(const struct request *r, const GPtrArray *rankings, GError **error)
{
    const struct best_options *o = r->options;
    int64_t runs = ORCH_SURE_RUNS;
    if (rankings->len > 1) {
        orch_error_set(error, ORCH_ERROR_USAGE, "choose one task with --where or --experiment",
                       "option '--until-sure' needs runs of one task, but these belong to %u tasks "
                       "(experiments, data sets or classes)",
                       rankings->len);
        return -1;
    }
    if (!orch_cli_count(o->max_runs, "--max-runs", ORCH_SURE_RUNS_MAX, &runs, error))
        return -1;
    const char *targets[] = {o->experiment, NULL};
    const struct orch_sure_request request = {
        .run = {.recipe = o->run, .repeat = (int)runs, .targets = o->experiment ? targets : NULL},
        .metric = r->ranked_by.metric,
        .aggregate = r->ranked_by.aggregate,
        .least = 0.05};
    return orch_best_until_sure(r->cli, rankings->pdata[0], &r->ranked_by, &request,
                                o->limit > 0 ? (guint)o->limit : 0, error);
}

/* Ranks the runs that the options select, and prints the result. */
static int rank(struct request *r, struct orch_store *store, char **by, GError **error)
{
    const struct best_options *o = r->options;
    g_autoptr(GPtrArray) runs = find_runs(store, o, error);
    g_autofree char *left_out = NULL;
    if (runs && !orch_allowed_runs_keep(store, runs, &left_out, error))
        return -1;
    if (left_out)
        orch_cli_info(r->cli, "%s", left_out);
    if (runs && orch_best_front_is_meant(r->ranked_by.metric))
        return orch_best_front_print(r->cli, store, runs, &r->ranked_by, o->limit, error);
    g_autoptr(GPtrArray) with = runs ? with_metric(r, store, runs, error) : NULL;
    if (!with || !check_by(store, with, by, error) || !settle_direction(r, error))
        return -1;
    r->ranked_by.counts_disturbed = o->disturbed;
    if (!o->disturbed && orch_unit_is_timing(r->unit, NULL))
        leave_out_disturbed(r, store, with);
    print_not_a_number(r);
    g_autoptr(GPtrArray) rankings = orch_rankings_make(store, with, &r->ranked_by, error);
    if (!rankings)
        return -1;
    if (o->until_sure)
        return make_sure(r, rankings, error);
    if (r->cli->json)
        print_json(r, rankings);
    else
        print_text(r, rankings);
    return ORCH_EXIT_OK;
}

/* Checks which options go with --until-sure. */
static bool check_until_sure(const struct orch_cli *cli, const struct best_options *o,
                             GError **error)
{
    if (o->until_sure ? o->run && !orch_best_front_is_meant(cli->args[0]) : !o->run && !o->max_runs)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE,
                   "for example orch best METRIC --run RECIPE --until-sure",
                   o->until_sure ? "option '--until-sure' needs '--run' and one metric"
                                 : "options '--run' and '--max-runs' need '--until-sure'");
    return false;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct best_options *o = options;
    if (!check_until_sure(cli, o, error))
        return -1;
    g_auto(GStrv) by = o->by ? g_strsplit(o->by, ",", -1) : NULL;
    for (char **name = by; name && *name; name++)
        g_strstrip(*name);
    struct request r = {
        .cli = cli,
        .options = o,
        .ranked_by = {.metric = cli->args[0], .by = (const char *const *)by, .across = o->across}};
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &r.ranked_by.aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use last, best, min, max, mean or first",
                       "option '--value': unknown value '%s'", o->aggregate);
        return -1;
    }
    if (r.ranked_by.aggregate == ORCH_AGGREGATE_BEST && (o->min || o->max))
        r.ranked_by.aggregate = o->max ? ORCH_AGGREGATE_MAX : ORCH_AGGREGATE_MIN;
    g_autoptr(GPtrArray) not_a_number = r.not_a_number = g_ptr_array_new();
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (store && o->until_sure)
        store = orch_cli_store(cli, ORCH_STORE_CREATE, error);
    r.lost = store ? orch_lost_runs_new(store) : NULL;
    const int status = store ? rank(&r, store, by, error) : -1;
    orch_lost_runs_free(r.lost);
    return status;
}

const struct orch_command ORCH_COMMAND_BEST = {
    .name = "best",
    .group = "Decide",
    .is_listed = true,
    .summary = "rank settings, and test whether the winner's lead is more than noise",
    .usage = "METRIC",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct best_options),
    .about =
        "Groups the runs by the parameters in which they differ, and ranks the groups. Each mean "
        "is followed by its 95 % interval in square brackets or, with fewer than 5 seeds, by the "
        "lowest and highest run. Runs with the same seed are averaged first; the column n counts "
        "seeds. Different experiments, data sets and numbers of classes are ranked separately; "
        "--across ranks them together.\n"
        "\np is the probability of at least this difference if the setting were as good as the "
        "winner. p values and intervals are corrected for all pairs of settings, because the runs "
        "that test the winner also chose it. If the lead is not more than noise, a line says how "
        "much of the winner's value may be luck. See 'orch help comparisons'.\n"
        "\nWith several metrics, the output is the Pareto front: the settings that no other "
        "setting beats in every metric's mean. The knee is the setting of the front that is "
        "nearest to the best values of all metrics.\n"
        "\n--until-sure compares the best two settings by new runs in turns, as 'orch compare "
        "--until-sure' does. The better of the two is then compared with the third, and so on.",
    .examples = "  orch best val_accuracy --recipe hw4\n"
                "  orch best full_accuracy --recipe hw4 --by experiment,lr\n"
                "  orch best 'max val_accuracy, min latency_ms'   # trade-off of two metrics\n"
                "  orch best val_accuracy --run tune.recipe --until-sure -n 3\n"
                "  orch best val_accuracy --by mode,lr -w 'dataset=fashion-mnist'",
    .run = run,
};
