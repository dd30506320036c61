/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/cli/cli.h"

#include "core/recipe/option_value.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "store/read/ask.h"

#define SECONDS 60

struct query_options {
    const char *timeout;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct query_options, timeout, TEXT, "timeout", .value = "DURATION",
                .help = "stop the query after this time (default: 60 s)"),
    {0}};

static void add_cell(struct orch_table *table, json_t *value)
{
    if (json_is_string(value)) {
        orch_table_add(table, json_string_value(value), json_incref(value));
    } else if (json_is_null(value)) {
        orch_table_add(table, "", json_incref(value));
    } else {
        g_autofree char *text = orch_json_canonical(value);
        orch_table_add(table, text, json_incref(value));
    }
}

static struct orch_table *table_of(const json_t *answer)
{
    const json_t *columns = json_object_get(answer, "columns"),
                 *rows = json_object_get(answer, "rows");
    g_autoptr(GPtrArray) headers = g_ptr_array_new();
    for (size_t i = 0; i < json_array_size(columns); i++)
        g_ptr_array_add(headers,
                        (gpointer)(uintptr_t)json_string_value(json_array_get(columns, i)));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (unsigned i = 0; i < orch_table_columns(table); i++)
        orch_table_set_name(table, i, headers->pdata[i]);
    for (size_t i = 0; i < json_array_size(rows); i++)
        for (size_t j = 0; j < json_array_size(columns); j++)
            add_cell(table, json_array_get(json_array_get(rows, i), j));
    return table;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct query_options *o = options;
    double seconds = SECONDS;
    struct orch_store *store;
    if ((o->timeout && !orch_option_duration("timeout", o->timeout, &seconds, error)) ||
        !(store = orch_cli_store(cli, ORCH_STORE_READ, error)))
        return -1;
    g_autoptr(json_t) answer = orch_store_ask(store, cli->args[0], seconds, error);
    if (!answer)
        return -1;
    orch_cli_table_print(cli, table_of(answer), "rows");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_QUERY = {
    .name = "query",
    .group = "Look at results",
    .pages = true,
    .summary = "run an SQL query on the store, without changing it",
    .usage = "SELECT",
    .min_args = 1,
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct query_options),
    .about = "SELECT is one SQLite statement on views such as 'runs' and 'results' ('orch help "
             "query').\n"
             "\n"
             "  runs         run, key, state, reason, recipe, experiment, plugin, seed, repeat, "
             "attempt, who, started, ended, wall_s, commit_oid, branch, dirty, tree, machine\n"
             "  settings     run, name, value\n"
             "  results      run, name, value, unit\n"
             "  metrics      run, name, step, t_s, value, unit: each point\n"
             "  last_values  run, name, step, value, unit: the last point of each metric\n"
             "\n"
             "Column 'run' joins the views. The store's own tables ('orch help store') can be "
             "queried, too. Times are UTC.",
    .examples =
        "  orch query 'SELECT key, state, wall_s FROM runs ORDER BY wall_s DESC LIMIT 5'\n"
        "  orch query --format csv \"SELECT s.value AS lr, avg(v.value) AS loss FROM settings s "
        "JOIN last_values v USING (run) WHERE s.name = 'lr' AND v.name = 'loss' GROUP BY lr\"",
    .run = run,
};
