/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features/predict/informative.h"

#include "features/predict/trial_forecasts.h"
#include "predictors/design.h"

#include <string.h>

/* The trials of a plan without their repeats. */
struct cells {
    GArray *items;    /* unsigned: the first item of each that will run, else its first */
    GArray *measured; /* bool */
    GArray *open;     /* bool: at least one repeat will run */
};

static void cells_init(struct cells *cells)
{
    cells->items = g_array_new(FALSE, FALSE, sizeof(unsigned));
    cells->measured = g_array_new(FALSE, FALSE, sizeof(bool));
    cells->open = g_array_new(FALSE, FALSE, sizeof(bool));
}

static void cells_release(struct cells *cells)
{
    g_array_unref(cells->items);
    g_array_unref(cells->measured);
    g_array_unref(cells->open);
}

static void add_item(struct cells *cells, GHashTable *by_cell, struct orch_plan *plan,
                     unsigned index, struct orch_forecasts *forecasts)
{
    const struct orch_plan_item *item = &plan->items[index];
    bool opens = orch_plan_will_run(item), measured = orch_forecasts_has_run(forecasts, item);
    char *cell = orch_forecasts_cell(forecasts, item);
    gpointer at;
    if (g_hash_table_lookup_extended(by_cell, cell, NULL, &at)) {
        bool *open = &g_array_index(cells->open, bool, GPOINTER_TO_UINT(at));
        if (opens && !*open)
            g_array_index(cells->items, unsigned, GPOINTER_TO_UINT(at)) = index;
        *open = *open || opens;
        g_free(cell);
        return;
    }
    g_hash_table_insert(by_cell, cell, GUINT_TO_POINTER(cells->items->len));
    g_array_append_val(cells->items, index);
    g_array_append_val(cells->measured, measured);
    g_array_append_val(cells->open, opens);
}

static void find_cells(struct orch_plan *plan, struct orch_forecasts *forecasts,
                       struct cells *cells)
{
    g_autoptr(GHashTable) by_cell = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->items[i].state != ORCH_PLAN_UNUSED && plan->items[i].state != ORCH_PLAN_SKIPPED)
            add_item(cells, by_cell, plan, i, forecasts);
}

GArray *orch_informative_choose(struct orch_plan *plan, int count, GError **error)
{
    struct orch_forecasts *forecasts = orch_forecasts_new(plan);
    struct cells cells;
    cells_init(&cells);
    find_cells(plan, forecasts, &cells);
    g_autofree bool *may = g_new0(bool, cells.items->len + 1);
    for (guint i = 0; i < cells.items->len; i++)
        may[i] = g_array_index(cells.open, bool, i) && !g_array_index(cells.measured, bool, i);
    struct orch_matrix *features = orch_forecasts_features(
        forecasts, (const unsigned *)(void *)cells.items->data, cells.items->len);
    g_autofree struct orch_design_choice *design =
        g_new0(struct orch_design_choice, (size_t)count + 1);
    int chosen = orch_design_choose(features, (const bool *)(void *)cells.measured->data, may,
                                    count, design, error);
    GArray *choices =
        chosen < 0 ? NULL : g_array_new(FALSE, FALSE, sizeof(struct orch_informative_trial));
    for (int i = 0; i < chosen; i++) {
        struct orch_informative_trial choice = {g_array_index(cells.items, unsigned, design[i].row),
                                                design[i].left};
        g_array_append_val(choices, choice);
    }
    orch_matrix_free(features);
    orch_forecasts_free(forecasts);
    cells_release(&cells);
    return choices;
}

static void keep(const struct orch_plan *plan, unsigned index, bool *kept)
{
    if (kept[index])
        return;
    kept[index] = true;
    const GPtrArray *refs = plan->items[index].cell->refs;
    for (guint i = 0; i < refs->len; i++) {
        const struct orch_ref *ref = refs->pdata[i];
        for (guint j = 0; j < ref->cells->len; j++)
            keep(plan, g_array_index(ref->cells, unsigned, j), kept);
    }
}

void orch_informative_keep(struct orch_plan *plan, const GArray *choices)
{
    g_autofree bool *kept = g_new0(bool, plan->count + 1);
    for (guint i = 0; i < choices->len; i++)
        keep(plan, g_array_index(choices, struct orch_informative_trial, i).item, kept);
    for (unsigned i = 0; i < plan->count; i++)
        if (!kept[i] && plan->items[i].state != ORCH_PLAN_DONE)
            plan->items[i].state = ORCH_PLAN_UNUSED;
}
