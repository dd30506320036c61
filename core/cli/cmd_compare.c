/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/cli/find.h"

#include "core/report/group.h"
#include "lib/base/error.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

struct compare_options {
    const char **metrics;
    const char *aggregate;
    bool across;
};

static const struct orch_option OPTIONS[] = {
    {"metric", 'm', "NAME", ORCH_OPT_LIST, offsetof(struct compare_options, metrics),
     "compare only this metric or result (default: all that both have)"},
    {"value", 0, "WHICH", ORCH_OPT_TEXT, offsetof(struct compare_options, aggregate),
     "last (default), best, min, max, mean, first of each run's series"},
    {"across", 0, NULL, ORCH_OPT_FLAG, offsetof(struct compare_options, across),
     "compare timings of different machines all the same"},
    {0}};

/* One side: its runs, and for a metric one number a run. */
struct side {
    GPtrArray *runs;
    struct orch_group *group;
};

static struct orch_group *numbers(struct orch_store *store, GPtrArray *runs, const char *metric,
                                  enum orch_aggregate aggregate, const char **better,
                                  const char **unit, GError **error)
{
    static const char *const nothing[] = {NULL};
    g_autoptr(GPtrArray) groups =
        orch_groups_make(store, runs, nothing, metric, aggregate, NULL, better, unit, error);
    if (!groups)
        return NULL;
    g_ptr_array_set_free_func(groups, NULL);
    return groups->len ? groups->pdata[0] : NULL;
}

static void collect_names(struct orch_store *store, const struct orch_run *run, GPtrArray *out)
{
    g_autoptr(GPtrArray) summaries = orch_store_summaries(store, run->id, NULL);
    for (guint i = 0; summaries && i < summaries->len; i++)
        g_ptr_array_add(out,
                        g_strdup(((const struct orch_metric_summary *)summaries->pdata[i])->name));
    g_autoptr(json_t) results = orch_store_results(store, run->id, NULL);
    const char *name;
    json_t *value;
    json_object_foreach(results, name,
                        value) if (!g_ptr_array_find_with_equal_func(out, name, g_str_equal, NULL))
        g_ptr_array_add(out, g_strdup(name));
    g_ptr_array_add(out, g_strdup("wall_s"));
}

static bool is_timing_unit(const char *unit)
{
    static const char *const units[] = {"s", "ms", "us", "ns", "min", "h"};
    for (unsigned i = 0; unit && i < G_N_ELEMENTS(units); i++)
        if (strcmp(unit, units[i]) == 0)
            return true;
    return unit && g_str_has_suffix(unit, "/s");
}

static bool same_place(const GPtrArray *a, const GPtrArray *b)
{
    const struct orch_run *first = a->pdata[0];
    for (guint i = 0; i < a->len + b->len; i++) {
        const struct orch_run *run = i < a->len ? a->pdata[i] : b->pdata[i - a->len];
        if (g_strcmp0(run->where_key, first->where_key) != 0)
            return false;
    }
    return true;
}

static const char *judge(const struct orch_difference *d, const char *better)
{
    if (isnan(d->low))
        return "cannot tell (n < 2)";
    if (!d->is_more_than_noise)
        return "not more than noise";
    if (strcmp(better, "none") == 0)
        return "differs";
    return (d->mean > 0) == (strcmp(better, "max") == 0) ? "B is better" : "A is better";
}

static void add_stat(struct orch_table *table, const struct orch_stat *stat)
{
    g_autofree char *text = orch_mean_format(stat->mean, stat->half);
    orch_table_add(table, text, isnan(stat->mean) ? json_null() : json_real(stat->mean));
}

