/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"
#include "core/results/run_list.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

struct ls_options {
    struct orch_selection runs;
    const char **metrics;
    const char *limit;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct ls_options, runs.where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match FILTER, such as 'lr>=0.01 and state=ok'"),
    ORCH_OPTION(struct ls_options, runs.recipe, TEXT, "recipe", .value = "NAME",
                .help = "only runs of this recipe"),
    ORCH_OPTION(struct ls_options, runs.experiment, TEXT, "experiment", .letter = 'e',
                .value = "NAME", .help = "only runs of this experiment"),
    ORCH_OPTION(struct ls_options, runs.tags, LIST, "tag", .value = "TAG",
                .help = "only runs with this tag"),
    ORCH_OPTION(struct ls_options, runs.state, TEXT, "state", .value = "STATE",
                .help = "only runs in this state (ok, failed, crashed, ...)"),
    ORCH_OPTION(struct ls_options, metrics, LIST, "metric", .letter = 'm', .value = "NAME",
                .help = "add a column with this metric or result"),
    ORCH_OPTION(struct ls_options, limit, TEXT, "limit", .letter = 'n', .value = "N",
                .help = "show at most N runs (default 30; 0: all)"),
    ORCH_OPTION(struct ls_options, runs.with_hidden, FLAG, "all", .letter = 'a',
                .help = "include removed runs"),
    ORCH_OPTION(struct ls_options, runs.oldest_first, FLAG, "reverse", .letter = 'r',
                .help = "list the oldest run first"),
    {0}};

#define NO_RUN_YET                                                                                 \
    "no run yet\n  hint: 'orch try -- COMMAND' records any command, 'orch run RECIPE' the trials " \
    "of "                                                                                          \
    "a recipe"

static void add_labels(struct orch_table *table, const struct orch_listed_run *row)
{
    json_t *tags = json_array();
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < row->tags->len; i++) {
        const char *tag = row->tags->pdata[i];
        json_array_append_new(tags, json_string(tag));
        g_string_append_printf(text, "%s%s", i ? " " : "", tag);
    }
    orch_table_add(table, row->name ? row->name : "", orch_json_text_or_null(row->name));
    orch_table_add(table, text->str, tags);
}

static struct orch_table *new_table(const char **metrics, bool with_labels)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    static const char *const fixed[] = {"run", "state", "experiment", "setting"};
    static const struct {
        const char *header, *name;
    } names[] = {{"run", "key"}, {"time", "wall_s"}, {"when", "started"}}; /* names in JSON */
    static const char *const label_headers[] = {"name", "tags"};
    for (unsigned i = 0; i < G_N_ELEMENTS(fixed); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)fixed[i]);
    for (unsigned i = 0; with_labels && i < G_N_ELEMENTS(label_headers); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)label_headers[i]);
    g_autoptr(GPtrArray) right = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; metrics && metrics[i]; i++) {
        g_ptr_array_add(right, g_strconcat(">", metrics[i], NULL));
        g_ptr_array_add(headers, right->pdata[right->len - 1]);
    }
    static const char *const last[] = {">time", "who", "when", "commit"};
    for (unsigned i = 0; i < G_N_ELEMENTS(last); i++)
        g_ptr_array_add(headers, (char *)(uintptr_t)last[i]);
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    unsigned metrics_from =
        (unsigned)(G_N_ELEMENTS(fixed) + (with_labels ? G_N_ELEMENTS(label_headers) : 0));
    for (unsigned i = 0; i < orch_table_columns(table); i++)
        for (unsigned n = 0; n < G_N_ELEMENTS(names); n++)
            if ((i < metrics_from || i >= metrics_from + right->len) &&
                strcmp(orch_table_header(table, i), names[n].header) == 0)
                orch_table_set_name(table, i, names[n].name);
    return table;
}

static char *commit_text(const struct orch_listed_run *row)
{
    return row->commit       ? g_strdup_printf("%.8s%s", row->commit, row->is_dirty ? "+" : "")
           : row->is_running ? g_strdup("-")
           : row->has_tree   ? g_strdup("uncommitted")
                             : g_strdup("unversioned");
}

