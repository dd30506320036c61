/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/matched_private.h"

#include "predictors/feature_names.h"

#include <math.h>
#include <string.h>

#define BATCH_REACH 1.5 /* logarithms over which two batches resemble each other */
#define REACH 2.0       /* the same for other numbers */
/* A batch below all of its network or task: midway between a step that takes as long as that of the
 * smallest batch and one that takes proportionally less. */
#define SMALLER_BATCH 0.5
#define USUAL_WATTS 250.0

/* ---- names and columns ------------------------------------------------------------------------
 */

bool orch_matched_is_work(const struct orch_matrix_feature *f)
{
    return f->levels && (orch_feature_is_net(f->name) || strcmp(f->name, "task") == 0);
}

bool orch_matched_applies(const struct orch_rows *rows)
{
    bool has_names = false;
    size_t unknown = 0;
    for (int c = 0; c < orch_matrix_cols(rows->matrix); c++)
        has_names |= orch_matched_is_work(orch_matrix_feature(rows->matrix, c));
    for (size_t i = 0; i < rows->rows; i++)
        unknown += rows->devices[i].gpu && !rows->devices[i].counts_operations;
    return has_names && 2 * unknown > rows->rows;
}

char *orch_matched_work_name(const struct orch_matrix *m, size_t row)
{
    GString *name = g_string_new(NULL);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        double level = orch_matrix_column(m, c)[row];
        if (orch_matched_is_work(f) && !isnan(level))
            g_string_append_printf(name, "%s%s", name->len ? "\n" : "",
                                   (const char *)f->levels->pdata[(int)level]);
    }
    return g_string_free(name, FALSE);
}

static void free_column(void *column)
{
    g_free(((struct orch_matched_column *)column)->name);
    g_free(column);
}

void orch_matched_add_column(struct orch_matched *t, const char *name, enum orch_matched_kind kind)
{
    struct orch_matched_column *column = g_new(struct orch_matched_column, 1);
    *column = (struct orch_matched_column){g_strdup(name), kind};
    g_ptr_array_add(t->columns, column);
}

static bool is_word(const struct orch_matched_column *column)
{
    return column->kind >= ORCH_MATCHED_WORD;
}

const char *orch_matched_chip(const struct orch_gpu_spec *gpu)
{
    return gpu->chip && *gpu->chip ? gpu->chip : gpu->name;
}

static struct orch_effect word_on_chip(const char *word, const struct orch_gpu_spec *gpu)
{
    g_autofree char *both = g_strdup_printf("%s\n%s", word, orch_matched_chip(gpu));
    return (struct orch_effect){(char *)(uintptr_t)g_intern_string(both), (double)NAN, 0};
}

struct orch_effect orch_matched_value(const struct orch_matrix *m, int at,
                                      const struct orch_matched_column *column, size_t row,
                                      const struct orch_gpu_spec *gpu)
{
    double value = at < 0 ? (double)NAN : orch_matrix_column(m, at)[row];
    const struct orch_matrix_feature *f = at < 0 ? NULL : orch_matrix_feature(m, at);
    if (column->kind == ORCH_MATCHED_CHIP)
        return (struct orch_effect){(char *)(uintptr_t)orch_matched_chip(gpu), (double)NAN, 0};
    if (isnan(value) || is_word(column) != (f->levels != NULL))
        return (struct orch_effect){NULL, (double)NAN, 0};
    if (!f->levels)
        return (struct orch_effect){NULL, value > 0 ? log(value) : value, 0};
    char *word = f->levels->pdata[(int)value];
    return column->kind == ORCH_MATCHED_WORD_ON_CHIP ? word_on_chip(word, gpu)
                                                     : (struct orch_effect){word, (double)NAN, 0};
}

double orch_matched_likeness(const struct orch_matched_column *column, const struct orch_effect *a,
                             const struct orch_effect *b)
{
    if (is_word(column))
        return a->word && b->word && strcmp(a->word, b->word) == 0;
    double reach = column->kind == ORCH_MATCHED_BATCH ? BATCH_REACH : REACH;
    return isnan(a->number) || isnan(b->number) ? 0 : exp(-fabs(a->number - b->number) / reach);
}

