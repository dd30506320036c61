/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exports runs and points as a table for other programs. Each row is written as it is read, so the
 * store's content does not have to fit into memory. */
#include "core/cli/cli.h"
#include "core/cli/export_bundle.h"
#include "core/report/export_columns.h"

#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"
#include "store/bulk.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct export_options {
    const char *where, *recipe, *experiment, *what, *format, *columns, *out;
    const char **metrics;
    const char *bundle, *artifacts;
    const char **datasets;
    bool dry_run;
};
#define AT(member) offsetof(struct export_options, member)

static const struct orch_option OPTIONS[] = {
    {"what", 0, "runs|points", ORCH_OPT_TEXT, AT(what),
     "a row for each run (default), or for each point of its metrics"},
    {"where", 'w', "FILTER", ORCH_OPT_TEXT, AT(where), "only runs that match (docs/where.md)"},
    {"recipe", 0, "NAME", ORCH_OPT_TEXT, AT(recipe), "only of this recipe"},
    {"experiment", 'e', "NAME", ORCH_OPT_TEXT, AT(experiment), "only of this experiment"},
    {"columns", 'c', "A,B,...", ORCH_OPT_TEXT, AT(columns),
     "columns of a run; with --what points: columns before each point (default: key)"},
    {"metric", 'm', "NAME", ORCH_OPT_LIST, AT(metrics), "with --what points: only this metric"},
    {"format", 'f', "csv|json|jsonl", ORCH_OPT_TEXT, AT(format),
     "csv (default), json: one array, jsonl: an object a line"},
    {"out", 'o', "FILE", ORCH_OPT_TEXT, AT(out),
     "write to FILE (its suffix selects the format) instead of stdout"},
    {"bundle", 0, "FILE", ORCH_OPT_TEXT, AT(bundle),
     "write the runs themselves into one file for 'orch db merge' elsewhere"},
    {"artifacts", 0, "all|none|BYTES", ORCH_OPT_TEXT, AT(artifacts),
     "with --bundle: largest artifact to include (default 4MiB)"},
    {"measurements", 0, "NAME", ORCH_OPT_LIST, AT(datasets),
     "with --bundle: include this imported table of measurements"},
    {"dry-run", 'n', NULL, ORCH_OPT_FLAG, AT(dry_run),
     "with --bundle: list every name and its size; write nothing"},
    {0}};

enum format { FORMAT_CSV, FORMAT_JSON, FORMAT_JSONL };
static const char *const FORMATS[] = {"csv", "json", "jsonl"};

struct export
{
    struct orch_store *store;
    const struct export_options *options;
    struct orch_export_columns *columns;
    enum format format;
    bool points;
    FILE *out;
    int64_t rows;
    GString *line;
    GPtrArray *keys; /* char *: headers, quoted for JSON */
    GString *head;   /* points: the columns of the run in a line */
    GString *name;   /* points: the metric's name, formatted */
    char *metric;    /* the metric that `name` is for */
};

/* ---- cells ------------------------------------------------------------------------------------
 */

/* Formats a CSV field: empty for null, texts unchanged, everything else as in JSON. */
static void append_csv(GString *line, const json_t *value)
{
    if (json_is_null(value))
        return;
    if (json_is_string(value)) {
        orch_csv_append(line, json_string_value(value));
        return;
    }
    g_autofree char *text = orch_json_canonical(value);
    orch_csv_append(line, text);
}

static void append_json(GString *line, const json_t *value)
{
    g_autofree char *text = orch_json_canonical(value);
    g_string_append(line, text);
}

/* Appends cell i of a line, preceded by its separator and, in JSON, its key. */
static void append_cell(const struct export *e, GString *line, guint i, const json_t *value)
{
    if (i)
        g_string_append_c(line, ',');
    if (e->format == FORMAT_CSV) {
        append_csv(line, value);
        return;
    }
    g_string_append_printf(line, "%s:", (const char *)e->keys->pdata[i]);
    append_json(line, value);
}

static void append_number(const struct export *e, GString *line, guint i, double value)
{
    char text[ORCH_REAL_CHARS];
    g_string_append_c(line, ',');
    if (e->format != FORMAT_CSV)
        g_string_append_printf(line, "%s:", (const char *)e->keys->pdata[i]);
    if (isfinite(value))
        g_string_append(line, orch_real_format(value, text));
    else if (isinf(value))
        g_string_append_printf(line, e->format == FORMAT_CSV ? "%s" : "\"%s\"",
                               orch_real_format(value, text));
    else if (e->format != FORMAT_CSV)
        g_string_append(line, "null");
}

/* Writes the line. False when the reader has closed the pipe. */
static bool end_line(struct export *e)
{
    static const char *const between[] = {"", ",\n", ""};
    static const char *const ends[] = {"\r\n", "}", "}\n"};
    if (e->rows++)
        fputs(between[e->format], e->out);
    g_string_append(e->line, ends[e->format]);
    fwrite(e->line->str, 1, e->line->len, e->out);
    return !ferror(e->out);
}

