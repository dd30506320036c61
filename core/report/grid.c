/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/grid.h"

#include "core/report/metric_bounds.h"
#include "core/stats/numbers.h"
#include "core/stats/shared_base.h"
#include "lib/base/json.h"
#include "lib/base/text.h"
#include "lib/base/unit.h"

#include <math.h>
#include <string.h>

/* ---- filling --------------------------------------------------------------------------------- */

static void free_cell(gpointer pointer)
{
    struct orch_grid_cell *cell = pointer;
    for (int i = 0; cell->numbers[i]; i++)
        g_array_unref(cell->numbers[i]);
    g_free(cell->numbers);
    g_array_unref(cell->seeds);
    g_ptr_array_unref(cell->settings);
    g_ptr_array_unref(cell->trials);
    g_free(cell->row);
    g_free(cell->column);
    g_free(cell);
}

void orch_grid_free(struct orch_grid *grid)
{
    if (!grid)
        return;
    g_ptr_array_unref(grid->cells);
    g_ptr_array_unref(grid->unplaced);
    g_hash_table_unref(grid->by_place);
    g_free(grid->units);
    g_free(grid);
}

static char *place_of(const char *row, const char *column)
{
    return g_strdup_printf("%s\n%s", row, column);
}

static struct orch_grid_cell *cell_at(struct orch_grid *grid, const char *row, const char *column)
{
    g_autofree char *place = place_of(row, column);
    struct orch_grid_cell *cell = g_hash_table_lookup(grid->by_place, place);
    if (cell)
        return cell;
    cell = g_new0(struct orch_grid_cell, 1);
    cell->row = g_strdup(row);
    cell->column = g_strdup(column);
    cell->numbers = g_new0(GArray *, grid->wanted->len + 1);
    for (guint i = 0; i < grid->wanted->len; i++)
        cell->numbers[i] = g_array_new(FALSE, FALSE, sizeof(double));
    cell->seeds = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    cell->settings = g_ptr_array_new_with_free_func(g_free);
    cell->trials = g_ptr_array_new();
    g_ptr_array_add(grid->cells, cell);
    g_hash_table_insert(grid->by_place, g_steal_pointer(&place), cell);
    return cell;
}

const struct orch_grid_cell *orch_grid_at(const struct orch_grid *grid, const char *row,
                                          const char *column)
{
    g_autofree char *place = place_of(row, column);
    return g_hash_table_lookup(grid->by_place, place);
}

/* Formats what was swept for the trial besides the grid's axes. */
static char *other_settings(const struct orch_grid *grid, const struct orch_report_trial *trial)
{
    g_autoptr(json_t) all = orch_trial_coords(trial);
    g_autoptr(json_t) others = json_copy(all);
    const GPtrArray *const axes[] = {grid->rows, grid->columns};
    for (size_t i = 0; i < G_N_ELEMENTS(axes); i++)
        for (guint j = 0; j < axes[i]->len; j++)
            json_object_del(others, axes[i]->pdata[j]);
    orch_seed_names_remove(others);
    char *text = orch_json_canonical(others);
    return text ? text : g_strdup("");
}

/* Returns whether the first value, just added, is that of a disturbed run and counts as it is a
 * time. With --disturbed the user has chosen to compare such runs with others. */
static bool is_disturbed(const struct orch_grid *grid, const struct orch_grid_cell *cell,
                         const struct orch_trials *trials, struct orch_report_trial *trial)
{
    const GArray *numbers = cell->numbers[0];
    return trials->section && orch_value_depends_on_load(grid->wanted->pdata[0], grid->units[0]) &&
           !isnan(g_array_index(numbers, double, numbers->len - 1)) &&
           orch_trial_is_disturbed(trials, trial);
}

static bool add_numbers(struct orch_grid *grid, struct orch_grid_cell *cell,
                        const struct orch_trials *trials, struct orch_report_trial *trial,
                        GError **error)
{
    bool any = !grid->wanted->len;
    for (guint i = 0; i < grid->wanted->len; i++) {
        double value = NAN;
        if (!orch_trial_number(trials, trial, grid->wanted->pdata[i], &value,
                               i ? NULL : &grid->better, &grid->units[i], error))
            return false;
        g_array_append_val(cell->numbers[i], value);
        any = any || !isnan(value);
    }
    g_array_append_val(cell->seeds, trial->seed);
    g_ptr_array_add(cell->settings, other_settings(grid, trial));
    cell->done += any;
    cell->is_disturbed |= grid->wanted->len && is_disturbed(grid, cell, trials, trial);
    return true;
}

static bool is_about(const struct orch_grid *grid, const struct orch_trials *trials,
                     struct orch_report_trial *trial)
{
    for (guint i = 0; i < grid->wanted->len; i++)
        if (orch_trial_has(trials, trial, ((struct orch_item_value *)grid->wanted->pdata[i])->name))
            return true;
    return !grid->wanted->len;
}

