/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets plugins check the parameters of trials, and determines the trials' inputs. */
#include "core/plan/plan_private.h"

#include "core/inputs/inputs.h"
#include "lib/base/error.h"
#include "lib/base/json.h"
#include "lib/wire/value.h"

#include <string.h>

/* Stands for a number that a trial has yet to measure: the parameter's default, which is in its
 * range, or 0 where it has none. New reference. */
static json_t *number_for_check(const struct orch_cell *cell, const char *name)
{
    const struct orch_param_spec *spec = orch_manifest_param(cell->experiment->manifest, name);
    json_t *value = spec && spec->def ? orch_value_default(spec) : NULL;
    return value ? value : json_integer(0);
}

/* The parameters passed to check, with absolute paths as in a trial. An unresolved reference is
 * passed as its text, or as a number in the parameter's range. */
static json_t *params_for_check(const struct orch_plan *plan, const struct orch_cell *cell)
{
    json_t *params = orch_cell_absolute_params(plan->inputs, cell);
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        json_object_set_new(params, ref->param,
                            ref->is_result ? number_for_check(cell, ref->param)
                                           : json_string(ref->text));
    }
    return params;
}

/* Sends all questions for one plugin together. */
static void prefetch_costs(struct orch_plan *plan)
{
    g_autoptr(GHashTable) by_manifest =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    for (unsigned i = 0; i < plan->count; i++) {
        const struct orch_experiment *experiment = plan->items[i].cell->experiment;
        gpointer manifest = (gpointer)(uintptr_t)experiment->manifest;
        GPtrArray *asked = g_hash_table_lookup(by_manifest, manifest);
        if (!experiment->manifest->has_check)
            continue;
        if (!asked) {
            asked = g_ptr_array_new_with_free_func((GDestroyNotify)json_decref);
            g_hash_table_insert(by_manifest, manifest, asked);
        }
        g_ptr_array_add(asked, params_for_check(plan, plan->items[i].cell));
    }
    GHashTableIter iter;
    gpointer manifest, asked;
    g_hash_table_iter_init(&iter, by_manifest);
    while (g_hash_table_iter_next(&iter, &manifest, &asked))
        orch_plugins_prefetch(plan->plugins, manifest,
                              (json_t *const *)(void *)((GPtrArray *)asked)->pdata,
                              ((GPtrArray *)asked)->len);
}

/* Lets the plugin check a trial, and determines its inputs. */
static bool check_item(struct orch_plan *plan, struct orch_plan_item *item, GError **error)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    g_autoptr(json_t) params = params_for_check(plan, item->cell);
    item->inputs.id = orch_inputs_id_of(plan->inputs, experiment, error);
    g_clear_pointer(&item->inputs.list, g_ptr_array_unref);
    g_clear_pointer(&item->no_effect, g_ptr_array_unref);
    g_clear_pointer(&item->warnings, g_ptr_array_unref);
    struct orch_checked checked;
    if (!item->inputs.id ||
        !orch_plugins_check(plan->plugins, experiment->manifest, params, &checked, error))
        return false;
    item->inputs.list = checked.inputs;
    item->no_effect = checked.no_effect;
    item->warnings = checked.warnings;
    return orch_cell_inputs(plan->inputs, item->cell, item->inputs.list, error);
}

/* Whether the plugin accepts a trial of a search, whose values are not chosen yet, at one place of
 * its ranges, although it rejects the middle. */
static bool accepts_some(struct orch_plan *plan, struct orch_plan_item *item)
{
    static const double SHARES[] = {0.1, 0.9, 0.3, 0.7};
    bool is_accepted = false;
    for (size_t i = 0; item->inputs.id && !is_accepted && i < G_N_ELEMENTS(SHARES); i++) {
        orch_cell_open_point(item->cell, SHARES[i]);
        is_accepted = check_item(plan, item, NULL);
    }
    orch_cell_open_point(item->cell, ORCH_SEARCH_MIDDLE);
    return is_accepted;
}

/* Notes why the plugin rejects a trial, of a plan that only reads. */
static void refuse(struct orch_plan_item *item, const GError *problem)
{
    const char *end = strchr(problem->message, '\n');
    g_free(item->refused);
    item->refused = end ? g_strndup(problem->message, (gsize)(end - problem->message))
                        : g_strdup(problem->message);
}

/* The recipe's file; NULL when there is none. */
static const char *place_of(const struct orch_plan *plan)
{
    return plan->expansion->is_ad_hoc ? NULL : plan->expansion->path;
}

bool orch_plan_is_new_warning(struct orch_plan *plan, const struct orch_experiment *experiment,
                              const char *text)
{
    return g_hash_table_add(plan->said, g_strdup_printf("%p %s", (const void *)experiment, text));
}

/* Adds what the plugin warns of, once for an experiment. */
static void add_warnings(struct orch_plan *plan, const struct orch_plan_item *item,
                         struct orch_diags *diags)
{
    const struct orch_experiment *experiment = item->cell->experiment;
    for (guint i = 0; i < item->warnings->len; i++) {
        const char *text = item->warnings->pdata[i];
        if (orch_plan_is_new_warning(plan, experiment, text))
            orch_diags_add(diags, true, place_of(plan), experiment->line, experiment->column, NULL,
                           "experiment '%s': %s", experiment->name, text);
    }
}

bool orch_plan_check_items(struct orch_plan *plan, struct orch_diags *diags)
{
    prefetch_costs(plan);
    for (unsigned i = 0; i < plan->count; i++) {
        struct orch_plan_item *item = &plan->items[i];
        const struct orch_experiment *experiment = item->cell->experiment;
        GError *problem = NULL;
        if (check_item(plan, item, &problem)) {
            add_warnings(plan, item, diags);
            continue;
        }
        if (plan->options.reads_only) {
            refuse(item, problem);
        } else if (!orch_cell_is_open(item->cell) || problem->code != ORCH_ERROR_RECIPE ||
                   !accepts_some(plan, item)) {
            g_autofree char *what = orch_error_what(problem);
            orch_diags_add(diags, false, place_of(plan), experiment->line, experiment->column,
                           orch_error_hint(problem), "experiment '%s': %s", experiment->name, what);
            if (problem->code == ORCH_ERROR_PLUGIN)
                orch_diags_set_code(diags, ORCH_ERROR_PLUGIN);
        } else {
            add_warnings(plan, item, diags); /* of the place that the plugin accepts */
        }
        g_clear_error(&problem);
    }
    return diags->error_count == 0;
}

bool orch_plan_renew(struct orch_plan *plan, unsigned index, GError **error)
{
    struct orch_plan_item *item = &plan->items[index];
    GError *problem = NULL;
    item->fingerprint[0] = 0;
    g_clear_pointer(&item->refused, g_free);
    if (check_item(plan, item, &problem))
        return true;
    bool is_open = orch_cell_is_open(item->cell) && problem->code == ORCH_ERROR_RECIPE;
    if (plan->options.reads_only && !is_open)
        refuse(item, problem);
    if (!plan->options.reads_only && !is_open) {
        g_propagate_error(error, problem);
        return false;
    }
    g_error_free(problem);
    return true;
}