static void begin_line(struct export *e)
{
    g_string_assign(e->line, e->format == FORMAT_CSV ? "" : "{");
}

static void add_key(struct export *e, const char *header)
{
    json_t *text = json_string(header);
    g_ptr_array_add(e->keys, orch_json_canonical(text));
    json_decref(text);
    if (e->format != FORMAT_CSV)
        return;
    if (e->keys->len > 1)
        g_string_append_c(e->line, ',');
    orch_csv_append(e->line, header);
}

static void begin(struct export *e)
{
    static const char *const of_points[] = {"metric", "step", "t_s", "value"};
    for (guint i = 0; i < orch_export_columns_count(e->columns); i++)
        add_key(e, orch_export_columns_header(e->columns, i));
    for (unsigned i = 0; e->points && i < G_N_ELEMENTS(of_points); i++)
        add_key(e, of_points[i]);
    if (e->format == FORMAT_CSV)
        fprintf(e->out, "%s\r\n", e->line->str);
    else if (e->format == FORMAT_JSON)
        fputs("[\n", e->out);
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Formats the metric's name once for a whole series. */
static void set_metric(struct export *e, const char *metric)
{
    if (g_strcmp0(e->metric, metric) == 0)
        return;
    g_free(e->metric);
    e->metric = g_strdup(metric);
    g_string_truncate(e->name, 0);
    json_t *text = json_string(metric);
    append_cell(e, e->name, orch_export_columns_count(e->columns), text);
    json_decref(text);
}

static bool write_point(void *ctx, const struct orch_bulk_point *point)
{
    struct export *e = ctx;
    guint first = orch_export_columns_count(e->columns);
    set_metric(e, point->metric);
    begin_line(e);
    g_string_append_len(e->line, e->head->str, (gssize)e->head->len);
    g_string_append_len(e->line, e->name->str, (gssize)e->name->len);
    g_string_append_c(e->line, ',');
    if (e->format != FORMAT_CSV)
        g_string_append_printf(e->line, "%s:", (const char *)e->keys->pdata[first + 1]);
    g_string_append_printf(e->line, "%" G_GINT64_FORMAT, (gint64)point->step);
    append_number(e, e->line, first + 2, point->t_ms / 1e3);
    append_number(e, e->line, first + 3, point->value);
    return end_line(e);
}

static bool write_run(void *ctx, const struct orch_run *run, GError **error)
{
    struct export *e = ctx;
    g_autoptr(GPtrArray) values = orch_export_columns_values(e->columns, e->store, run, error);
    if (!values)
        return false;
    GString *line = e->points ? e->head : e->line;
    if (e->points)
        g_string_truncate(line, 0);
    else
        begin_line(e);
    for (guint i = 0; i < values->len; i++)
        append_cell(e, line, i, values->pdata[i]);
    if (!e->points)
        return end_line(e);
    return orch_store_visit_points(e->store, run->id, e->options->metrics, write_point, e, error) &&
           !ferror(e->out);
}

static bool write_all(struct export *e, const struct orch_run_query *query, GError **error)
{
    begin(e);
    GError *problem = NULL;
    bool ok = orch_store_visit_full_runs(e->store, query, write_run, e, &problem);
    if (ok && e->format == FORMAT_JSON)
        fputs(e->rows ? "\n]\n" : "]\n", e->out);
    if (!problem)
        return true; /* a closed pipe is not an error */
    g_propagate_error(error, problem);
    return false;
}

/* ---- where to ---------------------------------------------------------------------------------
 */

/* Writes to a temporary file and renames it, so an existing file is replaced only by a complete
 * one. */
static bool write_file(struct export *e, const struct orch_run_query *query, const char *path,
                       GError **error)
{
    g_autofree char *temporary = orch_temporary_name(path);
    e->out = fopen(temporary, "wxe");
    if (!e->out) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        return false;
    }
    bool ok = write_all(e, query, error);
    bool full = ferror(e->out);
    errno = 0;
    full = fclose(e->out) != 0 || full;
    int problem = errno ? errno : EIO;
    if (ok && !full && rename(temporary, path) == 0)
        return true;
    if (ok)
        orch_error_set_errno(error, ORCH_ERROR_IO, full ? problem : errno, "cannot write '%s'",
                             path);
    unlink(temporary);
    return false;
}

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
    orch_error_set(error, ORCH_ERROR_USAGE, list, "option '%s': unknown word '%s'", option, word);
    return false;
}

/* Uses --format, else --json, else the suffix of --out. */
static bool choose_format(const struct orch_cli *cli, const struct export_options *o,
                          enum format *out, GError **error)
{
    unsigned chosen = cli->json ? FORMAT_JSON : FORMAT_CSV;
    if (o->format && !choose("--format", o->format, FORMATS, G_N_ELEMENTS(FORMATS), &chosen, error))
        return false;
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    for (unsigned i = 0; !o->format && !cli->json && dot && i < G_N_ELEMENTS(FORMATS); i++)
        if (strcmp(dot + 1, FORMATS[i]) == 0)
            chosen = i;
    *out = (enum format)chosen;
    return true;
}

