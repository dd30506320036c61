/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/matched/matched_private.h"

#include "predictors/features/feature_names.h"

#include <math.h>
#include <string.h>

/* A batch below all of its network or task: midway between a step that takes as long as that of the
 * smallest batch and one that takes proportionally less. */
#define SMALLER_BATCH 0.5

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

static struct orch_value word_on_chip(const char *word, const struct orch_gpu_spec *gpu)
{
    g_autofree char *both = g_strdup_printf("%s\n%s", word, orch_gpu_spec_chip(gpu));
    return (struct orch_value){g_intern_string(both), (double)NAN};
}

/* Batches on a scale of ratios. Other numbers may be 0 or below: the inverse hyperbolic sine goes
 * with the logarithm of large ones, and tells small ones apart. */
static double scaled(const struct orch_matched_column *column, double value)
{
    if (!orch_matched_is_batch(column))
        return asinh(value);
    return value > 0 ? log(value) : (double)NAN;
}

struct orch_value orch_matched_value(const struct orch_matrix *m, int at,
                                     const struct orch_matched_column *column, size_t row,
                                     const struct orch_gpu_spec *gpu)
{
    double value = at < 0 ? (double)NAN : orch_matrix_column(m, at)[row];
    const struct orch_matrix_feature *f = at < 0 ? NULL : orch_matrix_feature(m, at);
    if (column->kind == ORCH_MATCHED_CHIP)
        return (struct orch_value){orch_gpu_spec_chip(gpu), (double)NAN};
    if (isnan(value) || orch_matched_is_word(column) != (f->levels != NULL))
        return (struct orch_value){NULL, (double)NAN};
    if (!f->levels)
        return (struct orch_value){NULL, scaled(column, value)};
    const char *word = f->levels->pdata[(int)value];
    return column->kind == ORCH_MATCHED_WORD_ON_CHIP ? word_on_chip(word, gpu)
                                                     : (struct orch_value){word, (double)NAN};
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

void orch_matched_rates(const struct orch_row_device *device, double *out)
{
    out[0] = log(device->gpu->bandwidth_gbs);
    out[1] = log(device->peak_tflops);
    out[2] = log(orch_row_device_watts(device->gpu));
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

/* What a batch adds that is smaller than all of its network or task. Columns of batches per device
 * and of all devices are the same fact, which counts once: per device where that is known. */
static double smaller_batch(const struct orch_matched *t, const struct orch_effects *own,
                            const struct orch_value *values)
{
    double below = 0;
    for (size_t c = 0; c < t->columns->len; c++) {
        const struct orch_matched_column *column = t->columns->pdata[c];
        double here = own->smallest[c] - values[c].number; /* NaN in columns of other kinds */
        if (isnan(here))
            continue;
        below = here;
        if (column->kind == ORCH_MATCHED_BATCH)
            break;
    }
    return t->sign * SMALLER_BATCH * MAX(below, 0);
}

double orch_matched_common(const struct orch_matched *t, const struct orch_value *values,
                           const double *rates)
{
    double sum = 0;
    for (int r = 0; r < ORCH_MATCHED_RATES; r++)
        sum += t->slopes[r] * (rates[r] - t->centre[r]);
    for (size_t c = 0; c < t->columns->len; c++)
        sum += orch_effects_sum(t->all->columns[c], t->columns->pdata[c], &values[c]);
    return sum;
}

static double answer(const struct orch_matched *t, const struct orch_rows *rows, const int *at,
                     size_t row, struct orch_value *values)
{
    const struct orch_gpu_spec *gpu = rows->devices[row].gpu;
    g_autofree char *name = orch_matched_work_name(rows->matrix, row);
    const struct orch_effects *own = g_hash_table_lookup(t->own, name);
    double rates[ORCH_MATCHED_RATES];
    if (!gpu || (!own && rows->devices[row].counts_operations))
        return (double)NAN;
    orch_matched_rates(&rows->devices[row], rates);
    for (size_t c = 0; c < t->columns->len; c++)
        values[c] = orch_matched_value(rows->matrix, at[c], t->columns->pdata[c], row, gpu);
    double sum = t->middle + orch_matched_common(t, values, rates);
    if (!own)
        return sum + t->unknown;
    for (size_t c = 0; c < t->columns->len; c++)
        sum += orch_effects_sum(own->columns[c], t->columns->pdata[c], &values[c]);
    return sum + own->constant + smaller_batch(t, own, values);
}

int *orch_matched_places(const struct orch_matched *t, const struct orch_matrix *m)
{
    int *at = g_new(int, t->columns->len + 1);
    for (guint c = 0; c < t->columns->len; c++)
        at[c] =
            orch_matrix_find(m, ((const struct orch_matched_column *)t->columns->pdata[c])->name);
    return at;
}

void orch_matched_predict(const struct orch_matched *t, const struct orch_rows *rows, double *out)
{
    g_autofree int *at = orch_matched_places(t, rows->matrix);
    g_autofree struct orch_value *values = g_new(struct orch_value, t->columns->len + 1);
    for (size_t i = 0; i < rows->rows; i++)
        out[i] = answer(t, rows, at, i, values);
}
