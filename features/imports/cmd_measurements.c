/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The store's tables of measurements, which 'orch import' reads. */
#include "core/cli/cli.h"

#include "core/rows/run_rows.h"
#include "features/imports/import.h"
#include "lib/base/error.h"
#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- ls ----------------------------------------------------------------------------------------
 */

static json_t *column_names(const struct orch_dataset *set)
{
    json_t *names = json_array();
    for (guint i = 0; i < set->columns->len; i++)
        json_array_append_new(names, json_string(orch_dataset_column(set, i)->name));
    return names;
}

/* Returns the first clause of a source, to fit on a line. */
static char *brief(const char *text)
{
    return text ? g_strndup(text, strcspn(text, ",;")) : g_strdup("-");
}

static int run_ls(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    static const char *const headers[] = {"name",    ">rows",  "target", "unit", ">features",
                                          "licence", "source", "sha256", NULL};
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    g_autoptr(GPtrArray) sets = store ? orch_store_datasets(store, error) : NULL;
    if (!sets)
        return -1;
    struct orch_table *table = orch_table_new(headers);
    for (guint i = 0; i < sets->len; i++) {
        const struct orch_dataset *set = sets->pdata[i];
        g_autofree char *count = g_strdup_printf("%u", set->columns->len);
        g_autofree char *source = brief(set->source), *licence = brief(set->licence);
        g_autofree char *digest = g_strndup(set->sha256, 8);
        orch_table_add(table, set->name, NULL);
        orch_table_add_int(table, (int64_t)set->rows);
        orch_table_add(table, set->target, NULL);
        orch_table_add(table, set->unit, NULL);
        orch_table_add(table, count, column_names(set));
        orch_table_add(table, licence, orch_json_text_or_null(set->licence));
        orch_table_add(table, source, orch_json_text_or_null(set->source));
        orch_table_add(table, digest, json_string(set->sha256));
    }
    orch_cli_table_print(cli, table, "measurements");
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_MEASUREMENTS_LS = {
    .name = "measurements ls",
    .group = "Data",
    .family = "imported tables of measurements",
    .summary = "list the imported tables of measurements",
    .usage = "",
    .max_args = 0,
    .run = run_ls,
};

/* ---- show --------------------------------------------------------------------------------------
 */

struct span {
    size_t known, kinds; /* kinds: number of distinct texts in a column */
    double least, most;
    const char *some; /* some of its texts, joined; owned by the caller */
};

static struct span span_of(const struct orch_dataset *set, const double *numbers)
{
    struct span s = {.least = (double)INFINITY, .most = -(double)INFINITY};
    for (size_t i = 0; i < set->rows; i++) {
        if (isnan(numbers[i]))
            continue;
        s.known++;
        s.least = MIN(s.least, numbers[i]);
        s.most = MAX(s.most, numbers[i]);
    }
    return s;
}

static struct span texts_of(const struct orch_dataset *set, const char *const *texts, GString *some)
{
    struct span s = {0};
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (size_t i = 0; i < set->rows; i++) {
        s.known += texts[i] != NULL;
        if (!texts[i] || !g_hash_table_add(seen, (char *)(uintptr_t)texts[i]))
            continue;
        if (s.kinds++ < 5)
            g_string_append_printf(some, "%s%s", some->len ? ", " : "", texts[i]);
    }
    if (s.kinds > 5)
        g_string_append_printf(some, ", ... (%zu)", s.kinds);
    return s;
}

static void add_span(struct orch_table *table, const struct orch_dataset *set, const char *name,
                     const char *role, const struct orch_dataset_column *column,
                     const double *numbers)
{
    g_autoptr(GString) values = g_string_new(NULL);
    struct span s =
        column && column->is_text ? texts_of(set, column->texts, values) : span_of(set, numbers);
    bool is_text = column && column->is_text;
    if (!is_text && s.known) {
        g_autofree char *least = orch_number_format(s.least), *most = orch_number_format(s.most);
        g_string_append_printf(values, "%s to %s", least, most);
    }
    const struct orch_feature_name *known = orch_feature_name_find(name);
    orch_table_add(table, name, NULL);
    orch_table_add(table, role, NULL);
    orch_table_add(table, is_text ? "word" : "number", NULL);
    orch_table_add(table, !column ? set->unit : known ? known->unit : "", NULL);
    orch_table_add_int(table, (int64_t)(set->rows - s.known));
    orch_table_add(table, values->str, NULL);
}

static struct orch_table *columns_table(const struct orch_dataset *set)
{
    static const char *const headers[] = {"column",   "role",   "type", "unit",
                                          ">missing", "values", NULL};
    struct orch_table *table = orch_table_new(headers);
    add_span(table, set, set->target, "target", NULL, set->targets);
    for (guint i = 0; i < set->columns->len; i++) {
        const struct orch_dataset_column *column = orch_dataset_column(set, i);
        const char *role = column->left_out                       ? "not learned from"
                           : orch_feature_name_find(column->name) ? "known feature"
                                                                  : "feature";
        add_span(table, set, column->name, role, column, column->numbers);
    }
    return table;
}

static void print_head(const struct orch_dataset *set)
{
    const json_t *about = set->about;
    gint64 imported = orch_json_int(about, "imported", 0);
    g_autofree char *when = imported ? orch_time_format(imported, false) : g_strdup("-");
    g_autofree char *mapping = json_is_object(json_object_get(about, "mapping"))
                                   ? orch_json_canonical(json_object_get(about, "mapping"))
                                   : g_strdup("-");
    orch_cli_print_line("name      %s", set->name);
    printf("rows      %zu\n", set->rows);
    orch_cli_print_line("source    %s", set->source ? set->source : "-");
    orch_cli_print_line("licence   %s", set->licence ? set->licence : "-");
    orch_cli_print_line("file      %s", orch_json_text(about, "file", "-"));
    orch_cli_print_line("mapping   %s", mapping);
    orch_cli_print_line("imported  %s by %s", when, orch_json_text(about, "who", "-"));
    orch_cli_print("sha256    %s\n", set->sha256);
}

static int run_show(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_dataset *set = store ? orch_store_dataset(store, cli->args[0], error) : NULL;
    if (!set)
        return -1;
    struct orch_table *table = columns_table(set);
    if (cli->json) {
        orch_cli_print_json(json_pack("{s:s, s:I, s:s, s:s, s:s?, s:s?, s:s, s:O, s:o}", "name",
                                      set->name, "rows", (json_int_t)set->rows, "target",
                                      set->target, "unit", set->unit, "source", set->source,
                                      "licence", set->licence, "sha256", set->sha256, "about",
                                      set->about, "columns", orch_cli_table_to_json(table)));
    } else {
        print_head(set);
        orch_cli_table_print(cli, table, "columns");
    }
    orch_dataset_free(set);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_MEASUREMENTS_SHOW = {
    .name = "measurements show",
    .group = "Data",
    .summary = "show a table's source, licence and columns, and how they were renamed",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .run = run_show,
};

/* ---- rm ----------------------------------------------------------------------------------------
 */

static int run_rm(struct orch_cli *cli, const void *options, GError **error)
{
    (void)options;
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_WRITE, error);
    struct orch_dataset *removed = NULL;
    if (!store || !orch_store_remove_dataset(store, cli->args[0], &removed, error))
        return -1;
    const char *name = removed ? removed->name : cli->args[0];
    if (cli->json)
        orch_cli_print_json(json_pack("{s:s, s:I}", "removed", name, "rows",
                                      removed ? (json_int_t)removed->rows : (json_int_t)0));
    else
        orch_cli_info(cli, "removed measurements '%s'", name);
    orch_dataset_free(removed);
    return ORCH_EXIT_OK;
}

const struct orch_command ORCH_COMMAND_MEASUREMENTS_RM = {
    .name = "measurements rm",
    .group = "Data",
    .summary = "remove an imported table of measurements from the store",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .run = run_rm,
};

/* ---- export ------------------------------------------------------------------------------------
 */

struct export_options {
    const char *format, *output;
};

static const struct orch_option EXPORT_OPTIONS[] = {
    ORCH_OPTION(struct export_options, format, TEXT, "format", .letter = 'f', .value = "json|csv",
                .help = "json (default): everything, for 'orch import'; csv: only the rows"),
    ORCH_OPTION(struct export_options, output, TEXT, "output", .letter = 'o', .value = "FILE",
                .help = "write to FILE instead of stdout"),
    {0}};

static int run_export(struct orch_cli *cli, const void *options, GError **error)
{
    const struct export_options *o = options;
    bool csv = g_strcmp0(o->format, "csv") == 0;
    if (o->format && !csv && strcmp(o->format, "json") != 0) {
        orch_error_set(error, ORCH_ERROR_USAGE, "use json or csv",
                       "option '--format': unknown value '%s'", o->format);
        return -1;
    }
    struct orch_store *store = orch_cli_store(cli, ORCH_STORE_READ, error);
    struct orch_dataset *set = store ? orch_store_dataset(store, cli->args[0], error) : NULL;
    if (!set)
        return -1;
    GString *text = csv ? orch_rows_dataset_text(set) : orch_dataset_encode(set);
    bool ok = true;
    if (o->output)
        ok = orch_file_write(o->output, text->str, text->len, false, error);
    else
        orch_cli_write_data(cli, text->str, text->len);
    g_string_free(text, TRUE);
    orch_dataset_free(set);
    return ok ? ORCH_EXIT_OK : -1;
}

const struct orch_command ORCH_COMMAND_MEASUREMENTS_EXPORT = {
    .name = "measurements export",
    .group = "Data",
    .summary = "write a table as CSV, or as JSON for 'orch import'",
    .usage = "NAME",
    .min_args = 1,
    .max_args = 1,
    .options = EXPORT_OPTIONS,
    .option_bytes = sizeof(struct export_options),
    .about = "As JSON, the first line is the heading, and each further line is a row that begins "
             "with the measured value.",
    .examples = "orch measurements export justus_conv -o justus_conv.set && orch -C ../mine import "
                "justus_conv.set",
    .run = run_export,
};
