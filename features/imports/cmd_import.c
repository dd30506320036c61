/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Imports measurements from other sources into the store. */
#include "core/cli/cli.h"
#include "features/imports/import.h"
#include "features/imports/import_runs.h"
#include "lib/base/csv.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* ---- runs of other trackers ---------------------------------------------------------------------
 */

static void add_row(struct orch_table *table, const struct orch_imported_run *run, const char *what)
{
    orch_table_add(table, what, NULL);
    orch_table_add(table, run->tool, NULL);
    orch_table_add(table, run->id, NULL);
    orch_table_add(table, run->name ? run->name : "", orch_json_text_or_null(run->name));
    orch_table_add(table, orch_verdict_name(run->verdict), NULL);
    orch_table_add_real(table, (double)json_object_size(run->params));
    orch_table_add_real(table, (double)run->names->len);
    orch_table_add_real(table, (double)run->points->len);
}

static bool put_all(struct orch_cli *cli, const GPtrArray *runs, bool dry_run,
                    struct orch_table *table, unsigned *out_added, unsigned *out_refused,
                    GError **error)
{
    static const char *const words[] = {"added", "known", "refused"};
    for (guint i = 0; i < runs->len; i++) {
        struct orch_imported_run *run = runs->pdata[i];
        enum orch_import_outcome outcome;
        const char *fault;
        if (!orch_import_run_put(dry_run ? NULL : cli->workspace->store, run, &outcome, &fault,
                                 error))
            return false;
        bool is_refused = outcome == ORCH_IMPORT_REFUSED;
        add_row(table, run, dry_run && !is_refused ? "found" : words[outcome]);
        *out_refused += is_refused;
        *out_added += !dry_run && outcome == ORCH_IMPORT_ADDED;
        if (is_refused) {
            orch_cli_warn(cli, "run '%s' is not imported: its %s", run->id, fault);
            continue;
        }
        for (guint j = 0; j < run->notes->len; j++)
            orch_cli_warn(cli, "run '%s': %s", run->id, (const char *)run->notes->pdata[j]);
        if (run->is_cut)
            orch_cli_warn(cli, "run '%s' is too large for the store: its rest is left out",
                          run->id);
    }
    return true;
}

/* Runs `orch import --runs PATH`: reads the runs at cli->args[0], adds them to the store, and
 * prints a row for each. Returns the exit status. */
static int import_runs(struct orch_cli *cli, const char **params, bool dry_run, GError **error)
{
    static const char *const headers[] = {"what",    "tool",     "id",      "name", "state",
                                          ">params", ">metrics", ">points", NULL};
    g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(orch_imported_run_free);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    unsigned added = 0, refused = 0;
    if (!orch_import_runs_read(cli->args[0], (const char *const *)params, runs, warnings, error) ||
        (!dry_run && !orch_cli_store(cli, ORCH_STORE_CREATE, error)))
        return -1;
    struct orch_table *table = orch_table_new(headers);
    if (!put_all(cli, runs, dry_run, table, &added, &refused, error))
        return -1;
    for (guint i = 0; i < warnings->len; i++)
        orch_cli_warn(cli, "%s", (const char *)warnings->pdata[i]);
    orch_cli_table_print(cli, table, "runs");
    if (!cli->json && !dry_run)
        orch_cli_info(cli, "%u run%s added, %u already in the store, %u refused", added,
                      orch_plural(added), runs->len - added - refused, refused);
    return refused ? ORCH_EXIT_CHECK : ORCH_EXIT_OK;
}

/* ---- the command --------------------------------------------------------------------------------
 */

struct import_options {
    struct orch_import_options table; /* without the lists */
    const char **map, **drop, **params;
    bool dry_run, features, runs;
};

static const struct orch_option OPTIONS[] = {
    ORCH_OPTION(struct import_options, table.target, TEXT, "target", .letter = 't',
                .value = "COLUMN", .help = "the measured column"),
    ORCH_OPTION(struct import_options, map, LIST, "map", .letter = 'm',
                .value = "COLUMN=FEATURE,...",
                .help = "rename columns to names that --features lists"),
    ORCH_OPTION(struct import_options, drop, LIST, "drop", .value = "COLUMN,...",
                .help = "leave out these columns, and features computed from them"),
    ORCH_OPTION(struct import_options, table.name, TEXT, "name", .letter = 'n', .value = "NAME",
                .help = "name of the table (default: the file's)"),
    ORCH_OPTION(struct import_options, table.unit, TEXT, "unit", .value = "UNIT",
                .help = "unit of the target (default: from the column's name, as in step_ms)"),
    ORCH_OPTION(struct import_options, table.source, TEXT, "source", .value = "TEXT",
                .help = "where the measurements come from (default: from FILE.md beside FILE.csv)"),
    ORCH_OPTION(struct import_options, table.licence, TEXT, "licence", .value = "TEXT",
                .help = "licence of the measurements (default: from FILE.md)"),
    ORCH_OPTION(struct import_options, table.skip_bad, FLAG, "skip-bad",
                .help = "leave out rows whose target or numbers are invalid"),
    ORCH_OPTION(struct import_options, dry_run, FLAG, "dry-run",
                .help = "check the file; store nothing"),
    ORCH_OPTION(struct import_options, runs, FLAG, "runs",
                .help = "import runs of MLflow, W&B, ... or of a benchmark program"),
    ORCH_OPTION(struct import_options, params, LIST, "param", .value = "COLUMN",
                .help = "with --runs and a CSV: this column is a parameter, not a result"),
    ORCH_OPTION(struct import_options, features, FLAG, "features",
                .help = "list the columns that forecasts can use"),
    {0}};

