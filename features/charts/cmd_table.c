/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of results as in a report, without a recipe. */
#include "core/cli/cli.h"
#include "core/report/averaged_over.h"
#include "core/report/grid_table.h"
#include "core/results/selection.h"
#include "core/stats/lost_runs.h"
#include "core/stats/task.h"

#include "features/charts/axis_hint.h"
#include "features/charts/declared_labels.h"
#include "lib/base/error.h"
#include "lib/base/ident.h"

struct table_options {
    const char *rows, *columns, *where, *format;
    const char **values;
    bool across;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct table_options, rows, TEXT, "rows", .value = "NAMES",
                .help = "a row for each value of these names: parameters, experiment, gpu, ..."),
    ORCH_OPTION(struct table_options, columns, TEXT, "columns", .value = "NAMES",
                .help = "a column for each value of these names (default: one for each --value)"),
    ORCH_OPTION(struct table_options, values, LIST, "value", .value = "'WHICH NAME'",
                .help = "shown in each cell: 'max val_accuracy', 'last loss', 'result NAME', ..."),
    ORCH_OPTION(struct table_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct table_options, across, FLAG, "across",
                .help = "combine runs of different experiments and data sets in one cell"),
    ORCH_OPTION(struct table_options, format, TEXT, "format", .value = "FORMAT",
                .help = "text, tsv, csv, markdown, latex or json"),
    {0}};

/* Splits "lr,mode" into names; empty for NULL. */
static GPtrArray *names_of(const char *text)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
    for (int i = 0; words[i]; i++)
        if (*g_strstrip(words[i]))
            g_ptr_array_add(names, g_strdup(words[i]));
    return names;
}

static json_t *values_of(const struct table_options *o)
{
    json_t *values = json_array();
    for (int i = 0; o->values[i]; i++)
        json_array_append_new(values, json_string(o->values[i]));
    return values;
}

static bool check(const struct table_options *o, GError **error)
{
    bool is_json = g_strcmp0(o->format, "json") == 0;
    if (!o->rows || !o->values) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch table --rows lr --columns mode --value 'max val_accuracy'",
                       "a table needs --rows and --value");
        return false;
    }
    return is_json || orch_cli_format_check(o->format, error);
}

/* Checks that some run has each value and axis; a misspelt name is an error, not an empty table. */
static bool has_runs(const struct orch_trials *trials, const char *where, GError **error)
{
    if (trials->all->len)
        return true;
    orch_error_set(error, ORCH_ERROR_NOT_FOUND, "'orch ls' lists the stored runs",
                   "no run that ended well %s", where ? "matches the filter" : "is in the store");
    return false;
}

static bool has_axes(const struct orch_trials *trials, const GPtrArray *axes, const char *option,
                     GError **error)
{
    for (guint i = 0; i < axes->len; i++) {
        bool known = false;
        for (guint j = 0; j < trials->all->len && !known; j++) {
            g_autofree char *value =
                orch_trial_value(trials, trials->all->pdata[j], axes->pdata[i]);
            known = value;
        }
        if (!known) {
            g_autofree char *hint = orch_axis_hint(trials, axes->pdata[i]);
            orch_error_set(error, ORCH_ERROR_USAGE, hint, "option '%s': none of %u runs has a '%s'",
                           option, trials->all->len, (char *)axes->pdata[i]);
            return false;
        }
    }
    return true;
}

static bool has_cells(const struct orch_grid *grid, const struct orch_trials *trials,
                      GError **error)
{
    if (grid->cells->len)
        return true;
    const char *name = ((const struct orch_item_value *)grid->wanted->pdata[0])->name;
    g_autofree char *hint = orch_store_metric_hint(trials->store, name);
    orch_error_set(error, ORCH_ERROR_USAGE, hint,
                   "option '--value': none of %u runs has a metric or result '%s'",
                   trials->all->len, name);
    return false;
}

/* Puts runs of different tasks into separate rows, by adding the names that distinguish tasks in
 * front of the other axes in `rows`. Returns how many were added. */
static guint keep_tasks_apart(const struct orch_trials *trials, const GPtrArray *wanted,
                              GPtrArray *rows, const GPtrArray *columns)
{
    g_autoptr(GHashTable) about = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < trials->all->len; i++)
        for (guint j = 0; j < wanted->len; j++)
            if (orch_trial_has(trials, trials->all->pdata[i],
                               ((const struct orch_item_value *)wanted->pdata[j])->name))
                g_hash_table_add(about, trials->all->pdata[i]);
    g_autoptr(GPtrArray) chosen = g_ptr_array_new();
    g_ptr_array_extend(chosen, rows, NULL, NULL);
    g_ptr_array_extend(chosen, (GPtrArray *)(uintptr_t)columns, NULL, NULL);
    g_ptr_array_add(chosen, NULL);
    g_autoptr(GPtrArray) names =
        orch_trials_task_names(trials, about, (const char *const *)chosen->pdata);
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_insert(rows, (int)i, g_strdup(names->pdata[i]));
    return names->len;
}

