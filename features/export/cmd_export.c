/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports runs and points as a table for other programs. */
#include "core/cli/named.h"
#include "core/cli/parts.h"

#include "features/export/export_table.h"
#include "lib/base/error.h"
#include "lib/base/text.h"

#include <string.h>

struct export_options {
    const char *where, *recipe, *experiment, *what, *format, *columns, *out;
    const char **metrics;
    bool safe_csv;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct export_options, what, TEXT, "what", .value = "runs|points",
                .help = "a row for each run (default), or for each point of its metrics"),
    ORCH_OPTION(struct export_options, where, TEXT, "where", .letter = 'w', .value = "FILTER",
                .help = "only runs that match ('orch help filters')"),
    ORCH_OPTION(struct export_options, recipe, TEXT, "recipe", .value = "NAME",
                .help = "only runs of this recipe"),
    ORCH_OPTION(struct export_options, experiment, TEXT, "experiment", .letter = 'e',
                .value = "NAME", .help = "only runs of this experiment"),
    ORCH_OPTION(struct export_options, columns, TEXT, "columns", .letter = 'c', .value = "A,B,...",
                .help = "columns about each run (default: all; with --what points: only its key)"),
    ORCH_OPTION(struct export_options, metrics, LIST, "metric", .letter = 'm', .value = "NAME",
                .help = "with --what points: only this metric"),
    ORCH_OPTION(struct export_options, format, TEXT, "format", .letter = 'f',
                .value = "csv|json|jsonl",
                .help = "csv (default), json (one array) or jsonl (an object on each line)"),
    ORCH_OPTION(struct export_options, safe_csv, FLAG, "safe-csv",
                .help = "put an apostrophe before texts that spreadsheets take for a formula"),
    ORCH_OPTION(struct export_options, out, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "write to FILE (.csv, .json or .jsonl) instead of stdout"),
    {0}};

static const char *const FORMATS[] = {"csv", "json", "jsonl"}; /* enum orch_export_format */

static bool choose(const char *option, const char *word, const char *const *words, unsigned count,
                   unsigned *out, GError **error)
{
    g_autofree char *list = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(words[i], word) == 0) {
            *out = i;
            return true;
        }
        char *longer = list ? g_strdup_printf("%s, %s", list, words[i]) : g_strdup(words[i]);
        g_free(list);
        list = longer;
    }
    orch_error_set(error, ORCH_ERROR_USAGE, list, "option '%s': unknown value '%s'", option, word);
    return false;
}

/* Uses --format, else --json, else the suffix of --output. */
static bool choose_format(const struct orch_cli *cli, const struct export_options *o,
                          enum orch_export_format *out, GError **error)
{
    unsigned chosen = cli->json ? ORCH_EXPORT_OBJECT : ORCH_EXPORT_CSV;
    if (o->format && !choose("--format", o->format, FORMATS, G_N_ELEMENTS(FORMATS), &chosen, error))
        return false;
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    for (unsigned i = 0; !o->format && !cli->json && dot && i < G_N_ELEMENTS(FORMATS); i++)
        if (strcmp(dot + 1, FORMATS[i]) == 0)
            chosen = i;
    *out = (enum orch_export_format)chosen;
    return true;
}

static bool read_options(struct orch_cli *cli, const struct export_options *o,
                         struct orch_export_wish *out, GError **error)
{
    static const char *const kinds[] = {"runs", "points"};
    unsigned kind = 0;
    *out = (struct orch_export_wish){.selection = {.where = o->where,
                                                   .recipe = o->recipe,
                                                   .experiment = o->experiment,
                                                   .with_counted = true,
                                                   .oldest_first = true},
                                     .columns = o->columns,
                                     .safe_csv = o->safe_csv,
                                     .on_terminal = cli->stdout_is_tty,
                                     .metrics = (const char *const *)o->metrics};
    if (!choose_format(cli, o, &out->format, error) ||
        (o->what && !choose("--what", o->what, kinds, G_N_ELEMENTS(kinds), &kind, error)))
        return false;
    out->points = kind == 1;
    if (o->safe_csv && out->format != ORCH_EXPORT_CSV) {
        orch_error_set(error, ORCH_ERROR_USAGE, "leave --safe-csv out",
                       "option '--safe-csv' needs '--format csv'");
        return false;
    }
    if (!o->metrics || out->points)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for a table of runs: --columns key,metric.NAME",
                   "option '--metric' needs '--what points'");
    return false;
}

/* Shows the part of the command that stands alone. */
static int run_part(struct orch_cli *cli, const struct export_options *o, GError **error)
{
    const struct orch_selection selection = {
        .where = o->where, .recipe = o->recipe, .experiment = o->experiment};
    bool is_of_table = o->what || o->columns || o->metrics || o->format || o->out || o->safe_csv;
    const struct orch_subject subject = {
        .selection = &selection,
        .not_alone =
            is_of_table ? "--what, --columns, --metric, --format, --safe-csv and --output" : NULL,
    };
    return orch_cli_part_alone_show(cli, &subject, error) ? ORCH_EXIT_OK : -1;
}

static bool export_table(struct orch_cli *cli, const struct export_options *o,
                         struct orch_export_wish *wish, int64_t *out_rows, GError **error)
{
    struct orch_cli_named named = {0};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    bool ok = store && orch_cli_named_read(cli, store, &named, error);
    if (ok) {
        wish->selection.any_recipes = (const char *const *)(void *)named.recipes->pdata;
        wish->selection.any_runs = (const char *const *)(void *)named.runs->pdata;
        ok = orch_export_table(store, wish, o->out, stdout, out_rows, error);
    }
    orch_cli_named_clear(&named);
    return ok;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct export_options *o = options;
    if (orch_cli_has_part_alone(cli))
        return run_part(cli, o, error);
    struct orch_export_wish wish;
    int64_t rows = 0;
    if (!read_options(cli, o, &wish, error) || !export_table(cli, o, &wish, &rows, error))
        return -1;
    if (o->metrics && !rows)
        orch_cli_warn(cli, "these runs have no value of '%s' ('orch show RUN' lists metrics)",
                      o->metrics[0]);
    if (o->out)
        orch_cli_info(cli, "%" G_GINT64_FORMAT " row%s in '%s'", rows, orch_plural(rows), o->out);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_EXPORT = {
    .name = "export",
    .group = "Look at results",
    .summary = "write runs as a table for other programs (CSV, JSON)",
    .usage = "[RUN|RECIPE...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct export_options),
    .about = "Exports runs in any state: all of them, or those that you name. The columns are a "
             "run's fields ('orch help run-fields'), param.NAME, result.NAME, metric.NAME (the "
             "last value) and best.NAME (the best value). --columns selects columns by these "
             "names, or by NAME alone. It also accepts min.NAME, max.NAME, mean.NAME, first.NAME "
             "and count.NAME. Times are UTC, durations are in seconds, sizes in bytes.\n"
             "\n"
             "Use --safe-csv for a table that you open in a spreadsheet: runs of others can "
             "contain any text, and a spreadsheet evaluates a cell that begins with = + - or @ as "
             "a formula. --safe-csv puts an apostrophe before such texts.",
    .examples = "  orch export @last --what points\n"
                "  orch export --where 'recipe = hw4 and state = ok' -o runs.csv\n"
                "  orch export -c key,lr,best.val_accuracy,wall_s --format jsonl\n"
                "  orch export --what points -m val_loss -c key,lr -o points.csv",
    .run = run,
};
