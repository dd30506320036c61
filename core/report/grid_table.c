/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/grid_table.h"

#include "core/report/answer.h"
#include "core/stats/numbers.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* ---- names of values ------------------------------------------------------------------------- */

/* Returns whether another value has the same name, as in [mean loss, max loss]. */
static bool shares_name(const struct orch_grid *grid, guint value)
{
    const struct orch_item_value *wanted = grid->wanted->pdata[value];
    for (guint i = 0; i < grid->wanted->len; i++)
        if (i != value && strcmp(((const struct orch_item_value *)grid->wanted->pdata[i])->name,
                                 wanted->name) == 0)
            return true;
    return false;
}

char *orch_grid_value_name(const struct orch_grid *grid, guint value)
{
    const struct orch_item_value *wanted = grid->wanted->pdata[value];
    const char *unit = grid->units[value];
    const bool is_shared = shares_name(grid, value);
    return g_strdup_printf("%s%s%s%s%s%s", is_shared ? orch_aggregate_name(wanted->aggregate) : "",
                           is_shared ? " " : "", wanted->name, unit ? " (" : "", unit ? unit : "",
                           unit ? ")" : "");
}

char *orch_grid_value_words(const struct orch_grid *grid, guint value)
{
    const char *unit = grid->units[value];
    g_autofree char *words =
        orch_answer_value(grid->trials->labels, grid->wanted->pdata[value], unit);
    return !unit || orch_answer_names_unit(words, unit) ? g_steal_pointer(&words)
                                                        : g_strdup_printf("%s (%s)", words, unit);
}

/* ---- headings -------------------------------------------------------------------------------- */

/* Where a table's column comes from. */
struct column {
    const struct orch_grid_cell *of; /* a cell of this label of the column axes; NULL: of none */
    guint value;
    bool is_deviation;
};

static bool has_numbers(const struct orch_grid *grid, const char *label, guint value)
{
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (strcmp(cell->column, label) == 0 && orch_grid_spread(grid, cell, value).stat.count)
            return true;
    }
    return false;
}

/* An experiment has no column for a further value that none of its trials has. */
static GArray *columns_of(const struct orch_grid *grid)
{
    GArray *columns = g_array_new(FALSE, FALSE, sizeof(struct column));
    g_autoptr(GPtrArray) labels = orch_grid_columns(grid);
    for (guint i = 0; i < labels->len; i++) {
        const struct orch_grid_cell *of = NULL;
        for (guint k = 0; k < grid->cells->len && !of; k++) {
            const struct orch_grid_cell *cell = grid->cells->pdata[k];
            of = strcmp(cell->column, labels->pdata[i]) == 0 ? cell : NULL;
        }
        for (guint v = 0; v < grid->wanted->len; v++) {
            struct column column = {grid->columns->len ? of : NULL, v, false};
            if (v && column.of && !has_numbers(grid, labels->pdata[i], v))
                continue;
            g_array_append_val(columns, column);
            column.is_deviation = true;
            if (grid->shows_deviation && !grid->columns->len)
                g_array_append_val(columns, column);
        }
    }
    return columns;
}

static const struct column *column_at(const GArray *columns, guint i)
{
    return &g_array_index(columns, struct column, i);
}

/* The column's header in CSV and JSON. */
static char *header_of(const struct orch_grid *grid, const struct column *c)
{
    g_autofree char *name = orch_grid_value_name(grid, c->value);
    if (!c->of)
        return g_strconcat(">", c->is_deviation ? "deviation of " : "", name, NULL);
    const bool is_alone = grid->wanted->len == 1;
    return g_strconcat(">", c->of->column, is_alone ? "" : " ", is_alone ? "" : name, NULL);
}

/* "0.1", and with several axes "full mode, learning rate 0.1" */
static char *setting_of(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    return grid->columns->len > 1 && cell->trials->len
               ? orch_answer_setting(grid->trials, cell->trials->pdata[0], grid->columns)
               : g_strdup(cell->column);
}

/* A single value is the heading of its columns; each of several has its own, below that of its
 * setting. */
static void set_heading(struct orch_table *table, guint at, const struct orch_grid *grid,
                        const struct column *c)
{
    g_autofree char *words = orch_grid_value_words(grid, c->value);
    if (!c->of) {
        g_autofree char *label = g_strconcat(c->is_deviation ? "deviation of " : "", words, NULL);
        orch_table_set_heading(table, at, NULL, label);
        return;
    }
    g_autofree char *setting = setting_of(grid, c->of);
    const bool is_of_experiments =
        grid->columns->len == 1 && strcmp(grid->columns->pdata[0], "experiment") == 0;
    g_autofree char *axes = orch_answer_axes(grid->trials->labels, grid->columns);
    g_autofree char *named =
        c->of->trials->len
            ? orch_answer_setting(grid->trials, c->of->trials->pdata[0], grid->columns)
            : g_strdup(setting);
    g_autofree char *of_one =
        g_strconcat(words, is_of_experiments ? "" : " by ", is_of_experiments ? "" : axes, NULL);
    const bool is_alone = grid->wanted->len == 1;
    orch_table_set_heading(table, at, is_alone ? of_one : named, is_alone ? setting : words);
}

/* Begins the table: a column for each axis of the rows. In JSON the first has the labels of all
 * axes. */
