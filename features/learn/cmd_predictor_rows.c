/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shows the rows that predictors learn from. */
#include "core/cli/cli.h"

#include "core/rows/param_rows.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

struct rows_options {
    const char *target, *data, *where, *format;
    bool runs;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct rows_options, target, TEXT, "target", .letter = 't', .value = "NAME",
                .help = "step_ms (default), epoch_s, images_per_s, wall_s, or the table's target"),
    ORCH_OPTION(struct rows_options, data, TEXT, "data", .letter = 'd', .value = "NAME",
                .help = "show the rows of this imported table"),
    ORCH_OPTION(struct rows_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct rows_options, runs, FLAG, "runs", .help = "show the run of each row"),
    ORCH_OPTION(struct rows_options, format, TEXT, "format", .letter = 'f', .value = "NAME",
                .help = "print text, tsv, csv, markdown or latex"),
    {0}};

/* Returns whether every field of a column is a number or empty, and at least one is a number. */
static bool is_number_column(const struct orch_csv *csv, int column)
{
    bool some = false;
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        double value;
        const char *text = orch_csv_text(csv, i, column);
        if (*text && !orch_real_parse(text, &value))
            return false;
        some |= *text != '\0';
    }
    return some;
}

static struct orch_table *make_table(const struct orch_csv *csv, const GPtrArray *keys)
{
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    int columns = orch_csv_columns(csv);
    g_autofree bool *number = g_new(bool, columns);
    if (keys)
        g_ptr_array_add(headers, g_strdup("run"));
    for (int c = 0; c < columns; c++) {
        number[c] = is_number_column(csv, c);
        g_ptr_array_add(headers, g_strconcat(number[c] ? ">" : "", orch_csv_name(csv, c), NULL));
    }
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    for (size_t i = 0; i < orch_csv_rows(csv); i++) {
        if (keys)
            orch_table_add(table, orch_run_short_key(keys->pdata[i]), json_string(keys->pdata[i]));
        for (int c = 0; c < columns; c++) {
            const char *text = orch_csv_text(csv, i, c);
            double value;
            bool is_real = number[c] && orch_real_parse(text, &value);
            orch_table_add(table, text,
                           is_real ? orch_json_finite(value)
                           : *text ? NULL
                                   : json_null());
        }
    }
    return table;
}

static void print_tally(struct orch_cli *cli, const struct orch_rows_tally *tally, bool of_params)
{
    const struct {
        int64_t count;
        const char *why;
    } left[] = {{tally->no_cost, "declare no cost"},
                {tally->shared, "shared the machine with other trials"},
                {tally->disturbed, "ran while other programs kept the CPUs busy"},
                {tally->other_libraries,
                 "used another version of LibTorch or PyTorch than the device's newest run"},
                {tally->other_layouts,
                 "used another memory layout than the network's newest run on the device"},
                {tally->other_graphs,
                 "differ from the network's newest run on the device in using CUDA graphs"},
                {tally->forward, "did not train the network"},
                {tally->unmeasured, "recorded nothing from which the target can be computed"}};
    orch_cli_info(cli, "%" G_GINT64_FORMAT " row%s of runs that ended ok", tally->rows,
                  orch_plural(tally->rows));
    for (size_t i = 0; i < G_N_ELEMENTS(left); i++)
        if (left[i].count)
            orch_cli_info(cli, "left out: %" G_GINT64_FORMAT " that %s", left[i].count,
                          left[i].why);
    if (tally->shared_rows)
        orch_cli_info(cli,
                      "%" G_GINT64_FORMAT " of the rows are from runs that shared the machine with "
                      "other trials, because %s have no other runs",
                      tally->shared_rows, of_params ? "their settings" : "their devices");
    if (tally->disturbed_rows)
        orch_cli_info(cli,
                      "%" G_GINT64_FORMAT " of the rows are from runs during which other programs "
                      "kept the CPUs busy, because %s have no other runs",
                      tally->disturbed_rows, of_params ? "their settings" : "their devices");
}

/* Reads the rows of runs: of declared costs or, when the runs of --where declare none and the
 * target allows it, of their parameters, as 'orch predictor train' does. */
static struct orch_csv *rows_of_runs(struct orch_cli *cli, struct orch_store *store,
                                     const struct rows_options *o, const struct orch_where *where,
                                     GPtrArray *keys, GError **error)
{
    struct orch_rows_tally tally = {0};
    struct orch_csv *csv = orch_rows_of_runs(store, where, o->target, keys, &tally, error);
    bool may = where && (!o->target || strcmp(o->target, "wall_s") == 0) &&
               orch_rows_tally_has_no_cost(&tally);
    g_autoptr(GError) several = NULL;
    struct orch_rows_tally by_param = {0};
    struct orch_param_rows *rows =
        csv && may ? orch_param_rows_of_runs(store, where, keys, &by_param, &several) : NULL;
    if (rows) {
        orch_csv_free(csv);
        csv = g_steal_pointer(&rows->csv);
        tally = by_param;
    }
    if (csv)
        print_tally(cli, &tally, rows != NULL);
    if (several)
        orch_cli_info(cli,
                      "to see rows of the runs' parameters, choose one experiment with --where");
    orch_param_rows_free(rows);
    return csv;
}

static struct orch_csv *read_rows(struct orch_cli *cli, const struct rows_options *o,
                                  GPtrArray *keys, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    if (!store)
        return NULL;
    if (o->data)
        return orch_rows_of_dataset(store, o->data, o->target, error);
    struct orch_where *where = o->where ? orch_where_parse(o->where, error) : NULL;
    if (o->where && !where)
        return NULL;
    struct orch_csv *csv = rows_of_runs(cli, store, o, where, keys, error);
    orch_where_free(where);
    return csv;
}

static int run_rows(struct orch_cli *cli, const void *options, GError **error)
{
    const struct rows_options *o = options;
    if (o->data && (o->where || o->runs)) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave out one of the two",
                       "option '%s' excludes '--data'", o->where ? "--where" : "--runs");
        return -1;
    }
    if (!orch_cli_format_check(o->format, error))
        return -1;
    g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
    struct orch_csv *csv = read_rows(cli, o, keys, error);
    if (!csv)
        return -1;
    if (!cli->json && !o->runs && g_strcmp0(o->format, "csv") == 0) {
        GString *text = orch_rows_text(csv);
        orch_cli_write_data(cli, text->str, text->len);
        g_string_free(text, TRUE);
    } else {
        orch_cli_table_print_as(cli, make_table(csv, o->runs ? keys : NULL), "rows", o->format);
    }
    orch_csv_free(csv);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_PREDICTOR_ROWS = {
    .name = "predictor rows",
    .group = "Networks and hardware",
    .pages = true,
    .summary = "show the rows that predictors train on: from runs, or from a table",
    .usage = "",
    .max_args = 0,
    .options = OPTIONS,
    .option_bytes = sizeof(struct rows_options),
    .about = "A run gives a row if its plugin describes the run's work (network, batch, ...) under "
             "the key 'cost', and if the run ended ok and had the "
             "machine to itself. A run's time is the median of its epochs or steps without the "
             "first. If the runs of --where have no such 'cost', the columns are their device and "
             "parameters, and the target is their wall time (wall_s).",
    .examples = "orch predictor rows --runs\n"
                "orch predictor rows --target epoch_s --where 'recipe = hw4' --format csv >a.csv",
    .run = run_rows,
};