static void add_names(struct orch_table *table, const struct orch_feature_name *row,
                      const char *kind)
{
    for (; row->name; row++) {
        g_auto(GStrv) others = g_strsplit(row->others, "|", -1);
        g_autofree char *joined = g_strjoinv(", ", others);
        orch_table_add(table, row->name, NULL);
        orch_table_add(table, kind, NULL);
        orch_table_add(table, row->is_number ? "number" : "word", NULL);
        orch_table_add(table, row->unit, NULL);
        orch_table_add(table, row->about, NULL);
        orch_table_add(table, joined, NULL);
    }
}

static int list_features(struct orch_cli *cli)
{
    static const char *const headers[] = {"name", "kind",      "type", "unit",
                                          "what", "files say", NULL};
    struct orch_table *table = orch_table_new(headers);
    add_names(table, orch_target_names(), "target");
    add_names(table, orch_feature_names(), "feature");
    orch_cli_table_print(cli, table, "features");
    return ORCH_EXIT_OK;
}

/* Splits all values at commas; NULL-terminated. */
static GPtrArray *split_words(const char **values)
{
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; values && values[i]; i++) {
        g_auto(GStrv) parts = g_strsplit(values[i], ",", -1);
        for (int k = 0; parts[k]; k++)
            if (*g_strstrip(parts[k]))
                g_ptr_array_add(words, g_strdup(parts[k]));
    }
    g_ptr_array_add(words, NULL);
    return words;
}

static bool read_table(const char *path, const struct import_options *o, struct orch_import *out,
                       GError **error)
{
    if (!o->table.target && g_str_has_suffix(path, ".orch")) {
        orch_error_set(error, ORCH_ERROR_USAGE, "'orch db merge FILE' merges a bundle",
                       "'%s' is a bundle of runs, not a table of measurements", path);
        return false;
    }
    if (!o->table.target) {
        orch_error_set(error, ORCH_ERROR_USAGE, "for example --target step_ms",
                       "no target column is named for '%s'", path);
        return false;
    }
    g_autoptr(GPtrArray) map = split_words(o->map), drop = split_words(o->drop);
    struct orch_import_options options = o->table;
    options.map = (const char *const *)map->pdata;
    options.drop = (const char *const *)drop->pdata;
    return orch_import_csv(path, &options, out, error);
}

static void set_text(char **at, const char *text)
{
    if (!text)
        return;
    g_free(*at);
    *at = g_strdup(text);
}

/* Reads a table that 'orch measurements export' wrote, which names its own target and columns. */
static bool read_exported(const char *path, const char *text, size_t length,
                          const struct import_options *o, struct orch_import *out, GError **error)
{
    if (o->table.target || o->map || o->drop || o->table.unit || o->table.skip_bad) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "import it without --target, --map, --drop, --unit and --skip-bad",
                       "'%s' is an exported table, which names its own target and columns", path);
        return false;
    }
    struct orch_dataset *set = orch_dataset_decode(path, text, length, error);
    if (!set)
        return false;
    set_text(&set->name, o->table.name);
    set_text(&set->source, o->table.source);
    set_text(&set->licence, o->table.licence);
    *out = (struct orch_import){.set = set, .notes = g_ptr_array_new_with_free_func(g_free)};
    return true;
}

static bool read_file(const char *path, const struct import_options *o, struct orch_import *out,
                      GError **error)
{
    g_autofree char *text = NULL;
    size_t length = 0;
    if (!orch_file_read(path, ORCH_CSV_BYTES_MAX, &text, &length, error))
        return false;
    return text[0] == '{' ? read_exported(path, text, length, o, out, error)
                          : read_table(path, o, out, error);
}

static const char *const PUT_WORDS[] = {"added", "known"};

