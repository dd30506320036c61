/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/results/difference.h"
#include "lib/base/json.h"

struct diff_options {
    bool source;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct diff_options, source, FLAG, "source",
                .help = "show the lines of source that differ"),
    {0}};

static void print_rows(struct orch_cli *cli, const GPtrArray *rows)
{
    static const char *const headers[] = {"what", "name", "A", "B", NULL};
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < rows->len; i++) {
        const struct orch_run_difference *row = rows->pdata[i];
        orch_table_add(table, row->kind, NULL);
        orch_table_add(table, row->name, NULL);
        orch_table_add(table, row->a ? row->a : "-", orch_json_text_or_null(row->a));
        orch_table_add(table, row->b ? row->b : "-", orch_json_text_or_null(row->b));
    }
    orch_cli_table_print(cli, table, "differences");
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct diff_options *o = options;
    struct orch_run_differences differences = {0};
    g_autofree char *source = NULL;
    if (!orch_cli_store(cli, ORCH_STORE_READ, error) ||
        !orch_runs_differ(cli->workspace, cli->args[0], cli->args[1], &differences, error))
        return -1;
    if (differences.has_unknown_tree)
        orch_cli_warn(cli, "the source of one of them is not in this repository");
    print_rows(cli, differences.rows);
    bool ok =
        !o->source || orch_run_differences_source(cli->workspace, &differences, &source, error);
    if (source)
        orch_cli_print("\n%s", g_strchomp(source));
    orch_run_differences_clear(&differences);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_DIFF = {
    .name = "diff",
    .group = "Looking",
    .summary = "show how two runs differ: parameters, source, inputs, machine, packages",
    .usage = "RUN RUN",
    .min_args = 2,
    .max_args = 2,
    .options = OPTIONS,
    .option_bytes = sizeof(struct diff_options),
    .examples = "  orch diff @{1} @last --source",
    .run = run,
};
