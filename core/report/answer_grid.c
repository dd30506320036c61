/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sentence of a table. Of few settings it says the values of all; of more it goes by columns,
 * or by the first axis, and says the ends along a numeric axis, else the lowest and the highest. */
#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "core/stats/seeds.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

enum {
    LISTED_MOST = 3,
    VALUES_MOST = 3,
    VALUES_OF_ONE_MOST = 8,
    GROUPS_MOST = 4,
    LABEL_BYTES_MOST = 60
};

/* A table's cells that have a number of one value. */
struct said {
    const struct orch_trials *trials;
    const struct orch_grid *grid;
    guint value;
    const char *name, *unit; /* of the value */
};

/* ---- axes ------------------------------------------------------------------------------------ */

static char *value_of(const struct orch_trials *trials, const struct orch_grid_cell *cell,
                      const char *axis)
{
    return cell->trials->len ? orch_trial_value(trials, cell->trials->pdata[0], axis) : NULL;
}

static bool varies(const struct orch_trials *trials, const struct orch_grid *grid, const char *axis)
{
    g_autofree char *first =
        grid->cells->len ? value_of(trials, grid->cells->pdata[0], axis) : NULL;
    for (guint i = 1; i < grid->cells->len; i++) {
        g_autofree char *value = value_of(trials, grid->cells->pdata[i], axis);
        if (g_strcmp0(value, first) != 0)
            return true;
    }
    return false;
}

/* The axes that tell the cells apart (char *, borrowed), those of rows first; all when none does.
 */
static GPtrArray *axes_of(const struct orch_trials *trials, const struct orch_grid *grid,
                          bool with_columns)
{
    const GPtrArray *const of_grid[] = {grid->rows, grid->columns};
    GPtrArray *axes = g_ptr_array_new(), *all = g_ptr_array_new();
    for (unsigned k = 0; k < (with_columns ? G_N_ELEMENTS(of_grid) : 1); k++)
        for (guint i = 0; of_grid[k] && i < of_grid[k]->len; i++) {
            char *axis = of_grid[k]->pdata[i];
            g_ptr_array_add(all, axis);
            if (varies(trials, grid, axis))
                g_ptr_array_add(axes, axis);
        }
    GPtrArray *chosen = axes->len ? axes : all;
    g_ptr_array_unref(axes->len ? all : axes);
    return chosen;
}

char *orch_answer_row(const struct orch_trials *trials, const struct orch_grid *grid,
                      const struct orch_grid_cell *cell)
{
    g_autoptr(GPtrArray) axes = axes_of(trials, grid, false);
    return cell->trials->len ? orch_answer_setting(trials, cell->trials->pdata[0], axes)
                             : g_strdup("");
}