struct orch_grid *orch_grid_new(struct orch_trials *trials, const GPtrArray *wanted,
                                const GPtrArray *rows, const GPtrArray *columns, GError **error)
{
    struct orch_grid *grid = g_new0(struct orch_grid, 1);
    grid->trials = trials;
    grid->wanted = wanted;
    grid->rows = rows;
    grid->columns = columns;
    grid->cells = g_ptr_array_new_with_free_func(free_cell);
    grid->unplaced = g_ptr_array_new();
    grid->by_place = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    grid->better = "none";
    grid->units = g_new0(const char *, wanted->len + 1);
    bool ok = true;
    for (guint i = 0; ok && i < trials->all->len; i++) {
        struct orch_report_trial *trial = trials->all->pdata[i];
        grid->is_declared = grid->is_declared || trial->item;
        if (!is_about(grid, trials, trial))
            continue;
        g_autofree char *row = orch_trial_label(trials, trial, rows);
        g_autofree char *column = orch_trial_label(trials, trial, columns);
        if ((!row || !column) && !trial->run)
            g_ptr_array_add(grid->unplaced, trial);
        if (!row || !column)
            continue;
        struct orch_grid_cell *cell = cell_at(grid, row, column);
        cell->planned++;
        g_ptr_array_add(cell->trials, trial);
        ok = !trial->run || add_numbers(grid, cell, trials, trial, error);
    }
    if (ok)
        return grid;
    orch_grid_free(grid);
    return NULL;
}

/* ---- queries --------------------------------------------------------------------------------- */

/* Orders numbers before texts, numbers by value and texts alphabetically. */
static int compare_words(const char *one, const char *two)
{
    double x, y;
    bool is_x = orch_real_parse(one, &x) && !isnan(x), is_y = orch_real_parse(two, &y) && !isnan(y);
    if (is_x != is_y)
        return is_y - is_x;
    int sign = is_x ? (x > y) - (x < y) : 0;
    return sign ? sign : strcmp(one, two);
}

static int compare_labels(gconstpointer a, gconstpointer b)
{
    g_auto(GStrv) one = g_strsplit(*(char *const *)a, " ", -1);
    g_auto(GStrv) two = g_strsplit(*(char *const *)b, " ", -1);
    for (int i = 0; one[i] && two[i]; i++) {
        int sign = compare_words(one[i], two[i]);
        if (sign)
            return sign;
    }
    return (int)g_strv_length(one) - (int)g_strv_length(two);
}

static GPtrArray *labels(const struct orch_grid *grid, bool of_rows)
{
    GPtrArray *out = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        char *label = of_rows ? cell->row : cell->column;
        if (g_hash_table_add(seen, label))
            g_ptr_array_add(out, label);
    }
    if (!grid->is_declared)
        g_ptr_array_sort(out, compare_labels);
    return out;
}

GPtrArray *orch_grid_rows(const struct orch_grid *grid)
{
    return labels(grid, true);
}

GPtrArray *orch_grid_columns(const struct orch_grid *grid)
{
    return labels(grid, false);
}

bool orch_grid_varies(const struct orch_grid_cell *cell, guint value)
{
    double low = (double)NAN, high = (double)NAN; /* fmin and fmax leave NaN out */
    for (guint i = 0; i < cell->numbers[value]->len; i++) {
        low = fmin(low, g_array_index(cell->numbers[value], double, i));
        high = fmax(high, g_array_index(cell->numbers[value], double, i));
    }
    return low < high;
}

GArray *orch_grid_means(const struct orch_grid_cell *cell, guint value)
{
    return orch_seed_means(cell->numbers[value], cell->seeds);
}

struct orch_spread orch_grid_spread(const struct orch_grid *grid, const struct orch_grid_cell *cell,
                                    guint value)
{
    g_autoptr(GArray) means = orch_grid_means(cell, value);
    g_autoptr(GArray) values = orch_seed_values(means);
    const struct orch_item_value *wanted = grid->wanted->pdata[value];
    return orch_trials_spread(grid->trials, wanted, grid->units[value], values);
}

char *orch_grid_count_text(const struct orch_grid_cell *cell)
{
    g_autoptr(GArray) means = orch_grid_means(cell, 0);
    guint runs = 0;
    for (guint i = 0; i < means->len; i++)
        runs += g_array_index(means, struct orch_seed_mean, i).runs;
    return runs > means->len ? g_strdup_printf("%u runs with %u seed%s, averaged for each seed",
                                               runs, means->len, orch_plural(means->len))
                             : g_strdup_printf("%u repeat%s", means->len, orch_plural(means->len));
}