static void print(struct orch_cli *cli, const struct table_options *o, const struct orch_grid *grid)
{
    if (g_strcmp0(o->format, "json") == 0)
        cli->json = true;
    orch_cli_table_print_as(cli, orch_grid_table(grid), "rows", o->format);
    g_autofree char *legend = orch_grid_legend(grid);
    if (!cli->json && !o->format)
        orch_cli_info(cli, "%s", legend);
    g_autofree char *mixed = orch_grid_mixed(grid);
    if (mixed)
        orch_cli_info(cli, "%s", mixed);
}

/* Says which trials of these settings failed or were pruned, since the table has no runs of them.
 */
static bool print_lost(struct orch_cli *cli, const struct table_options *o,
                       const struct orch_trials *trials, GError **error)
{
    const struct orch_selection selection = {.where = o->where};
    g_autoptr(GPtrArray) runs = orch_selection_runs(&selection, trials->store, NULL, error);
    g_autoptr(GPtrArray) shown = g_ptr_array_new();
    struct orch_lost_runs *lost = orch_lost_runs_new(trials->store);
    struct orch_lost found = {0};
    bool ok = runs;
    for (guint i = 0; ok && i < runs->len; i++) {
        const struct orch_run *run = runs->pdata[i];
        const enum orch_lost_why why = orch_lost_why_of(run->state);
        ok = why == ORCH_LOST_WHYS || orch_lost_runs_add(lost, run, why, error);
    }
    for (guint i = 0; i < trials->all->len; i++)
        g_ptr_array_add(shown, ((const struct orch_report_trial *)trials->all->pdata[i])->run);
    ok = ok && orch_lost_find(lost, shown, &found, error);
    g_autofree char *text = ok ? orch_lost_text(&found, "these settings'") : NULL;
    if (text)
        orch_cli_info(cli, "not in the table: %s", text);
    orch_lost_clear(&found);
    orch_lost_runs_free(lost);
    return ok;
}

static bool make(struct orch_cli *cli, const struct table_options *o, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_trials *trials = store ? orch_trials_of_filter(store, o->where, error) : NULL;
    if (!trials)
        return false;
    orch_label_runs(trials, cli->workspace->root);
    g_autoptr(GPtrArray) rows = names_of(o->rows);
    g_autoptr(GPtrArray) columns = names_of(o->columns);
    json_t *values = values_of(o);
    g_autoptr(GPtrArray) wanted = orch_item_values_parse(values);
    json_decref(values);
    struct orch_grid *grid = NULL;
    guint apart = 0;
    if (has_runs(trials, o->where, error) && has_axes(trials, rows, "--rows", error) &&
        has_axes(trials, columns, "--columns", error)) {
        apart = o->across ? 0 : keep_tasks_apart(trials, wanted, rows, columns);
        grid = orch_grid_new(trials, wanted, rows, columns, error);
    }
    bool ok = grid && has_cells(grid, trials, error);
    if (ok)
        print(cli, o, grid);
    ok = ok && print_lost(cli, o, trials, error);
    if (ok && apart)
        orch_cli_info(cli,
                      "runs of different tasks (" ORCH_TASK_WORDS
                      ") have separate rows: --where chooses one task, --across merges all tasks");
    orch_grid_free(grid);
    orch_trials_free(trials);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    return check(options, error) && make(cli, options, error) ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_TABLE = {
    .name = "table",
    .group = "Look at results",
    .pages = true,
    .is_listed = true,
    .summary = "tabulate results of any runs by their parameters",
    .usage = "",
    .min_args = 0,
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct table_options),
    .about = "Shows means over repeats with the lowest and highest run, or with a 95 % interval "
             "for 5 runs or more. Runs of different tasks (" ORCH_TASK_WORDS
             ") get separate rows. Only runs that ended as ok or diverged are included.",
    .examples = "  orch table --rows lr --columns mode --value 'max val_accuracy'\n"
                "  orch table --rows net,batch --value 'mean images_per_s' --value wall_s\n"
                "  orch table --rows lr --value 'result final_accuracy' --where 'experiment = "
                "finetune' --format latex",
    .run = run,
};