/* Whether the values of an axis are numbers with an order that means something. */
static bool is_ordered(const struct said *s, const GPtrArray *cells, const char *axis)
{
    if (strcmp(axis, "repeat") == 0 || orch_is_seed_name(axis))
        return false;
    for (guint i = 0; i < cells->len; i++) {
        g_autofree char *value = value_of(s->trials, cells->pdata[i], axis);
        double number;
        if (!value || !orch_real_parse(value, &number))
            return false;
    }
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct orch_spread spread_of(const struct said *s, const struct orch_grid_cell *cell)
{
    return orch_grid_spread(s->grid, cell, s->value);
}

/* "0.912 (95 % interval 0.905 to 0.918)" with the deviation where the table has it */
static void append_value(GString *out, const struct said *s, const struct orch_grid_cell *cell)
{
    const struct orch_spread spread = spread_of(s, cell);
    orch_answer_spread_append(out, &spread, s->unit);
    if (!s->grid->shows_deviation || !isfinite(spread.stat.sd))
        return;
    g_autofree char *deviation = orch_number_format(spread.stat.sd);
    g_string_append_printf(out, ", standard deviation %s of %zu runs", deviation,
                           spread.stat.count);
}

static void append_cell(GString *out, const struct said *s, const struct orch_grid_cell *cell,
                        const GPtrArray *axes)
{
    g_autofree char *label = cell->trials->len
                                 ? orch_answer_setting(s->trials, cell->trials->pdata[0], axes)
                                 : g_strdup("");
    append_value(out, s, cell);
    if (*label)
        g_string_append_printf(out, " for %s", label);
}

static const struct orch_grid_cell *extreme_of(const struct said *s, const GPtrArray *cells,
                                               int sign)
{
    const struct orch_grid_cell *best = cells->pdata[0];
    for (guint i = 1; i < cells->len; i++)
        if (sign * spread_of(s, cells->pdata[i]).centre > sign * spread_of(s, best).centre)
            best = cells->pdata[i];
    return best;
}

static bool are_equal(const struct said *s, const GPtrArray *cells)
{
    const double low = spread_of(s, extreme_of(s, cells, -1)).centre,
                 high = spread_of(s, extreme_of(s, cells, 1)).centre;
    return fabs(high - low) <= 1e-9 * fabs(high);
}

static double number_at(const struct said *s, const struct orch_grid_cell *cell, const char *axis)
{
    g_autofree char *value = value_of(s->trials, cell, axis);
    double number = (double)NAN;
    return value && orch_real_parse(value, &number) ? number : (double)NAN;
}

static bool differ(const struct said *s, const struct orch_grid_cell *a,
                   const struct orch_grid_cell *b, size_t choices)
{
    g_autoptr(GArray) x = orch_grid_means(a, s->value), y = orch_grid_means(b, s->value);
    return orch_seed_means_differ(x, y, choices);
}

/* "from 103.8 images/s for 1 worker to 700.2 images/s for 16 workers", and the extremes between */
static void append_ends(GString *out, const struct said *s, const GPtrArray *cells,
                        const GPtrArray *axes)
{
    const char *axis = axes->pdata[0];
    const struct orch_grid_cell *first = cells->pdata[0], *last = cells->pdata[0];
    for (guint i = 1; i < cells->len; i++) {
        const struct orch_grid_cell *cell = cells->pdata[i];
        first = number_at(s, cell, axis) < number_at(s, first, axis) ? cell : first;
        last = number_at(s, cell, axis) > number_at(s, last, axis) ? cell : last;
    }
    g_string_append(out, "from ");
    append_cell(out, s, first, axes);
    g_string_append(out, " to ");
    append_cell(out, s, last, axes);
    const double from = spread_of(s, first).centre, to = spread_of(s, last).centre;
    const size_t inner = cells->len > 2 ? cells->len - 2 : 1;
    if (!differ(s, first, last, 1))
        g_string_append(out, ", which differ by no more than noise");
    else if (from > 0 && to > 0)
        g_string_append_printf(out, ". The last value is %.3g times the first", to / from);
    for (int sign = -1; sign <= 1; sign += 2) {
        const struct orch_grid_cell *extreme = extreme_of(s, cells, sign);
        if (extreme == first || extreme == last ||
            sign * spread_of(s, extreme).centre <= fmax(sign * from, sign * to) ||
            !(differ(s, first, extreme, inner) || differ(s, extreme, last, inner)))
            continue;
        g_string_append(out, sign < 0 ? ". The lowest value is " : ". The highest value is ");
        append_cell(out, s, extreme, axes);
    }
}

static void append_equal(GString *out, const struct said *s, const GPtrArray *cells)
{
    append_value(out, s, cells->pdata[0]);
    if (cells->len == 2)
        g_string_append(out, " in both settings");
    else
        g_string_append_printf(out, " in each of %u settings", cells->len);
}

static void append_list(GString *out, const struct said *s, const GPtrArray *cells,
                        const GPtrArray *axes)
{
    const bool is_long = axes->len > 1 || s->grid->shows_deviation;
    for (guint i = 0; i < cells->len; i++) {
        g_string_append(out, orch_answer_joint(i, cells->len, is_long));
        append_cell(out, s, cells->pdata[i], axes);
    }
}

static void append_extremes(GString *out, const struct said *s, const GPtrArray *cells,
                            const GPtrArray *axes)
{
    g_string_append_printf(out, "the lowest of %u settings is ", cells->len);
    append_cell(out, s, extreme_of(s, cells, -1), axes);
    g_string_append(out, ". The highest is ");
    append_cell(out, s, extreme_of(s, cells, 1), axes);
}

/* The settings of a group that is called `name`, or of the whole table (""): "throughput, weak
 * mode: 100 images/s for 1 worker and 190 images/s for 2 workers" */
static void append_settings(GString *out, const struct said *s, const GPtrArray *cells,
                            const GPtrArray *axes, const char *name)
{
    const bool is_equal = cells->len > 1 && are_equal(s, cells);
    const bool is_line = axes->len == 1 && cells->len > 1 && is_ordered(s, cells, axes->pdata[0]);
    const bool has_ends = is_line && (cells->len > LISTED_MOST || cells->len == 2);
    g_string_append_printf(out, "%s%s%s: ", s->name, *name ? ", " : "", name);
    if (is_equal)
        append_equal(out, s, cells);
    else if (has_ends)
        append_ends(out, s, cells, axes);
    else if (cells->len <= LISTED_MOST)
        append_list(out, s, cells, axes);
    else
        append_extremes(out, s, cells, axes);
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* The cells by their setting on one axis: label to GPtrArray of cells, in order. */
struct groups {
    GPtrArray *labels, *cells;
};

static void groups_clear(struct groups *groups)
{
    g_ptr_array_unref(groups->labels);
    g_ptr_array_unref(groups->cells);
}

static struct groups groups_by(const struct said *s, const GPtrArray *cells, const char *axis)
{
    struct groups groups = {g_ptr_array_new_with_free_func(g_free),
                            g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref)};
    const GPtrArray axes = {(gpointer *)(uintptr_t)&axis, 1};
    for (guint i = 0; i < cells->len; i++) {
        const struct orch_grid_cell *cell = cells->pdata[i];
        g_autofree char *label = orch_answer_setting(s->trials, cell->trials->pdata[0], &axes);
        guint at;
        if (!g_ptr_array_find_with_equal_func(groups.labels, label, g_str_equal, &at)) {
            at = groups.labels->len;
            g_ptr_array_add(groups.labels, g_steal_pointer(&label));
            g_ptr_array_add(groups.cells, g_ptr_array_new());
        }
        g_ptr_array_add(groups.cells->pdata[at], cells->pdata[i]);
    }
    return groups;
}

/* "time, strong: from ... to .... Time, weak: from ... to ..." False when an axis does not divide
 * the cells into a few groups. */
static bool append_groups(GString *out, const struct said *s, const GPtrArray *cells,
                          const GPtrArray *axes)
{
    if (axes->len < 2)
        return false;
    const GPtrArray *columns = s->grid->columns;
    const bool has_columns =
        columns->len && strcmp(columns->pdata[columns->len - 1], axes->pdata[axes->len - 1]) == 0;
    const guint of = has_columns ? axes->len - 1 : 0;
    struct groups groups = groups_by(s, cells, axes->pdata[of]);
    const bool ok = groups.labels->len > 1 && groups.labels->len <= GROUPS_MOST;
    g_autoptr(GPtrArray) rest = g_ptr_array_new();
    for (guint i = 0; i < axes->len; i++)
        if (i != of)
            g_ptr_array_add(rest, axes->pdata[i]);
    for (guint i = 0; ok && i < groups.labels->len; i++) {
        g_string_append(out, i ? ".\n" : "");
        append_settings(out, s, groups.cells->pdata[i], rest, groups.labels->pdata[i]);
    }
    groups_clear(&groups);
    return ok;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static GPtrArray *cells_with_number(const struct said *s)
{
    GPtrArray *cells = g_ptr_array_new();
    for (guint i = 0; i < s->grid->cells->len; i++) {
        struct orch_grid_cell *cell = s->grid->cells->pdata[i];
        if (cell->trials->len && isfinite(spread_of(s, cell).centre))
            g_ptr_array_add(cells, cell);
    }
    return cells;
}

/* The label that the recipe gives a value, where it fits into a sentence; else NULL. */
static char *label_for(const GPtrArray *labels, guint value)
{
    const char *label = labels && value < labels->len ? labels->pdata[value] : NULL;
    return label && !strchr(label, ':') && strlen(label) <= LABEL_BYTES_MOST ? g_strdup(label)
                                                                             : NULL;
}

/* What kind of quantity a value is: the last word of its name, and its unit. Of several accuracies
 * the first answers the question; the table has the others. The caller frees. */
static char *kind_of(const struct said *s)
{
    const char *last = strrchr(s->name, ' ');
    return g_strdup_printf("%s (%s)", last ? last + 1 : s->name, s->unit ? s->unit : "");
}

void orch_answer_of_grid(struct orch_section *section, const struct orch_trials *trials,
                         const struct orch_grid *grid, const GPtrArray *labels, const char *lead)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GPtrArray) axes = axes_of(trials, grid, true);
    g_autoptr(GHashTable) kinds = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    guint most = grid->cells->len == 1 ? VALUES_OF_ONE_MOST : VALUES_MOST;
    for (guint v = 0, count = 0; v < grid->wanted->len && count < most; v++) {
        g_autofree char *label = label_for(labels, v);
        g_autofree char *name =
            label ? g_steal_pointer(&label)
                  : orch_answer_value(trials->labels, grid->wanted->pdata[v], grid->units[v]);
        const bool is_named = orch_answer_names_unit(name, grid->units[v]);
        const struct said s = {trials, grid, v, name, is_named ? NULL : grid->units[v]};
        g_autoptr(GPtrArray) cells = cells_with_number(&s);
        const bool is_kin = cells->len > 1 && !g_hash_table_add(kinds, kind_of(&s));
        if (!cells->len || (is_kin && !are_equal(&s, cells)))
            continue;
        g_string_append(text, count++ ? ".\n" : "");
        if (grid->cells->len == 1 && count > 1) { /* its setting has been said */
            g_string_append_printf(text, "%s: ", name);
            append_value(text, &s, cells->pdata[0]);
        } else if (cells->len <= LISTED_MOST || are_equal(&s, cells))
            append_settings(text, &s, cells, axes, "");
        else if (append_groups(text, &s, cells, axes))
            most = count; /* the other values would make a second table */
        else
            append_settings(text, &s, cells, axes, "");
    }
    if (text->len)
        orch_section_answer(section, "%s%s%s", lead ? lead : "", lead ? ". " : "", text->str);
}
