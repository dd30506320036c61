/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/answer.h"

#include "core/stats/numbers.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* More would no longer be read as a sentence: then the lowest and the highest are named. */
enum { LISTED_MOST = 4, VALUES_MOST = 3 };

/* ---- numbers -----------------------------------------------------------------------------------
 */

void orch_answer_number_append(GString *out, double value, double low, double high,
                               const char *unit)
{
    bool has_interval = isfinite(low) && isfinite(high) && low < high;
    g_autofree char *text =
        has_interval ? orch_within_format(value, low, high) : orch_number_format(value);
    g_autofree char *interval = has_interval ? orch_interval_format(low, high) : NULL;
    g_string_append_printf(out, "%s%s%s%s%s%s", text, unit ? " " : "", unit ? unit : "",
                           interval ? " [" : "", interval ? interval : "", interval ? "]" : "");
}

/* ---- names in words ----------------------------------------------------------------------------
 */

/* The forms in which a name can end with its unit: "images/s" as "images_per_second". */
static GPtrArray *unit_suffixes(const char *unit)
{
    static const char *const seconds[] = {"s", "second", "seconds"}, *const slashes[] = {"_per_",
                                                                                         "_"};
    GPtrArray *out = g_ptr_array_new_with_free_func(g_free);
    g_auto(GStrv) parts = g_strsplit(unit, "/", 2);
    g_autofree char *first = g_ascii_strdown(parts[0] ? parts[0] : "", -1);
    const char *last = parts[0] && parts[1] ? parts[1] : first;
    const bool is_seconds = strcmp(last, "s") == 0;
    for (unsigned i = 0; i < (is_seconds ? G_N_ELEMENTS(seconds) : 1); i++)
        for (unsigned k = 0; k < G_N_ELEMENTS(slashes); k++)
            g_ptr_array_add(out, last == first
                                     ? g_strdup_printf("_%s", is_seconds ? seconds[i] : first)
                                     : g_strdup_printf("_%s%s%s", first, slashes[k],
                                                       is_seconds ? seconds[i] : last));
    if (strcmp(unit, "%") == 0)
        g_ptr_array_add(out, g_strdup("_percent"));
    return out;
}

char *orch_answer_words(const char *name, const char *unit)
{
    g_autoptr(GPtrArray) suffixes = unit ? unit_suffixes(unit) : NULL;
    char *words = g_strdup(name);
    bool is_rate = false;
    for (guint i = 0; suffixes && i < suffixes->len; i++)
        if (g_str_has_suffix(words, suffixes->pdata[i])) {
            words[strlen(words) - strlen(suffixes->pdata[i])] = '\0';
            if (orch_unit_is_timing(unit, &is_rate) && !is_rate && !strstr(words, "time")) {
                char *time = g_strdup_printf("%s time", words);
                g_free(words);
                words = time;
            }
            break;
        }
    return g_strdelimit(words, "_", ' ');
}

/* ---- values of settings ------------------------------------------------------------------------
 */

/* A setting's value with the ends of its interval (NaN: none). */
struct entry {
    char *label;
    double value, low, high;
};

static void entry_clear(gpointer pointer)
{
    g_free(((struct entry *)pointer)->label);
}

GArray *orch_answer_entries_new(void)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    g_array_set_clear_func(entries, entry_clear);
    return entries;
}

/* Takes the label. */
static void add_entry(GArray *entries, char *label, double value, double low, double high)
{
    const struct entry entry = {label, value, low, high};
    if (isfinite(value))
        g_array_append_val(entries, entry);
    else
        g_free(label);
}

void orch_answer_entries_add(GArray *entries, const char *label, double value, double low,
                             double high)
{
    add_entry(entries, g_strdup(label), value, low, high);
}

static const struct entry *entry_at(const GArray *entries, guint i)
{
    return &g_array_index(entries, struct entry, i);
}