static struct orch_table *begin_table(const struct orch_grid *grid, const GArray *columns)
{
    const guint axes = MAX(grid->rows->len, 1);
    g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < axes; i++)
        g_ptr_array_add(headers, g_strdup(i < grid->rows->len ? grid->rows->pdata[i] : ""));
    for (guint i = 0; i < columns->len; i++)
        g_ptr_array_add(headers, header_of(grid, column_at(columns, i)));
    g_ptr_array_add(headers, NULL);
    struct orch_table *table = orch_table_new((const char *const *)headers->pdata);
    g_autofree char *joined = orch_names_joined(grid->rows);
    g_autofree char *name = g_strdelimit(g_ascii_strdown(joined, -1), " ", '_');
    for (guint i = 0; i < grid->rows->len; i++) {
        g_autofree char *words =
            orch_answer_words(grid->trials->labels, grid->rows->pdata[i], NULL);
        orch_table_set_heading(table, i, NULL, words);
        if (axes > 1)
            orch_table_set_name(table, i, i ? "" : name);
    }
    for (guint i = 0; i < columns->len; i++) {
        const struct column *c = column_at(columns, i);
        set_heading(table, axes + i, grid, c);
        if (c->of && grid->wanted->len > 1) {
            g_autofree char *own = g_strdelimit(g_ascii_strdown(c->of->column, -1), " ", '_');
            orch_table_set_name(table, axes + i, c->value ? "" : own);
        }
    }
    return table;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Returns the means of all values, for programs that read a cell with several values. */
static json_t *means_json(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    json_t *means = json_array();
    for (guint i = 0; i < grid->wanted->len; i++) {
        double mean = orch_grid_spread(grid, cell, i).stat.mean;
        json_array_append_new(means, isnan(mean) ? json_null() : orch_json_finite(mean));
    }
    return means;
}

static const struct orch_grid_cell *first_of_row(const struct orch_grid *grid, const char *row)
{
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        if (strcmp(cell->row, row) == 0 && cell->trials->len)
            return cell;
    }
    return NULL;
}

static void add_row_head(struct orch_table *table, const struct orch_grid *grid, const char *row)
{
    const struct orch_grid_cell *cell = first_of_row(grid, row);
    if (grid->rows->len < 2 || !cell) {
        orch_table_add(table, row, NULL);
        for (guint i = 1; i < grid->rows->len; i++)
            orch_table_add(table, "", NULL);
        return;
    }
    for (guint i = 0; i < grid->rows->len; i++) {
        g_autofree char *value =
            orch_trial_value(grid->trials, cell->trials->pdata[0], grid->rows->pdata[i]);
        orch_table_add(table, value ? value : "-", i ? NULL : json_string(row));
    }
}

static void add_cell(struct orch_table *table, const struct orch_grid *grid,
                     const struct orch_grid_cell *cell, const struct column *c)
{
    if (!cell) {
        orch_table_add(table, "", json_null());
        return;
    }
    if (!cell->done && !c->is_deviation) {
        orch_table_add_missing(table);
        return;
    }
    struct orch_spread spread = orch_grid_spread(grid, cell, c->value);
    if (c->is_deviation) {
        orch_table_add_real(table, cell->done ? spread.stat.sd : (double)NAN);
        return;
    }
    const bool is_short = c->of ? !c->value : spread.stat.count > 0;
    orch_table_add_spread(table, &spread, cell->done, is_short ? cell->planned : 0);
    if (c->of && grid->wanted->len > 1)
        orch_table_set_value(table, means_json(grid, cell));
}

struct orch_table *orch_grid_table(const struct orch_grid *grid)
{
    g_autoptr(GPtrArray) rows = orch_grid_rows(grid);
    g_autoptr(GArray) columns = columns_of(grid);
    struct orch_table *table = begin_table(grid, columns);
    for (guint i = 0; i < rows->len; i++) {
        add_row_head(table, grid, rows->pdata[i]);
        for (guint k = 0; k < columns->len; k++) {
            const struct column *c = column_at(columns, k);
            add_cell(table, grid, orch_grid_at(grid, rows->pdata[i], c->of ? c->of->column : ""),
                     c);
        }
    }
    return table;
}

/* ---- legend ---------------------------------------------------------------------------------- */

char *orch_grid_legend(const struct orch_grid *grid)
{
    bool forms[ORCH_SPREAD_FORMS] = {false}, is_averaged = false;
    unsigned most = 0;
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        most = MAX(most, cell->done);
        for (guint j = 0; j < grid->wanted->len; j++) {
            struct orch_spread spread = orch_grid_spread(grid, cell, j);
            forms[spread.form] |= spread.high > spread.low;
            is_averaged |=
                spread.stat.count && spread.stat.count < cell->done && orch_grid_varies(cell, j);
        }
    }
    g_autofree char *legend = orch_spread_legend(forms);
    const char *bare = !most         ? "no run yet"
                       : is_averaged ? "each value is a mean over runs with the same seed"
                       : most > 1    ? "all runs of a setting have the same value"
                                     : "each value is of one run";
    return g_strdup_printf(
        "%s%s", legend ? legend : bare,
        legend && is_averaged ? "; runs with the same seed count as one, by their mean" : "");
}
