/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "core/report/item_names.h"

#include "core/recipe/report_kinds.h"
#include "core/report/trials.h"

static bool holds_names(enum orch_report_shape shape)
{
    switch (shape) {
    case ORCH_SHAPE_AXES:
    case ORCH_SHAPE_AXIS:
    case ORCH_SHAPE_X:
    case ORCH_SHAPE_Y:
    case ORCH_SHAPE_VALUES:
    case ORCH_SHAPE_VALUE:
    case ORCH_SHAPE_BETTER:
    case ORCH_SHAPE_SERIES:
    case ORCH_SHAPE_COLUMNS:
    case ORCH_SHAPE_COLUMN:
    case ORCH_SHAPE_SIDE:
    case ORCH_SHAPE_FORMULAS:
        return true;
    default:
        return false;
    }
}

static void add_words(GHashTable *names, const json_t *spec, const char *key)
{
    g_autoptr(GPtrArray) texts = orch_texts_from_json(json_object_get(spec, key));
    for (guint i = 0; i < texts->len; i++) {
        g_auto(GStrv) words = g_strsplit_set(texts->pdata[i], " ,=+-*/()", -1);
        for (char **word = words; *word; word++)
            if (**word)
                g_hash_table_add(names, g_strdup(*word));
    }
}

GHashTable *orch_item_names(const struct orch_report_item *item,
                            const struct orch_expansion *expansion)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const bool has_keys = item->kind->keys && json_is_object(item->spec);
    for (const struct orch_report_key *key = item->kind->keys; has_keys && key->name; key++)
        if (holds_names(key->shape))
            add_words(names, item->spec, key->name);
    const struct orch_experiment *seen = NULL;
    for (guint i = 0; i < expansion->cells->len; i++) {
        const struct orch_cell *cell = expansion->cells->pdata[i];
        const char *name;
        json_t *value;
        if (cell->experiment != seen)
            json_object_foreach(cell->coords, name, value) g_hash_table_add(names, g_strdup(name));
        seen = cell->experiment;
    }
    return names;
}