static void add_row(struct orch_table *table, const struct orch_listed_run *row, bool with_labels,
                    const char **metrics)
{
    g_autofree char *wall = orch_duration_format(row->wall_s);
    g_autofree char *when = orch_ago_format(row->started_ns);
    g_autofree char *iso = orch_time_format(row->started_ns, true);
    g_autofree char *commit = commit_text(row);
    const char *experiment = row->experiment || !row->is_running ? row->experiment : "?";
    orch_table_add(table, orch_run_short_key(row->key), json_string(row->key));
    orch_table_add(table, row->is_hidden ? "removed" : row->state, json_string(row->state));
    orch_table_add(table, experiment, NULL);
    orch_table_add(table, row->setting, row->coords ? json_incref(row->coords) : json_object());
    if (with_labels)
        add_labels(table, row);
    for (int i = 0; metrics && metrics[i]; i++)
        orch_table_add_real(table, row->values[i]);
    orch_table_add(table, wall, row->is_running ? json_null() : orch_json_finite(row->wall_s));
    orch_table_add_who(table, row->who);
    orch_table_add(table, when, json_string(iso));
    orch_table_add(table, commit, orch_json_text_or_null(row->commit));
}

static void print_list(struct orch_cli *cli, const struct orch_run_list *list,
                       const struct ls_options *o, bool is_filtered)
{
    bool with_labels = list->has_labels || cli->json; /* JSON always contains the labels */
    struct orch_table *table = new_table(o->metrics, with_labels);
    for (guint i = 0; i < list->runs->len; i++)
        add_row(table, list->runs->pdata[i], with_labels, o->metrics);
    for (guint i = 0; i < list->lacking->len; i++) {
        const struct orch_lacking_metric *lacking = list->lacking->pdata[i];
        orch_cli_warn(cli, "no run in the list has a metric or result '%s'\n  hint: %s",
                      lacking->name, lacking->hint);
    }
    orch_cli_table_print(cli, table, "runs");
    if (!cli->json && list->total > list->ended) {
        fflush(stdout);
        orch_cli_info(cli,
                      "%u of %" G_GINT64_FORMAT " runs; '-n 0' lists all, '-n 50' the newest 50",
                      list->ended, list->total);
    } else if (!list->runs->len && !cli->json) {
        orch_cli_info(cli, is_filtered ? "no run matches" : NO_RUN_YET);
    }
}

/* Whether no command has made the store of this folder. A store that the user names is there, or it
 * is an error. */
static bool has_no_store_yet(struct orch_cli *cli)
{
    struct orch_workspace *workspace = orch_cli_workspace(cli, NULL, NULL);
    return workspace && !cli->db && !g_getenv("ORCH_DB") && !orch_workspace_has_store(workspace);
}

/* Prints the list of a folder without a store: for programs a table without rows. */
static void print_none(struct orch_cli *cli, const struct ls_options *o)
{
    if (cli->json || cli->format)
        orch_cli_table_print(cli, new_table(o->metrics, cli->json), "runs");
    orch_cli_info(cli, NO_RUN_YET);
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct ls_options *o = options;
    int64_t limit = 30;
    if (o->limit && (!orch_int_parse(o->limit, &limit) || limit < 0)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use a whole number; 0 lists all runs",
                       "option '--limit': '%s' is not a number", o->limit);
        return -1;
    }
    struct orch_selection selection = o->runs;
    selection.with_counted = true;
    selection.limit = limit;
    bool is_filtered = selection.where || selection.tags || selection.state || selection.recipe ||
                       selection.experiment;
    orch_cli_take_in(cli);
    if (has_no_store_yet(cli)) {
        print_none(cli, o);
        return ORCH_EXIT_OK;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (!store)
        return -1;
    struct orch_run_list *list =
        orch_run_list_make(store, &selection, (const char *const *)o->metrics, !is_filtered, error);
    if (!list)
        return -1;
    print_list(cli, list, o, is_filtered);
    orch_run_list_free(list);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_LS = {
    .name = "ls",
    .group = "Look at results",
    .pages = true,
    .is_listed = true,
    .summary = "list runs, newest first",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct ls_options),
    .about = "FILTER is a condition on parameters, results, last values of metrics, and fields "
             "such as state, started and wall_s. 'orch help filters' explains it.",
    .examples = "  orch ls --where 'experiment=finetune and lr<0.1' -m val_accuracy\n"
                "  orch ls --state failed\n"
                "  orch ls -n 0 --json | jq '.runs[].key'",
    .run = run,
};
