/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/export/export_table.h"

#include "features/export/export_columns.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/base/temporary.h"
#include "lib/base/text.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct writer {
    struct orch_store *store;
    const char *const *metrics;
    struct orch_export_columns *columns;
    enum orch_export_format format;
    bool points, safe_csv, on_terminal;
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

/* Whether a spreadsheet that opens the table would evaluate a text. Numbers are none. */
static bool is_formula(const char *text)
{
    double number;
    return *text && strchr("=+-@\t\r", *text) && !orch_real_parse(text, &number);
}

static void append_csv_text(const struct writer *e, GString *line, const char *text)
{
    g_autofree char *safe = e->safe_csv && is_formula(text) ? g_strconcat("'", text, NULL) : NULL;
    orch_csv_append(line, safe ? safe : text);
}

/* Formats a CSV field: empty for null, texts as they are, everything else as in JSON. */
static void append_csv(const struct writer *e, GString *line, const json_t *value)
{
    if (json_is_null(value))
        return;
    if (json_is_string(value)) {
        append_csv_text(e, line, json_string_value(value));
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
static void append_cell(const struct writer *e, GString *line, guint i, const json_t *value)
{
    if (i)
        g_string_append_c(line, ',');
    if (e->format == ORCH_EXPORT_CSV) {
        append_csv(e, line, value);
        return;
    }
    g_string_append_printf(line, "%s:", (const char *)e->keys->pdata[i]);
    append_json(line, value);
}

static void append_number(const struct writer *e, GString *line, guint i, double value)
{
    char text[ORCH_REAL_CHARS];
    g_string_append_c(line, ',');
    if (e->format != ORCH_EXPORT_CSV)
        g_string_append_printf(line, "%s:", (const char *)e->keys->pdata[i]);
    if (isfinite(value))
        g_string_append(line, orch_real_format(value, text));
    else if (isinf(value))
        g_string_append_printf(line, e->format == ORCH_EXPORT_CSV ? "%s" : "\"%s\"",
                               orch_real_format(value, text));
    else if (e->format != ORCH_EXPORT_CSV)
        g_string_append(line, "null");
}

/* Writes a part of the table, which is not all of a line's end. */
static void write_text(const struct writer *e, const GString *text)
{
    if (!e->on_terminal) {
        fwrite(text->str, 1, text->len, e->out);
        return;
    }
    g_autofree char *shown = e->format == ORCH_EXPORT_CSV ? orch_text_plain(g_strdup(text->str))
                                                          : orch_json_escape_hidden(text->str);
    fputs(shown, e->out);
}

/* Writes the line. False when the reader has closed the pipe. */
static bool end_line(struct writer *e)
{
    static const char *const between[] = {"", ",\n", "", ",\n"};
    static const char *const ends[] = {"\r\n", "}", "}\n", "}"};
    if (e->rows++)
        fputs(between[e->format], e->out);
    write_text(e, e->line);
    fputs(ends[e->format], e->out);
    return !ferror(e->out);
}

static void begin_line(struct writer *e)
{
    g_string_assign(e->line, e->format == ORCH_EXPORT_CSV ? "" : "{");
}

static void add_key(struct writer *e, const char *header)
{
    json_t *text = json_string(header);
    g_ptr_array_add(e->keys, orch_json_canonical(text));
    json_decref(text);
    if (e->format != ORCH_EXPORT_CSV)
        return;
    if (e->keys->len > 1)
        g_string_append_c(e->line, ',');
    append_csv_text(e, e->line, header);
}

static void begin(struct writer *e)
{
    static const char *const of_points[] = {"metric", "step", "t_s", "value"};
    for (guint i = 0; i < orch_export_columns_count(e->columns); i++)
        add_key(e, orch_export_columns_header(e->columns, i));
    for (unsigned i = 0; e->points && i < G_N_ELEMENTS(of_points); i++)
        add_key(e, of_points[i]);
    if (e->format == ORCH_EXPORT_CSV) {
        write_text(e, e->line);
        fputs("\r\n", e->out);
    } else if (e->format == ORCH_EXPORT_JSON) {
        fputs("[\n", e->out);
    } else if (e->format == ORCH_EXPORT_OBJECT) {
        fprintf(e->out, "{\"schema_version\": 1, \"%s\": [\n", e->points ? "points" : "runs");
    }
}

/* ---- rows -------------------------------------------------------------------------------------
 */

/* Formats the metric's name once for a whole series. */
static void set_metric(struct writer *e, const char *metric)
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

static bool write_point(void *ctx, const struct orch_point *point)
{
    struct writer *e = ctx;
    guint first = orch_export_columns_count(e->columns);
    set_metric(e, point->name);
    begin_line(e);
    g_string_append_len(e->line, e->head->str, (gssize)e->head->len);
    g_string_append_len(e->line, e->name->str, (gssize)e->name->len);
    g_string_append_c(e->line, ',');
    if (e->format != ORCH_EXPORT_CSV)
        g_string_append_printf(e->line, "%s:", (const char *)e->keys->pdata[first + 1]);
    g_string_append_printf(e->line, "%" G_GINT64_FORMAT, (gint64)point->step);
    append_number(e, e->line, first + 2, point->t_ms / 1e3);
    append_number(e, e->line, first + 3, point->value);
    return end_line(e);
}

static bool write_run(void *ctx, const struct orch_run *run, GError **error)
{
    struct writer *e = ctx;
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
    return orch_store_visit_points(e->store, run->id, e->metrics, write_point, e, error) &&
           !ferror(e->out);
}

static bool write_all(struct writer *e, const struct orch_selection *selection, GError **error)
{
    begin(e);
    GError *problem = NULL;
    bool ok = orch_selection_visit(selection, e->store, write_run, e, &problem);
    if (ok && e->format == ORCH_EXPORT_JSON)
        fputs(e->rows ? "\n]\n" : "]\n", e->out);
    else if (ok && e->format == ORCH_EXPORT_OBJECT)
        fputs(e->rows ? "\n]}\n" : "]}\n", e->out);
    if (!problem)
        return true; /* a closed pipe is not an error */
    g_propagate_error(error, problem);
    return false;
}

/* ---- the file ----------------------------------------------------------------------------------
 */

/* Writes to a temporary file and renames it, so an existing file is replaced only by a complete
 * one. */
static bool write_file(struct writer *e, const struct orch_selection *selection, const char *path,
                       GError **error)
{
    g_autofree char *temporary = orch_temporary_name(path);
    e->out = fopen(temporary, "wxe");
    if (!e->out) {
        orch_error_set_errno(error, ORCH_ERROR_IO, errno, "cannot write '%s'", path);
        return false;
    }
    bool ok = write_all(e, selection, error);
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

static bool write_table(struct writer *e, const struct orch_export_wish *wish, const char *path,
                        GError **error)
{
    const char *names = wish->columns ? wish->columns : wish->points ? "key" : NULL;
    struct orch_where *condition;
    if (!orch_selection_condition(&wish->selection, &condition, error))
        return false;
    const struct orch_run_query query = orch_selection_query(&wish->selection, condition);
    e->columns = orch_export_columns_new(e->store, &query, names, error);
    orch_where_free(condition);
    return e->columns && (path ? write_file(e, &wish->selection, path, error)
                               : write_all(e, &wish->selection, error));
}

bool orch_export_table(struct orch_store *store, const struct orch_export_wish *wish,
                       const char *path, FILE *out, int64_t *out_rows, GError **error)
{
    struct writer e = {.store = store,
                       .metrics = wish->metrics,
                       .format = wish->format,
                       .points = wish->points,
                       .safe_csv = wish->safe_csv,
                       .on_terminal = wish->on_terminal && !path,
                       .out = out,
                       .line = g_string_new(NULL),
                       .head = g_string_new(NULL),
                       .name = g_string_new(NULL),
                       .keys = g_ptr_array_new_with_free_func(g_free)};
    bool ok = write_table(&e, wish, path, error);
    *out_rows = e.rows;
    orch_export_columns_free(e.columns);
    g_string_free(e.line, TRUE);
    g_string_free(e.head, TRUE);
    g_string_free(e.name, TRUE);
    g_ptr_array_unref(e.keys);
    g_free(e.metric);
    return ok;
}