void orch_matched_drop_lone(const struct orch_matrix *m, const int *folds, double *inout_weights)
{
    g_autoptr(GHashTable) of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char **names = g_new0(char *, m->rows + 1);
    for (size_t i = 0; i < m->rows; i++) {
        g_autofree char *name = orch_matched_work_name(m, i);
        unsigned seen = GPOINTER_TO_UINT(g_hash_table_lookup(of, name)) | 1u << folds[i];
        g_hash_table_replace(of, g_strdup(name), GUINT_TO_POINTER(seen));
        names[i] = g_steal_pointer(&name);
    }
    for (size_t i = 0; i < m->rows; i++) {
        if (GPOINTER_TO_UINT(g_hash_table_lookup(of, names[i])) == 1u << folds[i])
            inout_weights[i] = 0;
        g_free(names[i]);
    }
}

/* ---- effects ----------------------------------------------------------------------------------
 */

static void clear_effect(void *effect)
{
    g_free(((struct orch_effect *)effect)->word);
}

struct orch_effects *orch_effects_new(size_t columns)
{
    struct orch_effects *e = g_new0(struct orch_effects, 1);
    e->smallest = (double)NAN;
    e->columns = g_new0(GArray *, columns + 1);
    for (size_t c = 0; c < columns; c++) {
        e->columns[c] = g_array_new(FALSE, TRUE, sizeof(struct orch_effect));
        g_array_set_clear_func(e->columns[c], clear_effect);
    }
    return e;
}

void orch_effects_free(void *data)
{
    struct orch_effects *e = data;
    for (size_t c = 0; e && e->columns[c]; c++)
        g_array_unref(e->columns[c]);
    if (e)
        g_free(e->columns);
    g_free(e);
}

void orch_effects_add(GArray *column, const struct orch_effect *value, double weight)
{
    if (!value->word && isnan(value->number))
        return;
    for (guint k = 0; k < column->len; k++) {
        struct orch_effect *known = &g_array_index(column, struct orch_effect, k);
        if (value->word ? strcmp(known->word, value->word) == 0
                        : !(fabs(known->number - value->number) > 1e-9)) {
            known->weight += weight;
            return;
        }
    }
    struct orch_effect added = {g_strdup(value->word), value->number, weight};
    g_array_append_val(column, added);
}

static double effect_of(const struct orch_matched *t, const struct orch_effects *e, size_t column,
                        const struct orch_effect *value)
{
    double sum = 0;
    for (guint k = 0; k < e->columns[column]->len; k++) {
        const struct orch_effect *known = &g_array_index(e->columns[column], struct orch_effect, k);
        sum += known->weight * orch_matched_likeness(t->columns->pdata[column], known, value);
    }
    return sum;
}

void orch_matched_rates(const struct orch_row_device *device, double *out)
{
    out[0] = log(device->gpu->bandwidth_gbs);
    out[1] = log(device->peak_tflops);
    out[2] = log(device->gpu->watts > 0 ? device->gpu->watts : USUAL_WATTS);
}

/* ---- answering --------------------------------------------------------------------------------
 */

struct orch_matched *orch_matched_new(void)
{
    struct orch_matched *t = g_new0(struct orch_matched, 1);
    t->columns = g_ptr_array_new_with_free_func(free_column);
    t->own = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, orch_effects_free);
    return t;
}

void orch_matched_free(struct orch_matched *t)
{
    if (!t)
        return;
    g_ptr_array_unref(t->columns);
    orch_effects_free(t->all);
    g_hash_table_unref(t->own);
    g_free(t);
}

/* What a batch adds that is smaller than all of its network or task. */
static double smaller_batch(const struct orch_matched *t, const struct orch_effects *own,
                            size_t column, const struct orch_effect *value)
{
    const struct orch_matched_column *c = t->columns->pdata[column];
    bool is_smaller = c->kind == ORCH_MATCHED_BATCH && value->number < own->smallest;
    return is_smaller ? t->sign * SMALLER_BATCH * (own->smallest - value->number) : 0;
}