char *orch_grid_lost_text(const struct orch_grid *grid, const struct orch_grid_cell *cell)
{
    const struct orch_item_value *wanted = grid->wanted->pdata[0];
    const char *why = NULL;
    unsigned lost = 0;
    for (guint i = 0; i < cell->trials->len; i++) {
        struct orch_report_trial *trial = cell->trials->pdata[i];
        double value = (double)NAN;
        if (orch_trial_number(grid->trials, trial, wanted, &value, NULL, NULL, NULL) &&
            !isnan(value))
            continue;
        if (trial->run && orch_value_depends_on_load(grid->wanted->pdata[0], grid->units[0]) &&
            orch_trial_is_left_out(grid->trials, trial))
            continue; /* the section says so */
        lost++;
        if (!why)
            why = trial->run                           ? "its run has none"
                  : trial->item && trial->item->reason ? trial->item->reason
                                                       : "not run";
    }
    return lost ? g_strdup_printf("%u of its %u trials give%s no number (%s)", lost,
                                  cell->trials->len, lost == 1 ? "s" : "", why)
                : NULL;
}

static bool is_mixed(const struct orch_grid_cell *cell)
{
    for (guint i = 1; i < cell->settings->len; i++)
        if (strcmp(cell->settings->pdata[i], cell->settings->pdata[0]) != 0)
            return true;
    return false;
}

/* Returns whether the cell has a number of this setting, and of this seed where one is given. */
static bool has_number(const struct orch_grid_cell *cell, const char *setting, const uint64_t *seed)
{
    for (guint i = 0; i < cell->settings->len; i++)
        if (!isnan(g_array_index(cell->numbers[0], double, i)) &&
            strcmp(cell->settings->pdata[i], setting) == 0 &&
            (!seed || g_array_index(cell->seeds, uint64_t, i) == *seed))
            return true;
    return false;
}

static bool shares_settings(const struct orch_grid_cell *a, const struct orch_grid_cell *b)
{
    for (guint i = 0; i < a->settings->len; i++)
        if (has_number(b, a->settings->pdata[i], NULL))
            return true;
    return false;
}

/* The means by seed of the runs that have a partner in the other cell. Counts the others. */
static GArray *matched_means(const struct orch_grid_cell *cell, const struct orch_grid_cell *other,
                             unsigned *unmatched)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < cell->settings->len; i++) {
        double number = g_array_index(cell->numbers[0], double, i);
        if (!isnan(number) && !has_number(other, cell->settings->pdata[i],
                                          &g_array_index(cell->seeds, uint64_t, i))) {
            number = (double)NAN;
            *unmatched += 1;
        }
        g_array_append_val(numbers, number);
    }
    return orch_seed_means(numbers, cell->seeds);
}

struct orch_difference orch_grid_difference(const struct orch_grid_cell *a,
                                            const struct orch_grid_cell *b, unsigned *out_unmatched)
{
    *out_unmatched = 0;
    bool is_matched = (is_mixed(a) || is_mixed(b)) && shares_settings(a, b);
    g_autoptr(GArray) x = is_matched ? matched_means(a, b, out_unmatched) : orch_grid_means(a, 0);
    g_autoptr(GArray) y = is_matched ? matched_means(b, a, out_unmatched) : orch_grid_means(b, 0);
    if (a->is_disturbed != b->is_disturbed)
        return orch_seed_difference_uneven(x, y);
    if (strcmp(a->column, b->column) == 0)
        return orch_seed_difference(x, y);
    g_autoptr(GArray) p = orch_seed_values(x), q = orch_seed_values(y);
    return orch_difference_welch((const double *)(void *)p->data, p->len,
                                 (const double *)(void *)q->data, q->len);
}

int orch_grid_compare(const struct orch_grid *grid, const struct orch_grid_cell *x,
                      const struct orch_grid_cell *y)
{
    double p = orch_grid_spread(grid, x, 0).stat.mean, q = orch_grid_spread(grid, y, 0).stat.mean;
    if (isnan(p) || isnan(q))
        return isnan(p) - isnan(q);
    int sign = (p > q) - (p < q);
    return g_strcmp0(grid->better, "min") == 0 ? sign : -sign;
}

char *orch_grid_shared_base(const struct orch_grid *grid, struct orch_store *store)
{
    char *text = NULL;
    bool is_timing =
        grid->wanted->len && orch_value_depends_on_load(grid->wanted->pdata[0], grid->units[0]);
    for (guint i = 0; i < grid->cells->len && !text && !is_timing; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        g_autoptr(GPtrArray) runs = g_ptr_array_new();
        for (guint j = 0; j < cell->trials->len; j++) {
            struct orch_report_trial *trial = cell->trials->pdata[j];
            if (trial->run)
                g_ptr_array_add(runs, trial->run);
        }
        text = runs->len > 1 ? orch_shared_base_text(store, runs) : NULL;
    }
    return text;
}

char *orch_names_joined(const GPtrArray *names)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < names->len; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
    return g_string_free(text, FALSE);
}
