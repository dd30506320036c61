/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "predictors/features/rows.h"

#include "lib/base/error.h"
#include "lib/base/text.h"
#include "predictors/features/feature_names.h"
#include "predictors/features/features.h"

#include <math.h>
#include <string.h>

void orch_rows_free(struct orch_rows *r)
{
    if (!r)
        return;
    orch_matrix_free(r->matrix);
    g_free(r->target);
    g_free(r->white);
    g_free(r->white_ms);
    g_free(r->devices);
    for (size_t i = 0; r->groups && i < r->rows; i++)
        g_free(r->groups[i]);
    g_free(r->groups);
    g_ptr_array_unref(r->notes);
    g_free(r);
}

struct orch_rows *orch_rows_pick(const struct orch_rows *r, const size_t *which, size_t count)
{
    struct orch_rows *out = g_new0(struct orch_rows, 1);
    out->rows = count;
    out->is_rate = r->is_rate;
    out->groups_are_gpus = r->groups_are_gpus;
    out->matrix = orch_matrix_pick(r->matrix, which, count);
    out->target = g_new(double, MAX(count, 1));
    out->white = g_new(double, MAX(count, 1));
    out->white_ms = g_new(double, MAX(count, 1));
    out->devices = g_new(struct orch_row_device, MAX(count, 1));
    out->groups = r->groups ? g_new0(char *, count + 1) : NULL;
    out->notes = g_ptr_array_new_with_free_func(g_free);
    for (size_t i = 0; i < count; i++) {
        out->target[i] = r->target[which[i]];
        out->white[i] = r->white[which[i]];
        out->white_ms[i] = r->white_ms[which[i]];
        out->devices[i] = r->devices[which[i]];
        if (r->groups)
            out->groups[i] = g_strdup(r->groups[which[i]]);
    }
    return out;
}

/* ---- columns -----------------------------------------------------------------------------------
 */

static void note(struct orch_rows *r, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void note(struct orch_rows *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_ptr_array_add(r->notes, g_strdup_vprintf(format, args));
    va_end(args);
}

static bool is_dropped(const char *name, const struct orch_rows_options *o)
{
    return (o->drop && g_strv_contains(o->drop, name)) || strcmp(name, "split") == 0;
}

/* Checks that the columns to drop exist (a note if not) and that the target is not among them. */
static bool check_drop(struct orch_rows *r, const struct orch_csv *csv,
                       const struct orch_rows_options *o, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (int c = 0; c < orch_csv_columns(csv); c++)
        g_ptr_array_add(names, (gpointer)(uintptr_t)orch_csv_name(csv, c));
    g_ptr_array_add(names, NULL);
    for (int i = 0; o->drop && o->drop[i]; i++) {
        if (strcmp(o->drop[i], o->target) == 0) {
            orch_error_set(error, ORCH_ERROR_USAGE, "keep this column",
                           "column '%s' is the target, and cannot be dropped", o->target);
            return false;
        }
        if (*o->drop[i] && !o->like && orch_csv_find(csv, o->drop[i]) < 0) {
            const char *near = orch_suggest(o->drop[i], (const char *const *)names->pdata);
            note(r, "there is no column '%s' to drop%s%s%s", o->drop[i],
                 near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        }
    }
    return true;
}

static bool is_number(const char *text)
{
    double value;
    return !*text || orch_real_parse(text, &value);
}

/* 1 if the column was a category in training, 0 if it was a number, -1 if it was absent. */
static int was_category(const struct orch_rows_options *o, const char *name)
{
    int at = o->like ? orch_matrix_find(o->like, name) : -1;
    return at < 0 ? -1 : orch_matrix_feature(o->like, at)->levels != NULL;
}

static void add_column(struct orch_rows *r, const struct orch_csv *csv, int column,
                       const struct orch_rows_options *o)
{
    const char *name = orch_csv_name(csv, column);
    bool numbers = true;
    for (size_t i = 0; i < r->rows && numbers; i++)
        numbers = is_number(orch_csv_text(csv, i, column));
    if (was_category(o, name) == 1)
        numbers = false;
    double *values = numbers ? orch_matrix_add_number(r->matrix, name)
                             : orch_matrix_add_category(r->matrix, name);
    int at = orch_matrix_cols(r->matrix) - 1;
    for (size_t i = 0; i < r->rows; i++) {
        const char *text = orch_csv_text(csv, i, column);
        if (!*text)
            continue;
        if (numbers)
            orch_real_parse(text, &values[i]);
        else
            values[i] = orch_matrix_level(r->matrix, at, text);
    }
}

/* ---- reading -----------------------------------------------------------------------------------
 */

static bool read_target(struct orch_rows *r, const struct orch_csv *csv, int column, GError **error)
{
    for (size_t i = 0; i < r->rows; i++) {
        if (!orch_csv_real(csv, i, column, &r->target[i], error))
            return false;
        if (!(r->target[i] > 0))
            return orch_csv_fail(csv, i, column, "remove such rows", error,
                                 "a target of %g is not above 0", r->target[i]);
    }
    return true;
}

/* Converts the roofline's ms per step to the unit of the target; a rate is items per step over
 * it. */
static void read_white(struct orch_rows *r, const char *target, const double *items)
{
    r->is_rate = orch_target_is_rate(target);
    for (size_t i = 0; i < r->rows; i++) {
        if (r->is_rate)
            r->white[i] = 1e3 * (items[i] > 0 ? items[i] : 1) / r->white_ms[i];
        else
            r->white[i] = r->white_ms[i] / orch_target_ms(target);
    }
}

static void read_features(struct orch_rows *r, const struct orch_csv *csv,
                          const struct orch_rows_options *o)
{
    for (int c = 0; c < orch_csv_columns(csv); c++) {
        const char *name = orch_csv_name(csv, c);
        if (strcmp(name, o->target) == 0 || is_dropped(name, o))
            continue;
        if (!o->keep_all && orch_feature_reveals(name, o->target))
            note(r, "column '%s' was left out: it reveals the target '%s'", name, o->target);
        else
            add_column(r, csv, c, o);
    }
    g_autofree double *items = g_new(double, MAX(r->rows, 1));
    orch_features_add(r->matrix, csv, !is_dropped("gpu", o), r->white_ms, items, r->devices);
    read_white(r, o->target, items);
}

struct orch_rows *orch_rows_of_table(const struct orch_csv *csv, const struct orch_rows_options *o,
                                     GError **error)
{
    int target = 0, group = -1;
    if (!orch_csv_column(csv, o->target, &target, error) ||
        (o->group && !orch_csv_column(csv, o->group, &group, error)))
        return NULL;
    struct orch_rows *r = g_new0(struct orch_rows, 1);
    r->rows = orch_csv_rows(csv);
    r->matrix = orch_matrix_new(r->rows);
    r->target = g_new0(double, MAX(r->rows, 1));
    r->white = g_new0(double, MAX(r->rows, 1));
    r->white_ms = g_new0(double, MAX(r->rows, 1));
    r->devices = g_new0(struct orch_row_device, MAX(r->rows, 1));
    r->notes = g_ptr_array_new_with_free_func(g_free);
    if (!check_drop(r, csv, o, error) || !read_target(r, csv, target, error)) {
        orch_rows_free(r);
        return NULL;
    }
    read_features(r, csv, o);
    r->groups_are_gpus = group >= 0 && orch_feature_is_gpu(o->group);
    r->groups = group >= 0 ? g_new0(char *, r->rows + 1) : NULL;
    for (size_t i = 0; r->groups && i < r->rows; i++)
        r->groups[i] = g_strdup(orch_csv_text(csv, i, group));
    return r;
}
