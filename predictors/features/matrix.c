/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/matrix.h"

#include <math.h>
#include <string.h>

static void free_feature(gpointer data)
{
    struct orch_matrix_feature *f = data;
    g_free(f->name);
    if (f->levels)
        g_ptr_array_unref(f->levels);
    g_free(f);
}

struct orch_matrix *orch_matrix_new(size_t rows)
{
    struct orch_matrix *m = g_new0(struct orch_matrix, 1);
    m->rows = rows;
    m->features = g_ptr_array_new_with_free_func(free_feature);
    m->columns = g_ptr_array_new_with_free_func(g_free);
    return m;
}

void orch_matrix_free(struct orch_matrix *m)
{
    if (!m)
        return;
    g_ptr_array_unref(m->features);
    g_ptr_array_unref(m->columns);
    g_free(m);
}

static double *add_column(struct orch_matrix *m, const char *name, bool is_category)
{
    struct orch_matrix_feature *f = g_new0(struct orch_matrix_feature, 1);
    double *column = g_new(double, MAX(m->rows, 1));
    f->name = g_strdup(name);
    f->levels = is_category ? g_ptr_array_new_with_free_func(g_free) : NULL;
    for (size_t i = 0; i < m->rows; i++)
        column[i] = (double)NAN;
    g_ptr_array_add(m->features, f);
    g_ptr_array_add(m->columns, column);
    return column;
}

double *orch_matrix_add_number(struct orch_matrix *m, const char *name)
{
    return add_column(m, name, false);
}

double *orch_matrix_add_category(struct orch_matrix *m, const char *name)
{
    return add_column(m, name, true);
}

static int find_level(const struct orch_matrix_feature *f, const char *level)
{
    for (guint i = 0; f->levels && i < f->levels->len; i++)
        if (strcmp(f->levels->pdata[i], level) == 0)
            return (int)i;
    return -1;
}

double orch_matrix_level(struct orch_matrix *m, int column, const char *level)
{
    const struct orch_matrix_feature *f = orch_matrix_feature(m, column);
    int index = find_level(f, level);
    if (index >= 0)
        return index;
    g_ptr_array_add(f->levels, g_strdup(level));
    return f->levels->len - 1;
}

int orch_matrix_cols(const struct orch_matrix *m)
{
    return (int)m->features->len;
}

const struct orch_matrix_feature *orch_matrix_feature(const struct orch_matrix *m, int column)
{
    return m->features->pdata[column];
}

const double *orch_matrix_column(const struct orch_matrix *m, int column)
{
    return m->columns->pdata[column];
}

int orch_matrix_find(const struct orch_matrix *m, const char *name)
{
    for (int i = 0; i < orch_matrix_cols(m); i++)
        if (strcmp(orch_matrix_feature(m, i)->name, name) == 0)
            return i;
    return -1;
}

static void copy_levels(const struct orch_matrix_feature *from,
                        const struct orch_matrix_feature *to)
{
    for (guint i = 0; from->levels && i < from->levels->len; i++)
        g_ptr_array_add(to->levels, g_strdup(from->levels->pdata[i]));
}

struct orch_matrix *orch_matrix_pick(const struct orch_matrix *m, const size_t *rows, size_t count)
{
    struct orch_matrix *out = orch_matrix_new(count);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        const double *from = orch_matrix_column(m, c);
        double *to = add_column(out, f->name, f->levels != NULL);
        copy_levels(f, orch_matrix_feature(out, c));
        for (size_t i = 0; i < count; i++)
            to[i] = from[rows[i]];
    }
    return out;
}

struct orch_matrix *orch_matrix_without(const struct orch_matrix *m,
                                        bool (*hides)(const char *name, const void *data),
                                        const void *data)
{
    struct orch_matrix *out = orch_matrix_new(m->rows);
    for (int c = 0; c < orch_matrix_cols(m); c++) {
        const struct orch_matrix_feature *f = orch_matrix_feature(m, c);
        if (hides(f->name, data))
            continue;
        double *column = add_column(out, f->name, f->levels != NULL);
        copy_levels(f, orch_matrix_feature(out, orch_matrix_cols(out) - 1));
        memcpy(column, orch_matrix_column(m, c), m->rows * sizeof *column);
    }
    return out;
}
