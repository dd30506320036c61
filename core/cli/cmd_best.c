/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/report/contrast.h"
#include "core/report/disturbed.h"
#include "core/report/group.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

struct best_options {
    const char *where, *recipe, *experiment, *by, *aggregate;
    bool min, max, disturbed;
    int limit;
};

static const struct orch_option OPTIONS[] = {
    {"by", 0, "NAMES", ORCH_OPT_TEXT, offsetof(struct best_options, by),
     "group by these (comma-separated; default: all swept parameters that vary)"},
    {"where", 'w', "FILTER", ORCH_OPT_TEXT, offsetof(struct best_options, where),
     "only runs that match (docs/where.md)"},
    {"recipe", 0, "NAME", ORCH_OPT_TEXT, offsetof(struct best_options, recipe),
     "only of this recipe"},
    {"experiment", 'e', "NAME", ORCH_OPT_TEXT, offsetof(struct best_options, experiment),
     "only of this experiment"},
    {"value", 0, "WHICH", ORCH_OPT_TEXT, offsetof(struct best_options, aggregate),
     "last (default), best, min, max, mean, first of each run's series"},
    {"min", 0, NULL, ORCH_OPT_FLAG, offsetof(struct best_options, min), "the smallest wins"},
    {"max", 0, NULL, ORCH_OPT_FLAG, offsetof(struct best_options, max), "the largest wins"},
    {"disturbed", 0, NULL, ORCH_OPT_FLAG, offsetof(struct best_options, disturbed),
     "a time counts runs during which other programs kept the CPUs busy, too"},
    {"limit", 'n', "N", ORCH_OPT_INT, offsetof(struct best_options, limit),
     "show at most N settings"},
    {0}};

struct order {
    bool larger_wins;
};

static int compare_groups(gconstpointer a, gconstpointer b, gpointer ctx)
{
    const struct orch_group *x = *(struct orch_group *const *)a,
                            *y = *(struct orch_group *const *)b;
    const struct order *order = ctx;
    if (isnan(x->stat.mean) || isnan(y->stat.mean))
        return isnan(x->stat.mean) - isnan(y->stat.mean);
    int sign = (x->stat.mean > y->stat.mean) - (x->stat.mean < y->stat.mean);
    return order->larger_wins ? -sign : sign;
}

static GPtrArray *find_runs(struct orch_store *store, const struct best_options *o, GError **error)
{
    struct orch_where *where = o->where ? orch_where_parse(o->where, error) : NULL;
    if (o->where && !where)
        return NULL;
    struct orch_run_query query = {
        .recipe = o->recipe, .experiment = o->experiment, .where = where, .ended_well = true};
    GPtrArray *runs = orch_store_runs(store, &query, NULL, error);
    orch_where_free(where);
    return runs;
}

/* "0.912 +- 0.004" */
static struct orch_table *make_table(GPtrArray *groups, char **by, const char *metric, int limit)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; by[i]; i++)
        g_ptr_array_add(headers, g_strdup(by[i]));
    g_ptr_array_add(headers, g_strdup(metric));
    static const char *const last[] = {">n", ">min", ">max", "runs"};
    for (unsigned i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(headers, g_strdup(last[i]));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (guint i = 0; i < groups->len && (limit <= 0 || i < (guint)limit); i++) {
        const struct orch_group *group = groups->pdata[i];
        g_autofree char *mean = orch_mean_format(group->stat.mean, group->stat.half);
        for (int j = 0; by[j]; j++)
            orch_table_add(table, group->values[j], NULL);
        orch_table_add(
            table, mean,
            json_pack("{s:o s:o}", "mean",
                      isnan(group->stat.mean) ? json_null() : orch_json_finite(group->stat.mean),
                      "half_width",
                      isnan(group->stat.half) ? json_null() : orch_json_finite(group->stat.half)));
        orch_table_add_int(table, (int64_t)group->stat.count);
        orch_table_add_real(table, group->stat.min);
        orch_table_add_real(table, group->stat.max);
        GString *runs = g_string_new(NULL);
        json_t *keys = json_array();
        for (guint j = 0; j < group->runs->len; j++) {
            const struct orch_run *run = group->runs->pdata[j];
            if (j < 3)
                g_string_append_printf(runs, "%s%s", j ? " " : "", orch_cli_short_key(run->key));
            json_array_append_new(keys, json_string(run->key));
        }
        if (group->runs->len > 3)
            g_string_append_printf(runs, " +%u", group->runs->len - 3);
        orch_table_add(table, runs->str, keys);
        g_string_free(runs, TRUE);
    }
    return table;
}

