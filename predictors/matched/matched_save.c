/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves what predictors/matched_rows learned as JSON, and loads it. */
#include "predictors/matched/matched_private.h"

#include <math.h>
#include <string.h>

/* ---- saving ------------------------------------------------------------------------------------
 */

static json_t *save_effects(const struct orch_effects *e, size_t columns)
{
    json_t *list = json_array();
    for (size_t c = 0; c < columns; c++) {
        json_t *values = json_array();
        for (guint k = 0; k < e->columns[c]->len; k++) {
            const struct orch_effect *one = &g_array_index(e->columns[c], struct orch_effect, k);
            json_t *value = one->word ? json_string(one->word) : json_real(one->number);
            json_array_append_new(values, json_pack("[o, f]", value, one->weight));
        }
        json_array_append_new(list, values);
    }
    return json_pack("{s:f, s:o, s:o}", "constant", e->constant, "smallest",
                     orch_save_reals(e->smallest, columns, ORCH_SAVE_PLAIN), "values", list);
}

json_t *orch_matched_save(const struct orch_matched *t)
{
    json_t *columns = json_array(), *own = json_object();
    GHashTableIter each;
    void *name, *effects;
    for (guint c = 0; c < t->columns->len; c++) {
        const struct orch_matched_column *column = t->columns->pdata[c];
        json_array_append_new(columns, json_pack("[s, i]", column->name, (int)column->kind));
    }
    g_hash_table_iter_init(&each, t->own);
    while (g_hash_table_iter_next(&each, &name, &effects))
        json_object_set_new(own, name, save_effects(effects, t->columns->len));
    return json_pack("{s:f, s:f, s:f, s:o, s:o, s:o, s:o, s:o}", "middle", t->middle, "sign",
                     t->sign, "unknown", t->unknown, "centre",
                     orch_save_reals(t->centre, ORCH_MATCHED_RATES, ORCH_SAVE_PLAIN), "slopes",
                     orch_save_reals(t->slopes, ORCH_MATCHED_RATES, ORCH_SAVE_PLAIN), "columns",
                     columns, "all", save_effects(t->all, t->columns->len), "own", own);
}

/* ---- loading -----------------------------------------------------------------------------------
 */

/* The effects of one column: pairs of a value and its weight. */
static bool load_values(const json_t *saved, const struct orch_matched_column *column, GArray *out,
                        GError **error)
{
    if (!json_is_array(saved))
        return orch_load_fail("values", "are invalid", error);
    for (size_t k = 0; k < json_array_size(saved); k++) {
        const json_t *pair = json_array_get(saved, k);
        const json_t *key = json_array_get(pair, 0), *weight = json_array_get(pair, 1);
        bool is_value = orch_matched_is_word(column) ? json_is_string(key) : json_is_number(key);
        if (json_array_size(pair) != 2 || !is_value || !json_is_number(weight))
            return orch_load_fail("values", "are invalid", error);
        struct orch_value value = {json_string_value(key),
                                   json_is_number(key) ? json_number_value(key) : (double)NAN};
        orch_effects_add(out, &value, json_number_value(weight));
    }
    orch_effects_ready(out, column);
    return true;
}

/* The smallest batch by column: numbers, and null where there is none. */
static bool load_smallest(const json_t *saved, size_t columns, double *out, GError **error)
{
    const json_t *smallest = orch_load_list(saved, "smallest", error);
    if (!smallest)
        return false;
    if (json_array_size(smallest) != columns)
        return orch_load_fail("smallest", "has the wrong length", error);
    for (size_t c = 0; c < columns; c++) {
        const json_t *one = json_array_get(smallest, c);
        if (!json_is_null(one) && !json_is_number(one))
            return orch_load_fail("smallest", "is invalid", error);
        out[c] = json_is_null(one) ? (double)NAN : json_number_value(one);
    }
    return true;
}

static struct orch_effects *load_effects(const json_t *saved, const GPtrArray *columns,
                                         GError **error)
{
    struct orch_effects *e = orch_effects_new(columns->len);
    const json_t *values = orch_load_list(saved, "values", error);
    bool ok = values && orch_load_real(saved, "constant", &e->constant, error) &&
              load_smallest(saved, columns->len, e->smallest, error) &&
              (json_array_size(values) == columns->len ||
               orch_load_fail("values", "has the wrong length", error));
    for (size_t c = 0; ok && c < columns->len; c++)
        ok = load_values(json_array_get(values, c), columns->pdata[c], e->columns[c], error);
    if (ok)
        return e;
    orch_effects_free(e);
    return NULL;
}

static bool load_rates(const json_t *saved, const char *name, double *out, GError **error)
{
    size_t count = ORCH_MATCHED_RATES;
    g_autofree double *values = orch_load_reals(saved, name, &count, error);
    for (size_t r = 0; values && r < count; r++) {
        if (!isfinite(values[r]))
            return orch_load_fail(name, "is not finite", error);
        out[r] = values[r];
    }
    return values != NULL;
}

static bool load_columns(struct orch_matched *t, const json_t *saved, GError **error)
{
    const json_t *columns = orch_load_list(saved, "columns", error);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const json_t *column = json_array_get(columns, c), *kind = json_array_get(column, 1);
        const char *name = json_string_value(json_array_get(column, 0));
        json_int_t number = json_is_integer(kind) ? json_integer_value(kind) : -1;
        if (!name || json_array_size(column) != 2 || number < 0 || number >= ORCH_MATCHED_KINDS)
            return orch_load_fail("columns", "are invalid", error);
        orch_matched_add_column(t, name, (enum orch_matched_kind)number);
    }
    return columns != NULL;
}

struct orch_matched *orch_matched_load(const json_t *saved, GError **error)
{
    struct orch_matched *t = orch_matched_new();
    const json_t *own = orch_load_object(saved, "own", error);
    bool ok = own && orch_load_real(saved, "middle", &t->middle, error) &&
              orch_load_real(saved, "sign", &t->sign, error) &&
              orch_load_real(saved, "unknown", &t->unknown, error) &&
              load_rates(saved, "centre", t->centre, error) &&
              load_rates(saved, "slopes", t->slopes, error) && load_columns(t, saved, error) &&
              (t->all = load_effects(json_object_get(saved, "all"), t->columns, error));
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)own, name, value)
    {
        struct orch_effects *effects = ok ? load_effects(value, t->columns, error) : NULL;
        ok = effects != NULL;
        if (ok)
            g_hash_table_insert(t->own, g_strdup(name), effects);
    }
    if (ok)
        return t;
    orch_matched_free(t);
    return NULL;
}
