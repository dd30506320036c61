/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/compare/compare_predicted.h"

#include "lib/base/json.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* One side of the comparison: one value in the item's experiments, or the item's value in one
 * experiment. */
struct side {
    struct orch_trials *trials;
    GPtrArray *wanted;
    struct orch_grid *grid;
};

static void release_side(struct side *side)
{
    orch_grid_free(side->grid);
    orch_trials_free(side->trials);
    g_clear_pointer(&side->wanted, g_ptr_array_unref);
}

static bool is_experiment(const struct orch_plan *plan, const char *name)
{
    for (guint i = 0; i < plan->expansion->experiments->len; i++)
        if (strcmp(((struct orch_experiment *)plan->expansion->experiments->pdata[i])->name,
                   name) == 0)
            return true;
    return false;
}

static bool make_side(struct orch_section_context *a, const char *key, const GPtrArray *rows,
                      const GPtrArray *none, struct side *out, GError **error)
{
    const json_t *spec = a->item->spec;
    bool by_experiment = is_experiment(a->plan, orch_json_text(spec, key, ""));
    out->wanted = orch_item_values_parse(json_object_get(spec, by_experiment ? "value" : key));
    out->trials = orch_section_trials(a, by_experiment ? key : "experiments", error);
    if (out->trials)
        out->grid = orch_grid_new(out->trials, out->wanted, rows, none, error);
    return out->grid;
}

/* Records the trials of a side and reports missing ones; a trial of both sides is recorded once. */
static void note_side(struct orch_section_context *a, const struct side *side, GHashTable *seen)
{
    unsigned fresh = 0;
    for (guint i = 0; i < side->grid->cells->len; i++) {
        const struct orch_grid_cell *cell = side->grid->cells->pdata[i];
        for (guint j = 0; j < cell->trials->len; j++) {
            struct orch_report_trial *trial = cell->trials->pdata[j];
            if (!g_hash_table_add(seen, (gpointer)(uintptr_t)trial->item))
                continue;
            orch_section_trial(a->section, side->trials, trial);
            fresh++;
        }
    }
    if (fresh || !g_hash_table_size(seen))
        orch_section_add_missing_trials(a, side->trials);
}

static double add_side(struct orch_table *table, const struct side *side, const char *row)
{
    const struct orch_grid_cell *cell = orch_grid_at(side->grid, row, "");
    if (!cell || !cell->done) {
        orch_table_add_missing(table);
        return NAN;
    }
    struct orch_spread spread = orch_grid_spread(side->grid, cell, 0);
    orch_table_add_spread(table, &spread, cell->done, cell->planned);
    return spread.stat.mean;
}

/* Returns the labels of both sides, in order of first appearance. The caller unrefs. */
static GPtrArray *rows_of(const struct side *predicted, const struct side *measured)
{
    GPtrArray *rows = orch_grid_rows(predicted->grid);
    g_autoptr(GPtrArray) others = orch_grid_rows(measured->grid);
    for (guint i = 0; i < others->len; i++)
        if (!g_ptr_array_find_with_equal_func(rows, others->pdata[i], g_str_equal, NULL))
            g_ptr_array_add(rows, others->pdata[i]);
    return rows;
}

static void add_sides(struct orch_section *section, const struct side *predicted,
                      const struct side *measured, const GPtrArray *axes)
{
    g_autoptr(GPtrArray) rows = rows_of(predicted, measured);
    g_autofree char *by = orch_names_joined(axes);
    const char *unit =
        measured->grid->units[0] ? measured->grid->units[0] : predicted->grid->units[0];
    g_autofree char *in = unit ? g_strdup_printf(" (%s)", unit) : g_strdup("");
    g_autofree char *left = g_strconcat(">predicted", in, NULL);
    g_autofree char *right = g_strconcat(">measured", in, NULL);
    const char *const headers[] = {by, left, right, ">error (%)", NULL};
    struct orch_table *table = orch_table_new(headers);
    double sum = 0, worst = 0;
    const char *worst_row = NULL;
    unsigned count = 0;
    for (guint i = 0; i < rows->len; i++) {
        orch_table_add(table, rows->pdata[i], NULL);
        double p = add_side(table, predicted, rows->pdata[i]);
        double m = add_side(table, measured, rows->pdata[i]);
        double error = m == 0 ? (double)NAN : 100 * (p - m) / m;
        orch_table_add_real(table, error);
        if (!isnan(error)) {
            sum += fabs(error);
            count++;
            if (!worst_row || fabs(error) > fabs(worst)) {
                worst = error;
                worst_row = rows->pdata[i];
            }
        }
    }
    orch_section_table(section, table);
    if (count)
        orch_section_answer(
            section,
            "the mean error of %u prediction%s is %.3g %%. The largest error is %+.3g %%, for %s",
            count, orch_plural(count), sum / count, worst, worst_row);
    orch_section_note(section, "error: 100 (predicted - measured) / measured");
}

bool orch_compare_predicted(struct orch_section_context *a, GError **error)
{
    g_autoptr(GPtrArray) axes = orch_texts_from_json(json_object_get(a->item->spec, "by"));
    g_autoptr(GPtrArray) none = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    struct side predicted = {0}, measured = {0};
    bool ok = make_side(a, "predicted", axes, none, &predicted, error) &&
              make_side(a, "measured", axes, none, &measured, error);
    if (ok && (predicted.grid->cells->len || measured.grid->cells->len))
        add_sides(a->section, &predicted, &measured, axes);
    if (ok) {
        note_side(a, &predicted, seen);
        note_side(a, &measured, seen);
    }
    release_side(&predicted);
    release_side(&measured);
    return ok;
}