static void add_row(struct orch_table *table, const char *name, const char *unit,
                    const struct orch_group *a, const struct orch_group *b, const char *better,
                    bool refused)
{
    struct orch_difference d = orch_groups_compare(a, b);
    g_autofree char *shown = unit ? g_strdup_printf("%s (%s)", name, unit) : g_strdup(name);
    orch_table_add(table, shown, json_string(name));
    add_stat(table, &a->stat);
    add_stat(table, &b->stat);
    if (refused) {
        orch_table_add(table, "-", json_null());
        orch_table_add(table, "-", json_null());
        orch_table_add(table, "-", json_null());
        orch_table_add(table, "other machine", NULL);
        return;
    }
    g_autofree char *relative = a->stat.mean != 0
                                    ? g_strdup_printf("%+.1f %%", 100 * d.mean / fabs(a->stat.mean))
                                    : g_strdup("-");
    g_autofree char *interval = orch_interval_format(d.low, d.high);
    orch_table_add_real(table, d.mean);
    orch_table_add(table, relative,
                   a->stat.mean != 0 ? json_real(d.mean / fabs(a->stat.mean)) : json_null());
    orch_table_add(table, interval, isnan(d.low) ? json_null() : json_pack("[ff]", d.low, d.high));
    orch_table_add(table, judge(&d, better), NULL);
}

static int compare(struct orch_cli *cli, struct orch_store *store, GPtrArray *a, GPtrArray *b,
                   const struct compare_options *o, enum orch_aggregate aggregate, GError **error)
{
    static const char *const headers[] = {"metric",         ">A",      ">B", ">B - A", ">relative",
                                          ">95 % interval", "verdict", NULL};
    struct orch_table *table = orch_table_new(headers);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; o->metrics && o->metrics[i]; i++)
        g_ptr_array_add(names, g_strdup(o->metrics[i]));
    if (!o->metrics)
        collect_names(store, a->pdata[0], names);
    bool same = same_place(a, b), refused_any = false;
    unsigned rows = 0;
    for (guint i = 0; i < names->len; i++) {
        const char *better = "none", *unit = NULL;
        struct orch_group *x = numbers(store, a, names->pdata[i], aggregate, &better, &unit, error);
        struct orch_group *y =
            x ? numbers(store, b, names->pdata[i], aggregate, &better, &unit, error) : NULL;
        bool refused = !same && !o->across && is_timing_unit(unit);
        if (x && y && x->stat.count && y->stat.count) {
            add_row(table, names->pdata[i], unit, x, y, better, refused);
            refused_any = refused_any || refused;
            rows++;
        }
        bool failed = !x || !y;
        orch_group_free(x);
        orch_group_free(y);
        if (failed && error && *error)
            return -1;
    }
    if (!rows) {
        orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch show RUN' lists what a run has",
                       "the two sides have no metric in common");
        return -1;
    }
    orch_table_print(cli, table, "metrics");
    if (!cli->json) {
        fflush(stdout);
        orch_cli_say(cli, "A: %s (%u run%s)   B: %s (%u run%s)", cli->args[0], a->len,
                     a->len == 1 ? "" : "s", cli->args[1], b->len, b->len == 1 ? "" : "s");
        if (refused_any)
            orch_cli_warn(cli,
                          "A and B ran on different machines (%s, %s): their timings are not "
                          "compared\n  hint: --across does it all the same",
                          ((const struct orch_run *)a->pdata[0])->where_key,
                          ((const struct orch_run *)b->pdata[0])->where_key);
    }
    return ORCH_EXIT_OK;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct compare_options *o = options;
    enum orch_aggregate aggregate = ORCH_AGGREGATE_LAST;
    if (o->aggregate && !orch_aggregate_parse(o->aggregate, &aggregate)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "last, best, min, max, mean, first",
                       "option '--value': unknown word '%s'", o->aggregate);
        return -1;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) a = store ? orch_cli_find_runs(store, cli->args[0], error) : NULL;
    g_autoptr(GPtrArray) b = a ? orch_cli_find_runs(store, cli->args[1], error) : NULL;
    return b ? compare(cli, store, a, b, o, aggregate, error) : -1;
}

const struct orch_command ORCH_COMMAND_COMPARE = {
    .name = "compare",
    .group = "Looking",
    .summary = "two runs, or two sets of runs: is the difference more than noise?",
    .usage = "A B",
    .min_args = 2,
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct compare_options),
    .about =
        "A and B are runs, or filters as of 'orch ls --where' that name several. Sets are compared "
        "by the 95 % interval of the difference: paired by repeat where both sides have the same "
        "repeats (equal seeds), else Welch's. Timings are compared only where machines agree.",
    .examples = "  orch compare 3f2a91c0 @last\n"
                "  orch compare 'mode=full and lr=0.01' 'mode=feature and lr=0.1' -m val_accuracy",
    .run = run,
};