/* The sentence: who won, by how much, and whether that is more than noise. */
static void print_winner(const GPtrArray *groups, const char *metric)
{
    const struct orch_group *first = groups->pdata[0];
    g_autofree char *mean = orch_mean_format(first->stat.mean, first->stat.half);
    g_autofree char *name = orch_text_plain(g_strdup(*first->label ? first->label : "all runs"));
    printf("\nbest: %s, %s %s (n = %zu)\n", name, metric, mean, first->stat.count);
    if (groups->len < 2 || isnan(((const struct orch_group *)groups->pdata[1])->stat.mean))
        return;
    const struct orch_group *second = groups->pdata[1];
    struct orch_difference d = orch_groups_compare(second, first);
    g_autofree char *other = orch_text_plain(g_strdup(second->label));
    g_autofree char *margin = orch_number_format(fabs(d.mean));
    g_autofree char *interval = orch_interval_format(d.low, d.high);
    if (isnan(d.low))
        printf("margin over %s: %s; with fewer than 2 repeats each it cannot be told from noise\n",
               other, margin);
    else
        printf("margin over %s: %s, 95 %% interval of the %sdifference %s: %s\n", other, margin,
               d.is_paired ? "paired " : "", interval,
               d.is_more_than_noise ? "more than noise" : "not more than noise");
}

/* A time leaves out runs during which the machine did other work, and says so. */
static void leave_out_disturbed(struct orch_cli *cli, GPtrArray *runs)
{
    struct orch_disturbed disturbed;
    orch_disturbed_find(runs, &disturbed);
    for (guint i = runs->len; i-- > 0;)
        if (orch_disturbed_has(&disturbed, runs->pdata[i]))
            g_ptr_array_remove_index(runs, i);
    g_autofree char *text =
        orch_disturbed_text(disturbed.left_out_count, disturbed.kept_count, "--disturbed");
    if (text)
        orch_cli_say(cli, "%s", text);
    orch_disturbed_clear(&disturbed);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct best_options *o = options;
    const char *metric = cli->args[0];
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "last, best, min, max, mean, first",
                       "option '--value': unknown word '%s'", o->aggregate);
        return -1;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) runs = store ? find_runs(store, o, error) : NULL;
    if (!runs)
        return -1;
    g_auto(GStrv) given = o->by ? g_strsplit(o->by, ",", -1) : NULL;
    g_auto(GStrv) by = NULL;
    const char *better = "none", *unit = NULL;
    /* runs of other experiments do not have the metric: they are no groups of this table */
    g_autoptr(GPtrArray) with = g_ptr_array_new();
    for (guint i = 0; i < runs->len; i++) {
        double value;
        if (!orch_run_number(store, runs->pdata[i], metric, aggregate, &value, &better, &unit,
                             error))
            return -1;
        if (!isnan(value))
            g_ptr_array_add(with, runs->pdata[i]);
    }
    if (!with->len) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch show @last' lists the metrics of a run",
                       "no run that ended well has a metric or result '%s'", metric);
        return -1;
    }
    if (!o->disturbed && orch_unit_is_timing(unit, NULL))
        leave_out_disturbed(cli, with);
    g_autoptr(GPtrArray) groups = orch_groups_make(store, with, (const char *const *)given, metric,
                                                   aggregate, &by, &better, &unit, error);
    if (!groups)
        return -1;
    if (!o->min && !o->max && strcmp(better, "none") == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "add --min or --max",
                       "'%s' does not say whether less or more is better", metric);
        return -1;
    }
    struct order order = {o->max || (!o->min && strcmp(better, "max") == 0)};
    g_ptr_array_sort_with_data(groups, compare_groups, &order);
    g_autofree char *header = unit ? g_strdup_printf("%s (%s)", metric, unit) : g_strdup(metric);
    orch_table_print(cli, make_table(groups, by, header, o->limit), "settings");
    if (!cli->json)
        print_winner(groups, metric);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_BEST = {
    .name = "best",
    .group = "Looking",
    .summary = "which setting won, by how much, and whether that is more than noise",
    .usage = "METRIC",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct best_options),
    .about =
        "Groups the runs that ended well by their swept parameters, averages over repeats, and "
        "ranks the groups: mean +- half width of the 95 % interval. Repeats of equal number have "
        "equal seeds, so the winner's margin is judged by the paired difference where it can be.",
    .examples = "  orch best val_accuracy --recipe hw4\n"
                "  orch best val_accuracy --by mode,lr -w 'dataset=fashion-mnist'",
    .run = run,
};
