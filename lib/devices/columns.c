/* SPDX-License-Identifier: MIT */
#include "lib/devices/columns.h"

#include "lib/base/error.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

#define CHARS_MAX 200

/* ---- header ------------------------------------------------------------------------------------
 */

static bool is_known(const struct orch_column *columns, const char *name)
{
    while (columns->name && strcmp(columns->name, name) != 0)
        columns++;
    return columns->name;
}

bool orch_columns_check(const struct orch_column *columns, const struct orch_csv *csv,
                        GError **error)
{
    int index;
    for (const struct orch_column *column = columns; column->name; column++)
        if (!(column->presence == ORCH_COLUMN_MAY_LACK && orch_csv_find(csv, column->name) < 0) &&
            !orch_csv_column(csv, column->name, &index, error))
            return false;
    for (int i = 0; i < orch_csv_columns(csv); i++)
        if (!is_known(columns, orch_csv_name(csv, i))) {
            g_autofree char *name = orch_text_line(g_strdup(orch_csv_name(csv, i)));
            return orch_csv_fail_header(csv, i, "leave the column out", error,
                                        "unknown column '%s'", name);
        }
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------
 */

struct place {
    const struct orch_column *column;
    const struct orch_csv *csv;
    size_t row;
    int index;
    const char *text;
};

static bool read_text(const struct place *at, const char **out, GError **error)
{
    for (const char *c = at->text; *c; c = g_utf8_next_char(c))
        if (*c == '\n' || *c == '\t' || orch_text_is_hidden(g_utf8_get_char(c)))
            return orch_csv_fail(at->csv, at->row, at->index, "write plain text on one line", error,
                                 "'%s' contains a line break or a control character",
                                 at->column->name);
    if (g_utf8_strlen(at->text, -1) > CHARS_MAX)
        return orch_csv_fail(at->csv, at->row, at->index, "shorten it", error,
                             "'%s' is longer than %d characters", at->column->name, CHARS_MAX);
    *out = at->text;
    return true;
}

/* True for an existing day in the form "2024", "2024-06" or "2024-06-30"; missing parts count as
 * first. */
static bool is_date(const char *text)
{
    static const char pattern[] = "dddd-dd-dd", first[] = "0000-01-01";
    size_t length = strlen(text);
    if (length != 4 && length != 7 && length != 10)
        return false;
    for (size_t i = 0; i < length; i++)
        if (pattern[i] == 'd' ? !g_ascii_isdigit(text[i]) : text[i] != pattern[i])
            return false;
    g_autofree char *day = g_strconcat(text, first + length, NULL);
    return g_date_valid_dmy((GDateDay)g_ascii_strtoull(day + 8, NULL, 10),
                            (GDateMonth)g_ascii_strtoull(day + 5, NULL, 10),
                            (GDateYear)g_ascii_strtoull(day, NULL, 10));
}

static bool read_date(const struct place *at, const char **out, GError **error)
{
    if (!is_date(at->text))
        return orch_csv_fail(at->csv, at->row, at->index,
                             "write a year, a month or a day: 2026, 2026-11 or 2026-11-21", error,
                             "'%s' in column '%s' is not a date", at->text, at->column->name);
    *out = at->text;
    return true;
}

static bool read_number(const struct place *at, double *out, GError **error)
{
    const struct orch_column *column = at->column;
    double value;
    if (!orch_csv_real(at->csv, at->row, at->index, &value, error))
        return false;
    if (column->kind == ORCH_COLUMN_COUNT && value != floor(value))
        return orch_csv_fail(at->csv, at->row, at->index, "write a whole number such as 8", error,
                             "'%s' in column '%s' is not a whole number", at->text, column->name);
    if (value < column->min || value > column->max)
        return orch_csv_fail(at->csv, at->row, at->index,
                             "the column's name ends in its unit; write the number without it",
                             error, "'%s' in column '%s' is not between %g and %g", at->text,
                             column->name, column->min, column->max);
    *out = value;
    return true;
}

static bool read_choice(const struct place *at, int *out, GError **error)
{
    for (int i = 0; at->column->choices[i]; i++)
        if (strcmp(at->column->choices[i], at->text) == 0) {
            *out = i;
            return true;
        }
    g_autofree char *all = g_strjoinv(", ", (char **)(uintptr_t)at->column->choices);
    g_autofree char *hint = g_strdup_printf("one of %s", all);
    return orch_csv_fail(at->csv, at->row, at->index, hint, error, "unknown '%s' in column '%s'",
                         at->text, at->column->name);
}

static bool read_field(const struct place *at, char *out, GError **error)
{
    double number;
    int choice;
    switch (at->column->kind) {
    case ORCH_COLUMN_TEXT:
        return read_text(at, (const char **)(void *)out, error);
    case ORCH_COLUMN_DATE:
        return read_date(at, (const char **)(void *)out, error);
    case ORCH_COLUMN_COUNT:
        if (!read_number(at, &number, error))
            return false;
        *(int *)(void *)out = (int)number;
        return true;
    case ORCH_COLUMN_REAL:
        return read_number(at, (double *)(void *)out, error);
    case ORCH_COLUMN_CHOICE:
        return read_choice(at, (int *)(void *)out, error);
    case ORCH_COLUMN_FLAG:
        if (!read_choice(at, &choice, error))
            return false;
        *(bool *)(void *)out = choice == 1;
        return true;
    }
    return false;
}

/* Sets the value of an empty field. */
static void clear(const struct orch_column *column, char *out)
{
    switch (column->kind) {
    case ORCH_COLUMN_TEXT:
    case ORCH_COLUMN_DATE:
        *(const char **)(void *)out = "";
        break;
    case ORCH_COLUMN_COUNT:
    case ORCH_COLUMN_CHOICE:
        *(int *)(void *)out = 0;
        break;
    case ORCH_COLUMN_REAL:
        *(double *)(void *)out = 0;
        break;
    case ORCH_COLUMN_FLAG:
        *(bool *)(void *)out = false;
        break;
    }
}

bool orch_columns_read(const struct orch_column *columns, const struct orch_csv *csv, size_t row,
                       void *out, GError **error)
{
    for (const struct orch_column *column = columns; column->name; column++) {
        struct place at = {.column = column, .csv = csv, .row = row};
        at.index = orch_csv_find(csv, column->name);
        at.text = at.index < 0 ? "" : orch_csv_text(csv, row, at.index);
        if (*at.text) {
            if (!read_field(&at, (char *)out + column->offset, error))
                return false;
        } else if (column->presence) {
            clear(column, (char *)out + column->offset);
        } else {
            return orch_csv_fail(csv, row, at.index, "add it to each record", error,
                                 "'%s' is missing", column->name);
        }
    }
    return true;
}

GPtrArray *orch_columns_rows(const struct orch_column *columns, const struct orch_csv *csv,
                             size_t size, GError **error)
{
    if (!orch_columns_check(columns, csv, error))
        return NULL;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    for (size_t row = 0; row < orch_csv_rows(csv); row++) {
        void *out = g_malloc0(size);
        g_ptr_array_add(rows, out);
        if (!orch_columns_read(columns, csv, row, out, error))
            return NULL;
    }
    return g_steal_pointer(&rows);
}
