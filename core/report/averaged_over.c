/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/averaged_over.h"

#include "core/report/answer.h"
#include "core/stats/seeds.h"
#include "core/stats/varying_names.h"
#include "lib/base/json.h"
#include "lib/base/text.h"

#include <string.h>

/* Adds the names of the first object in which the two differ. */
static void add_differing(const json_t *a, const json_t *b, const char *const *axes,
                          GPtrArray *names)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, name, value)
    {
        const json_t *other = json_object_get(b, name);
        if (!g_strv_contains(axes, name) && !orch_is_seed_name(name) &&
            !(other && json_equal(value, other)))
            orch_texts_add_once(names, name);
    }
}

/* Adds the experiments and swept names in which two trials differ. */
static void add_swept(const struct orch_trials *of, const struct orch_report_trial *a,
                      const struct orch_report_trial *b, const char *const *axes, GPtrArray *names)
{
    g_autofree char *of_a = orch_trial_value(of, a, "experiment");
    g_autofree char *of_b = orch_trial_value(of, b, "experiment");
    if (g_strcmp0(of_a, of_b) != 0 && !g_strv_contains(axes, "experiment"))
        orch_texts_add_once(names, "experiment");
    g_autoptr(json_t) one = orch_trial_coords(a), two = orch_trial_coords(b);
    if (g_strv_contains(axes, "setting"))
        return;
    add_differing(one, two, axes, names);
    add_differing(two, one, axes, names);
}

void orch_mixed_add(const struct orch_trials *of, const GPtrArray *trials, const char *const *axes,
                    GPtrArray *names)
{
    const struct orch_report_trial *first = NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    for (guint i = 0; i < trials->len; i++) {
        const struct orch_report_trial *trial = trials->pdata[i];
        if (!trial->run)
            continue;
        if (first)
            add_swept(of, first, trial, axes, names);
        first = first ? first : trial;
        if (!trial->item)
            g_ptr_array_add(runs, trial->run);
    }
    orch_mixed_names_add(of->store, runs, axes, names, NULL);
}

char *orch_mixed_text(const struct orch_trials *of, const GPtrArray *names)
{
    g_autoptr(GPtrArray) shown = g_ptr_array_new();
    for (guint i = 0; i < names->len; i++)
        g_ptr_array_add(shown, (gpointer)(uintptr_t)orch_mixed_word(names->pdata[i]));
    g_autofree char *words = orch_answer_axes(of->labels, shown);
    return names->len ? g_strdup_printf(ORCH_MIXED_WORDS, words) : NULL;
}

char *orch_grid_mixed(const struct orch_grid *grid)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) axes = g_ptr_array_new();
    g_ptr_array_extend(axes, (GPtrArray *)(uintptr_t)grid->rows, NULL, NULL);
    g_ptr_array_extend(axes, (GPtrArray *)(uintptr_t)grid->columns, NULL, NULL);
    g_ptr_array_add(axes, NULL);
    for (guint i = 0; i < grid->cells->len; i++) {
        const struct orch_grid_cell *cell = grid->cells->pdata[i];
        for (guint v = 0; v < grid->wanted->len; v++)
            if (orch_grid_varies(cell, v))
                orch_mixed_add(grid->trials, cell->trials, (const char *const *)axes->pdata, names);
    }
    return orch_mixed_text(grid->trials, names);
}