static double answer(const struct orch_matched *t, const struct orch_rows *rows, const int *at,
                     size_t row)
{
    g_autofree char *name = orch_matched_work_name(rows->matrix, row);
    const struct orch_effects *own = g_hash_table_lookup(t->own, name);
    double sum = t->middle, rates[ORCH_MATCHED_RATES];
    if (!rows->devices[row].gpu || (!own && rows->devices[row].counts_operations))
        return (double)NAN;
    orch_matched_rates(&rows->devices[row], rates);
    for (int r = 0; r < ORCH_MATCHED_RATES; r++)
        sum += t->slopes[r] * (rates[r] - t->centre[r]);
    for (size_t c = 0; c < t->columns->len; c++) {
        struct orch_effect value = orch_matched_value(rows->matrix, at[c], t->columns->pdata[c],
                                                      row, rows->devices[row].gpu);
        sum += effect_of(t, t->all, c, &value);
        if (own)
            sum += effect_of(t, own, c, &value) + smaller_batch(t, own, c, &value);
    }
    return sum + (own ? own->constant : t->unknown);
}

void orch_matched_predict(const struct orch_matched *t, const struct orch_rows *rows, double *out)
{
    g_autofree int *at = g_new(int, t->columns->len + 1);
    for (guint c = 0; c < t->columns->len; c++)
        at[c] = orch_matrix_find(rows->matrix,
                                 ((const struct orch_matched_column *)t->columns->pdata[c])->name);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = answer(t, rows, at, i);
}

/* ---- saving -----------------------------------------------------------------------------------
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
                     isnan(e->smallest) ? json_null() : json_real(e->smallest), "values", list);
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

static struct orch_effects *load_effects(const json_t *saved, size_t columns, GError **error)
{
    struct orch_effects *e = orch_effects_new(columns);
    const json_t *values = orch_load_list(saved, "values", error);
    const json_t *smallest = json_object_get(saved, "smallest");
    bool ok = values && orch_load_real(saved, "constant", &e->constant, error) &&
              (json_array_size(values) == columns ||
               orch_load_fail("values", "has the wrong length", error));
    e->smallest = json_is_number(smallest) ? json_number_value(smallest) : (double)NAN;
    for (size_t c = 0; ok && c < columns; c++) {
        const json_t *column = json_array_get(values, c);
        for (size_t k = 0; k < json_array_size(column); k++) {
            const json_t *key = json_array_get(json_array_get(column, k), 0);
            struct orch_effect one = {
                g_strdup(json_string_value(key)),
                json_is_number(key) ? json_number_value(key) : (double)NAN,
                json_number_value(json_array_get(json_array_get(column, k), 1))};
            g_array_append_val(e->columns[c], one);
        }
    }
    if (ok)
        return e;
    orch_effects_free(e);
    return NULL;
}

static bool load_rates(const json_t *saved, const char *name, double *out, GError **error)
{
    size_t count = ORCH_MATCHED_RATES;
    g_autofree double *values = orch_load_reals(saved, name, &count, error);
    if (values)
        memcpy(out, values, count * sizeof *out);
    return values != NULL;
}

static bool load_columns(struct orch_matched *t, const json_t *saved, GError **error)
{
    const json_t *columns = orch_load_list(saved, "columns", error);
    for (size_t c = 0; c < json_array_size(columns); c++) {
        const json_t *column = json_array_get(columns, c);
        const char *name = json_string_value(json_array_get(column, 0));
        json_int_t kind = json_integer_value(json_array_get(column, 1));
        if (!name || kind < 0 || kind >= ORCH_MATCHED_KINDS)
            return orch_load_fail("columns", "are invalid", error);
        orch_matched_add_column(t, name, (enum orch_matched_kind)kind);
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
              (t->all = load_effects(json_object_get(saved, "all"), t->columns->len, error));
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)own, name, value)
    {
        struct orch_effects *effects = ok ? load_effects(value, t->columns->len, error) : NULL;
        ok = effects != NULL;
        if (ok)
            g_hash_table_insert(t->own, g_strdup(name), effects);
    }
    if (ok)
        return t;
    orch_matched_free(t);
    return NULL;
}