static void report(struct orch_cli *cli, const struct orch_import *import, const char *did,
                   const char *name)
{
    const struct orch_dataset *set = import->set;
    if (cli->json) {
        json_t *notes = json_array();
        for (guint i = 0; i < import->notes->len; i++)
            json_array_append_new(notes, json_string(import->notes->pdata[i]));
        orch_cli_print_json(json_pack(
            "{s:s, s:s, s:I, s:s, s:s, s:i, s:I, s:s, s:s?, s:s?, s:o}", "did", did, "name", name,
            "rows", (json_int_t)set->rows, "target", set->target, "unit", set->unit, "features",
            (int)set->columns->len, "skipped", (json_int_t)import->skipped, "sha256", set->sha256,
            "source", set->source, "licence", set->licence, "notes", notes));
    } else if (strcmp(did, "known") == 0) {
        orch_cli_print("nothing added: these %zu rows are there already, as measurements '%s'",
                       set->rows, name);
    } else {
        orch_cli_print("%s measurements '%s': %zu rows, target %s%s%s%s, %u features",
                       strcmp(did, "added") == 0 ? "added" : "would add", name, set->rows,
                       set->target, *set->unit ? " (" : "", set->unit, *set->unit ? ")" : "",
                       set->columns->len);
    }
}

static bool put(struct orch_cli *cli, struct orch_import *import, enum orch_dataset_put *did,
                char **name, GError **error)
{
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_CREATE, error);
    return store && orch_store_put_dataset(store, import->set, did, name, error);
}

/* Checks that descriptions are valid text. A file name may contain any bytes. */
static bool check_words(const struct orch_dataset *set, GError **error)
{
    const struct {
        const char *what, *text;
    } words[] = {{"unit", set->unit}, {"source", set->source}, {"licence", set->licence}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (!words[i].text || g_utf8_validate(words[i].text, -1, NULL))
            continue;
        g_autofree char *hint = g_strdup_printf("give it as UTF-8: --%s TEXT", words[i].what);
        orch_error_set(error, ORCH_ERROR_USAGE, hint, "the %s is not UTF-8", words[i].what);
        return false;
    }
    return true;
}

static int import_file(struct orch_cli *cli, const struct import_options *o,
                       struct orch_import *import, GError **error)
{
    if (!read_file(cli->args[0], o, import, error) || !check_words(import->set, error))
        return -1;
    for (guint i = 0; i < import->notes->len; i++)
        orch_cli_warn(cli, "%s", (char *)import->notes->pdata[i]);
    if (!import->set->source || !import->set->licence)
        orch_cli_warn(cli, "the table has no %s: add --source TEXT --licence TEXT",
                      import->set->source    ? "licence"
                      : import->set->licence ? "source"
                                             : "source and licence");
    if (o->dry_run) {
        report(cli, import, "read", import->set->name);
        return ORCH_EXIT_OK;
    }
    enum orch_dataset_put did;
    g_autofree char *name = NULL;
    if (!put(cli, import, &did, &name, error))
        return -1;
    report(cli, import, PUT_WORDS[did], name);
    return ORCH_EXIT_OK;
}

static int run_import(struct orch_cli *cli, const void *options, GError **error)
{
    const struct import_options *o = options;
    if (o->features)
        return list_features(cli);
    if (o->runs && cli->arg_count)
        return import_runs(cli, o->params, o->dry_run, error);
    if (o->params) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       "for example orch import --runs runs.csv --param lr",
                       "option '--param' needs '--runs'");
        return -1;
    }
    if (cli->arg_count == 0) {
        orch_error_set(error, ORCH_ERROR_USAGE,
                       o->runs ? "for example orch import --runs mlruns"
                               : "for example orch import FILE.csv --target step_ms",
                       "name the file to import");
        return -1;
    }
    struct orch_import import = {0};
    int status = import_file(cli, o, &import, error);
    orch_import_clear(&import);
    return status;
}

const struct orch_command ORCH_COMMAND_IMPORT = {
    .name = "import",
    .group = "Data",
    .summary = "import a table of measurements, or runs of MLflow, W&B, ...",
    .usage = "[FILE.csv | --runs PATH]",
    .max_args = 1,
    .options = OPTIONS,
    .option_bytes = sizeof(struct import_options),
    .about = "The rows of FILE.csv become a table of measurements in the store, beside the runs. "
             "The measured column (--target) must have finite numbers above 0. A file of 'orch "
             "measurements export' is imported as it is.\n"
             "With --runs, runs of another program become runs of the store, marked as imported: "
             "'orch run' does not take them for a trial's result, forecasts do not learn from "
             "them, and 'orch best' leaves them "
             "out unless --imported is given. Importing the same rows or runs again adds nothing.",
    .examples = "orch import --runs mlruns\n"
                "orch import --runs study.db     # of Optuna\n"
                "orch import --runs bench.json   # of hyperfine, pyperf, pytest-benchmark, ...\n"
                "orch import tf_benchmarks.csv --target step_ms --map batch_per_gpu=batch --drop "
                "img_per_s\n"
                "orch import justus_conv.csv --target layer_ms --map ms=layer_ms --drop "
                "ms_min,ms_max,ms_std",
    .run = run_import,
};