static bool read_options(struct orch_cli *cli, const struct export_options *o, struct export *e,
                         GError **error)
{
    static const char *const kinds[] = {"runs", "points"};
    unsigned kind = 0;
    if (!choose_format(cli, o, &e->format, error) ||
        (o->what && !choose("--what", o->what, kinds, G_N_ELEMENTS(kinds), &kind, error)))
        return false;
    e->points = kind == 1;
    if (!o->metrics || e->points)
        return true;
    orch_error_set(error, ORCH_ERROR_USAGE, "for columns of runs: --columns key,metric.NAME",
                   "option '--metric' chooses among points, and --what is runs");
    return false;
}

static bool export_to(struct orch_cli *cli, struct export *e, const struct orch_run_query *query,
                      GError **error)
{
    const struct export_options *o = e->options;
    const char *names = o->columns ? o->columns : e->points ? "key" : NULL;
    e->columns = orch_export_columns_new(e->store, query, names, error);
    if (!e->columns)
        return false;
    e->out = stdout;
    if (!(o->out ? write_file(e, query, o->out, error) : write_all(e, query, error)))
        return false;
    if (o->metrics && !e->rows)
        orch_cli_warn(cli, "these runs have no point of '%s' ('orch show RUN' lists their metrics)",
                      o->metrics[0]);
    if (o->out)
        orch_cli_say(cli, "%" G_GINT64_FORMAT " row%s in '%s'", e->rows, e->rows == 1 ? "" : "s",
                     o->out);
    return true;
}

/* Checks that options of bundles and of tables are not mixed. */
static bool options_fit(const struct orch_cli *cli, const struct export_options *o, GError **error)
{
    const char *wrong = NULL;
    if (!o->bundle && (cli->arg_count || o->artifacts || o->datasets || o->dry_run))
        wrong = "runs by name, --artifacts, --measurements and --dry-run are for --bundle";
    else if (o->bundle && (o->what || o->columns || o->metrics || o->format || o->out))
        wrong = "--what, --columns, --metric, --format and --out are for tables, not for --bundle";
    if (wrong)
        orch_error_set(error, ORCH_ERROR_USAGE, "see 'orch help export'", "%s", wrong);
    return !wrong;
}

static int run(struct orch_cli *cli, const void *options, GError **error)
{
    const struct export_options *o = options;
    if (!options_fit(cli, o, error))
        return -1;
    if (o->bundle) {
        const struct export_bundle what = {o->bundle, o->artifacts,  o->datasets, o->where,
                                           o->recipe, o->experiment, o->dry_run};
        return export_bundle(cli, &what, error) ? ORCH_EXIT_OK : -1;
    }
    struct export e = {.options = o};
    struct orch_where *where = o->where ? orch_where_parse(o->where, error) : NULL;
    if ((o->where && !where) || !read_options(cli, o, &e, error) ||
        !(e.store = orch_cli_store(cli, ORCH_STORE_READ, error))) {
        orch_where_free(where);
        return -1;
    }
    struct orch_run_query query = {
        .recipe = o->recipe, .experiment = o->experiment, .where = where, .oldest_first = true};
    e.line = g_string_new(NULL);
    e.head = g_string_new(NULL);
    e.name = g_string_new(NULL);
    e.keys = g_ptr_array_new_with_free_func(g_free);
    bool ok = export_to(cli, &e, &query, error);
    orch_export_columns_free(e.columns);
    g_string_free(e.line, TRUE);
    g_string_free(e.head, TRUE);
    g_string_free(e.name, TRUE);
    g_ptr_array_unref(e.keys);
    g_free(e.metric);
    orch_where_free(where);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_EXPORT = {
    .name = "export",
    .group = "Looking",
    .summary = "write runs as a table (CSV, JSON), or as a bundle for another store",
    .usage = "[RUN|RECIPE...]",
    .max_args = -1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct export_options),
    .about =
        "Runs in any state, oldest first. A run's columns are its own (key, state, experiment, "
        "... docs/run-fields.md), param.NAME, result.NAME, metric.NAME (the last value) and "
        "best.NAME where a metric "
        "says what is better. --columns chooses, by these names or bare ones as in filters; "
        "min.NAME, max.NAME, mean.NAME, first.NAME, count.NAME are there too. Nothing is written "
        "where a run has no value. Times are UTC; durations are seconds, sizes bytes. Rows are "
        "written as they are read, however many there are.\n\n"
        "--bundle writes the runs themselves with what they own (recipes, artifacts, public notes; "
        "all runs unless some are named) for 'orch db merge' elsewhere, see docs/sharing.md.",
    .examples = "  orch export --where 'recipe = hw4 and state = ok' -o runs.csv\n"
                "  orch export -c key,lr,best.val_accuracy,wall_s --format jsonl\n"
                "  orch export --what points -m val_loss -c key,lr -o points.csv\n"
                "  orch export --bundle mine.orch --where 'who = ada'",
    .run = run,
};
