/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial by its parameters: as texts that tell it from others, and as features. */
#include "features/predict/trial_forecasts_private.h"

#include "core/rows/param_rows.h"
#include "lib/base/ident.h"
#include "lib/base/json.h"

#include <math.h>
#include <string.h>

GHashTable *orch_trial_params(const struct orch_plan_item *item)
{
    GHashTable *params = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    const char *name;
    json_t *value;
    json_object_foreach(item->cell->params, name, value)
    {
        if (!orch_param_is_secret(orch_manifest_param(item->cell->experiment->manifest, name)))
            g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_string(name),
                                orch_json_canonical(value));
    }
    for (guint i = 0; i < item->cell->refs->len; i++) {
        const struct orch_ref *ref = item->cell->refs->pdata[i];
        g_autoptr(json_t) text = json_string(ref->text);
        g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_string(ref->param),
                            orch_json_canonical(text));
    }
    return params;
}

GHashTable *orch_trial_timing_params(const struct orch_manifest *manifest,
                                     const struct orch_timing *timing)
{
    GHashTable *params = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (guint i = 0; i < timing->names->len; i++)
        if (!orch_param_is_secret(orch_manifest_param(manifest, timing->names->pdata[i])))
            g_hash_table_insert(params, timing->names->pdata[i],
                                g_strdup(timing->values->pdata[i]));
    return params;
}

const char *orch_trial_signature(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    size_t index = (size_t)(item - f->plan->items);
    if (!f->signatures[index]) {
        g_autoptr(GHashTable) params = orch_trial_params(item);
        f->signatures[index] = orch_timed_cell_signature(params);
    }
    return f->signatures[index];
}

json_t *orch_forecasts_cost(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    const struct orch_cell *cell = item->cell;
    g_autoptr(json_t) params = json_copy(cell->params);
    for (guint i = 0; i < cell->refs->len; i++) {
        const struct orch_ref *ref = cell->refs->pdata[i];
        json_object_set_new(params, ref->param,
                            ref->is_result ? json_integer(0) : json_string(ref->text));
    }
    json_t *cost = orch_plugins_cost(f->plan->plugins, cell->experiment->manifest, params, NULL);
    if (json_is_object(cost))
        return cost;
    json_decref(cost);
    return NULL;
}

/* Parses a canonical text as a number; NaN when it is none. */
static double number_of(const char *text)
{
    char *end;
    if (!text || !(g_ascii_isdigit(*text) || *text == '-'))
        return (double)NAN;
    double value = g_ascii_strtod(text, &end);
    return *end || !isfinite(value) ? (double)NAN : value;
}

static bool is_null(const char *text)
{
    return !text || strcmp(text, "null") == 0;
}

static void add_feature(struct orch_matrix *matrix, const char *name, GPtrArray *rows)
{
    bool is_number = true, differs = false;
    const char *first = g_hash_table_lookup(rows->pdata[0], name);
    for (guint i = 0; i < rows->len; i++) {
        const char *text = g_hash_table_lookup(rows->pdata[i], name);
        differs = differs || g_strcmp0(text, first) != 0;
        is_number = is_number && (is_null(text) || isfinite(number_of(text)));
    }
    if (!differs)
        return;
    int column = orch_matrix_cols(matrix);
    double *values =
        is_number ? orch_matrix_add_number(matrix, name) : orch_matrix_add_category(matrix, name);
    for (guint i = 0; i < rows->len; i++) {
        const char *text = g_hash_table_lookup(rows->pdata[i], name);
        values[i] =
            is_number ? number_of(text) : orch_matrix_level(matrix, column, text ? text : "null");
    }
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

/* Makes columns for the parameters that differ between the rows (GHashTable * of canonical texts).
 */
struct orch_matrix *orch_trial_matrix(GPtrArray *rows)
{
    struct orch_matrix *matrix = orch_matrix_new(rows->len);
    if (!rows->len)
        return matrix;
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < rows->len; i++) {
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, rows->pdata[i]);
        while (g_hash_table_iter_next(&iter, &name, NULL))
            g_hash_table_add(names, name);
    }
    GList *sorted = g_list_sort(g_hash_table_get_keys(names), compare_names);
    for (const GList *at = sorted; at; at = at->next)
        add_feature(matrix, at->data, rows);
    g_list_free(sorted);
    return matrix;
}

struct orch_matrix *orch_forecasts_features(struct orch_forecasts *f, const unsigned *wanted,
                                            size_t count)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    for (size_t i = 0; i < count; i++) {
        const struct orch_plan_item *item = &f->plan->items[wanted[i]];
        GHashTable *params = orch_trial_params(item);
        g_hash_table_insert(params, (gpointer)(uintptr_t)g_intern_static_string("plugin of trial"),
                            g_strdup(item->cell->experiment->manifest->name));
        g_ptr_array_add(rows, params);
    }
    return orch_trial_matrix(rows);
}

char *orch_forecasts_cell(struct orch_forecasts *f, const struct orch_plan_item *item)
{
    return g_strdup_printf("%p\n%s", (const void *)item->cell->experiment->manifest,
                           orch_trial_signature(f, item));
}