static void append_entry(GString *out, const struct entry *e, const char *unit)
{
    orch_answer_number_append(out, e->value, e->low, e->high, unit);
    if (*e->label)
        g_string_append_printf(out, " (%s)", e->label);
}

void orch_answer_entries_append(GString *out, const GArray *entries, const char *name,
                                const char *unit)
{
    if (!entries->len)
        return;
    guint lowest = 0, highest = 0;
    for (guint i = 1; i < entries->len; i++) {
        lowest = entry_at(entries, i)->value < entry_at(entries, lowest)->value ? i : lowest;
        highest = entry_at(entries, i)->value > entry_at(entries, highest)->value ? i : highest;
    }
    const struct entry *low = entry_at(entries, lowest), *high = entry_at(entries, highest);
    g_string_append_printf(out, "%s%s: ", out->len ? "; " : "", name);
    if (entries->len > 1 && fabs(high->value - low->value) <= 1e-9 * fabs(high->value)) {
        orch_answer_number_append(out, low->value, (double)NAN, (double)NAN, unit);
        g_string_append_printf(out, " in all %u settings", entries->len);
    } else if (entries->len <= LISTED_MOST) {
        for (guint i = 0; i < entries->len; i++) {
            g_string_append(out, i ? ", " : "");
            append_entry(out, entry_at(entries, i), unit);
        }
    } else {
        g_string_append(out, "lowest ");
        append_entry(out, low, unit);
        g_string_append(out, ", highest ");
        append_entry(out, high, unit);
        g_string_append_printf(out, ", of %u settings", entries->len);
    }
}

/* ---- grids -------------------------------------------------------------------------------------
 */

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

/* The axes that tell the cells apart (char *, borrowed); all when none does. */
static GPtrArray *axes_of(const struct orch_trials *trials, const struct orch_grid *grid)
{
    const GPtrArray *const of_grid[] = {grid->rows, grid->columns};
    GPtrArray *axes = g_ptr_array_new(), *all = g_ptr_array_new();
    for (unsigned k = 0; k < G_N_ELEMENTS(of_grid); k++)
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

/* "workers 2, segmented_ring" */
static char *setting_of(const struct orch_trials *trials, const struct orch_grid_cell *cell,
                        const GPtrArray *axes)
{
    GString *label = g_string_new(NULL);
    for (guint i = 0; i < axes->len; i++) {
        g_autofree char *value = value_of(trials, cell, axes->pdata[i]);
        double number;
        const bool is_number = value && orch_real_parse(value, &number);
        g_autofree char *axis = orch_answer_words(axes->pdata[i], NULL);
        if (value)
            g_string_append_printf(label, "%s%s%s%s", label->len ? ", " : "", is_number ? axis : "",
                                   is_number ? " " : "", value);
    }
    return g_string_free(label, FALSE);
}

void orch_answer_of_grid(struct orch_section *section, const struct orch_trials *trials,
                         const struct orch_grid *grid)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GPtrArray) axes = axes_of(trials, grid);
    for (guint v = 0, said = 0; v < grid->wanted->len && said < VALUES_MOST; v++) {
        g_autoptr(GArray) entries = orch_answer_entries_new();
        for (guint i = 0; i < grid->cells->len; i++) {
            const struct orch_grid_cell *cell = grid->cells->pdata[i];
            const struct orch_spread spread = orch_grid_spread(grid, cell, v);
            const bool is_interval = spread.form == ORCH_SPREAD_INTERVAL;
            add_entry(entries, setting_of(trials, cell, axes), spread.centre,
                      is_interval ? spread.low : (double)NAN,
                      is_interval ? spread.high : (double)NAN);
        }
        const struct orch_item_value *wanted = grid->wanted->pdata[v];
        g_autofree char *name = orch_answer_words(wanted->name, grid->units[v]);
        if (!entries->len)
            continue;
        orch_answer_entries_append(text, entries, name, grid->units[v]);
        said++;
    }
    if (text->len)
        orch_section_answer(section, "%s", text->str);
}
